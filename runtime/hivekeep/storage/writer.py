"""The writing connection of a process, and who may use it when.

Keeps true: a write function runs at most once, inside one BEGIN IMMEDIATE transaction that is committed
before its result is seen, or rolled back with nothing left. `InlineWriter` lends the connection to the
calling thread, `ThreadedWriter` gives it a thread and bounded queues.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Final, Generic, Protocol, TypeVar

import apsw

from hivekeep.storage.connections import SqliteTx
from hivekeep.storage.engine import Surface, Tx
from hivekeep.storage.faults import CLOSING, may_have_landed, still_busy, timed_out, typed, unavailable, unknown_outcome
from hivekeep_contract import limits
from hivekeep_contract.errors import (
    WriterPoolCheckoutTimeout,
    WriterQueueFull,
)

T = TypeVar("T")


@dataclass(slots=True)
class WriterCounts:
    """What the diagnostics report says of writes; each field is changed by who holds the connection or, for the
    refusals of the queue, its lock. Checkout timeouts of two threads in one instant may count as one."""

    inline_acquisitions: int = 0
    task_acquisitions: int = 0
    checkout_timeouts: int = 0
    queue_refusals: int = 0
    begin_busy: int = 0
    begin_busy_absorbed: int = 0
    request_failures: int = 0
    side_effects_unknown: int = 0

    def report(self) -> dict[str, int | None]:
        """The counts under their public names."""
        return {
            "writer_acquisitions": self.inline_acquisitions + self.task_acquisitions,
            "pooled_writer_acquisitions": self.inline_acquisitions,
            "standalone_writer_acquisitions": 0,
            "writer_task_acquisitions": self.task_acquisitions,
            "writer_acquisition_timeouts": self.checkout_timeouts,
            "writer_queue_refusals": self.queue_refusals,
            "writer_task_begin_busy": self.begin_busy,
            "writer_task_begin_busy_absorbed": self.begin_busy_absorbed,
            "writer_task_request_failures": self.request_failures,
            "writer_task_side_effects_unknown": self.side_effects_unknown,
        }


class Transactions:
    """The writing connection: carries out one write function after another. Not for two threads at once."""

    def __init__(
        self, path: str, connection: apsw.Connection, *, busy_timeout_ms: int, check_room: Callable[[], None]
    ) -> None:
        """`check_room` is asked before each transaction and raises when the disk has too little room."""
        self.path = path
        self.connection = connection
        self.counts = WriterCounts()
        self._tx = SqliteTx(connection)
        self._busy_timeout_ms = busy_timeout_ms
        self._first_wait_ms = min(busy_timeout_ms, limits.WRITER_BEGIN_RETRY_MS)
        self._check_room = check_room

    def carry_out(self, fn: Callable[[Tx], T]) -> T:
        """Run `fn` in a transaction of its own; its result is returned after the commit."""
        committing = False
        try:
            self._check_room()
            self._begin()
            result = fn(self._tx)
            committing = True
            self.connection.execute("COMMIT")
        except BaseException as fault:
            self.counts.request_failures += 1
            self._roll_back()
            if committing and may_have_landed(fault):
                self.counts.side_effects_unknown += 1
                raise unknown_outcome(self.path) from fault
            if (refusal := typed(fault, self.path)) is not None:
                raise refusal from fault
            raise
        return result

    def vacuum(self) -> None:
        """Rewrite the file outside any transaction; readers keep what they see."""
        self._apart(self._rewrite)

    def scrub(self) -> bool:
        """Rewrite the file, no unused byte of which is left as it was, and empty the log.

        False when a reader, who sees an old state, keeps the log from being emptied.
        """
        return self._apart(self._rewrite_clean)

    def _rewrite(self) -> None:
        self.connection.execute("VACUUM")

    def _rewrite_clean(self) -> bool:
        # A page of the new file begins as zeros only with this; else it may begin as what its memory held before.
        self.connection.pragma("secure_delete", 1)
        try:
            self._rewrite()
        finally:
            self.connection.pragma("secure_delete", 0)
        (busy, _, _) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
        return not busy

    def _apart(self, work: Callable[[], T]) -> T:
        """Carry out work that is no transaction."""
        try:
            self._check_room()
            self.connection.set_busy_timeout(self._busy_timeout_ms)
            return work()
        except apsw.BusyError as fault:
            self.counts.request_failures += 1
            raise still_busy(self.path, self._busy_timeout_ms) from fault
        except BaseException as fault:
            self.counts.request_failures += 1
            if (refusal := typed(fault, self.path)) is not None:
                raise refusal from fault
            raise

    def _begin(self) -> None:
        """BEGIN IMMEDIATE, tried again until the busy timeout is used up; each refusal is counted."""
        deadline = monotonic() + self._busy_timeout_ms / 1000
        wait_ms = self._first_wait_ms
        refusals = 0
        while True:
            self.connection.set_busy_timeout(wait_ms)
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                break
            except apsw.BusyError as fault:
                refusals += 1
                self.counts.begin_busy += 1
                left = deadline - monotonic()
                if left <= 0:
                    raise still_busy(self.path, self._busy_timeout_ms) from fault
                wait_ms = min(int(left * 1000), limits.WRITER_BEGIN_RETRY_MS)
        if refusals:
            self.counts.begin_busy_absorbed += refusals
        self.connection.set_busy_timeout(self._busy_timeout_ms)

    def _roll_back(self) -> None:
        """End what is left of the transaction; some faults of SQLite have ended it already."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")


