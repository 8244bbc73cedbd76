"""What a page of a cursor walk costs: as much on page 200 as on page 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hivekeep.storage import edges, entities, notes
from hivekeep.storage.connections import SqliteTx, open_connection
from hivekeep.storage.edges import EdgeFilter
from hivekeep.storage.engine import Tx
from hivekeep.storage.entities import EntityFilter
from hivekeep.storage.notes import NoteFilter
from hivekeep.storage.sqlite import SqliteEngine
from support.stores import OPTIONS, edge, entity, note

PAGES = 200
LIMIT = 5
RECORDS = PAGES * LIMIT + 1
"""One more than the pages hold, so that the last of them also finds something behind itself."""

Page = Callable[[Tx, int], Any]


def _entities(tx: Tx, after: int) -> Any:
    return entities.list_after(tx, ("local",), EntityFilter(kind="concept"), limit=LIMIT, after_seq=after)


def _notes(tx: Tx, after: int) -> Any:
    return notes.list_after(tx, ("local",), NoteFilter(), limit=LIMIT, after_seq=after)


def _edges(tx: Tx, after: int) -> Any:
    return edges.list_after(tx, ("local",), EdgeFilter(relations=("extends",)), limit=LIMIT, after_seq=after)


def _fill(tx: Tx) -> None:
    entities.insert_many(tx, [entity(number) for number in range(1, RECORDS + 2)])
    notes.insert_many(tx, [note(10_000 + number) for number in range(RECORDS)])
    edges.insert_many(tx, [edge(20_000 + number, number, number + 1) for number in range(1, RECORDS + 1)])


@pytest.mark.parametrize("page", [_entities, _notes, _edges])
def test_every_page_of_a_walk_costs_the_same(engine: SqliteEngine, path: str, page: Page) -> None:
    """SQLite's virtual machine carries out the same number of instructions for each of 200 pages."""
    engine.run_write(_fill)
    connection = open_connection(path, "reader", OPTIONS)
    instructions = 0

    def count() -> bool:
        nonlocal instructions
        instructions += 1
        return False

    tx = SqliteTx(connection)
    page(tx, 0)  # reads the schema
    connection.set_progress_handler(count, 1)
    costs = []
    after = 0
    for _ in range(PAGES):
        instructions = 0
        rows = page(tx, after).rows
        assert len(rows) == LIMIT
        costs.append(instructions)
        after = rows[-1].seq
    connection.close()
    assert after == PAGES * LIMIT
    assert costs[0] > LIMIT
    assert costs == [costs[0]] * PAGES
