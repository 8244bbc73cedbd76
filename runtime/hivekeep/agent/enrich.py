"""What an answer of the gateway holds beside its acknowledgement: context behind the gate, advice, a nudge.

Invariant: the gate judges one frozen snapshot, ranked once, and exactly that snapshot is handed out or nothing is.
Where the gate is closed nothing is written. Delivery and nudge are one transaction, which finds the run as it was
ranked or refuses: so a conflict leaves neither behind.

(gateway rules, sequence of gate and broker)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, NotRequired, TypedDict, cast

from hivekeep.agent import advising, broker, delivery, intaking, projection, recommendations, sanitising
from hivekeep.agent.broker import Candidate
from hivekeep.agent.capabilities import Catalog
from hivekeep.agent.capability_gate import Asked, Decision, decide
from hivekeep.agent.context import AgentContext
from hivekeep.agent.recommendations import MemoryFacts
from hivekeep.agent.work import Slow, Work, Write
from hivekeep.storage import agent_intakes, agent_memory_links, agent_runs
from hivekeep.storage.agent_intakes import IntakeRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import load_object, load_tags
from hivekeep.storage.snapshots import snapshot
from hivekeep_contract.gateway import RUN_STATUSES
from hivekeep_contract.gateway_errors import NotFound
from hivekeep_contract.limits import CONTEXT_BUDGET_CHARS
from hivekeep_contract.models import gateway as models


class Enriched(TypedDict):
    """The part of an answer that is worked out again on each replay; a checkpoint has a nudge as well."""

    context: models.Context | None
    recommendations: list[models.Recommendation]
    capabilities: models.Capabilities
    memoryPolicy: models.MemoryPolicy
    warnings: list[models.CatalogWarningEntry]
    nextAction: models.NextAction
    nudge: NotRequired[models.Nudge | None]


class _Wanted(NamedTuple):
    """What the request says that ranking and gate look at."""

    catalog: Catalog
    asking: bool
    budget: int
    changed_paths: list[str]
    error_signatures: list[str]


class _Look(NamedTuple):
    """One snapshot: the run with its intake and what its events add up to, the candidate, and the judgement.

    `projected` and `candidate` are None where nothing can be handed out, whatever the capabilities are: while a
    question waits, and after the end of the run.
    """

    run: RunRow
    intake: IntakeRow
    projected: models.Projection | None
    candidate: Candidate | None
    decision: Decision


class _Handed(NamedTuple):
    """What one transaction handed out."""

    context: models.Context
    recommendations: list[models.Recommendation]
    nudge: models.Nudge | None
    empty_beside: int | None


def gated(
    ctx: AgentContext,
    run_id: str,
    catalog: Catalog,
    *,
    preliminary: Sequence[models.Recommendation],
    asking: bool = False,
    budget: int | None = None,
    changed_paths: Sequence[str] = (),
    error_signatures: Sequence[str] = (),
    checkpoint_id: str | None = None,
) -> Work[Enriched]:
    """Enrich the acknowledgement of an open, an answer or, with a `checkpoint_id`, a checkpoint.

    `preliminary` are the recommendations of the acknowledgement; they stand where the run is over by now. `asking` says
    that the acknowledgement shows a question: then nothing is handed out, even when it is replayed after the answer.
    `budget` is in characters.

    Raises NotFound for a run that was purged meanwhile, and Conflict when the run or the memory changed between ranking
    and delivery; nothing is stored then.
    """
    wanted = _Wanted(catalog, asking, budget or CONTEXT_BUDGET_CHARS, list(changed_paths), list(error_signatures))
    look: _Look = yield Slow(partial(_look, ctx, run_id, wanted))
    if not look.decision.delivers:
        return _told(look, None, [], checkpoint_id)
    if look.candidate is None:
        return _told(look, None, list(preliminary), checkpoint_id)
    handed: _Handed = yield Write(partial(_hand_over, ctx, look, checkpoint_id))
    return _told(look, handed, handed.recommendations, checkpoint_id)


def _told(
    look: _Look, handed: _Handed | None, advice: list[models.Recommendation], checkpoint_id: str | None
) -> Enriched:
    decision = look.decision
    policy = decision.memory_policy
    if handed is not None and handed.empty_beside is not None:
        policy = {**policy, "deliveryEmpty": True, "storedEntryCount": handed.empty_beside}
    told: Enriched = {
        "context": None if handed is None else handed.context,
        "recommendations": advice,
        "capabilities": decision.capabilities,
        "memoryPolicy": policy,
        "warnings": decision.capabilities["warnings"],
        "nextAction": decision.next_action,
    }
    if checkpoint_id is not None:
        told["nudge"] = None if handed is None else handed.nudge
    return told


# looking


def _look(ctx: AgentContext, run_id: str, wanted: _Wanted) -> _Look:
    """Read, rank once, judge; all of it sees one moment, because a run may be purged between two statements."""
    with ctx.engine.read() as tx, snapshot(tx):
        run = agent_runs.get(tx, run_id)
        if run is None:
            raise NotFound("no_run")
        intake = agent_intakes.get(tx, run.seq)
        if wanted.asking or run.status != RUN_STATUSES["active"]:
            return _nothing_to_hand_over(run, intake, wanted)
        return _ranked(tx, run, intake, wanted)


def _nothing_to_hand_over(run: RunRow, intake: IntakeRow, wanted: _Wanted) -> _Look:
    status: models.IntakeStatus = "needs_answer" if wanted.asking else _intake_status(intake)
    asked = _asked(run, intake, wanted, status, intaking.state_of(intake).profile, actionable=False)
    return _Look(run, intake, None, None, decide(asked))


def _ranked(tx: Tx, run: RunRow, intake: IntakeRow, wanted: _Wanted) -> _Look:
    projected = projection.view(advising.state_of(tx, run, intaking.state_of(intake).profile), run)
    profile = projected["taskProfile"]
    # As the ledger has them: what is searched for is also hashed.
    reported = sanitising.clean(run.workspace, {"path": wanted.changed_paths, "signature": wanted.error_signatures})
    query = broker.Query(
        run=run,
        session_id=intake.session_id,
        profile=profile,
        tags=load_tags(intake.tags),
        changed_paths=reported["path"],
        error_signatures=reported["signature"],
        budget=wanted.budget,
    )
    candidate = broker.rank(tx, query)
    asked = _asked(run, intake, wanted, _intake_status(intake), profile, actionable=candidate.actionable)
    return _Look(run, intake, projected, candidate, decide(asked))


def _asked(
    run: RunRow,
    intake: IntakeRow,
    wanted: _Wanted,
    status: models.IntakeStatus,
    profile: models.TaskProfile,
    *,
    actionable: bool,
) -> Asked:
    return Asked(
        catalog=wanted.catalog,
        intake_status=status,
        task_type=profile["taskType"],
        task_text=_task_text(run, profile),
        tags=tuple(load_tags(intake.tags)),
        actionable=actionable,
    )


def _task_text(run: RunRow, profile: models.TaskProfile) -> str:
    """Everything that says what the task is, and what it is not."""
    task = load_object(run.task)
    said = [task["title"], task["query"], profile["target"], profile["expected"], profile["constraints"]]
    return "\n".join(text for text in said if text)


def _intake_status(intake: IntakeRow) -> models.IntakeStatus:
    return cast(models.IntakeStatus, intake.status)


# handing over


def _hand_over(ctx: AgentContext, look: _Look, checkpoint_id: str | None, tx: Tx) -> _Handed:
    """Deliver the candidate, and choose a nudge from the recommendations that follow from it."""
    assert look.candidate is not None
    assert look.projected is not None
    now_us = ctx.now_us()
    context = delivery.deliver(tx, look.candidate, now_us)
    advice = recommendations.recommend(look.projected, _memory_facts(tx, look.run))
    nudge = None
    if checkpoint_id is not None:
        run = agent_runs.get(tx, look.run.id)
        assert run is not None
        nudge = advising.nudge(tx, run, checkpoint_id, advice, look.projected, now_us)
    return _Handed(context, advice, nudge, _empty_beside(tx, look, context))


def _memory_facts(tx: Tx, run: RunRow) -> MemoryFacts:
    return MemoryFacts(
        outdated=delivery.newer_revisions(tx, run.seq),
        contradictions=delivery.contradictions(tx, run.seq),
        proposals=agent_memory_links.unpromoted(tx, run.seq),
    )


def _empty_beside(tx: Tx, look: _Look, context: models.Context) -> int | None:
    """Entries of the workspace when a complete profile got none of them; None when there is nothing to say."""
    if context["items"] or look.intake.status != "ready":
        return None
    return delivery.stored_entry_count(tx, look.run.workspace) or None