class Writer(Protocol):
    """How an engine reaches its writing connection."""

    counts: WriterCounts

    def run(self, fn: Callable[[Tx], T]) -> T:
        """Carry out `fn` and return when it is committed."""
        ...

    def submit(self, fn: Callable[[Tx], T], surface: Surface) -> Future[T]:
        """Carry out `fn` when its turn comes."""
        ...

    def check_admission(self, surface: Surface) -> None:
        """Raise what `submit` would be refused with at this moment; nothing is queued."""
        ...

    def vacuum(self) -> None:
        """Rewrite the file when the turn comes, and return when it is done."""
        ...

    def scrub(self) -> bool:
        """The same, without any byte of deleted rows; answers whether the log was emptied as well."""
        ...

    def waiting(self) -> int:
        """How many writes wait for their turn."""
        ...

    def finish(self) -> None:
        """Carry out what was accepted and accept no more."""
        ...


class InlineWriter:
    """Lends the connection to one calling thread after the other."""

    def __init__(
        self,
        transactions: Transactions,
        lock: threading.RLock,
        *,
        checkout_timeout_ms: int,
        after_commit: Callable[[], None],
    ) -> None:
        """`after_commit` runs after each committed write, outside its transaction."""
        self.counts = transactions.counts
        self._transactions = transactions
        self._lock = lock
        self._timeout_ms = checkout_timeout_ms
        self._after_commit = after_commit

    def run(self, fn: Callable[[Tx], T]) -> T:
        """Carry out `fn`; raises `WriterPoolCheckoutTimeout` when another thread keeps the connection."""
        return self._with_connection(partial(self._transactions.carry_out, fn))

    def vacuum(self) -> None:
        """Rewrite the file; raises `WriterPoolCheckoutTimeout` when another thread keeps the connection."""
        self._with_connection(self._transactions.vacuum)

    def scrub(self) -> bool:
        """Rewrite the file without any byte of deleted rows."""
        return self._with_connection(self._transactions.scrub)

    def _with_connection(self, work: Callable[[], T]) -> T:
        if not self._lock.acquire(timeout=self._timeout_ms / 1000):
            self.counts.checkout_timeouts += 1
            raise self._timeout()
        try:
            if self._transactions.connection.in_transaction:
                raise RuntimeError("a write function must not start another write")
            self.counts.inline_acquisitions += 1
            result = work()
        finally:
            self._lock.release()
        self._after_commit()
        return result

    def submit(self, fn: Callable[[Tx], T], surface: Surface) -> Future[T]:
        """Carry out `fn` at once; the surface has no queue here."""
        future: Future[T] = Future()
        try:
            future.set_result(self.run(fn))
        except Exception as fault:
            future.set_exception(fault)
        return future

    def check_admission(self, surface: Surface) -> None:
        """Nobody is refused: there is no queue."""

    def waiting(self) -> int:
        """None: whoever wants to write holds the connection, or waits for one transaction only."""
        return 0

    def finish(self) -> None:
        """Wait for the write that is going on."""
        with self._lock:
            pass

    def _timeout(self) -> WriterPoolCheckoutTimeout:
        message = f"timed out after {self._timeout_ms} ms waiting for sqlite writer connection"
        return timed_out(WriterPoolCheckoutTimeout, message, self._timeout_ms)


@dataclass(slots=True)
class _Job(Generic[T]):
    """Work that waits for its turn; `deadline` is when it must have a place in the queue."""

    work: Callable[[], T]
    future: Future[T]
    deadline: float

    def run(self) -> None:
        """Carry it out and tell the one who waits."""
        try:
            result = self.work()
        except BaseException as fault:
            self.future.set_exception(fault)
        else:
            self.future.set_result(result)


class _Lane:
    """The queue of one surface: `size` places, and a door where writes wait until their deadline."""

    def __init__(self, size: int, wait_ms: int) -> None:
        self.size = size
        self.wait_ms = wait_ms
        self.queue: deque[_Job[Any]] = deque()
        self.door: deque[_Job[Any]] = deque()

    def accept(self, job: _Job[Any]) -> bool:
        """Give the job a place in the queue or at the door; False when it has to be refused."""
        if len(self.queue) < self.size and not self.door:
            self.queue.append(job)
        elif self.wait_ms:
            self.door.append(job)
        else:
            return False
        return True

    def take(self) -> _Job[Any] | None:
        """The job whose turn it is; the first one at the door gets its place."""
        if not self.queue:
            return None
        job = self.queue.popleft()
        if self.door:
            self.queue.append(self.door.popleft())
        return job

    def is_full(self) -> bool:
        """Whether a job would be refused now."""
        return not self.wait_ms and len(self.queue) >= self.size

    def expired(self, now: float) -> list[_Job[Any]]:
        """The jobs whose wait at the door is over, taken away."""
        gone = []
        while self.door and self.door[0].deadline <= now:
            gone.append(self.door.popleft())
        return gone


