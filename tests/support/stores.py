"""Stores and rows for the tests of the storage package: ids count up, times are small numbers."""

from __future__ import annotations

from typing import Any

from hivekeep.storage.connections import StoreOptions, storage_options
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.engine import Args, EventRow, Row, Tx
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.settings import Settings

OPTIONS: StoreOptions = storage_options(Settings())._replace(disk_reserve_bytes=0)
"""The default options, except that a full test machine refuses nothing."""


class Explained:
    """A `Tx` that carries out no read but keeps the steps SQLite would take for it."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.steps: list[str] = []

    def all(self, sql: str, args: Args = ()) -> list[Row]:
        """Plan the statement; it has no rows."""
        self.steps += [str(row[3]) for row in self._tx.all("EXPLAIN QUERY PLAN " + sql, args)]
        return []

    def one(self, sql: str, args: Args = ()) -> Row | None:
        """Plan the statement; it has no row."""
        self.all(sql, args)
        return None

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a read does not call {name}")


def record_id(number: int) -> str:
    """A UUID that ends in the number."""
    return f"00000000-0000-4000-8000-{number:012x}"


def entity(number: int, **fields: Any) -> EntityRow:
    """A concept of the namespace `local`, called by its number."""
    row = EntityRow(record_id(number), "local", "concept", f"entity {number}", number, number)
    return row._replace(**fields)


def note(number: int, **fields: Any) -> NoteRow:
    """An observation of the namespace `local`."""
    row = NoteRow(record_id(number), "local", "observation", f"content {number}", number, number)
    return row._replace(**fields)


def edge(number: int, source: int, target: int, relation: str = "extends", **fields: Any) -> EdgeRow:
    """An edge of the namespace `local` between two numbered records."""
    row = EdgeRow(record_id(number), "local", record_id(source), record_id(target), relation, number, number)
    return row._replace(**fields)


def event(number: int, **fields: Any) -> EventRow:
    """The audit row of a successful `get`."""
    row = EventRow(
        id=record_id(number),
        namespace="local",
        verb="get",
        substrate="entity",
        actor="anonymous:local",
        kind="audit",
        outcome="success",
        payload="{}",
        payload_schema_version=1,
        profile_state_version=None,
        duration_us=10,
        target_id=None,
        session_id=None,
        aggregate_kind=None,
        aggregate_id=None,
        created_at=number,
    )
    return row._replace(**fields)
