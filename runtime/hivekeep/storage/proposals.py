"""Where each proposal stands: one row a proposal, moved by its events.

Keeps two things true: a row leaves a status only from the very status and review its writer read, and what was
proposed is nowhere but in the event of its creation, which cannot change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Where, marks, newest_first, sql
from hivekeep_contract.errors import ConcurrentChange


class ProposalRow(NamedTuple):
    """One proposal. `apply_error` is JSON text; the counts are those of its reviews."""

    id: str
    namespace: str
    proposer_kind: str
    proposer_id: str
    title: str
    status: str
    expiry: int | None
    created_event_id: str
    created_at: int
    updated_at: int
    last_decision: str | None = None
    review_count: int = 0
    approve_count: int = 0
    reject_count: int = 0
    apply_error: str | None = None


class ProposalFilter(NamedTuple):
    """Conditions on a list of proposals; the tuples hold stored labels (`kind:id`) and match any of them.

    `actors` are those of an event of the proposal.
    """

    status: str | None = None
    proposers: tuple[str, ...] = ()
    actors: tuple[str, ...] = ()


_COLUMNS: Final = ", ".join(ProposalRow._fields)
_SELECT: Final = sql("SELECT {columns} FROM proposals", columns=_COLUMNS)
_BY_ID: Final = _SELECT + " WHERE id = ?"
_INSERT: Final = sql(
    "INSERT INTO proposals ({columns}) VALUES ({marks})", columns=_COLUMNS, marks=marks(len(ProposalRow._fields))
)
_MOVE: Final = (
    "UPDATE proposals SET status = ?, last_decision = ?, review_count = ?, approve_count = ?, reject_count = ?,"
    " apply_error = ?, updated_at = ? WHERE id = ? AND status = ? AND review_count = ?"
)
_TOUCHED_BY: Final = (
    "EXISTS (SELECT 1 FROM events WHERE events.namespace = proposals.namespace AND events.target_id = proposals.id"
    " AND events.aggregate_kind = 'proposal' AND events.actor IN ({marks}))"
)


def insert(tx: Tx, row: ProposalRow) -> None:
    """Store a new proposal."""
    tx.run(_INSERT, row)


def get(tx: Tx, proposal_id: str) -> ProposalRow | None:
    """The proposal of a full id, in any namespace."""
    row = tx.one(_BY_ID, (proposal_id,))
    return None if row is None else ProposalRow._make(row)


def move(tx: Tx, old: ProposalRow, **changes: Any) -> ProposalRow:
    """Change a proposal as it was read and answer what is stored.

    Raises `ConcurrentChange` when it has another status or another review meanwhile.
    """
    new = old._replace(**changes)
    tx.run(
        _MOVE,
        (
            new.status,
            new.last_decision,
            new.review_count,
            new.approve_count,
            new.reject_count,
            new.apply_error,
            new.updated_at,
            old.id,
            old.status,
            old.review_count,
        ),
    )
    if tx.changes() == 0:
        raise ConcurrentChange(
            f"the proposal {old.id} was changed concurrently; read it again and decide anew",
            details={"reason": "concurrent_change", "id": old.id},
        )
    return new


def list_page(
    tx: Tx, namespaces: Sequence[str], filters: ProposalFilter, *, limit: int, offset: int = 0
) -> list[ProposalRow]:
    """Proposals, newest first."""
    where = Where()
    where.equal("status", filters.status)
    if filters.proposers:
        where.among("proposer_kind || ':' || proposer_id", filters.proposers)
    if filters.actors:
        where.add(sql(_TOUCHED_BY, marks=marks(len(filters.actors))), *filters.actors)
    statement = newest_first(_SELECT, where, namespaces, limit, offset)
    return [ProposalRow._make(row) for row in tx.all(statement.sql, statement.args)]
