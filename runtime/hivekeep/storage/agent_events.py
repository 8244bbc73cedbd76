"""The events of the ledger of every run: only ever added, numbered from 1 without gaps.

Invariant: whatever a ledger holds, adding to it and reading a page of it touches the rows that are asked for and no
others; every statement is found in an index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql


class LedgerRow(NamedTuple):
    """An event as it is stored. `occurred_at` and `ingested_at` are microseconds, `payload` and `redaction` canonical
    JSON text, the hashes 64 hex digits."""

    run_seq: int
    sequence: int
    event_id: str
    source_event_id: str | None
    source_sequence: int | None
    event_type: str
    source_type: str | None
    actor: str
    outcome: str | None
    occurred_at: int
    ingested_at: int
    payload: str
    redaction: str
    previous_hash: str
    event_hash: str


class EventPage(NamedTuple):
    """Events in their order; `next_after` is the sequence to read on behind, None at the end."""

    rows: list[LedgerRow]
    next_after: int | None


_COLUMNS: Final = ", ".join(LedgerRow._fields)
_SELECT: Final = sql("SELECT {columns} FROM agent_events", columns=_COLUMNS)
_INSERT: Final = sql(
    "INSERT INTO agent_events ({columns}) VALUES ({marks})", columns=_COLUMNS, marks=marks(len(LedgerRow._fields))
)
_AMONG: Final = "IN (SELECT value FROM json_each(?))"
_BY_ID: Final = sql("{select} WHERE event_id {among}", select=_SELECT, among=_AMONG)
_BY_SOURCE: Final = sql("{select} WHERE run_seq = ? AND source_event_id {among}", select=_SELECT, among=_AMONG)
_ADVANCE: Final = (
    "UPDATE agent_runs SET last_sequence = ?, last_source_sequence = ?, last_event_hash = ?, updated_at = ?"
    " WHERE seq = ? AND last_sequence = ? AND last_event_hash = ?"
)
_SIZES: Final = (
    "SELECT sequence, octet_length(payload) + octet_length(redaction) FROM agent_events"
    " WHERE run_seq = ? AND {of_type}sequence > ? ORDER BY sequence LIMIT ?"
)
_ROWS: Final = _SELECT + " WHERE run_seq = ? AND {of_type}sequence > ? AND sequence <= ? ORDER BY sequence"
_OF_TYPE: Final = "event_type = ? AND "
_ANY: Final = (sql(_SIZES, of_type=""), sql(_ROWS, of_type=""))
_OF_ONE_TYPE: Final = (sql(_SIZES, of_type=_OF_TYPE), sql(_ROWS, of_type=_OF_TYPE))


def by_ids(tx: Tx, event_ids: Sequence[str]) -> list[LedgerRow]:
    """The events of these ids, of any run."""
    return [LedgerRow._make(row) for row in tx.all(_BY_ID, (json_text.dump(event_ids),))]


def by_source_ids(tx: Tx, run_seq: int, source_event_ids: Sequence[str]) -> list[LedgerRow]:
    """The events of a run that its client calls by these ids."""
    return [LedgerRow._make(row) for row in tx.all(_BY_SOURCE, (run_seq, json_text.dump(source_event_ids)))]


def insert_many(tx: Tx, rows: Iterable[LedgerRow]) -> None:
    """Store events in their order."""
    tx.many(_INSERT, rows)


def advance(tx: Tx, run: RunRow, after: RunRow) -> bool:
    """Give a run the counters of `after`; False when its ledger does not end where `run` says."""
    counters = (after.last_sequence, after.last_source_sequence, after.last_event_hash, after.updated_at)
    tx.run(_ADVANCE, (*counters, run.seq, run.last_sequence, run.last_event_hash))
    return tx.changes() == 1


def page(tx: Tx, run_seq: int, *, after: int, limit: int, event_type: str | None = None, max_bytes: int) -> EventPage:
    """At most `limit` events behind a sequence, of one type if one is given.

    The page ends before the event whose payload and redaction list would bring it over `max_bytes`; the first event
    is there whatever its size. The sizes are read first, without the texts.
    """
    (sizes_of, rows_of), scope = (_ANY, (run_seq,)) if event_type is None else (_OF_ONE_TYPE, (run_seq, event_type))
    sizes = tx.all(sizes_of, (*scope, after, limit + 1))
    last = _last_that_fits(sizes[:limit], max_bytes)
    if last is None:
        return EventPage([], None)
    rows = tx.all(rows_of, (*scope, after, last))
    return EventPage([LedgerRow._make(row) for row in rows], last if sizes[-1][0] > last else None)


def _last_that_fits(sizes: Sequence[tuple[int, ...]], max_bytes: int) -> int | None:
    """The sequence of the last event of a page, None for a page without any."""
    last, total = None, 0
    for sequence, size in sizes:
        total += size
        if last is not None and total > max_bytes:
            break
        last = int(sequence)
    return last
