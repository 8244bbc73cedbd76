"""The state of a run in the store, and the nudge of a checkpoint: what is read, kept and told again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import advising, nudges, projection
from hivekeep.agent.recommendations import recommend
from hivekeep.storage import agent_nudges, agent_projections, agent_runs
from hivekeep.storage.agent_projections import StoredProjection
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import Args, Row, Tx
from hivekeep.storage.sqlite import open_store
from hivekeep_contract.gateway_errors import Conflict, IntegrityError
from support.runs import COMPLETE, run_row
from support.stores import OPTIONS, record_id

PROFILE: Any = {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": None}
PASS, CHANGE, FAIL = ("test.completed", "passed"), ("file.changed", None), ("step.failed", None)
UNKNOWN = ("tool.outcome_unknown", None)

INSERT = (
    "INSERT INTO agent_events (run_seq, sequence, event_id, event_type, actor, outcome, occurred_at, ingested_at,"
    " payload, redaction, previous_hash, event_hash) VALUES (?, ?, ?, ?, 'test', ?, 1000, 1000, ?, '[]', '', '')"
)


class Counting:
    """A `Tx` that counts the rows it reads."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.rows = 0

    def all(self, sql: str, args: Args = ()) -> list[Row]:
        """Every row of a statement."""
        found = self._tx.all(sql, args)
        self.rows += len(found)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


def opened(tx: Tx, number: int = 1) -> RunRow:
    """A stored run that reports everything, without events."""
    return agent_runs.insert(tx, run_row(id=record_id(number), coverage=json.dumps(COMPLETE)))


@pytest.fixture
def run(tx: Tx) -> RunRow:
    """The first run of the store."""
    return opened(tx)


def reported(
    tx: Tx, run: RunRow, events: Sequence[tuple[str, str | None]], payload: dict[str, Any] | None = None
) -> RunRow:
    """The run with more events, each of this payload; the n-th event of the ledger is called <run>-<n>."""
    first = run.last_sequence + 1
    for sequence, (event_type, outcome) in enumerate(events, first):
        event_id = f"{run.seq}-{sequence}"
        tx.run(INSERT, (run.seq, sequence, event_id, event_type, outcome, json.dumps(payload or {})))
    return run._replace(last_sequence=run.last_sequence + len(events))


def view(tx: Tx, run: RunRow) -> Any:
    """What the events of a run add up to."""
    return projection.view(advising.state_of(tx, run, PROFILE), run)


def nudge(tx: Tx, run: RunRow, checkpoint: str = "c1", now_us: int = 5000) -> Any:
    """The nudge of a checkpoint of the run as it stands."""
    projected = view(tx, run)
    return advising.nudge(tx, run, checkpoint, recommend(projected), projected, now_us)


# state


def test_a_state_goes_through_the_last_event_of_the_run(tx: Tx, run: RunRow) -> None:
    """Without anything stored it is folded from the first one."""
    run = reported(tx, run, [PASS, CHANGE, FAIL])
    found = view(tx, run)
    assert (found["throughSequence"], found["evidenceState"]) == (3, "stale")
    assert found["unresolvedFailureEventIds"] == ["1-3"]


def test_a_state_that_was_kept_is_read_on_from(tx: Tx, run: RunRow) -> None:
    """Only the newer events are read, and what comes out is what the whole ledger gives."""
    run = reported(tx, run, [PASS, CHANGE, FAIL] * 40)
    advising.keep(tx, run, advising.state_of(tx, run, PROFILE))
    run = reported(tx, run, [FAIL, PASS])
    counting = Counting(tx)
    state = advising.state_of(counting, run, PROFILE)
    assert counting.rows == 2
    assert state == advising.folded(tx, run, projection.initial(PROFILE))


def test_long_ledgers_are_folded_in_pieces(tx: Tx, run: RunRow) -> None:
    """1,234 events, each of them a failure."""
    run = reported(tx, run, [FAIL] * 1234)
    assert len(view(tx, run)["unresolvedFailureEventIds"]) == 1234


def test_a_state_of_another_form_is_made_again(tx: Tx, run: RunRow) -> None:
    """As is one that goes further than the run."""
    run = reported(tx, run, [FAIL])
    whole = advising.state_of(tx, run, PROFILE)
    for stored in (StoredProjection(1, {**whole, "version": 0}), StoredProjection(2, {**whole, "throughSequence": 2})):
        agent_projections.save(tx, run.seq, stored)
        assert advising.state_of(tx, run, PROFILE) == whole


def test_a_state_never_goes_back(tx: Tx, run: RunRow) -> None:
    """A slow writer that keeps an older one changes nothing."""
    run = reported(tx, run, [FAIL])
    older = advising.state_of(tx, run, PROFILE)
    later = reported(tx, run, [FAIL])
    newer = advising.state_of(tx, later, PROFILE)
    advising.keep(tx, later, newer)
    advising.keep(tx, run, older)
    assert agent_projections.find(tx, run.seq) == StoredProjection(2, dict(newer))


def test_events_of_other_runs_do_not_count(tx: Tx, run: RunRow) -> None:
    """Each run has a ledger of its own."""
    other = opened(tx, 2)
    reported(tx, other, [FAIL])
    assert view(tx, reported(tx, run, [CHANGE]))["unresolvedFailureEventIds"] == []


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_a_ledger_with_a_gap_is_a_broken_record(tx: Tx, run: RunRow, gone: int) -> None:
    """At its beginning, inside, or at its end."""
    run = reported(tx, run, [FAIL] * 3)
    tx.run("DELETE FROM agent_events WHERE sequence = ?", (gone,))
    with pytest.raises(IntegrityError) as caught:
        advising.state_of(tx, run, PROFILE)
    assert caught.value.reason == "broken_record"


