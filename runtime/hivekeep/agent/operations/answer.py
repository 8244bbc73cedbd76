"""`agent.answer`: an answer of the intake and what follows from it, in one transaction."""

from __future__ import annotations

from typing import Any, cast

from hivekeep.agent import capabilities, enrich, intake, intaking, ledger, sanitising
from hivekeep.agent.canonical import digest
from hivekeep.agent.context import AgentContext
from hivekeep.agent.work import Work
from hivekeep.agent.writing import once, run_scope
from hivekeep.storage import agent_intakes
from hivekeep.storage.agent_intakes import AnswerRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import RUN_STATUSES
from hivekeep_contract.gateway_errors import Conflict
from hivekeep_contract.models import gateway as models

_CAPABILITIES = "capabilities"


def answer(ctx: AgentContext, body: models.AnswerBody) -> Work[models.OpenedRun]:
    """Answer the outstanding question (gateway rules, answer)."""
    catalog = capabilities.read_catalog(body.get(_CAPABILITIES), supplied=_CAPABILITIES in body)
    capabilities.check_binding(ctx.the_run, catalog)
    question_id = body["questionId"]
    # Under the name of its slot, so that a path is kept as that slot of a profile keeps it.
    value = sanitising.clean(ctx.the_run.workspace, {question_id: body["value"]})[question_id]
    sanitising.check_size(value, "/value")

    def mutate(tx: Tx) -> dict[str, Any]:
        return cast(dict[str, Any], _accept(ctx, tx, question_id, value))

    request = {"questionId": question_id, "value": value}
    acknowledged = yield from once(ctx, run_scope(ctx), digest(request), mutate)
    data = cast(models.IntakeState, acknowledged.data)
    enriched = yield from enrich.gated(
        ctx, data["runId"], catalog, preliminary=data["recommendations"], asking=data["question"] is not None
    )
    return cast(models.OpenedRun, {**data, **enriched})


def _accept(ctx: AgentContext, tx: Tx, question_id: models.ProfileField, value: str) -> models.IntakeState:
    """The intake after the answer. One that was accepted before is acknowledged, and nothing is appended."""
    run = ctx.run_now(tx)
    ledger.require_open(run)
    if run.status != RUN_STATUSES["intake"]:
        raise Conflict("intake_final")
    before = agent_intakes.get(tx, run.seq)
    state = intaking.state_of(before)
    after = intake.answer(state, question_id, value)
    if after is state:
        return intaking.view(run, before)
    now_us = ctx.now_us()
    row = intaking.with_state(before, after, now_us)
    agent_intakes.add_answer(tx, AnswerRow(run.seq, after.question_count, question_id, value, now_us))
    agent_intakes.update(tx, row)
    run = ledger.lifecycle(ctx, tx, run, [intaking.answered(question_id, value), *intaking.finished(row)], now_us)
    if intaking.is_final(after):
        run = ledger.activate(tx, run, now_us)
    return intaking.view(run, row)
