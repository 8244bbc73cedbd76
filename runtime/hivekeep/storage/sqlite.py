"""The engine on one SQLite file, or on one database in memory."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

import apsw

from hivekeep.storage import diagnostics, migrations
from hivekeep.storage.audit import AuditLog
from hivekeep.storage.connections import MEMORY, Role, StoreOptions, open_connection
from hivekeep.storage.deferred import DeferredWrites
from hivekeep.storage.engine import EventRow, Surface, Tx
from hivekeep.storage.faults import CLOSED, unavailable, unusable
from hivekeep.storage.readers import READER_COUNTS, ReaderPool, SharedReader
from hivekeep.storage.writer import InlineWriter, ThreadedWriter, Transactions, Writer
from hivekeep_contract.errors import StorageUnavailable

T = TypeVar("T")

_ROOM_CHECKED_EVERY_S: Final = 1.0


class SqliteEngine:
    """See `engine.Engine`. Connections are opened by `start`, so a process forks before it calls that."""

    def __init__(self, path: str, options: StoreOptions, *, read_only: bool = False) -> None:
        """`path` is a file or `:memory:`; nothing is opened yet."""
        self.path = path
        self.read_only = read_only
        self._options = options
        self._writer: Writer | None = None
        self._audit: AuditLog | None = None
        self._readers: ReaderPool | SharedReader | None = None
        self._watcher: apsw.Connection | None = None
        self._watcher_opens = 0
        self._watching = threading.Lock()
        self._connections: list[apsw.Connection] = []
        self._room = _Room(path, options.disk_reserve_bytes)
        self._deferred = DeferredWrites(self.run_write)

    def start(self, *, threaded: bool) -> None:
        """Create or migrate the file and open the writer; `threaded` gives it a thread (never in memory).

        Raises `NewerSchema`, `NotOurDatabase`, `MigrationFailed` or `StorageUnavailable`; then nothing is
        open.
        """
        try:
            if self.read_only:
                self._start_reading()
            else:
                self._start_writing(threaded=threaded)
        except (apsw.Error, OSError) as fault:
            self._close_connections()
            raise unusable(fault, self.path) from fault
        except BaseException:
            self._close_connections()
            raise

    def read(self) -> AbstractContextManager[Tx]:
        """A reader for the length of the block."""
        if self._readers is None:
            raise self._not_open()
        return self._readers.checkout()

    def run_write(self, fn: Callable[[Tx], T]) -> T:
        """Carry out `fn` in one immediate transaction and return when it is committed."""
        if self._writer is None:
            raise self._no_writing()
        return self._writer.run(fn)

    def submit_write(self, fn: Callable[[Tx], T], *, surface: Surface = "verbs") -> Future[T]:
        """The same without waiting."""
        if self._writer is None:
            raise self._no_writing()
        return self._writer.submit(fn, surface)

    def check_admission(self, surface: Surface) -> None:
        """Raise what a write of the surface would be refused with now."""
        if self._writer is None:
            raise self._no_writing()
        self._writer.check_admission(surface)

    def vacuum(self) -> None:
        """Rewrite the file without the space of deleted rows."""
        if self._writer is None:
            raise self._no_writing()
        self._writer.vacuum()

    def scrub(self) -> bool:
        """Rewrite the file without any byte of deleted rows, and empty its log; False when a reader keeps the log."""
        if self._writer is None:
            raise self._no_writing()
        return self._writer.scrub()

    def defer_write(self, fn: Callable[[Tx], None]) -> None:
        """Carry out `fn` soon, best effort; a store that is open for reading only drops it."""
        if not self.read_only:
            self._deferred.add(fn)

    def settle(self) -> None:
        """Return when the deferred writes are carried out."""
        self._deferred.settle()

    def writes_waiting(self) -> int:
        """How many writes of this process wait for the writer."""
        return 0 if self._writer is None else self._writer.waiting()

    def append_audit(self, rows: Sequence[EventRow], *, may_degrade: bool) -> None:
        """Store events on the audit connection."""
        if self._audit is None:
            raise self._no_writing()
        self._audit.append(rows, may_degrade=may_degrade)

    def try_append_audit(self, rows: Sequence[EventRow]) -> bool:
        """Store events only if that needs no waiting."""
        if self._audit is None:
            raise self._no_writing()
        return self._audit.try_append(rows)

    def data_version(self) -> int:
        """A number that changes when another connection commits; in memory, the number of changed rows."""
        with self._watching:
            if self._watcher is None:
                self._watcher = self._open_watcher()
            if self.path == MEMORY:
                return self._watcher.total_changes()
            return int(self._watcher.pragma("data_version"))

    def counters(self) -> dict[str, int | None]:
        """Contention and failure counts since this engine was opened."""
        none: dict[str, int | None] = {}
        return {
            **(dict.fromkeys(READER_COUNTS) if self._readers is None else self._readers.counters()),
            "infrastructure_standalone_reader_opens": self._watcher_opens,
            **(none if self._writer is None else self._writer.counts.report()),
            **(none if self._audit is None else self._audit.counters()),
            **self._deferred.counters(),
        }

    def diagnostics(self) -> dict[str, Any]:
        """The sections of the diagnostics report."""
        connect = self._open_watcher if self.path == MEMORY else lambda: self._connect("audit")
        try:
            return diagnostics.report(self.path, self.counters(), connect, read_only=self.read_only)
        except apsw.Error as fault:
            raise unusable(fault, self.path) from fault

    def close(self) -> None:
        """Finish the accepted writes, flush the waiting audit rows and close every connection."""
        self._deferred.settle()
        if self._writer is not None:
            self._writer.finish()
        if self._audit is not None:
            self._audit.finish()
        if self._readers is not None:
            self._readers.close()
        self._writer = self._audit = self._readers = self._watcher = None
        self._close_connections()

    def _start_reading(self) -> None:
        known = migrations.packaged()
        state = migrations.file_state(self.path, self._options)
        migrations.check(self.path, state, known)
        if state.version < len(known):
            raise unavailable(
                "old_schema",
                f"storage: {self.path} has an older schema; open it once for writing to migrate it",
            )
        self._readers = self._pool()

    def _start_writing(self, *, threaded: bool) -> None:
        known = migrations.packaged()
        if self.path != MEMORY:
            migrations.create_file(self.path)
            migrations.check(self.path, migrations.file_state(self.path, self._options), known)
        connection = self._keep(self._connect("writer"))
        migrations.migrate(self.path, connection, self._options, known)
        writing = threading.RLock()
        shared = self.path == MEMORY
        self._audit = AuditLog(
            self.path,
            connection if shared else self._keep(self._connect("audit")),
            writing if shared else threading.RLock(),
            busy_timeout_ms=self._options.busy_timeout_ms,
        )
        transactions = Transactions(
            self.path, connection, busy_timeout_ms=self._options.busy_timeout_ms, check_room=self._room.check
        )
        if threaded and not shared:
            self._writer = ThreadedWriter(
                transactions,
                admission_ms=self._options.writer_admission_ms,
                gateway_queue_size=self._options.gateway_queue_size,
                after_commit=self._audit.flush_backlog,
            )
        else:
            self._writer = InlineWriter(
                transactions,
                writing,
                checkout_timeout_ms=self._options.checkout_timeout_ms,
                after_commit=self._audit.flush_backlog,
            )
        timeout_ms = self._options.checkout_timeout_ms
        self._readers = SharedReader(connection, writing, timeout_ms=timeout_ms) if shared else self._pool()

    def _pool(self) -> ReaderPool:
        return ReaderPool(
            self.path,
            lambda: self._connect("reader"),
            capacity=self._options.max_readers,
            timeout_ms=self._options.checkout_timeout_ms,
        )

    def _connect(self, role: Role) -> apsw.Connection:
        return open_connection(self.path, role, self._options, read_only=self.read_only)

    def _open_watcher(self) -> apsw.Connection:
        if isinstance(self._readers, SharedReader):
            return self._readers.connection
        self._watcher_opens += 1
        try:
            return self._keep(self._connect("reader"))
        except apsw.Error as fault:
            raise unusable(fault, self.path) from fault

    def _keep(self, connection: apsw.Connection) -> apsw.Connection:
        """Remember a connection of the engine's own, to close it at the end."""
        self._connections.append(connection)
        return connection

    def _close_connections(self) -> None:
        while self._connections:
            self._connections.pop().close()

    def _no_writing(self) -> StorageUnavailable:
        if self.read_only:
            return unavailable("read_only", f"storage: {self.path} is open for reading only; nothing was written")
        return self._not_open()

    def _not_open(self) -> StorageUnavailable:
        return unavailable(CLOSED, f"storage: {self.path} is not open")


