"""The job that makes vectors of what the queue holds.

Invariant: the model runs outside of any transaction; its vectors are written, and the rows of the queue taken out, in
one short transaction that checks the lease and that each record still has the text its vector is of. A text that an
embedder refuses, or an embedder that cannot work, waits longer with every failure and keeps nothing else from going on.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeVar

from hivekeep.jobs.lease import Lease, Lost
from hivekeep.search.embedders import Embedder, Embedders, EmbedderUnavailable, InputRefused
from hivekeep.storage import embedding_queue, embedding_sources, vectors
from hivekeep.storage.embedding_queue import QueueRow
from hivekeep.storage.engine import Engine, Tx
from hivekeep.storage.faults import is_closing
from hivekeep.storage.vector_layout import FLOAT_BYTES
from hivekeep.storage.vectors import Model, VectorRow
from hivekeep.times import now_us
from hivekeep_contract.errors import HivekeepError, StorageUnavailable
from hivekeep_contract.limits import (
    EMBEDDING_LEASE_MS,
    EMBEDDING_LOOK_AGAIN_MS,
    EMBEDDING_PAUSE_MS,
    EMBEDDING_POLL_MS,
    EMBEDDING_RETRY_FIRST_MS,
    EMBEDDING_RETRY_WAIT_MAX_MS,
    EMBEDDING_SWEEP,
    EMBEDDING_SWEEP_MS,
)
from hivekeep_contract.settings import Settings

LEASE: Final = "embedding"

_BACKGROUND_NICENESS: Final = 10
_STOP_WAIT_S: Final = 10.0
_log = logging.getLogger(__name__)


def backoff_ms(failures: int) -> int:
    """How long to wait after so many failures in a row, at least one."""
    # Beyond 2^32 the wait is the longest anyway, and numbers stay small.
    return min(EMBEDDING_RETRY_FIRST_MS << min(failures - 1, 32), EMBEDDING_RETRY_WAIT_MAX_MS)


def store_vectors(tx: Tx, embedder: Embedder, rows: Sequence[VectorRow]) -> int:
    """Keep those vectors whose record is still live with the text they are of; answers how many.

    Raises EmbedderUnavailable for vectors of another length than those of the same revision that are stored.
    """
    current = list(_current(tx, rows))
    if current:
        dims = len(current[0].embedding) // FLOAT_BYTES
        try:
            model = vectors.register_model(tx, embedder.name, embedder.revision, dims, now_us())
            vectors.put_many(tx, model, current)
        except ValueError as fault:
            raise EmbedderUnavailable(str(fault)) from fault
    return len(current)


class _OfRecord(Protocol):
    """Something about the text that a record has, or had."""

    @property
    def substrate(self) -> str: ...
    @property
    def seq(self) -> int: ...
    @property
    def source_hash(self) -> int: ...


R = TypeVar("R", bound=_OfRecord)


def _current(tx: Tx, rows: Sequence[R]) -> Iterator[R]:
    """Those of live records that still have the text."""
    for substrate in embedding_sources.SUBSTRATES:
        ours = [row for row in rows if row.substrate == substrate]
        sources = embedding_sources.live(tx, substrate, [row.seq for row in ours]) if ours else {}
        for row in ours:
            source = sources.get(row.seq)
            if source is not None and vectors.source_hash(source.title, source.body) == row.source_hash:
                yield row


class Worker:
    """Works on the queue, one batch at a time. Not for two threads at once."""

    def __init__(self, engine: Engine, embedders: Embedders, batch_size: int) -> None:
        self._engine = engine
        self._embedders = embedders
        self._batch_size = batch_size
        self.lease = Lease(engine, LEASE, EMBEDDING_LEASE_MS)
        self._failures: dict[str, int] = {}
        self._resting: dict[str, float] = {}
        self._sweep_at = time.monotonic() + EMBEDDING_SWEEP_MS / 1000
        self.outrun = False
        """Whether another process did the work when we last looked."""
        self.last_batch = 0
        """How many rows the last batch had."""
        self.stored: Counter[str] = Counter()
        """How many vectors were stored for each embedder."""

    def work(self) -> bool:
        """Embed one batch; False when nothing is due or another process does it. Raises the errors of the store."""
        with self._engine.read() as tx:
            rows = embedding_queue.take(tx, now_us(), self._batch_size, self._awake())
            current = list(_current(tx, rows))
        if not rows:
            self.outrun = False
            self._sweep()
            self.lease.release()
            return False
        self.outrun = not self.lease.take()
        if self.outrun:
            return False
        self.last_batch = len(rows)
        try:
            if len(current) < len(rows):
                self._drop([row for row in rows if row not in current])
            for name in self._embedders.names:
                if of_model := [row for row in current if row.model_name == name]:
                    self._embed(self._embedders.get(name), of_model)
        except Lost:
            self.outrun = True
        return not self.outrun

    def close(self) -> None:
        """Let another process go on."""
        self.lease.release()

    def _sweep(self) -> None:
        """Now and then, after the last batch, clear up the vectors that nothing but a look at all of them finds."""
        if not self.lease.is_held or time.monotonic() < self._sweep_at:
            return
        self._sweep_at = time.monotonic() + EMBEDDING_SWEEP_MS / 1000
        with self._engine.read() as tx:
            known = [vectors.find_model(tx, one.name, one.revision) for one in self._embedders]
            littered = [model for model in known if model is not None and not vectors.is_swept(tx, model)]
        for model in littered:
            with contextlib.suppress(Lost):
                while self._engine.run_write(functools.partial(self._sweep_some, model)) >= EMBEDDING_SWEEP:
                    pass

    def _sweep_some(self, model: Model, tx: Tx) -> int:
        self.lease.keep(tx)
        return vectors.sweep(tx, model, EMBEDDING_SWEEP)

    def _awake(self) -> list[str]:
        """The embedders that are not waiting after a failure."""
        now = time.monotonic()
        return [name for name in self._embedders.names if self._resting.get(name, now) <= now]

    def _drop(self, rows: Sequence[QueueRow]) -> None:
        """Take out what no model has to look at any more."""

        def write(tx: Tx) -> None:
            self.lease.keep(tx)
            embedding_queue.done(tx, rows)

        self._engine.run_write(write)

    def _embed(self, embedder: Embedder, rows: list[QueueRow]) -> None:
        try:
            made = embedder.embed([row.input for row in rows])
            self.stored[embedder.name] += self._engine.run_write(lambda tx: self._store(tx, embedder, rows, made))
        except InputRefused as refusal:
            if len(rows) == 1:
                self._postpone(rows, refusal)
            else:
                # One of them is what the embedder cannot take; alone, the others pass.
                for row in rows:
                    self._embed(embedder, [row])
        except EmbedderUnavailable as fault:
            self._rest(embedder, fault)
            self._postpone(rows, fault)
        else:
            self._failures.pop(embedder.name, None)

    def _store(self, tx: Tx, embedder: Embedder, rows: Sequence[QueueRow], made: Sequence[bytes]) -> int:
        self.lease.keep(tx)
        found = [
            VectorRow(row.substrate, row.seq, row.namespace, row.kind, row.source_hash, vector)
            for row, vector in zip(rows, made, strict=True)
        ]
        stored = store_vectors(tx, embedder, found)
        # A row that was put again meanwhile is about another text, and stays.
        embedding_queue.done(tx, rows)
        return stored

    def _rest(self, embedder: Embedder, fault: EmbedderUnavailable) -> None:
        """Leave a failing embedder alone for a while, so that a long queue does not knock at it row by row."""
        failures = self._failures.get(embedder.name, 0) + 1
        self._failures[embedder.name] = failures
        self._resting[embedder.name] = time.monotonic() + backoff_ms(failures) / 1000
        _log.warning("embedding waits %d ms: %s", backoff_ms(failures), fault.message)

    def _postpone(self, rows: Sequence[QueueRow], fault: HivekeepError) -> None:
        def write(tx: Tx) -> None:
            self.lease.keep(tx)
            for row in rows:
                not_before = now_us() + backoff_ms(row.attempts + 1) * 1000
                embedding_queue.postpone(tx, [row], fault.message, not_before)

        self._engine.run_write(write)


class EmbeddingJob:
    """A thread that keeps a worker going while the process lives; it starts nothing heavy before there is work."""

    def __init__(self, engine: Engine, embedders: Embedders, settings: Settings) -> None:
        self._engine = engine
        self._worker = Worker(engine, embedders, settings.embedding_batch_size)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hivekeep-embedding", daemon=True)

    def start(self) -> None:
        """Begin; once."""
        self._thread.start()

    def stop(self) -> None:
        """End after the batch under way, and let another process go on; call it before the store is closed."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_WAIT_S)

    def _run(self) -> None:
        _yield_to_others()
        failures = 0
        while not self._stopping.is_set():
            try:
                # Looked at before the queue, so that what comes in between is seen as a change.
                version = self._engine.data_version()
                if self._worker.work():
                    self._make_room()
                else:
                    self._wait_for_work(version)
                failures = 0
            except StorageUnavailable as fault:
                if is_closing(fault):
                    return
                failures = self._after_fault(fault, failures)
            except Exception as fault:
                failures = self._after_fault(fault, failures)
        with contextlib.suppress(HivekeepError):
            self._worker.close()

    def _after_fault(self, fault: Exception, failures: int) -> int:
        """Wait after a failure of the store; its text may quote a record, its type does not."""
        _log.warning("embedding failed: %s", type(fault).__name__)
        self._stopping.wait(backoff_ms(failures + 1) / 1000)
        return failures + 1

    def _make_room(self) -> None:
        """Wait while others wait for the writer."""
        while self._engine.writes_waiting() and not self._stopping.wait(EMBEDDING_PAUSE_MS / 1000):
            pass

    def _wait_for_work(self, version: int) -> None:
        """Wait for a change of the file; now and then look anyway, for what was postponed or left by another process.

        While another process embeds, each of its batches is a change, and none is a reason to look.
        """
        until = time.monotonic() + EMBEDDING_LOOK_AGAIN_MS / 1000
        while not self._stopping.wait(EMBEDDING_POLL_MS / 1000):
            changed = not self._worker.outrun and self._engine.data_version() != version
            if changed or time.monotonic() >= until:
                return


def start_job(engine: Engine, embedders: Embedders, settings: Settings) -> EmbeddingJob | None:
    """The running job of a process that may write and has an embedder; None otherwise."""
    if engine.read_only or not embedders:
        return None
    job = EmbeddingJob(engine, embedders, settings)
    job.start()
    return job


def _yield_to_others() -> None:
    """Run this thread behind those that answer somebody; where threads have no priority of their own, not at all."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _BACKGROUND_NICENESS)
