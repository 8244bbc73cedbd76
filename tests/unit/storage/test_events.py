"""Events: stored, listed, never changed."""

from __future__ import annotations

from typing import Any

import apsw
import pytest

from hivekeep.storage import events
from hivekeep.storage.engine import Tx
from hivekeep.storage.events import EventFilter, Observation
from hivekeep_contract import limits
from support.stores import Explained, event, record_id

LOCAL = ("local",)


def _listed(tx: Tx, limit: int = 9, offset: int = 0, **filters: Any) -> list[int]:
    page = events.list_page(tx, LOCAL, EventFilter(**filters), limit=limit, offset=offset)
    assert not page.scan_incomplete
    return [int(row.id[-12:], 16) for row in page.rows]


def test_a_stored_event_reads_back_whole(tx: Tx) -> None:
    """Every column comes back as it went in, empty ones included."""
    full = event(
        1,
        profile_state_version=3,
        target_id=record_id(9),
        session_id=record_id(8),
        aggregate_kind="proposal",
        aggregate_id=record_id(7),
        duration_us=None,
    )
    events.insert(tx, full)
    events.insert_many(tx, [event(2)])
    assert events.get(tx, full.id) == full
    assert events.get(tx, record_id(2)) == event(2)
    assert events.get(tx, record_id(3)) is None


@pytest.mark.parametrize("statement", ["UPDATE events SET verb = 'x'", "DELETE FROM events"])
def test_events_are_never_changed_or_removed(tx: Tx, statement: str) -> None:
    """The schema itself refuses it."""
    events.insert(tx, event(1))
    with pytest.raises(apsw.ConstraintError, match="append-only"):
        tx.run(statement)
    assert events.get(tx, record_id(1)) == event(1)


def test_lists_are_narrowed_by_every_column(tx: Tx) -> None:
    """A tuple matches any of its members; the time bounds are both exclusive."""
    events.insert(tx, event(1, kind="entity_created", verb="create", target_id=record_id(50)))
    events.insert(tx, event(2, kind="edge_updated", substrate="edge", verb="link"))
    events.insert(tx, event(3, outcome="denied", actor="actor:ada"))
    events.insert(tx, event(4, outcome="error", session_id=record_id(60)))
    events.insert(tx, event(5, namespace="hidden"))
    assert _listed(tx) == [4, 3, 2, 1]
    assert _listed(tx, limit=2, offset=1) == [3, 2]
    assert _listed(tx, kinds=("entity_created", "edge_updated")) == [2, 1]
    assert _listed(tx, kinds=("audit", "edge_updated")) == [4, 3, 2]
    assert _listed(tx, verbs=("create", "link")) == [2, 1]
    assert _listed(tx, outcome="denied") == [3]
    assert _listed(tx, outcome="success") == [2, 1]
    assert _listed(tx, actors=("actor:ada", "actor:bob")) == [3]
    assert _listed(tx, substrate="edge") == [2]
    assert _listed(tx, target_id=record_id(50)) == [1]
    assert _listed(tx, session_id=record_id(60)) == [4]
    assert _listed(tx, since=1, until=4) == [3, 2]


def test_events_are_found_by_the_records_they_are_about(tx: Tx) -> None:
    """`observed` looks at every role, `selected` at its own; inside a list any matches, between lists both must."""
    for number in (1, 2, 3):
        events.insert(tx, event(number))
    events.observe(tx, record_id(1), "target", [record_id(70)])
    events.observe(tx, record_id(2), "selected", [record_id(71), record_id(70)])
    events.observe(tx, record_id(2), "candidate", [record_id(72)])
    events.observe(tx, record_id(3), "candidate", [record_id(71)])
    assert _listed(tx, observed=(record_id(70),)) == [2, 1]
    assert _listed(tx, observed=(record_id(70), record_id(71))) == [3, 2, 1]
    assert _listed(tx, selected=(record_id(71),)) == [2]
    assert _listed(tx, observed=(record_id(72),), selected=(record_id(70),)) == [2]
    assert events.observations(tx, record_id(2)) == [
        Observation("candidate", 0, record_id(72)),
        Observation("selected", 0, record_id(71)),
        Observation("selected", 1, record_id(70)),
    ]


def test_conditions_without_an_index_are_tried_up_to_the_ceiling(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a ceiling of 3 an older match is not looked for, and the short page says so; a full page does not."""
    monkeypatch.setattr(limits, "EVENT_SCAN_CEILING", 3)
    for number in range(1, 6):
        events.insert(tx, event(number, verb="link" if number in (1, 4) else "get"))
    page = events.list_page(tx, LOCAL, EventFilter(verbs=("link",)), limit=5)
    assert ([row.created_at for row in page.rows], page.scan_incomplete) == ([4], True)
    page = events.list_page(tx, LOCAL, EventFilter(verbs=("link",)), limit=1)
    assert ([row.created_at for row in page.rows], page.scan_incomplete) == ([4], False)
    page = events.list_page(tx, LOCAL, EventFilter(), limit=5)
    assert (len(page.rows), page.scan_incomplete) == (5, False)


@pytest.mark.parametrize(
    ("filters", "index"),
    [
        (EventFilter(), "events_listed"),
        (EventFilter(kinds=("edge_updated",)), "events_by_kind"),
        (EventFilter(outcome="denied"), "events_failed"),
        (EventFilter(target_id=record_id(1)), "events_by_target"),
        (EventFilter(observed=(record_id(1),)), "event_observations_by_referent"),
        (EventFilter(observed=(record_id(1),)), "events_id"),
    ],
)
def test_rare_events_are_found_by_their_own_index(tx: Tx, filters: EventFilter, index: str) -> None:
    """The plan of SQLite names the index that was made for the condition."""
    explained = Explained(tx)
    events.list_page(explained, LOCAL, filters, limit=5)
    assert any(index in step for step in explained.steps), explained.steps
