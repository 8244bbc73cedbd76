"""Readers: a fixed number of connections, lent one at a time.

A reader that is wanted when all are lent is waited for, at most the checkout timeout, and then refused; there
is never an extra connection. Each reader belongs to one holder at a time, so its own counts need no lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic, perf_counter_ns
from types import TracebackType

import apsw

from hivekeep.storage.connections import SqliteTx
from hivekeep.storage.engine import Tx
from hivekeep.storage.faults import timed_out, typed, unusable
from hivekeep_contract.errors import ReaderCheckoutTimeout

READER_COUNTS = (
    "reader_admission_capacity",
    "available_reader_admission_slots",
    "reader_acquisitions",
    "pooled_reader_checkouts",
    "standalone_reader_opens",
    "reader_checkout_timeouts",
    "active_pooled_reader_checkouts",
    "peak_active_pooled_reader_checkouts",
    "completed_pooled_reader_checkouts",
    "max_completed_reader_hold_micros",
    "reader_replacement_open_failures",
)
_SPOILING = (apsw.IOError, apsw.CorruptError, apsw.NotADBError, apsw.CantOpenError)


class _Reader:
    """One connection of the pool, as a context manager for its holder."""

    __slots__ = ("checkouts", "completed", "connection", "max_hold_us", "pool", "since_ns", "tx")

    def __init__(self, pool: ReaderPool, connection: apsw.Connection) -> None:
        self.pool = pool
        self.checkouts = 0
        self.completed = 0
        self.max_hold_us = 0
        self.since_ns = 0
        self.use(connection)

    def use(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.tx = SqliteTx(connection)

    def __enter__(self) -> Tx:
        return self.tx

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        held = (perf_counter_ns() - self.since_ns) // 1000
        if held > self.max_hold_us:
            self.max_hold_us = held
        self.completed += 1
        if fault is None:
            self.pool.give_back(self)
            return
        if not isinstance(fault, _SPOILING) or self.pool.refresh(self):
            self.pool.give_back(self)
        if (refusal := typed(fault, self.pool.path)) is not None:
            raise refusal from fault


class ReaderPool:
    """The readers of one file; connections are opened when they are first needed."""

    def __init__(self, path: str, connect: Callable[[], apsw.Connection], *, capacity: int, timeout_ms: int) -> None:
        self.path = path
        self._connect = connect
        self._capacity = capacity
        self._timeout_ms = timeout_ms
        self._idle: list[_Reader] = []
        self._opened: list[_Reader] = []
        self._lost = 0
        self._peak = 0
        self._timeouts = 0
        self._waiting = 0
        self._freed = threading.Condition(threading.Lock())

    def checkout(self) -> _Reader:
        """A reader that is this caller's until the block ends; raises `ReaderCheckoutTimeout`."""
        try:
            # Taking from and putting on a list are atomic, so the usual case needs no lock.
            reader = self._idle.pop()
        except IndexError:
            reader = self._wait_for_one()
        reader.checkouts += 1
        reader.since_ns = perf_counter_ns()
        if self._active() > self._peak:
            with self._freed:
                self._peak = max(self._peak, self._active())
        return reader

    def give_back(self, reader: _Reader) -> None:
        """End a loan."""
        self._idle.append(reader)
        if self._waiting:
            with self._freed:
                self._freed.notify()

    def refresh(self, reader: _Reader) -> bool:
        """Replace the connection of a reader that met a fault of the file; False when none can be opened."""
        reader.connection.close()
        try:
            reader.use(self._connect())
        except apsw.Error:
            with self._freed:
                self._lost += 1
            return False
        return True

    def close(self) -> None:
        """Close every reader; none may be lent."""
        with self._freed:
            for reader in self._opened:
                reader.connection.close()
            self._opened.clear()
            self._idle.clear()

    def counters(self) -> dict[str, int | None]:
        """The counts of the diagnostics report."""
        readers = list(self._opened)
        checkouts = sum(reader.checkouts for reader in readers)
        active = self._active()
        counts = (
            self._capacity,
            self._capacity - self._lost - active,
            checkouts,
            checkouts,
            0,
            self._timeouts,
            active,
            self._peak,
            sum(reader.completed for reader in readers),
            max((reader.max_hold_us for reader in readers), default=0),
            self._lost,
        )
        return dict(zip(READER_COUNTS, counts, strict=True))

    def _active(self) -> int:
        return len(self._opened) - len(self._idle) - self._lost

    def _wait_for_one(self) -> _Reader:
        deadline = monotonic() + self._timeout_ms / 1000
        with self._freed:
            self._waiting += 1
            try:
                while True:
                    with suppress(IndexError):
                        return self._idle.pop()
                    if len(self._opened) < self._capacity:
                        return self._open_one()
                    left = deadline - monotonic()
                    if left <= 0:
                        self._timeouts += 1
                        raise _timeout(self._timeout_ms)
                    self._freed.wait(left)
            finally:
                self._waiting -= 1

    def _open_one(self) -> _Reader:
        try:
            reader = _Reader(self, self._connect())
        except apsw.Error as fault:
            raise unusable(fault, self.path) from fault
        self._opened.append(reader)
        return reader


class SharedReader:
    """Reading in memory, where writer and readers share one connection: one holder at a time, no counts."""

    def __init__(self, connection: apsw.Connection, lock: threading.RLock, *, timeout_ms: int) -> None:
        self.connection = connection
        self._tx = SqliteTx(connection)
        self._lock = lock
        self._timeout_ms = timeout_ms

    @contextmanager
    def checkout(self) -> Iterator[Tx]:
        """The connection for the length of the block; raises `ReaderCheckoutTimeout`."""
        if not self._lock.acquire(timeout=self._timeout_ms / 1000):
            raise _timeout(self._timeout_ms)
        try:
            yield self._tx
        finally:
            self._lock.release()

    def counters(self) -> dict[str, int | None]:
        """There is no pool, so there is nothing to count."""
        return dict.fromkeys(READER_COUNTS)

    def close(self) -> None:
        """Nothing to do: the connection belongs to the writer."""


def _timeout(timeout_ms: int) -> ReaderCheckoutTimeout:
    message = f"timed out after {timeout_ms} ms waiting for a sqlite reader connection"
    return timed_out(ReaderCheckoutTimeout, message, timeout_ms)