class _Room:
    """Refuses writes while the disk has less free space than the reserve; looks once a second."""

    def __init__(self, path: str, reserve_bytes: int) -> None:
        self._directory = Path(path).absolute().parent
        self._reserve = 0 if path == MEMORY else reserve_bytes
        self._looked_at = -_ROOM_CHECKED_EVERY_S
        self._free = 0

    def check(self) -> None:
        """Raise `StorageUnavailable` when there is too little room."""
        if not self._reserve:
            return
        now = monotonic()
        if now - self._looked_at >= _ROOM_CHECKED_EVERY_S:
            self._free = _free_bytes(self._directory)
            self._looked_at = now
        if self._free < self._reserve:
            raise unavailable(
                "disk_reserve",
                f"storage: {self._free} bytes are free in {self._directory}, fewer than the reserve of"
                f" {self._reserve} (storage.disk_reserve_bytes); nothing was written",
            )


def _free_bytes(directory: Path) -> int:
    if sys.platform == "win32":
        import shutil

        return shutil.disk_usage(directory).free
    room = os.statvfs(directory)
    return room.f_bavail * room.f_frsize


def open_store(path: str, options: StoreOptions, *, threaded: bool = False, read_only: bool = False) -> SqliteEngine:
    """A started engine."""
    engine = SqliteEngine(path, options, read_only=read_only)
    engine.start(threaded=threaded)
    return engine
