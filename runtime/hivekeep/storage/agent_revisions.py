"""What curated entries said and say: one row for each revision.

Invariant: a revision never changes (the schema refuses it); it goes only with its entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql


class RevisionRow(NamedTuple):
    """One revision. `scope` and `provenance` are JSON objects as text, `tags` a sorted JSON list."""

    entry_seq: int
    revision: int
    kind: str
    title: str
    body: str
    summary: str | None
    scope: str
    provenance: str
    tags: str
    content_hash: str
    created_by: str
    created_at: int


COLUMNS: Final = RevisionRow._fields
_COLUMNS: Final = ", ".join(COLUMNS)
_SELECT: Final = sql("SELECT {columns} FROM agent_entry_revisions WHERE entry_seq = ?", columns=_COLUMNS)
_ONE: Final = _SELECT + " AND revision = ?"
_HISTORY: Final = _SELECT + " ORDER BY revision"
_INSERT: Final = sql(
    "INSERT INTO agent_entry_revisions ({columns}) VALUES ({marks})", columns=_COLUMNS, marks=marks(len(COLUMNS))
)


def insert(tx: Tx, row: RevisionRow) -> None:
    """Store a revision."""
    tx.run(_INSERT, row)


def insert_many(tx: Tx, rows: Sequence[RevisionRow]) -> None:
    """Store several revisions."""
    tx.many(_INSERT, rows)


def get(tx: Tx, entry_seq: int, revision: int) -> RevisionRow | None:
    """One revision of an entry."""
    row = tx.one(_ONE, (entry_seq, revision))
    return None if row is None else RevisionRow._make(row)


def history(tx: Tx, entry_seq: int) -> list[RevisionRow]:
    """Every revision of an entry, oldest first."""
    return [RevisionRow._make(row) for row in tx.all(_HISTORY, (entry_seq,))]


def erase(tx: Tx, entry_seq: int) -> None:
    """Remove every revision of an entry."""
    tx.run("DELETE FROM agent_entry_revisions WHERE entry_seq = ?", (entry_seq,))
