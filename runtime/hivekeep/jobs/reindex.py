"""Making every vector and text index entry that a store should have.

Invariant: what is right already is left alone, so a run that was killed is continued by the next one, and a second run
right after the first changes nothing. The model runs outside of transactions, and every write proves the lease.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from hivekeep.agent.curated import indexing
from hivekeep.jobs.embedding import Worker, store_vectors
from hivekeep.jobs.lease import Lost
from hivekeep.search.embedders import Embedder, Embedders, InputRefused
from hivekeep.search.embedders.source import embedding_text
from hivekeep.storage import embedding_queue, embedding_sources, text_index, vectors
from hivekeep.storage.embedding_sources import Source
from hivekeep.storage.engine import Engine, Tx
from hivekeep.storage.vectors import VectorRow
from hivekeep_contract.errors import EmbedderUnavailable
from hivekeep_contract.limits import EMBEDDING_LEASE_MS, EMBEDDING_POLL_MS

_BATCHES_A_PAGE: Final = 16
"""Records are looked at in runs of so many batches, so that texts of about the same length can go together."""
_SWEPT_AT_ONCE: Final = 500
_PATIENCE: Final = 4
"""Lease times to wait for another process that embeds."""


class ModelReport(NamedTuple):
    """What was done for one model.

    `embedded` and `valid` are records that got a vector now and that had one, `refused` those the embedder does not
    take. Of those embedded, `truncated` were cut, by `discarded_bytes` together. `removed` counts vectors without a
    record, and revisions of the model that are not used any more.
    """

    model: str
    revision: str
    embedded: int
    valid: int
    refused: int
    truncated: int
    discarded_bytes: int
    removed: int


class Report(NamedTuple):
    """What a run did: `records` are the live ones, `text_indexes` the tables that were built anew and found whole."""

    records: int
    models: list[ModelReport]
    text_indexes: list[str]
    elapsed_ms: int


class _Progress:
    """How far a run is, in records of each model and rows of the queue."""

    def __init__(self, tell: Callable[[int, int], None], in_all: int) -> None:
        self._tell = tell
        self._taken = 0
        self._in_all = in_all
        self.advance(0)

    def advance(self, steps: int) -> None:
        """Tell that so many more are done; records that came meanwhile make the way longer."""
        self._taken += steps
        self._in_all = max(self._in_all, self._taken)
        self._tell(self._taken, self._in_all)


def reindex(
    engine: Engine,
    embedders: Embedders,
    *,
    batch_size: int,
    rebuild_text: bool,
    tell: Callable[[int, int], None],
) -> Report:
    """Embed every live record that lacks a valid vector, and with `rebuild_text` build the text indexes anew.

    `tell` hears `(steps taken, steps in all)` on the way. Raises EmbedderUnavailable when an embedder cannot work, or
    when another process keeps embedding; what was done up to then stays done.
    """
    began = time.monotonic()
    rebuilt = engine.run_write(_rebuild_text) if rebuild_text else []
    with engine.read() as tx:
        records = embedding_sources.count(tx)
        waiting = sum(one.waiting for one in embedding_queue.counts(tx) if one.model_name in embedders.names)
    progress = _Progress(tell, records * len(embedders) + waiting)
    worker = Worker(engine, embedders, batch_size)
    try:
        _drain(worker, progress)
        models = [_Run(engine, worker, embedder, batch_size, progress).carry_out() for embedder in embedders]
    finally:
        worker.close()
    return Report(records, models, rebuilt, round((time.monotonic() - began) * 1000))


def _rebuild_text(tx: Tx) -> list[str]:
    tables = [table for substrate in text_index.SUBSTRATES for table in text_index.rebuild(tx, substrate)]
    return [*tables, *indexing.rebuild(tx)]


def _drain(worker: Worker, progress: _Progress) -> None:
    """Work off the queue first: it knows what authors chose to have embedded instead of a whole content."""
    while True:
        _own(worker)
        if not worker.work():
            if not worker.outrun:
                return
        else:
            progress.advance(worker.last_batch)


def _own(worker: Worker) -> None:
    """Become the one who embeds; a process that is at it gets time to finish."""
    deadline = time.monotonic() + _PATIENCE * EMBEDDING_LEASE_MS / 1000
    while not worker.lease.take():
        if time.monotonic() > deadline:
            raise EmbedderUnavailable("another process of this store keeps embedding; try again when it is done")
        time.sleep(EMBEDDING_POLL_MS / 1000)


class _Missing(NamedTuple):
    """A record without a valid vector, and what the embedder takes of it."""

    source: Source
    source_hash: int
    input: str
    discarded_bytes: int


class _Run:
    """The vectors of one model. Those that came from the queue just before are found valid, and count as made now."""

    def __init__(
        self, engine: Engine, worker: Worker, embedder: Embedder, batch_size: int, progress: _Progress
    ) -> None:
        self._engine = engine
        self._worker = worker
        self._embedder = embedder
        self._batch_size = batch_size
        self._progress = progress
        self._queued = worker.stored[embedder.name]
        self._embedded = self._valid = self._refused = self._truncated = self._discarded = 0

    def carry_out(self) -> ModelReport:
        """Clear up, then go through all records."""
        removed = self._write(self._forget_revisions)
        while swept := self._write(self._sweep):
            removed += swept
        for substrate in embedding_sources.SUBSTRATES:
            for page in self._pages(substrate):
                self._complete(page)
                self._progress.advance(len(page))
        return ModelReport(
            self._embedder.name,
            self._embedder.revision,
            self._embedded + self._queued,
            max(0, self._valid - self._queued),
            self._refused,
            self._truncated,
            self._discarded,
            removed,
        )

    def _forget_revisions(self, tx: Tx) -> int:
        """Remove the other revisions of this model: nobody compares a query with their vectors any more."""
        old = [
            model
            for model in vectors.models(tx)
            if model.name == self._embedder.name and model.revision != self._embedder.revision
        ]
        forgotten = 0
        for model in old:
            # Where the extension of their tables cannot be loaded they stay, which harms nobody.
            with contextlib.suppress(ValueError):
                vectors.forget_model(tx, model)
                forgotten += 1
        return forgotten

    def _sweep(self, tx: Tx) -> int:
        model = vectors.find_model(tx, self._embedder.name, self._embedder.revision)
        return 0 if model is None else vectors.sweep(tx, model, _SWEPT_AT_ONCE)

    def _pages(self, substrate: str) -> Iterator[list[Source]]:
        after = 0
        while True:
            with self._engine.read() as tx:
                page = embedding_sources.page(tx, substrate, after, self._batch_size * _BATCHES_A_PAGE)
            if not page:
                return
            yield page
            after = page[-1].seq

    def _complete(self, page: Sequence[Source]) -> None:
        missing = sorted(self._missing(page), key=lambda one: len(one.input))
        for start in range(0, len(missing), self._batch_size):
            self._embed(missing[start : start + self._batch_size])

    def _missing(self, page: Sequence[Source]) -> Iterator[_Missing]:
        with self._engine.read() as tx:
            model = vectors.find_model(tx, self._embedder.name, self._embedder.revision)
            seqs = [source.seq for source in page]
            made_of = {} if model is None else vectors.hashes(tx, model, page[0].substrate, seqs)
        for source in page:
            text = embedding_text(source.title, source.body)
            wanted = vectors.source_hash(source.title, source.body)
            if text and made_of.get(source.seq) != wanted:
                yield _Missing(source, wanted, *self._embedder.prepare(text))
            elif text:
                self._valid += 1

    def _embed(self, batch: Sequence[_Missing]) -> None:
        try:
            made = self._embedder.embed([one.input for one in batch])
        except InputRefused:
            if len(batch) == 1:
                self._refused += 1
            else:
                for one in batch:
                    self._embed([one])
            return
        rows = [
            VectorRow(
                one.source.substrate, one.source.seq, one.source.namespace, one.source.kind, one.source_hash, vector
            )
            for one, vector in zip(batch, made, strict=True)
        ]
        self._embedded += self._write(lambda tx: store_vectors(tx, self._embedder, rows))
        self._truncated += sum(one.discarded_bytes > 0 for one in batch)
        self._discarded += sum(one.discarded_bytes for one in batch)

    def _write(self, fn: Callable[[Tx], int]) -> int:
        """Carry `fn` out under the lease; when it was lost meanwhile, once it is ours again."""

        def with_lease(tx: Tx) -> int:
            self._worker.lease.keep(tx)
            return fn(tx)

        while True:
            _own(self._worker)
            try:
                return self._engine.run_write(with_lease)
            except Lost:
                continue
