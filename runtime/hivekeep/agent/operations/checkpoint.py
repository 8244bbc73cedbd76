"""`agent.checkpoint`: events that say where a run stands, what follows from all of them, context behind the gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, cast

from hivekeep.agent import (
    advising,
    capabilities,
    enrich,
    feedback,
    intaking,
    ledger,
    nudges,
    projection,
    recommendations,
)
from hivekeep.agent import events as ledger_events
from hivekeep.agent.canonical import digest
from hivekeep.agent.context import AgentContext
from hivekeep.agent.events import NewEvent
from hivekeep.agent.work import Read, Work
from hivekeep.agent.writing import once, run_scope
from hivekeep.storage import agent_idempotency, agent_intakes
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import load
from hivekeep_contract.gateway import (
    CHECKPOINT_FEEDBACK,
    CHECKPOINT_LISTS,
    CHECKPOINT_REVISION,
    CHECKPOINT_TEXTS,
    GATEWAY_ACTORS,
)
from hivekeep_contract.gateway_errors import ValidationError
from hivekeep_contract.limits import CONTEXT_BUDGET_CHARS, GATEWAY_BATCH_MAX, PROJECTED_PROFILE_SOURCE
from hivekeep_contract.models import gateway as models

_CAPABILITIES = "capabilities"


class _Report(NamedTuple):
    """A checkpoint as it counts: its events in their order, its judgements, and what ranking is told; all sanitised."""

    batch: list[NewEvent]
    judgements: list[models.ContextFeedbackInput]
    budget: int
    changed_paths: list[str]
    error_signatures: list[str]


def checkpoint(ctx: AgentContext, body: models.CheckpointBody) -> Work[models.Checkpointed]:
    """Record where a run stands (gateway rules, checkpoint).

    The state of the run and its capabilities are checked before the fields. A key that was used before the run ended
    is still answered, without context.
    """
    run = ctx.the_run
    catalog = capabilities.read_catalog(body.get(_CAPABILITIES), supplied=_CAPABILITIES in body)
    if not (yield Read(partial(_was_acknowledged, ctx))):
        ledger.require_active(run)
    capabilities.check_binding(run, catalog)
    ctx.check(body)
    report = _report(ctx, body)

    def mutate(tx: Tx) -> dict[str, Any]:
        return cast(dict[str, Any], _record(ctx, tx, report))

    request = {"events": ledger_events.request_form(report.batch), "characterBudget": report.budget}
    acknowledged = yield from once(ctx, run_scope(ctx), digest(request), mutate)
    data = acknowledged.data
    enriched = yield from enrich.gated(
        ctx,
        run.id,
        catalog,
        preliminary=data["recommendations"],
        budget=report.budget,
        changed_paths=report.changed_paths,
        error_signatures=report.error_signatures,
        checkpoint_id=nudges.checkpoint_id(run.id, cast(str, ctx.idempotency_key)),
    )
    return cast(models.Checkpointed, {**data, **enriched})


def _was_acknowledged(ctx: AgentContext, tx: Tx) -> bool:
    return agent_idempotency.find(tx, run_scope(ctx), cast(str, ctx.key_hash)) is not None


def _report(ctx: AgentContext, body: models.CheckpointBody) -> _Report:
    """Raises ValidationError for no event at all, or too many."""
    given = body.get("events", [])
    stood_for = list(_stood_for(body))
    inputs = [*given, *(event for _pointer, event in stood_for)]
    if not inputs:
        raise ValidationError("empty")
    if len(inputs) > GATEWAY_BATCH_MAX:
        raise ValidationError("too_long")
    pointers = [pointer for pointer, _event in stood_for]
    batch = ledger.read_batch(ctx, inputs, dict(enumerate(pointers, len(given))))
    said: dict[str, list[Any]] = {}
    for pointer, read in zip(pointers, batch[len(given) :], strict=True):
        said.setdefault(pointer.split("/")[1], []).append(load(read.payload))
    return _Report(
        batch,
        judgements=said.get("contextFeedback", []),
        budget=int(body.get("characterBudget", CONTEXT_BUDGET_CHARS)),
        changed_paths=_texts(said, "changedPaths"),
        error_signatures=_texts(said, "errorSignatures"),
    )


def _texts(said: Mapping[str, list[Any]], field: str) -> list[str]:
    """The texts of a list field as its events hold them."""
    _type, key = CHECKPOINT_LISTS[field]
    return [payload[key] for payload in said.get(field, ())]


def _stood_for(body: models.CheckpointBody) -> Iterator[tuple[str, models.EventInput]]:
    """The events that the other fields stand for, with the JSON pointers of these, in the order of the contract."""
    fields = cast("dict[str, Any]", body)
    for name, (event_type, key) in CHECKPOINT_TEXTS.items():
        if name in fields:
            yield f"/{name}", _event(event_type, {key: fields[name]})
    for name, (event_type, key) in CHECKPOINT_LISTS.items():
        for place, text in enumerate(fields.get(name, ())):
            yield f"/{name}/{place}", _event(event_type, {key: text})
    if "taskProfileRevision" in body:
        if not body["taskProfileRevision"]:
            raise ValidationError("empty", field="/taskProfileRevision")
        event_type, key = CHECKPOINT_REVISION
        yield "/taskProfileRevision", _event(event_type, {key: body["taskProfileRevision"]})
    for place, judgement in enumerate(body.get("contextFeedback", ())):
        yield f"/contextFeedback/{place}", _event(CHECKPOINT_FEEDBACK, cast("dict[str, Any]", judgement))


def _event(event_type: str, payload: dict[str, Any]) -> models.EventInput:
    return {
        "eventType": cast(models.EventType, event_type),
        "actor": GATEWAY_ACTORS["checkpoint"],
        "payload": payload,
    }


def _record(ctx: AgentContext, tx: Tx, report: _Report) -> models.Checkpointed | dict[str, Any]:
    """Append the events, store the judgements, and fold the events into the state of the run."""
    run = ctx.run_now(tx)
    ledger.require_active(run)
    done = ledger.append(tx, run, report.batch)
    feedback.context_feedback(tx, done.run, report.judgements, key=cast(str, ctx.idempotency_key), now_us=ctx.now_us())
    return {**done.data, **_projected(tx, done.run, report.budget)}


def _projected(tx: Tx, run: RunRow, budget: int) -> dict[str, Any]:
    intake = agent_intakes.get(tx, run.seq)
    state = advising.state_of(tx, run, intaking.state_of(intake).profile)
    advising.keep(tx, run, state)
    projected = projection.view(state, run)
    return {
        "intakeStatus": intake.status,
        "taskProfile": {**projected["taskProfile"], "source": PROJECTED_PROFILE_SOURCE},
        "profileHash": projected["profileHash"],
        "projection": projected,
        "recommendations": recommendations.recommend(projected),
        "characterBudget": budget,
        "context": None,
        "nudge": None,
    }
