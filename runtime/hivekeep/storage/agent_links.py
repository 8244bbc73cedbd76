"""Links between curated entries.

Invariant: two entries have at most one link of a relation in one direction; a link goes with either of its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql


class LinkRow(NamedTuple):
    """One link by the numbers of its entries; `created_at` is in microseconds."""

    id: str
    from_seq: int
    to_seq: int
    relation: str
    created_by: str
    created_at: int


class NamedLink(NamedTuple):
    """A link by the ids of its entries."""

    id: str
    from_id: str
    to_id: str
    relation: str
    created_by: str
    created_at: int


_COLUMNS: Final = ", ".join(LinkRow._fields)
_INSERT: Final = sql(
    "INSERT INTO agent_entry_links ({columns}) VALUES ({marks})", columns=_COLUMNS, marks=marks(len(LinkRow._fields))
)
_FIND: Final = sql(
    "SELECT {columns} FROM agent_entry_links WHERE from_seq = ? AND relation = ? AND to_seq = ?", columns=_COLUMNS
)
_NAMED: Final = (
    "SELECT l.id, a.id, b.id, l.relation, l.created_by, l.created_at FROM agent_entry_links AS l"
    " JOIN agent_entries AS a ON a.seq = l.from_seq JOIN agent_entries AS b ON b.seq = l.to_seq"
)
_OF: Final = _NAMED + " WHERE l.from_seq = ?1 OR l.to_seq = ?1 ORDER BY l.created_at, l.id"
_OF_WORKSPACE: Final = _NAMED + " WHERE a.workspace = ?1 AND b.workspace = ?1 ORDER BY l.created_at, l.id"
_BY_ID: Final = _NAMED + " WHERE l.id = ?"
_LEAVING: Final = (
    "SELECT count(*) FROM agent_entry_links AS l JOIN agent_entries AS a ON a.seq = l.from_seq"
    " JOIN agent_entries AS b ON b.seq = l.to_seq"
    " WHERE a.workspace <> b.workspace AND (a.workspace = ?1 OR b.workspace = ?1)"
)


def insert(tx: Tx, row: LinkRow) -> None:
    """Store a link."""
    tx.run(_INSERT, row)


def insert_many(tx: Tx, rows: Sequence[LinkRow]) -> None:
    """Store several links."""
    tx.many(_INSERT, rows)


def find(tx: Tx, from_seq: int, relation: str, to_seq: int) -> LinkRow | None:
    """The link of this relation from one entry to another."""
    row = tx.one(_FIND, (from_seq, relation, to_seq))
    return None if row is None else LinkRow._make(row)


def get(tx: Tx, link_id: str) -> NamedLink | None:
    """The link of an id."""
    row = tx.one(_BY_ID, (link_id,))
    return None if row is None else NamedLink._make(row)


def of_entry(tx: Tx, entry_seq: int) -> list[NamedLink]:
    """Every link from or to an entry, oldest first."""
    return [NamedLink._make(row) for row in tx.all(_OF, (entry_seq,))]


def of_workspace(tx: Tx, workspace: str) -> list[NamedLink]:
    """Every link between two entries of a workspace, oldest first."""
    return [NamedLink._make(row) for row in tx.all(_OF_WORKSPACE, (workspace,))]


def count_leaving(tx: Tx, workspace: str) -> int:
    """How many links join an entry of a workspace with one of another."""
    row = tx.one(_LEAVING, (workspace,))
    assert row is not None
    return int(row[0])


def erase(tx: Tx, entry_seq: int) -> None:
    """Remove every link from or to an entry."""
    tx.run("DELETE FROM agent_entry_links WHERE from_seq = ?1 OR to_seq = ?1", (entry_seq,))
