"""`agent.feedback`: a judgement of a delivery, a recommendation, the run or its intake, in any state of the run."""

from __future__ import annotations

from typing import Any, cast

from hivekeep.agent import feedback as judging
from hivekeep.agent import sanitising
from hivekeep.agent.canonical import digest
from hivekeep.agent.context import AgentContext
from hivekeep.agent.work import Work
from hivekeep.agent.writing import once, run_scope
from hivekeep.storage.engine import Tx
from hivekeep_contract.models import gateway as models


def feedback(ctx: AgentContext, body: models.FeedbackBody) -> Work[models.RecordedFeedback]:
    """Store what an agent says (gateway rules, feedback).

    The moment of the request is no part of what is hashed, so a retry without `createdAt` is the same request.
    """
    given = sanitising.clean(ctx.the_run.workspace, body)
    judgement = judging.read(given["category"], cast("dict[str, Any]", given))
    key_hash = cast(str, ctx.key_hash)

    def mutate(tx: Tx) -> dict[str, Any]:
        recorded = judging.record(tx, ctx.run_now(tx), judgement, key_hash=key_hash, now_us=ctx.now_us())
        return cast("dict[str, Any]", recorded)

    acknowledged = yield from once(ctx, run_scope(ctx), digest(given), mutate)
    return cast(models.RecordedFeedback, acknowledged.data)
