"""Runs of the agent event gateway: one row each, found by id, listed newest first.

Invariant: a status only moves forward. A write names the status that it leaves, and the one that comes too late learns
that it did.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Where, beginning_with, marks, sql


class RunRow(NamedTuple):
    """A run as it is stored. Moments are microseconds; `coverage`, `task` and `metadata` are JSON text.

    `last_sequence` is 0 and `last_event_hash` the chain's root while the ledger has no event. `binding_digest` names
    the capability catalog of the open; `seq` is ignored by `insert`.
    """

    seq: int
    id: str
    workspace: str
    client_kind: str
    client_version: str | None
    client_session_id: str | None
    capture_profile: str
    coverage: str
    status: str
    title: str
    task: str
    task_hash: str
    metadata: str
    binding_digest: str | None
    parent_run_id: str | None
    last_sequence: int
    last_source_sequence: int | None
    last_event_hash: str
    started_at: int
    ended_at: int | None
    created_at: int
    updated_at: int


class RunFilter(NamedTuple):
    """Conditions on a list of runs; None is no condition."""

    client_kind: str | None = None
    status: str | None = None


class RunPlace(NamedTuple):
    """Where a run stands in a list."""

    created_at: int
    id: str


_COLUMNS: Final = ", ".join(RunRow._fields)
_SELECT: Final = sql("SELECT {columns} FROM agent_runs", columns=_COLUMNS)
_BY_ID: Final = _SELECT + " WHERE id = ?"
_BY_PREFIX: Final = _SELECT + " WHERE id >= ? AND id < ? ORDER BY id LIMIT 2"
_IDLE: Final = (
    _SELECT + " WHERE workspace = ? AND status = ? AND created_at < ? AND updated_at < ? ORDER BY created_at, id DESC"
    " LIMIT ?"
)
_INSERT: Final = sql(
    "INSERT INTO agent_runs ({columns}) VALUES ({marks})",
    columns=", ".join(RunRow._fields[1:]),
    marks=marks(len(RunRow._fields) - 1),
)
_MOVE: Final = "UPDATE agent_runs SET status = ?, ended_at = ?, updated_at = ? WHERE seq = ? AND status = ?"
# Behind a place: older ones, and of the same moment those with a greater id.
_PAGE: Final = (
    _SELECT + " WHERE {where} AND (created_at < ? OR created_at = ? AND id > ?) ORDER BY created_at DESC, id LIMIT ?"
)
_FIRST_PAGE: Final = _SELECT + " WHERE {where} ORDER BY created_at DESC, id LIMIT ?"


def insert(tx: Tx, row: RunRow) -> RunRow:
    """Store a new run and answer it with its number."""
    return row._replace(seq=tx.insert(_INSERT, tuple(row)[1:]))


def get(tx: Tx, run_id: str) -> RunRow | None:
    """The run of an id, or None."""
    row = tx.one(_BY_ID, (run_id,))
    return None if row is None else RunRow._make(row)


def with_prefix(tx: Tx, prefix: str) -> list[RunRow]:
    """The first two runs whose ids begin so; `prefix` is lower-case hex with hyphens at their places."""
    return [RunRow._make(row) for row in tx.all(_BY_PREFIX, beginning_with(prefix))]


def idle(tx: Tx, workspace: str, status: str, before_us: int, limit: int) -> list[RunRow]:
    """Runs of a workspace that stand there and were not changed since before a moment, the oldest first."""
    return [RunRow._make(row) for row in tx.all(_IDLE, (workspace, status, before_us, before_us, limit))]


def move(tx: Tx, run: RunRow, status: str, now_us: int, *, ended: bool = False) -> bool:
    """Give a run the next status, and its end when it is over; False when it left the status of `run` meanwhile."""
    tx.run(_MOVE, (status, now_us if ended else None, now_us, run.seq, run.status))
    return tx.changes() == 1


def page(tx: Tx, workspace: str, filters: RunFilter, *, after: RunPlace | None, limit: int) -> list[RunRow]:
    """Runs of a workspace behind a place, newest first and then by id."""
    where = Where()
    where.equal("workspace", workspace)
    where.equal("status", filters.status)
    where.equal("client_kind", filters.client_kind)
    if after is None:
        rows = tx.all(sql(_FIRST_PAGE, where=where.text), [*where.args, limit])
    else:
        args = [*where.args, after.created_at, after.created_at, after.id, limit]
        rows = tx.all(sql(_PAGE, where=where.text), args)
    return [RunRow._make(row) for row in rows]
