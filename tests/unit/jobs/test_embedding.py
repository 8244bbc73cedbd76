"""The job that makes vectors: what it takes from the queue, what it keeps, and whom it lets go first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from hivekeep.jobs import embedding
from hivekeep.jobs.embedding import EmbeddingJob, Worker, backoff_ms, start_job
from hivekeep.jobs.lease import Lease, Lost
from hivekeep.search.embedders import Embedders, EmbedderUnavailable, InputRefused
from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.storage import embedding_queue, leases, vectors
from hivekeep.storage.embedding_queue import QueueCounts, QueueRow
from hivekeep.storage.engine import Engine
from hivekeep.times import now_us
from hivekeep_contract.limits import EMBEDDING_RETRY_FIRST_MS, EMBEDDING_RETRY_WAIT_MAX_MS
from hivekeep_contract.settings import Settings
from support.client import Hive, open_hive
from support.processes import wait_until

BATCH = 4


class Scripted(HashedEmbedder):
    """The embedder `hashed`, which does first what a test tells it to; it counts its batches."""

    def __init__(self, before: Callable[[Sequence[str]], None] = lambda _inputs: None) -> None:
        self.before = before
        self.batches: list[list[str]] = []

    def embed(self, inputs: Sequence[str]) -> list[bytes]:
        """The vectors of the inputs, after what the test wants to happen."""
        self.batches.append(list(inputs))
        self.before(inputs)
        return super().embed(inputs)


class Named(Scripted):
    """A second embedder under another name."""

    name = "second"


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A server in memory with the embedder `hashed`."""
    with open_hive(embedding_models=("hashed",)) as opened:
        yield opened


def waiting(hive: Hive) -> list[QueueCounts]:
    """What the queue holds."""
    with hive.server.engine.read() as tx:
        return embedding_queue.counts(tx)


def queued(hive: Hive) -> list[QueueRow]:
    """Every row of the queue, whenever it is due."""
    with hive.server.engine.read() as tx:
        return embedding_queue.take(tx, now_us() + 10**15, 1000)


def valid(hive: Hive, name: str = "hashed") -> int:
    """How many live records have a vector of the text they have."""
    found = 0
    with hive.server.engine.read() as tx:
        for model in vectors.models(tx):
            if model.name == name:
                scopes = [vectors.Scope(substrate, ("local",)) for substrate in ("entity", "note")]
                found += sum(vectors.count(tx, model, scope) for scope in scopes) - vectors.examine(tx, model).stale
    return found


def fill(hive: Hive, count: int) -> list[str]:
    """Records that wait for their vector; answers their ids."""
    return [hive.call("create", kind="concept", name=f"thing {number}")["id"] for number in range(count)]


def stored(hive: Hive) -> int:
    """How many vectors of entities there are, whatever became of their records."""
    with hive.server.engine.read() as tx:
        return vectors.count(tx, vectors.models(tx)[0], vectors.Scope("entity", ("local",)))


def worker(hive: Hive, *embedders: Scripted) -> Worker:
    """A worker of small batches."""
    return Worker(hive.server.engine, Embedders(embedders), BATCH)


def work(one: Worker) -> list[bool]:
    """What the worker answers until it has nothing to do."""
    answers = [one.work()]
    while answers[-1]:
        answers.append(one.work())
    return answers


# what is made


def test_every_queued_text_gets_its_vector_batch_after_batch(hive: Hive) -> None:
    """Ten texts in batches of four, the first come first; then the queue is empty and nothing more is done."""
    fill(hive, 10)
    embedder = Scripted()
    assert work(worker(hive, embedder)) == [True, True, True, False]
    assert [len(batch) for batch in embedder.batches] == [4, 4, 2]
    assert embedder.batches[0][0] == "thing 0"
    assert (waiting(hive), valid(hive)) == ([], 10)


def test_each_model_gets_the_texts_that_wait_for_it(hive: Hive) -> None:
    """Two embedders: two rows for each record, and the vectors of each are its own."""
    first, second = Scripted(), Named()
    hive.server.around.embedders = Embedders([first, second])
    fill(hive, 3)
    assert [(one.model_name, one.waiting) for one in waiting(hive)] == [("hashed", 3), ("second", 3)]
    work(worker(hive, first, second))
    assert (valid(hive), valid(hive, "second"), waiting(hive)) == (3, 3, [])


