"""Folded states and nudges of runs: found by their indexes, replaced forward only, told once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw
import pytest

from hivekeep.storage import agent_nudges, agent_projections, agent_runs
from hivekeep.storage.agent_nudges import NudgeRow
from hivekeep.storage.agent_projections import StoredProjection
from hivekeep.storage.engine import Tx
from support.runs import run_row
from support.stores import Explained, record_id

NUDGE = NudgeRow(
    run_seq=1,
    policy_version="nudges.v1",
    code="UNRESOLVED_FAILURE",
    occurrence_id="o1",
    checkpoint_id="c1",
    through_sequence=4,
    priority=3,
    evidence_event_ids=["e1", "e2"],
    reference_ids=[],
    created_at=1000,
)


@pytest.mark.parametrize(
    ("read", "index"),
    [
        (
            lambda tx: agent_projections.events_between(tx, 1, 5, 9, 500),
            "agent_events_listed (run_seq=? AND sequence>?",
        ),
        (lambda tx: agent_projections.find(tx, 1), "INTEGER PRIMARY KEY (rowid=?)"),
        (lambda tx: agent_nudges.of_checkpoint(tx, "c1"), "agent_nudges_checkpoint (checkpoint_id=?)"),
        (lambda tx: agent_nudges.of_run(tx, 1), "agent_nudges_occurrence (run_seq=?)"),
    ],
)
def test_every_read_is_a_search_of_an_index(tx: Tx, read: Callable[[Any], object], index: str) -> None:
    """Never a scan, however many runs and events there are."""
    explained = Explained(tx)
    read(explained)
    assert index in explained.steps[0]
    assert not any(step.startswith("SCAN") for step in explained.steps)


def test_a_state_is_kept_and_replaced_by_one_that_goes_further(tx: Tx) -> None:
    """One that goes less far changes nothing."""
    run = agent_runs.insert(tx, run_row())
    assert agent_projections.find(tx, run.seq) is None
    for through, kept in ((4, 4), (3, 4), (4, 4), (9, 9)):
        agent_projections.save(tx, run.seq, StoredProjection(through, {"through": through}))
        assert agent_projections.find(tx, run.seq) == StoredProjection(kept, {"through": kept})


def test_a_nudge_comes_back_as_it_was_stored(tx: Tx) -> None:
    """In the order of telling, for its own run alone."""
    for number in (1, 2):
        agent_runs.insert(tx, run_row(id=record_id(number)))
    second = NUDGE._replace(occurrence_id="o0", checkpoint_id="c2", reference_ids=["r"])
    other = NUDGE._replace(run_seq=2, checkpoint_id="c3")
    for row in (NUDGE, second, other):
        agent_nudges.insert(tx, row)
    assert agent_nudges.of_run(tx, 1) == [NUDGE, second]
    assert agent_nudges.of_checkpoint(tx, "c3") == other
    assert agent_nudges.of_checkpoint(tx, "c4") is None


@pytest.mark.parametrize("fields", [{"checkpoint_id": "c2"}, {"occurrence_id": "o2"}])
def test_the_store_refuses_a_second_telling(tx: Tx, fields: dict[str, Any]) -> None:
    """Of the same occurrence in a run, or of the same checkpoint."""
    agent_runs.insert(tx, run_row())
    agent_nudges.insert(tx, NUDGE)
    with pytest.raises(apsw.ConstraintError):
        agent_nudges.insert(tx, NUDGE._replace(**fields))
