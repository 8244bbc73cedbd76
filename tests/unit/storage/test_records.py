"""Looking records up by id, by the beginning of an id, and by cursor."""

from __future__ import annotations

import pytest

from hivekeep.storage import edges, entities, events, ledger, notes, records
from hivekeep.storage.engine import Tx
from hivekeep.storage.records import TABLES, Located
from support.stores import edge, entity, event, note, record_id


@pytest.fixture
def store(tx: Tx) -> Tx:
    """One live record of each substrate (1..4) and a deleted entity 5."""
    entities.insert(tx, entity(1))
    notes.insert(tx, note(2, namespace="team"))
    edges.insert(tx, edge(3, 1, 2))
    events.insert(tx, event(4))
    entities.insert(tx, entity(5))
    row = entities.get(tx, record_id(5))
    assert row is not None
    entities.soft_delete(tx, row, 9)
    return tx


def test_an_id_tells_its_substrate(store: Tx) -> None:
    """Deleted records are located too; the kind of an edge is its relation."""
    assert records.locate(store, record_id(1)) == Located("entity", record_id(1), "local", "concept", None)
    assert records.locate(store, record_id(2)) == Located("note", record_id(2), "team", "observation", None)
    assert records.locate(store, record_id(3)) == Located("edge", record_id(3), "local", "extends", None)
    assert records.locate(store, record_id(4)) == Located("event", record_id(4), "local", "audit", None)
    assert records.locate(store, record_id(5)) == Located("entity", record_id(5), "local", "concept", 9)
    assert records.locate(store, record_id(6)) is None


def test_many_ids_are_located_at_once(store: Tx) -> None:
    """Each as `locate` does it, more of them than one statement takes, the first substrate first."""
    notes.insert(store, note(1))
    found = records.locate_many(store, [record_id(number) for number in range(1200)])
    assert found == {record_id(number): records.locate(store, record_id(number)) for number in range(1, 6)}
    assert found[record_id(1)].substrate == "entity"
    assert records.locate_many(store, []) == {}


def test_a_prefix_is_looked_for_in_every_substrate(store: Tx) -> None:
    """Live records only unless asked; namespaces and substrates narrow; other prefixes do not match."""
    prefix = "00000000-0000-4000"
    found = [("entity", 1), ("note", 2), ("edge", 3), ("event", 4)]
    assert records.find_prefix(store, prefix, TABLES) == [(name, record_id(number)) for name, number in found]
    assert records.find_prefix(store, prefix, ["entity"], True) == [
        ("entity", record_id(1)),
        ("entity", record_id(5)),
    ]
    assert records.find_prefix(store, prefix, TABLES, namespaces=["team"]) == [("note", record_id(2))]
    assert records.find_prefix(store, record_id(1), TABLES) == [("entity", record_id(1))]
    assert records.find_prefix(store, "00000001", TABLES) == []
    assert records.find_prefix(store, "0000000", TABLES, True)[-1] == ("event", record_id(4))


def test_an_id_in_two_substrates_is_one_match(store: Tx) -> None:
    """Matches are counted by id, and the first substrate names it."""
    notes.insert(store, note(1))
    assert records.find_prefix(store, record_id(1), TABLES) == [("entity", record_id(1))]


def test_a_cursor_is_a_record_that_still_exists_where_the_caller_sees_it(store: Tx) -> None:
    """A soft-deleted record is a boundary; an unknown, hard-deleted or foreign one is none."""
    assert ledger.cursor_seq(store, "entities", record_id(1), ["local"]) == 1
    assert ledger.cursor_seq(store, "entities", record_id(5), ["team", "local"]) == 2
    assert ledger.cursor_seq(store, "notes", record_id(2), ["local"]) is None
    assert ledger.cursor_seq(store, "entities", record_id(9), ["local"]) is None
    row = entities.get(store, record_id(1))
    assert row is not None
    entities.hard_delete(store, row)
    assert ledger.cursor_seq(store, "entities", record_id(1), ["local"]) is None
    assert ledger.counts(store) == {"entities": (1, 2), "notes": (1, 1), "edges": (0, 1)}


def test_a_prefix_is_answered_from_the_index_alone(store: Tx) -> None:
    """The plan is a range over the id index, never a walk over the table."""
    plan = store.all(
        "EXPLAIN QUERY PLAN SELECT id FROM entities WHERE id >= ? AND id < ? AND deleted_at IS NULL ORDER BY id",
        ("a", "ag"),
    )
    assert [row[3] for row in plan] == ["SEARCH entities USING INDEX entities_id (id>? AND id<?)"]
