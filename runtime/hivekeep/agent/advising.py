"""Where the pure rules of advice meet the store: the state of a run, and the nudge of a checkpoint.

Invariant: a state that is kept is what folding the whole ledger up to its sequence gives, and a nudge is stored for
the very state of the run that it was chosen for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from hivekeep.agent import nudges, projection
from hivekeep.agent.projection import State
from hivekeep.storage import agent_nudges, agent_projections
from hivekeep.storage.agent_nudges import NudgeRow
from hivekeep.storage.agent_projections import StoredProjection
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway_errors import Conflict, IntegrityError
from hivekeep_contract.models import gateway as models

_PIECE: Final = 500
"""Events that a fold holds in memory at a time."""


def state_of(tx: Tx, run: RunRow, profile: models.TaskProfile) -> State:
    """The state of a run through its last event; `profile` is the one that its intake ended with.

    Reads the stored state and only the events after it. Raises IntegrityError for a ledger with a gap.
    """
    stored = agent_projections.find(tx, run.seq)
    if stored is not None and projection.is_current(stored.state) and stored.through_sequence <= run.last_sequence:
        return folded(tx, run, cast(State, stored.state))
    return folded(tx, run, projection.initial(profile))


def folded(tx: Tx, run: RunRow, state: State) -> State:
    """A state with all events of the run after it folded in, a piece at a time."""
    while state["throughSequence"] < run.last_sequence:
        after = state["throughSequence"]
        events = agent_projections.events_between(tx, run.seq, after, run.last_sequence, _PIECE)
        state = projection.advance(state, events)
        if state["throughSequence"] == after:
            raise IntegrityError("broken_record")
    return state


def keep(tx: Tx, run: RunRow, state: State) -> None:
    """Store a state of the run, so that the next one reads on from there."""
    agent_projections.save(tx, run.seq, StoredProjection(state["throughSequence"], cast(dict[str, object], state)))


def nudge(
    tx: Tx,
    run: RunRow,
    checkpoint_id: str,
    recommendations: Sequence[models.Recommendation],
    projected: models.Projection,
    now_us: int,
) -> models.Nudge | None:
    """The nudge of a checkpoint, stored; None when there is nothing that the run may still be told.

    `recommendations` are the final ones, after the gate; `projected` is what they were made from; `run` is the run as
    this transaction sees it. A checkpoint that has a nudge gets that one again, as long as its occurrence holds.
    Raises Conflict when the run got new events since the projection.
    """
    stored = agent_nudges.of_checkpoint(tx, checkpoint_id)
    if stored is not None:
        return nudges.still_occurring(stored, recommendations, projected)
    if run.last_sequence != projected["throughSequence"]:
        raise Conflict("run_moved_on")
    chosen = nudges.select(recommendations, projected, agent_nudges.of_run(tx, run.seq))
    if chosen is not None:
        agent_nudges.insert(tx, _row(run, checkpoint_id, chosen, now_us))
    return chosen


def _row(run: RunRow, checkpoint_id: str, chosen: models.Nudge, now_us: int) -> NudgeRow:
    return NudgeRow(
        run_seq=run.seq,
        policy_version=chosen["policyVersion"],
        code=chosen["code"],
        occurrence_id=chosen["occurrenceId"],
        checkpoint_id=checkpoint_id,
        through_sequence=run.last_sequence,
        priority=chosen["priority"],
        evidence_event_ids=chosen["evidenceEventIds"],
        reference_ids=chosen["referenceIds"],
        created_at=now_us,
    )