class ThreadedWriter:
    """One thread that owns the connection; the surfaces take turns, each in its own order."""

    def __init__(
        self,
        transactions: Transactions,
        *,
        admission_ms: int,
        gateway_queue_size: int,
        after_commit: Callable[[], None],
    ) -> None:
        """`admission_ms`: the wait for a place in the queue of the verbs; the gateway's refuses at once."""
        self.counts = transactions.counts
        self._transactions = transactions
        self._after_commit = after_commit
        self._lanes: Final[dict[Surface, _Lane]] = {
            "verbs": _Lane(limits.WRITER_QUEUE_SIZE, admission_ms),
            "gateway": _Lane(gateway_queue_size, 0),
        }
        self._turns = deque(self._lanes.values())
        self._changed = threading.Condition(threading.Lock())
        self._closing = False
        self._porter: threading.Timer | None = None
        self._thread = threading.Thread(target=self._serve, name="hivekeep-writer", daemon=True)
        self._thread.start()

    def run(self, fn: Callable[[Tx], T]) -> T:
        """Carry out `fn` on the writer's thread and wait for it."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("a write function must not start another write")
        return self.submit(fn, "verbs").result()

    def vacuum(self) -> None:
        """Rewrite the file on the writer's thread and wait for it."""
        self._queue(self._transactions.vacuum, "verbs").result()

    def scrub(self) -> bool:
        """Rewrite the file without any byte of deleted rows on the writer's thread and wait for it."""
        return self._queue(self._transactions.scrub, "verbs").result()

    def submit(self, fn: Callable[[Tx], T], surface: Surface) -> Future[T]:
        """Queue `fn`; the future fails with `WriterQueueFull` when it gets no place in time. Never blocks."""
        return self._queue(partial(self._transactions.carry_out, fn), surface)

    def _queue(self, work: Callable[[], T], surface: Surface) -> Future[T]:
        lane = self._lanes[surface]
        job = _Job(work, Future(), monotonic() + lane.wait_ms / 1000)
        with self._changed:
            self._check_open()
            if lane.accept(job):
                self._changed.notify()
                if lane.door:
                    self._watch_door(lane)
            else:
                self.counts.queue_refusals += 1
                job.future.set_exception(_queue_full(lane))
        return job.future

    def check_admission(self, surface: Surface) -> None:
        """Raise `WriterQueueFull` or `StorageUnavailable` when a write of the surface would be refused now."""
        lane = self._lanes[surface]
        with self._changed:
            self._check_open()
            if lane.is_full():
                self.counts.queue_refusals += 1
                raise _queue_full(lane)

    def _check_open(self) -> None:
        if self._closing:
            raise unavailable(CLOSING, "storage: the store is closing; nothing was written")

    def waiting(self) -> int:
        """How many writes are in the queues and at their doors."""
        return sum(len(lane.queue) + len(lane.door) for lane in self._lanes.values())

    def finish(self) -> None:
        """Carry out every accepted write and end the thread."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join()
        if self._porter is not None:
            self._porter.cancel()

    def _serve(self) -> None:
        while (job := self._next()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            self.counts.task_acquisitions += 1
            job.run()
            self._after_commit()

    def _next(self) -> _Job[Any] | None:
        """The next job of the surface whose turn it is; None when the store closes and nothing is left."""
        with self._changed:
            while True:
                for _ in range(len(self._turns)):
                    lane = self._turns[0]
                    self._turns.rotate(-1)
                    if (job := lane.take()) is not None:
                        return job
                if self._closing:
                    return None
                self._changed.wait()

    def _watch_door(self, lane: _Lane) -> None:
        """See to it that the first job at the door is refused when its time is over. The lock is held."""
        if self._porter is None:
            wait = max(0.0, lane.door[0].deadline - monotonic())
            self._porter = threading.Timer(wait, self._refuse_expired, [lane])
            self._porter.daemon = True
            self._porter.start()

    def _refuse_expired(self, lane: _Lane) -> None:
        with self._changed:
            self._porter = None
            refused = lane.expired(monotonic())
            self.counts.queue_refusals += len(refused)
            if lane.door:
                self._watch_door(lane)
        for job in refused:
            if job.future.set_running_or_notify_cancel():
                job.future.set_exception(_queue_full(lane))


def _queue_full(lane: _Lane) -> WriterQueueFull:
    message = f"{lane.size} writes are waiting and no place came free within {lane.wait_ms} ms"
    return timed_out(WriterQueueFull, message, lane.wait_ms)
