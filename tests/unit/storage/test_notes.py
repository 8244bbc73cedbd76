"""Notes as rows."""

from __future__ import annotations

import apsw
import pytest

from hivekeep.storage import edges, notes, text_index
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NO_FILTER, NoteFilter
from hivekeep_contract import limits
from support.stores import edge, note, record_id

LOCAL = ("local",)


def _numbers(rows: list[notes.NoteRow]) -> list[int]:
    return [int(row.id[-12:], 16) for row in rows]


def _stored(tx: Tx, number: int) -> notes.NoteRow:
    row = notes.get(tx, record_id(number), include_deleted=True)
    assert row is not None
    return row


def test_a_stored_note_reads_back_whole(tx: Tx) -> None:
    """Every column comes back as it went in."""
    row = note(
        1,
        name="title",
        salience=0.25,
        decay_factor=3.0,
        expires_at=99,
        properties=dump({"tags": ["a"]}),
        key="k",
    )
    assert notes.insert(tx, row) == 1
    assert notes.get(tx, row.id) == row._replace(seq=1)


def test_a_key_has_one_live_holder_in_its_namespace_and_kind(tx: Tx) -> None:
    """A second live holder is refused by the database; a deleted holder frees the key; elsewhere it is another key."""
    notes.insert(tx, note(1, key="k"))
    notes.insert(tx, note(2, key="k", kind="decision"))
    notes.insert(tx, note(3, key="k", namespace="other"))
    notes.insert(tx, note(4))
    notes.insert(tx, note(5))
    with pytest.raises(apsw.ConstraintError):
        notes.insert(tx, note(6, key="k"))
    assert notes.find_by_key(tx, "local", "observation", "k") == _stored(tx, 1)
    notes.soft_delete(tx, _stored(tx, 1), 9)
    assert notes.find_by_key(tx, "local", "observation", "k") is None
    notes.insert(tx, note(7, key="k"))
    assert notes.find_by_key(tx, "local", "observation", "k") == _stored(tx, 7)
    with pytest.raises(apsw.ConstraintError):
        notes.restore(tx, _stored(tx, 1), 10)


def test_tags_of_a_note_are_a_property(tx: Tx) -> None:
    """The tags filter looks into properties.tags."""
    notes.insert(tx, note(1, properties=dump({"tags": ["Alpha"]})))
    notes.insert(tx, note(2, properties=dump({"tags": [7]})))
    notes.insert(tx, note(3))
    assert _numbers(notes.list_page(tx, LOCAL, NoteFilter(tags=("alpha", "7")), limit=9)) == [1]
    assert notes.count(tx, LOCAL, NoteFilter(tags=("beta",))) == 0


def test_lists_are_narrowed_by_kind(tx: Tx) -> None:
    """Kind is compared exactly; deleted notes are in no list and no count."""
    for number in (1, 2, 3):
        notes.insert(tx, note(number, kind="task" if number < 3 else "memory"))
    notes.soft_delete(tx, _stored(tx, 1), 9)
    assert _numbers(notes.list_page(tx, LOCAL, NoteFilter(kind="task"), limit=9)) == [2]
    assert _numbers(notes.list_page(tx, LOCAL, NO_FILTER, limit=9)) == [3, 2]
    assert notes.count(tx, LOCAL) == 2


def test_a_filtered_walk_stops_at_the_scan_ceiling(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a ceiling of 4, matches behind the fourth note come with the next page, and the page says so."""
    monkeypatch.setattr(limits, "NOTE_SCAN_CEILING", 4)
    for number in range(1, 11):
        notes.insert(tx, note(number, kind="task" if number in (1, 6, 10) else "memory"))
    tasks = NoteFilter(kind="task")
    first = notes.list_after(tx, LOCAL, tasks, limit=5, after_seq=0)
    assert (_numbers(first.rows), first.next_after, first.scan_incomplete) == ([1], record_id(4), True)
    second = notes.list_after(tx, LOCAL, tasks, limit=5, after_seq=4)
    assert (_numbers(second.rows), second.next_after, second.scan_incomplete) == ([6], record_id(8), True)
    third = notes.list_after(tx, LOCAL, tasks, limit=5, after_seq=8)
    assert (_numbers(third.rows), third.next_after, third.scan_incomplete) == ([10], None, False)


def test_a_walk_without_filters_has_no_ceiling(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is skipped over, so nothing has to be bounded."""
    monkeypatch.setattr(limits, "NOTE_SCAN_CEILING", 1)
    for number in (1, 2, 3):
        notes.insert(tx, note(number))
    page = notes.list_after(tx, LOCAL, NO_FILTER, limit=9, after_seq=0)
    assert (_numbers(page.rows), page.scan_incomplete) == ([1, 2, 3], False)


def test_live_notes_that_annotate_a_record_are_found(tx: Tx) -> None:
    """Only live annotates edges of live notes count, each with its edge id, in any namespace."""
    for number in (1, 2, 3):
        notes.insert(tx, note(number, namespace="other" if number == 1 else "local"))
        edges.insert(tx, edge(number + 10, number, 99, "annotates"))
    edges.insert(tx, edge(20, 1, 99, "supports"))
    notes.soft_delete(tx, _stored(tx, 2), 9)
    third = edges.get(tx, record_id(13))
    assert third is not None
    edges.soft_delete(tx, third, 9)
    assert notes.annotating(tx, record_id(99)) == [(record_id(11), _stored(tx, 1))]


def test_hard_delete_works_on_a_tombstone(tx: Tx) -> None:
    """A soft-deleted note can still be removed for good; its index rows are already gone."""
    notes.insert(tx, note(1))
    notes.hard_delete(tx, notes.soft_delete(tx, _stored(tx, 1), 9))
    assert notes.get(tx, record_id(1), include_deleted=True) is None
    assert text_index.differences(tx, "note") == ([], [])


def test_the_version_counts_accepted_changes(tx: Tx) -> None:
    """It starts at 1 and goes up by 1 whatever the new row says."""
    notes.insert(tx, note(1))
    row = _stored(tx, 1)
    assert row.version == 1
    row = notes.update(tx, row, row._replace(content="new", version=40))
    assert (row.version, _stored(tx, 1).version) == (2, 2)
