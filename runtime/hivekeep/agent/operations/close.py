"""`agent.close`: the last events of a run and its end, in one batch."""

from __future__ import annotations

from typing import Any, cast

from hivekeep.agent import events as ledger_events
from hivekeep.agent import ledger
from hivekeep.agent.canonical import digest
from hivekeep.agent.context import AgentContext
from hivekeep.agent.work import Work
from hivekeep.agent.writing import once, run_scope
from hivekeep.storage import agent_runs
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import LIFECYCLE_EVENTS
from hivekeep_contract.models import gateway as models


def close(ctx: AgentContext, body: models.CloseBody) -> Work[models.ClosedRun]:
    """End a run for good (gateway rules, close)."""
    given = body.get("events", [])
    status = body["status"]
    batch = ledger.read_batch(ctx, given)

    def mutate(tx: Tx) -> dict[str, Any]:
        run = ctx.run_now(tx)
        ledger.require_active(run)
        now_us = ctx.now_us()
        end = ledger.own_event(ctx, LIFECYCLE_EVENTS["closed"], {"status": status}, now_us)
        done = ledger.append(tx, run, [*batch, end])
        agent_runs.move(tx, done.run, status, now_us, ended=True)
        return {**done.data, "status": status, "runStatus": status}

    request = {"status": status, "events": ledger_events.request_form(batch)}
    acknowledged = yield from once(ctx, run_scope(ctx), digest(request), mutate)
    return cast(models.ClosedRun, acknowledged.data)
