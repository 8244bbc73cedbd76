"""The audit log: events that are not part of a write's own transaction.

Keeps true: `append` returns when its rows are committed, or, for rows that may wait, when they are safely
queued for the next flush and counted. Rows of several threads that wait at the same time share one
transaction.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

import apsw
from hivekeep_contract import limits

from hivekeep.storage.engine import EventRow
from hivekeep.storage.events import INSERT
from hivekeep.storage.faults import still_busy, typed

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class _Batch:
    """The rows of one caller on their way."""

    rows: Sequence[EventRow]
    may_wait: bool
    settled: bool = False
    left_behind: bool = False
    fault: Exception | None = None


class AuditLog:
    """The second writing connection of a store."""

    def __init__(
        self,
        path: str,
        connection: apsw.Connection,
        lock: threading.RLock,
        *,
        busy_timeout_ms: int,
    ) -> None:
        """`lock` guards the connection; a store in memory shares both with its writer."""
        self._path = path
        self._connection = connection
        self._lock = lock
        self._busy_timeout_ms = busy_timeout_ms
        self._state = threading.Lock()
        self._arrived: list[_Batch] = []
        self._backlog: list[EventRow] = []
        self._degraded_rows = 0
        self._dropped_rows = 0
        self._flush_failures = 0
        self._obligation_failures = 0

    def append(self, rows: Sequence[EventRow], *, may_degrade: bool) -> None:
        """Store rows; see `Engine.append_audit`."""
        batch = _Batch(rows, may_degrade and self._has_room_for(rows))
        with self._state:
            self._arrived.append(batch)
        wait = limits.AUDIT_READ_WAIT_MS / 1000
        deadline = monotonic() + wait
        if not self._lock.acquire(timeout=wait if batch.may_wait else -1):
            self._leave_behind(batch)
            return
        try:
            if not batch.settled:
                self._flush(max(0, int((deadline - monotonic()) * 1000)) if batch.may_wait else None)
        finally:
            self._lock.release()
        if batch.fault is not None:
            raise batch.fault

    def flush_backlog(self) -> None:
        """Store the rows that were left behind if nobody is in the way; called after each write."""
        if self._backlog and self._lock.acquire(blocking=False):
            try:
                self._flush(0)
            finally:
                self._lock.release()

    def finish(self) -> None:
        """Store what was left behind; what the store does not take now is lost, and the log says so."""
        with self._lock:
            if self._backlog:
                self._flush(None)
        if self._backlog:
            _log.warning("%d audit rows of reads could not be stored in %s", len(self._backlog), self._path)

    def counters(self) -> dict[str, int | None]:
        """The counts of the diagnostics report."""
        return {
            "audit_append_failures": self._dropped_rows,
            "audit_obligation_append_failures": self._obligation_failures,
            "audit_batch_flush_failures": self._flush_failures,
            "audit_degraded_rows": self._degraded_rows,
            "audit_degraded": int(bool(self._degraded_rows or self._flush_failures)),
            "audit_backlog_rows": len(self._backlog),
        }

    def _has_room_for(self, rows: Sequence[EventRow]) -> bool:
        return len(self._backlog) + len(rows) <= limits.AUDIT_BACKLOG_MAX

    def _leave_behind(self, batch: _Batch) -> None:
        """Stop waiting for a batch; who carries it at the moment stores it or puts it in the backlog."""
        with self._state:
            if batch in self._arrived:
                self._arrived.remove(batch)
                self._degrade(batch)
            elif not batch.settled:
                batch.left_behind = True
                self._degraded_rows += len(batch.rows)

    def _degrade(self, batch: _Batch) -> None:
        """Put a batch into the backlog and count it. The state lock is held."""
        self._degraded_rows += len(batch.rows)
        self._backlog += batch.rows

    def _flush(self, wait_ms: int | None) -> None:
        """Store the backlog and what has arrived in one transaction. The lock of the connection is held.

        With `wait_ms` the write lock is waited for that long, and only batches that may wait are taken along.
        """
        with self._state:
            batches = [batch for batch in self._arrived if batch.may_wait or wait_ms is None]
            self._arrived = [batch for batch in self._arrived if not (batch.may_wait or wait_ms is None)]
            backlog, self._backlog = self._backlog, []
        fault: Exception | None = None
        try:
            self._store([*backlog, *(row for batch in batches for row in batch.rows)], wait_ms)
        except Exception as error:
            # Whatever it is, it is handed to those who wait for their rows.
            fault = error
        with self._state:
            if fault is not None:
                self._flush_failures += not isinstance(fault, apsw.BusyError)
                self._keep_or_drop(backlog, fault)
            for batch in batches:
                batch.settled = True
                if fault is not None:
                    self._settle(batch, fault)

    def _store(self, rows: Iterable[EventRow], wait_ms: int | None) -> None:
        connection = self._connection
        connection.set_busy_timeout(self._busy_timeout_ms if wait_ms is None else wait_ms)
        connection.execute("BEGIN IMMEDIATE")
        try:
            connection.executemany(INSERT, rows)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _settle(self, batch: _Batch, fault: Exception) -> None:
        """Decide what becomes of a batch that was not stored. The state lock is held."""
        if batch.left_behind:
            self._keep_or_drop(batch.rows, fault)
        elif batch.may_wait and isinstance(fault, apsw.BusyError):
            self._degrade(batch)
        else:
            self._obligation_failures += not batch.may_wait
            busy = isinstance(fault, apsw.BusyError)
            refusal = still_busy(self._path, self._busy_timeout_ms) if busy else typed(fault, self._path)
            batch.fault = refusal or fault

    def _keep_or_drop(self, rows: Sequence[EventRow], fault: Exception) -> None:
        """Keep rows that nobody waits for while the store can recover; drop them when they are at fault."""
        if typed(fault, self._path) is None:
            self._dropped_rows += len(rows)
        else:
            self._backlog += rows
