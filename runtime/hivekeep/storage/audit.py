"""The audit log: events that are not part of a write's own transaction.

Keeps true: `append` returns when its rows are committed, or, for rows that may wait, when they are safely
queued for the next flush and counted. Rows of several threads that wait at the same time share one
transaction.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

import apsw

from hivekeep.storage.engine import EventRow
from hivekeep.storage.events import INSERT
from hivekeep.storage.faults import still_busy, typed
from hivekeep_contract import limits

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
        self._backlog: list[_Batch] = []
        self._degraded_rows = 0
        self._dropped_rows = 0
        self._flush_failures = 0
        self._obligation_failures = 0

    def append(self, rows: Sequence[EventRow], *, may_degrade: bool) -> None:
        """Store rows; see `Engine.append_audit`."""
        if not self._backlog and not self._arrived and self.try_append(rows):
            return
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

    def try_append(self, rows: Sequence[EventRow]) -> bool:
        """Store rows here and now if nobody is in the way; False says that none of them is stored."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return self._store([_Batch(rows, may_wait=False)], 0) is None
        finally:
            self._lock.release()

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
            _log.warning("%d audit rows of reads could not be stored in %s", self._rows_behind(), self._path)

    def counters(self) -> dict[str, int | None]:
        """The counts of the diagnostics report."""
        return {
            "audit_append_failures": self._dropped_rows,
            "audit_obligation_append_failures": self._obligation_failures,
            "audit_batch_flush_failures": self._flush_failures,
            "audit_degraded_rows": self._degraded_rows,
            "audit_degraded": bool(self._degraded_rows or self._flush_failures),
            "audit_backlog_rows": self._rows_behind(),
        }

    def _rows_behind(self) -> int:
        return sum(len(batch.rows) for batch in self._backlog)

    def _has_room_for(self, rows: Sequence[EventRow]) -> bool:
        return self._rows_behind() + len(rows) <= limits.AUDIT_BACKLOG_MAX

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
        batch.left_behind = True
        self._degraded_rows += len(batch.rows)
        self._backlog.append(batch)

    def _flush(self, wait_ms: int | None) -> None:
        """Store the backlog and what has arrived in one transaction. The lock of the connection is held.

        With `wait_ms` the write lock is waited for that long, and only batches that may wait are taken along.
        """
        with self._state:
            arrived = [batch for batch in self._arrived if batch.may_wait or wait_ms is None]
            self._arrived = [batch for batch in self._arrived if not (batch.may_wait or wait_ms is None)]
            batches, self._backlog = self._backlog + arrived, []
        fault = self._store(batches, wait_ms)
        faults = [fault] * len(batches)
        if len(batches) > 1 and self._is_of_the_rows(fault):
            # One batch is at fault; each on its own shows which, and the others are stored.
            faults = [self._store([batch], wait_ms) for batch in batches]
        with self._state:
            self._flush_failures += any(not isinstance(met, apsw.BusyError) for met in faults if met is not None)
            for batch, met in zip(batches, faults, strict=True):
                batch.settled = True
                if met is not None:
                    self._settle(batch, met)

    def _store(self, batches: Sequence[_Batch], wait_ms: int | None) -> Exception | None:
        """Carry out one transaction; answers what kept it from being committed."""
        connection = self._connection
        connection.set_busy_timeout(self._busy_timeout_ms if wait_ms is None else wait_ms)
        try:
            connection.execute("BEGIN IMMEDIATE")
            for batch in batches:
                connection.executemany(INSERT, batch.rows)
            connection.execute("COMMIT")
        except Exception as fault:
            # Whatever it is, it is handed to those who wait for their rows.
            return fault
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return None

    def _is_of_the_rows(self, fault: Exception | None) -> bool:
        return fault is not None and typed(fault, self._path) is None

    def _settle(self, batch: _Batch, fault: Exception) -> None:
        """Decide what becomes of a batch that was not stored. The state lock is held."""
        busy = isinstance(fault, apsw.BusyError)
        if batch.left_behind and self._is_of_the_rows(fault):
            self._dropped_rows += len(batch.rows)
        elif batch.left_behind:
            self._backlog.append(batch)
        elif batch.may_wait and busy:
            self._degrade(batch)
        else:
            self._obligation_failures += not batch.may_wait
            refusal = still_busy(self._path, self._busy_timeout_ms) if busy else typed(fault, self._path)
            batch.fault = refusal or fault
