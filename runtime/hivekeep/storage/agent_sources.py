"""External collections that manage curated entries: one row each, with the checksum of what was imported last.

Invariant: a source belongs to one workspace; what becomes of its entries is in their rows.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql


class SourceRow(NamedTuple):
    """A source. `state` is active or disabled, `checksum` that of its last import; moments are microseconds."""

    workspace: str
    id: str
    state: str
    checksum: str
    created_at: int
    refreshed_at: int


_COLUMNS: Final = ", ".join(SourceRow._fields)
_OF_WORKSPACE: Final = sql("SELECT {columns} FROM agent_sources WHERE workspace = ?", columns=_COLUMNS)
_ONE: Final = _OF_WORKSPACE + " AND id = ?"
_PUT: Final = sql(
    "INSERT OR REPLACE INTO agent_sources ({columns}) VALUES ({marks})",
    columns=_COLUMNS,
    marks=marks(len(SourceRow._fields)),
)


def get(tx: Tx, workspace: str, source_id: str) -> SourceRow | None:
    """The source of an id in a workspace."""
    row = tx.one(_ONE, (workspace, source_id))
    return None if row is None else SourceRow._make(row)


def put(tx: Tx, row: SourceRow) -> None:
    """Store a source, in the place of the one of this id."""
    tx.run(_PUT, row)


def of_workspace(tx: Tx, workspace: str) -> list[SourceRow]:
    """Every source of a workspace, by id."""
    return [SourceRow._make(row) for row in tx.all(_OF_WORKSPACE + " ORDER BY id", (workspace,))]
