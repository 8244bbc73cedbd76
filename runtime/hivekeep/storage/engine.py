"""What the rest of the program may ask of a store, and nothing about how a store does it.

Times are integer microseconds since the epoch (UTC), ids are lower-case UUID text, JSON travels as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

T = TypeVar("T")

Row = tuple[Any, ...]
Args = Sequence[object]
Surface = Literal["verbs", "gateway"]


class OutOfTime(Exception):
    """A statement was stopped because it ran longer than it may; it changed nothing."""


class TooComplex(Exception):
    """A statement was not begun because it is larger than SQLite takes; the message says in which way."""


class Tx(Protocol):
    """A connection as a handler sees it: a transaction for writes, one snapshot a statement for reads."""

    def one(self, sql: str, args: Args = ()) -> Row | None:
        """The first row of a statement, or None."""
        ...

    def all(self, sql: str, args: Args = ()) -> list[Row]:
        """Every row of a statement."""
        ...

    def all_within(self, sql: str, args: Args, budget_ms: int) -> list[Row]:
        """Every row of a SELECT; raises `OutOfTime` when it takes longer than the budget, or `TooComplex`."""
        ...

    def run(self, sql: str, args: Args = ()) -> None:
        """Carry out a statement that has no rows to give."""
        ...

    def many(self, sql: str, rows: Iterable[Args]) -> None:
        """Carry out one statement once for each row of arguments."""
        ...

    def insert(self, sql: str, args: Args = ()) -> int:
        """Carry out an INSERT and answer the integer key of the new row."""
        ...

    def changes(self) -> int:
        """How many rows the last INSERT, UPDATE or DELETE touched."""
        ...

    def vectors_ready(self) -> bool:
        """Whether statements over tables of sqlite-vec can be carried out; the first question loads the extension."""
        ...


class EventRow(NamedTuple):
    """One event as it is stored; `payload` is JSON text, `created_at` microseconds."""

    id: str
    namespace: str
    verb: str
    substrate: str
    actor: str
    kind: str
    outcome: str
    payload: str
    payload_schema_version: int
    profile_state_version: int | None
    duration_us: int | None
    target_id: str | None
    session_id: str | None
    aggregate_kind: str | None
    aggregate_id: str | None
    created_at: int


class Engine(Protocol):
    """One open store. Every method may be called from any thread.

    Errors raised by all of them: `StorageUnavailable` (disk full, read-only, input/output fault, damaged
    file).
    """

    path: str
    read_only: bool

    def read(self) -> AbstractContextManager[Tx]:
        """A reader for the length of the block; `ReaderCheckoutTimeout` when none came free in time."""
        ...

    def run_write(self, fn: Callable[[Tx], T]) -> T:
        """Carry out `fn` in one immediate transaction and return when it is committed.

        Any exception of `fn` rolls everything back and comes out unchanged. `fn` runs at most once. Raises
        `WriterPoolCheckoutTimeout` or `WriterQueueFull` (no place in time), `WriterTaskBeginBusy` (another
        process kept the write lock); after these three nothing was tried.
        """
        ...

    def submit_write(self, fn: Callable[[Tx], T], *, surface: Surface = "verbs") -> Future[T]:
        """The same without waiting: the future carries the result or the error of `run_write`.

        A store without a writer thread carries it out at once and returns a finished future.
        """
        ...

    def check_admission(self, surface: Surface) -> None:
        """Raise `WriterQueueFull`, or `StorageUnavailable` of a store that closes or takes no writes, when a write of
        the surface would be refused now. Nothing is queued."""
        ...

    def vacuum(self) -> None:
        """Rewrite the file without the space of deleted rows, outside any transaction and beside open readers.

        Raises what `run_write` does when the writer, or the write lock of the file, is not free in time.
        """
        ...

    def scrub(self) -> bool:
        """Rewrite the file so that it holds no byte of deleted rows, and empty its log, outside any transaction.

        False: the file is clean, and a reader who looks at an old state keeps the log from being emptied. Raises what
        `vacuum` does; then nothing is known of deleted bytes.
        """
        ...

    def defer_write(self, fn: Callable[[Tx], None]) -> None:
        """Carry out `fn` in a write transaction soon, best effort; never blocks and never raises.

        For what an answer leaves behind and must not wait for; a failure is counted.
        """
        ...

    def settle(self) -> None:
        """Return when the deferred writes are carried out."""
        ...

    def writes_waiting(self) -> int:
        """How many writes of this process wait for the writer: work in the background lets them go first."""
        ...

    def append_audit(self, rows: Sequence[EventRow], *, may_degrade: bool) -> None:
        """Store events on the audit connection and return when they are committed.

        With `may_degrade` it waits for the write lock only `limits.AUDIT_READ_WAIT_MS`; then the rows stay in
        memory for the next flush and count in `audit_degraded_rows`.
        """
        ...

    def try_append_audit(self, rows: Sequence[EventRow]) -> bool:
        """Store events only if that needs no waiting; False: none is stored, and `append_audit` says why."""
        ...

    def data_version(self) -> int:
        """A number that changes when any connection of any process commits to the file."""
        ...

    def counters(self) -> dict[str, int | None]:
        """Contention and failure counts since this engine was opened; None = not collected for this store."""
        ...

    def diagnostics(self) -> dict[str, Any]:
        """The sections of `storage.diagnostics.report` for this store, collected on a connection of its own."""
        ...

    def start(self, *, threaded: bool) -> None:
        """Make the file ready (create, migrate) and open the writer; `threaded` gives it its own thread."""
        ...

    def close(self) -> None:
        """Finish the accepted writes, flush the waiting audit rows and close every connection."""
        ...
