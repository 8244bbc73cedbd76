"""Removing a run of the gateway with everything that is stored of it, and the row that says so.

Invariant: after a purge no table has a row of the run but its tombstone, which holds nothing of its content. What other
runs have is not touched. A run that others were opened from goes as well: they keep its id, for which the tombstone
stands. Entries that proposals of the run became are memory of their own and stay.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import beginning_with, marks, sql


class PurgeRow(NamedTuple):
    """That a run was purged, when (in microseconds) and by whom.

    `last_event_hash` is what its ledger ended with, `open_key_hash` the hash of the key that opened it. Until
    `erased_at` the file may hold bytes of the run where nothing is stored any more.
    """

    run_id: str
    event_count: int
    last_event_hash: str
    open_key_hash: str | None
    actor: str
    purged_at: int
    erased_at: int | None = None


class Holdings(NamedTuple):
    """How many rows of each sort are stored of a run; `keys` are its idempotency records."""

    events: int
    answers: int
    keys: int
    deliveries: int
    feedback: int
    nudges: int
    promotions: int


REMOVALS: Final = (
    "DELETE FROM agent_nudges WHERE run_seq = ?",
    "DELETE FROM agent_feedback WHERE run_seq = ?",
    "DELETE FROM agent_memory_links WHERE run_seq = ?",
    "DELETE FROM agent_delivery_items WHERE delivery_seq IN (SELECT seq FROM agent_deliveries WHERE run_seq = ?)",
    "DELETE FROM agent_deliveries WHERE run_seq = ?",
    "DELETE FROM agent_idempotency WHERE run_seq = ?",
    "DELETE FROM agent_projections WHERE run_seq = ?",
    "DELETE FROM agent_events WHERE run_seq = ?",
    "DELETE FROM agent_answers WHERE run_seq = ?",
    "DELETE FROM agent_intakes WHERE run_seq = ?",
    "DELETE FROM agent_runs WHERE seq = ?",
)
"""What takes a run out of each table, in an order that leaves no row without the one that it belongs to."""

_COLUMNS: Final = ", ".join(PurgeRow._fields)
# A run that came back with a file of somebody's can be purged once more.
_INSERT: Final = sql(
    "INSERT OR REPLACE INTO agent_run_purges ({columns}) VALUES ({marks})",
    columns=_COLUMNS,
    marks=marks(len(PurgeRow._fields)),
)
_BY_PREFIX: Final = sql(
    "SELECT {columns} FROM agent_run_purges WHERE run_id >= ? AND run_id < ? ORDER BY run_id LIMIT 2", columns=_COLUMNS
)
_UNERASED: Final = "SELECT max(seq) FROM agent_run_purges WHERE erased_at IS NULL"
_ERASED: Final = "UPDATE agent_run_purges SET erased_at = ? WHERE erased_at IS NULL AND seq <= ?"
_SPENT: Final = "SELECT 1 FROM agent_run_purges WHERE open_key_hash = ?"
_OPEN_KEY: Final = "SELECT key_hash FROM agent_idempotency WHERE run_seq = ? AND scope = ?"
_HOLDINGS: Final = (
    "SELECT (SELECT count(*) FROM agent_events WHERE run_seq = ?1), (SELECT count(*) FROM agent_answers WHERE"
    " run_seq = ?1), (SELECT count(*) FROM agent_idempotency WHERE run_seq = ?1), (SELECT count(*) FROM"
    " agent_deliveries WHERE run_seq = ?1), (SELECT count(*) FROM agent_feedback WHERE run_seq = ?1), (SELECT count(*)"
    " FROM agent_nudges WHERE run_seq = ?1), (SELECT count(*) FROM agent_memory_links WHERE run_seq = ?1)"
)
_KEPT: Final = (
    "SELECT l.entry_id FROM agent_memory_links AS l WHERE l.run_seq = ?"
    " AND EXISTS (SELECT 1 FROM agent_entries AS e WHERE e.id = l.entry_id) ORDER BY l.seq"
)
_OVERWRITE: Final = "PRAGMA secure_delete = on"
_LEAVE: Final = "PRAGMA secure_delete = off"


def holdings(tx: Tx, run_seq: int) -> Holdings:
    """What is stored of a run."""
    row = tx.one(_HOLDINGS, (run_seq,))
    assert row is not None
    return Holdings._make(row)


def kept_entries(tx: Tx, run_seq: int) -> list[str]:
    """The entries that proposals of a run became and that are there still, in the order of their promotions."""
    return [str(row[0]) for row in tx.all(_KEPT, (run_seq,))]


def open_key(tx: Tx, run_seq: int, scope: str) -> str | None:
    """The hash of the key that a run was opened with; `scope` is where keys of openings count."""
    row = tx.one(_OPEN_KEY, (run_seq, scope))
    return None if row is None else str(row[0])


def remove(tx: Tx, run: RunRow, tombstone: PurgeRow) -> None:
    """Take a run out of every table and leave its tombstone; what the rows held is overwritten with zeros."""
    tx.run(_OVERWRITE)
    for statement in REMOVALS:
        tx.run(statement, (run.seq,))
    tx.run(_LEAVE)
    tx.run(_INSERT, tombstone)


def with_prefix(tx: Tx, prefix: str) -> list[PurgeRow]:
    """The first two purged runs whose ids begin so; `prefix` is lower-case hex with hyphens at their places."""
    return [PurgeRow._make(row) for row in tx.all(_BY_PREFIX, beginning_with(prefix))]


def is_spent(tx: Tx, key_hash: str) -> bool:
    """Whether a key opened a run that was purged."""
    return tx.one(_SPENT, (key_hash,)) is not None


def last_unerased(tx: Tx) -> int | None:
    """The number of the last tombstone of whose run the file may hold bytes; None when there is none."""
    row = tx.one(_UNERASED)
    return None if row is None else row[0]


def note_erased(tx: Tx, through: int, now_us: int) -> None:
    """Note that the file holds nothing of the runs of the tombstones up to that number."""
    tx.run(_ERASED, (now_us, through))