kinds = st.sampled_from([PASS, CHANGE, FAIL, UNKNOWN, ("test.completed", "failed"), ("step.started", None)])
pieces = st.lists(st.tuples(st.lists(kinds, max_size=5), st.booleans()), max_size=6)


@given(pieces)
@settings(derandomize=True, max_examples=40, deadline=None)
def test_keeping_states_on_the_way_changes_nothing(batches: list[tuple[list[Any], bool]]) -> None:
    """Batches of events with or without a kept state after each: always what the whole ledger gives."""
    store = open_store(MEMORY, OPTIONS)
    with store.read() as tx:
        run = opened(tx)
        for events, kept in batches:
            run = reported(tx, run, events)
            state = advising.state_of(tx, run, PROFILE)
            assert state == advising.folded(tx, run, projection.initial(PROFILE))
            if kept:
                advising.keep(tx, run, state)
    store.close()


# nudges


def test_a_nudge_is_stored_with_what_it_is_about(tx: Tx, run: RunRow) -> None:
    """Every column, and no message."""
    run = reported(tx, run, [PASS, CHANGE])
    told = nudge(tx, run)
    assert told["code"] == "VERIFY_AFTER_MUTATION"
    assert agent_nudges.of_run(tx, run.seq) == [
        agent_nudges.NudgeRow(
            run_seq=run.seq,
            policy_version="nudges.v1",
            code="VERIFY_AFTER_MUTATION",
            occurrence_id=told["occurrenceId"],
            checkpoint_id="c1",
            through_sequence=2,
            priority=4,
            evidence_event_ids=["1-1", "1-2"],
            reference_ids=[],
            created_at=5000,
        )
    ]


def test_a_checkpoint_without_cause_stores_nothing(tx: Tx, run: RunRow) -> None:
    """Its answer is null."""
    assert nudge(tx, reported(tx, run, [PASS])) is None
    assert agent_nudges.of_run(tx, run.seq) == []


def test_a_replay_gets_the_stored_nudge_and_stores_no_other(tx: Tx, run: RunRow) -> None:
    """Also after more events, as long as its occurrence holds; a resolved one is gone, and nothing takes its place."""
    run = reported(tx, run, [UNKNOWN, PASS, CHANGE])
    first = nudge(tx, run)
    assert (first["code"], nudge(tx, run)) == ("SIDE_EFFECT_OUTCOME_UNKNOWN", first)
    later = reported(tx, run, [("step.started", None)] * 9)
    assert nudge(tx, later) == first
    resolved = reported(tx, later, [("step.completed", None)], {"resolvesEventIds": ["1-1"]})
    assert nudge(tx, resolved) is None
    assert len(agent_nudges.of_run(tx, run.seq)) == 1


def test_another_checkpoint_is_told_the_next_occurrence(tx: Tx, run: RunRow) -> None:
    """Each occurrence once, three in all."""
    run = reported(tx, run, [UNKNOWN, FAIL, PASS, CHANGE])
    codes = [(nudge(tx, run, f"c{number}") or {"code": None})["code"] for number in range(4)]
    assert codes == ["SIDE_EFFECT_OUTCOME_UNKNOWN", "UNRESOLVED_FAILURE", "VERIFY_AFTER_MUTATION", None]


def test_runs_are_told_apart(tx: Tx, run: RunRow) -> None:
    """What one run was told does not silence another."""
    other = opened(tx, 2)
    assert nudge(tx, reported(tx, run, [PASS, CHANGE]), "c1") is not None
    assert nudge(tx, reported(tx, other, [PASS, CHANGE]), "c2") is not None


def test_a_run_that_moved_on_is_a_conflict_and_nothing_is_stored(tx: Tx, run: RunRow) -> None:
    """A nudge is of the very state that it was chosen for."""
    run = reported(tx, run, [FAIL])
    projected = view(tx, run)
    later = reported(tx, run, [FAIL])
    with pytest.raises(Conflict) as caught:
        advising.nudge(tx, later, "c1", recommend(projected), projected, 5000)
    assert caught.value.reason == "run_moved_on"
    assert agent_nudges.of_run(tx, run.seq) == []


def test_a_replay_of_a_nudge_is_no_conflict_when_the_run_moved_on(tx: Tx, run: RunRow) -> None:
    """Nothing is chosen then."""
    run = reported(tx, run, [FAIL])
    projected = view(tx, run)
    first = advising.nudge(tx, run, "c1", recommend(projected), projected, 5000)
    later = reported(tx, run, [FAIL])
    assert advising.nudge(tx, later, "c1", recommend(projected), projected, 6000) == first


def test_with_the_gate_closed_there_is_no_nudge(tx: Tx, run: RunRow) -> None:
    """No recommendations, no nudge: neither a new one nor the stored one."""
    run = reported(tx, run, [FAIL])
    projected = view(tx, run)
    assert advising.nudge(tx, run, "c1", [], projected, 5000) is None
    assert nudge(tx, run) is not None
    assert advising.nudge(tx, run, "c1", [], projected, 5000) is None


def test_the_name_of_a_checkpoint_finds_its_nudge(tx: Tx, run: RunRow) -> None:
    """One index lookup."""
    run = reported(tx, run, [FAIL])
    name = nudges.checkpoint_id(run.id, "key")
    nudge(tx, run, name)
    found = agent_nudges.of_checkpoint(tx, name)
    assert found is not None
    assert found.code == "UNRESOLVED_FAILURE"
    assert agent_nudges.of_checkpoint(tx, nudges.checkpoint_id(run.id, "other")) is None