def test_vectors_without_a_record_are_cleared_up_after_a_batch_and_rarely(
    hive: Hive, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only who has just worked looks for them, in as many steps as they need, and not again before the time."""
    fill(hive, 5)
    one = worker(hive, Scripted())
    work(one)
    hive.server.engine.run_write(lambda tx: tx.run("DELETE FROM entities WHERE seq < 5"))
    monkeypatch.setattr(embedding, "EMBEDDING_SWEEP", 2)
    monkeypatch.setattr(one, "_sweep_at", 0.0)
    assert (one.work(), stored(hive)) == (False, 5)
    fill(hive, 1)
    assert (work(one), stored(hive)) == ([True, False], 2)
    hive.server.engine.run_write(lambda tx: tx.run("DELETE FROM entities"))
    fill(hive, 1)
    assert (work(one), stored(hive)) == ([True, False], 3)


def test_rows_of_a_model_that_is_not_registered_wait(hive: Hive) -> None:
    """They keep nobody up and are not lost."""
    fill(hive, BATCH + 1)
    other = Named()
    assert work(worker(hive, other)) == [False]
    assert (other.batches, waiting(hive)[0].waiting) == ([], BATCH + 1)


def test_a_text_that_changes_under_the_model_is_dropped(hive: Hive) -> None:
    """Its old vector is not kept, its new text stays in the queue, and the others of the batch are kept."""
    changed, deleted, kept = fill(hive, 3)

    def meanwhile(_inputs: Sequence[str]) -> None:
        embedder.before = lambda _inputs: None
        hive.call("update", id=changed, description="another text")
        hive.call("delete", id=deleted)

    embedder = Scripted(meanwhile)
    one = worker(hive, embedder)
    assert one.work()
    assert [row.input for row in queued(hive)] == ["thing 0\n\nanother text"]
    assert valid(hive) == 1
    work(one)
    assert (waiting(hive), valid(hive)) == ([], 2)
    assert hive.call("get", id=kept)["id"] == kept


def test_another_revision_has_vectors_of_its_own(hive: Hive) -> None:
    """Vectors of two revisions are never in one table, and the older ones stay until reindex."""
    fill(hive, 2)
    newer = Scripted()
    work(worker(hive, Scripted()))
    newer.revision = "2"
    fill(hive, 1)
    work(worker(hive, newer))
    with hive.server.engine.read() as tx:
        found = {model.revision: model for model in vectors.models(tx)}
        scope = vectors.Scope("entity", ("local",))
        assert {revision: vectors.count(tx, model, scope) for revision, model in found.items()} == {"1": 2, "2": 1}


def test_no_model_looks_at_a_text_that_nobody_has_any_more(hive: Hive) -> None:
    """Rows of changed and deleted records that were left behind are taken out."""
    changed, deleted, kept = fill(hive, 3)
    rows = queued(hive)
    hive.call("update", id=changed, name="other")
    hive.call("delete", id=deleted)
    hive.server.engine.run_write(lambda tx: embedding_queue.put_many(tx, rows))
    embedder = Scripted()
    work(worker(hive, embedder))
    assert embedder.batches == [["thing 2"]]
    assert (waiting(hive), hive.call("get", id=kept)["name"]) == ([], "thing 2")


# what fails


def test_a_failing_embedder_is_left_alone_longer_each_time(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows keep their attempts and its error, and a long queue is not tried row by row."""
    clock = [1000.0]
    monkeypatch.setattr(embedding.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(embedding, "now_us", lambda: round(clock[0] * 1e6) + 10**16)
    fill(hive, 3 * BATCH)

    def fail(_inputs: Sequence[str]) -> None:
        raise EmbedderUnavailable("hashed: out of order")

    embedder = Scripted(fail)
    one = worker(hive, embedder)
    assert work(one) == [True, False]
    assert waiting(hive)[0][1:3] == (12, BATCH)
    assert waiting(hive)[0].error == "hashed: out of order"
    clock[0] += EMBEDDING_RETRY_FIRST_MS / 1000
    assert work(one) == [True, False]
    assert len(embedder.batches) == 2
    clock[0] += EMBEDDING_RETRY_FIRST_MS / 1000
    assert work(one) == [False]
    embedder.before = lambda _inputs: None
    clock[0] += EMBEDDING_RETRY_WAIT_MAX_MS / 1000
    work(one)
    assert (waiting(hive), valid(hive)) == ([], 12)


def test_an_embedder_that_works_goes_on_beside_one_that_fails(hive: Hive) -> None:
    """The rows of the failing one do not stand in its way."""

    def fail(_inputs: Sequence[str]) -> None:
        raise EmbedderUnavailable("hashed: out of order")

    first, second = Scripted(fail), Named()
    hive.server.around.embedders = Embedders([first, second])
    fill(hive, 3 * BATCH)
    work(worker(hive, first, second))
    assert valid(hive, "second") == 3 * BATCH
    assert [(one.model_name, one.waiting) for one in waiting(hive)] == [("hashed", 3 * BATCH)]


def test_one_text_that_is_refused_holds_up_no_other(hive: Hive) -> None:
    """A refused batch is tried text by text; the refused one waits with its error, the embedder is not left alone."""
    hive.call("create", kind="concept", name="poison")
    fill(hive, BATCH)

    def refuse(inputs: Sequence[str]) -> None:
        if "poison" in inputs:
            raise InputRefused("hashed: refuses the input (status 400)")

    work(worker(hive, Scripted(refuse)))
    assert valid(hive) == BATCH
    (row,) = queued(hive)
    assert (row.input, row.attempts, row.error) == ("poison", 1, "hashed: refuses the input (status 400)")
    assert row.not_before > now_us()


def test_vectors_of_another_length_are_not_mixed_in(hive: Hive) -> None:
    """A model that changes its length under the same revision is refused; its rows stay."""
    fill(hive, 1)
    work(worker(hive, Scripted()))
    fill(hive, 1)
    short = Scripted()
    short.embed = lambda inputs: [HashedEmbedder().embed([text])[0][:16] for text in inputs]  # type: ignore[method-assign]
    work(worker(hive, short))
    (row,) = queued(hive)
    assert row.error == "hashed 1 has vectors of 384 floats in this store, not of 4"
    assert valid(hive) == 1


def test_the_wait_after_failures_doubles_up_to_a_limit() -> None:
    """From the first wait of the contract to its longest one, whatever the number."""
    assert [backoff_ms(failures) for failures in (1, 2, 3)] == [
        EMBEDDING_RETRY_FIRST_MS,
        2 * EMBEDDING_RETRY_FIRST_MS,
        4 * EMBEDDING_RETRY_FIRST_MS,
    ]
    assert backoff_ms(30) == backoff_ms(10**6) == EMBEDDING_RETRY_WAIT_MAX_MS


# who works


def test_one_worker_at_a_time(hive: Hive) -> None:
    """While one has the lease another one does nothing; when its queue is empty it lets go at once."""
    fill(hive, 2 * BATCH)
    first, second = worker(hive, Scripted()), worker(hive, Scripted())
    assert first.work()
    assert (second.work(), second.outrun) == (False, True)
    work(first)
    fill(hive, 1)
    assert (second.work(), second.outrun) == (True, False)


def test_a_worker_that_was_replaced_writes_nothing(hive: Hive) -> None:
    """Its lease ran out under the model and another one claimed it: its vectors are dropped, the queue is as it was."""
    fill(hive, 1)
    engine = hive.server.engine

    def replaced(_inputs: Sequence[str]) -> None:
        engine.run_write(lambda tx: tx.run("UPDATE leases SET expires_at = 0"))
        engine.run_write(lambda tx: leases.claim(tx, embedding.LEASE, "another", 10**9, now_us()))

    one = worker(hive, Scripted(replaced))
    assert (one.work(), one.outrun) == (False, True)
    assert (valid(hive), waiting(hive)[0].waiting) == (0, 1)


def test_a_lease_is_kept_by_using_it(hive: Hive) -> None:
    """It is proven inside the transaction; after it was released a proof fails and nothing is written."""
    engine = hive.server.engine
    one, other = Lease(engine, "job", 60_000), Lease(engine, "job", 60_000)
    assert (one.take(), one.take(), other.take()) == (True, True, False)
    engine.run_write(one.keep)
    one.release()
    with pytest.raises(Lost):
        engine.run_write(one.keep)
    assert other.take()


# the thread


def running(engine: Engine, embedders: Embedders) -> EmbeddingJob:
    """A job of small batches that has begun."""
    job = start_job(engine, embedders, Settings(embedding_batch_size=BATCH))
    assert job is not None
    return job


def test_the_thread_makes_vectors_of_what_comes(tmp_path: Path) -> None:
    """What waited at its start and what is written later, by this process or another; then it stops when asked."""
    with open_hive(tmp_path / "hive.db", embedding_models=("hashed",)) as hive:
        fill(hive, 2)
        job = running(hive.server.engine, hive.server.around.embedders)
        wait_until(lambda: valid(hive) == 2, 10, "the first two vectors")
        with open_hive(tmp_path / "hive.db", embedding_models=("hashed",)) as other:
            fill(other, 3)
        wait_until(lambda: valid(hive) == 5, 10, "the vectors of another process's records")
        wait_until(lambda: waiting(hive) == [], 10, "an empty queue")
        job.stop()
        assert not job._thread.is_alive()


def test_the_thread_lets_waiting_writes_go_first(hive: Hive) -> None:
    """Between two batches it waits until no write waits for the writer."""
    fill(hive, 3 * BATCH)
    crowd = [1]

    class Crowded:
        """The engine, in front of whose writer a queue stands."""

        def __getattr__(self, name: str) -> Any:
            return (lambda: crowd[0]) if name == "writes_waiting" else getattr(hive.server.engine, name)

    embedder = Scripted()
    job = running(Crowded(), Embedders([embedder]))  # type: ignore[arg-type]
    wait_until(lambda: len(embedder.batches) == 1, 10, "the first batch")
    time.sleep(0.3)
    assert len(embedder.batches) == 1
    crowd[0] = 0
    wait_until(lambda: len(embedder.batches) == 3, 10, "the others")
    job.stop()


def test_the_thread_sleeps_while_nothing_happens(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks into the queue when something changed, and now and then; it never turns round and round."""
    looks: list[float] = []
    take = embedding_queue.take
    monkeypatch.setattr(embedding_queue, "take", lambda *given: looks.append(time.monotonic()) or take(*given))
    job = running(hive.server.engine, Embedders([HashedEmbedder()]))
    time.sleep(0.6)
    job.stop()
    assert 1 <= len(looks) <= 2


def test_the_thread_survives_a_fault_of_the_store(
    hive: Hive, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It waits, longer each time, and goes on; the log has the type of the fault and no text of a record."""
    monkeypatch.setattr(embedding, "EMBEDDING_RETRY_FIRST_MS", 20)
    take, faults = embedding_queue.take, [RuntimeError("thing 0")] * 2

    def faulty(*given: Any) -> list[QueueRow]:
        if faults:
            raise faults.pop()
        return take(*given)

    monkeypatch.setattr(embedding_queue, "take", faulty)
    fill(hive, 1)
    job = running(hive.server.engine, hive.server.around.embedders)
    wait_until(lambda: valid(hive) == 1, 10, "the vector")
    job.stop()
    told = [record.getMessage() for record in caplog.records if record.name == embedding.__name__]
    assert told == ["embedding failed: RuntimeError"] * 2


def test_the_thread_ends_with_the_store(hive: Hive) -> None:
    """A store that was closed under it is no fault."""
    job = running(hive.server.engine, hive.server.around.embedders)
    hive.server.engine.close()
    wait_until(lambda: not job._thread.is_alive(), 10, "the end of the thread")


def test_there_is_no_job_without_an_embedder_or_where_nothing_may_be_written(tmp_path: Path) -> None:
    """Then no thread is begun."""
    before = threading.active_count()
    with open_hive(tmp_path / "hive.db") as hive:
        assert start_job(hive.server.engine, hive.server.around.embedders, Settings()) is None
    with open_hive(tmp_path / "hive.db", embedding_models=("hashed",), read_only=True) as hive:
        assert start_job(hive.server.engine, hive.server.around.embedders, Settings()) is None
    assert threading.active_count() == before
