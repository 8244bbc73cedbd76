"""Reindexing a store: what gets a vector, what is left alone, what is cleared up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from hivekeep.jobs import reindex as reindexing
from hivekeep.jobs.lease import Lease
from hivekeep.jobs.reindex import ModelReport, Report, reindex
from hivekeep.search.embedders import Embedders, EmbedderUnavailable, InputRefused
from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.storage import embedding_queue, text_index, vectors
from hivekeep.storage.text_places import place
from hivekeep_contract.limits import EMBEDDING_HASHED_BYTES_MAX
from support.client import Hive, open_hive

BATCH = 4


class Counted(HashedEmbedder):
    """The embedder `hashed`, which counts the texts that it embeds and refuses some."""

    def __init__(self, refused: str = "") -> None:
        self.embedded: list[str] = []
        self._refused = refused

    def embed(self, inputs: Sequence[str]) -> list[bytes]:
        """The vectors of the inputs; raises InputRefused when one of them is refused."""
        if self._refused and self._refused in inputs:
            raise InputRefused("hashed: refuses the input (status 400)")
        self.embedded += inputs
        return super().embed(inputs)


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A server in memory with the embedder `hashed`."""
    with open_hive(embedding_models=("hashed",)) as opened:
        yield opened


def run(hive: Hive, *embedders: HashedEmbedder, text: bool = False) -> Report:
    """One run; what it told of its progress ends where it said that it would."""
    told: list[tuple[int, int]] = []
    report = reindex(
        hive.server.engine,
        Embedders(embedders),
        batch_size=BATCH,
        rebuild_text=text,
        tell=lambda taken, in_all: told.append((taken, in_all)),
    )
    assert told[-1][0] == told[-1][1]
    assert told == sorted(told)
    return report


def done(report: Report) -> tuple[int, int, int, int]:
    """Embedded, valid, refused and removed of the first model."""
    model = report.models[0]
    return model.embedded, model.valid, model.refused, model.removed


def bulk(hive: Hive, count: int) -> list[str]:
    """Entities and notes, half of each, created in bulk; answers their ids."""
    items = [
        {"kind": "concept", "name": f"thing {number}"}
        if number % 2
        else {"kind": "observation", "content": f"seen {number}"}
        for number in range(count)
    ]
    return [one["result"]["id"] for one in hive.call("create", items=items)["results"]]


def test_records_of_a_bulk_create_get_their_vectors(hive: Hive) -> None:
    """They wait in no queue; a run embeds each once, and a second run finds nothing to do."""
    bulk(hive, 21)
    with hive.server.engine.read() as tx:
        assert embedding_queue.counts(tx) == []
    first = run(hive, Counted())
    assert (done(first), first.records, first.text_indexes) == ((21, 0, 0, 0), 21, [])
    again = Counted()
    assert (done(run(hive, again)), again.embedded) == ((0, 21, 0, 0), [])


def test_what_waits_in_the_queue_is_embedded_from_there(hive: Hive) -> None:
    """The beginning that an author chose is what the model gets, and it is done once.

    The report said that nothing was embedded, and that the record had its vector already.
    """
    hive.call("create", kind="observation", content="chosen words and others", embedding_content="chosen words")
    embedder = Counted()
    assert done(run(hive, embedder)) == (1, 0, 0, 0)
    assert embedder.embedded == ["chosen words"]


def test_only_what_changed_is_embedded_again(hive: Hive) -> None:
    """A record whose text changed, and one that came back, have a vector afterwards; tags change nothing."""
    changed, tagged, gone, *_ = bulk(hive, 6)
    run(hive, Counted())
    hive.call("update", id=changed, content="seen otherwise")
    hive.call("update", id=tagged, tags=["t"])
    hive.call("delete", id=gone)
    embedder = Counted()
    report = run(hive, embedder)
    assert (done(report), report.records, embedder.embedded) == ((1, 4, 0, 0), 5, ["seen otherwise"])


def test_records_without_text_have_no_vector(hive: Hive) -> None:
    """They are neither embedded nor missed."""
    hive.call("create", kind="observation", content=" ")
    assert done(run(hive, Counted())) == (0, 0, 0, 0)


def test_the_vectors_of_records_that_are_gone_for_good_are_removed(hive: Hive) -> None:
    """Those of hard-deleted records; a deleted record that can come back keeps its own."""
    hard, soft, *_ = bulk(hive, 4)
    run(hive, Counted())
    hive.call("delete", id=hard, hard=True)
    hive.call("delete", id=soft)
    assert done(run(hive, Counted())) == (0, 2, 0, 1)
    assert done(run(hive, Counted())) == (0, 2, 0, 0)


def test_another_revision_replaces_the_former_one(hive: Hive) -> None:
    """Its vectors are all made anew, and the tables of the former revision are gone."""
    bulk(hive, 5)
    run(hive, Counted())
    newer = Counted()
    newer.revision = "2"
    assert done(run(hive, newer)) == (5, 0, 0, 1)
    with hive.server.engine.read() as tx:
        assert [(model.name, model.revision) for model in vectors.models(tx)] == [("hashed", "2")]
        tables = tx.all(
            "SELECT name FROM sqlite_schema WHERE name LIKE 'vector\\_floats\\_%' ESCAPE '\\' AND sql LIKE '%vec0%'"
        )
    assert len(tables) == 1


def test_long_texts_are_counted(hive: Hive) -> None:
    """How many were cut, and by how many bytes together."""
    texts = ["a" * (EMBEDDING_HASHED_BYTES_MAX + 5), "é" * EMBEDDING_HASHED_BYTES_MAX, "short"]
    hive.call("create", items=[{"kind": "observation", "content": text} for text in texts])
    (model,) = run(hive, Counted()).models
    assert model == ModelReport("hashed", "1", 3, 0, 0, 2, 5 + EMBEDDING_HASHED_BYTES_MAX, 0)


def test_one_refused_text_does_not_stop_the_others(hive: Hive) -> None:
    """It is counted and tried again by the next run."""
    bulk(hive, 6)
    assert done(run(hive, Counted(refused="seen 2"))) == (5, 0, 1, 0)
    assert done(run(hive, Counted())) == (1, 5, 0, 0)


def test_an_embedder_that_cannot_work_ends_the_run_and_keeps_what_was_done(hive: Hive) -> None:
    """The next run goes on where it ended."""
    bulk(hive, 10)

    class Failing(Counted):
        def embed(self, inputs: Sequence[str]) -> list[bytes]:
            if self.embedded:
                raise EmbedderUnavailable("hashed: out of order")
            return super().embed(inputs)

    with pytest.raises(EmbedderUnavailable, match="out of order"):
        reindex(
            hive.server.engine,
            Embedders([Failing()]),
            batch_size=BATCH,
            rebuild_text=False,
            tell=lambda _taken, _in_all: None,
        )
    assert done(run(hive, Counted())) == (6, 4, 0, 0)


def test_the_text_indexes_are_built_from_the_records(hive: Hive) -> None:
    """Whatever was in them: afterwards each live record is found, and a deleted one is not."""
    ids = bulk(hive, 6)
    hive.call("delete", id=ids[1])
    hive.server.engine.run_write(lambda tx: text_index.remove(tx, "entity", place("local", "concept", 2)))
    seen = place("local", "observation", 1)
    hive.server.engine.run_write(lambda tx: text_index.replace(tx, "note", seen, None, "nonsense"))
    report = run(hive, text=True)
    curated = ["agent_entries_words", "agent_entries_trigrams"]
    assert report.text_indexes == ["entity_words", "entity_trigrams", "note_words", "note_trigrams", *curated]
    assert report.models == []
    with hive.server.engine.read() as tx:
        for substrate in text_index.SUBSTRATES:
            assert text_index.differences(tx, substrate) == ([], [])
    assert {row["title"] for row in hive.call("search", kind="entity", query="thing")} == {"thing 3", "thing 5"}
    assert hive.call("search", kind="note", query="nonsense") == []
    assert len(hive.call("search", kind="note", query="seen")) == 3


def test_a_run_waits_for_another_process_and_gives_up_in_the_end(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another one embeds nothing is written; the message says to come back."""
    monkeypatch.setattr(reindexing, "EMBEDDING_LEASE_MS", 50)
    bulk(hive, 1)
    other = Lease(hive.server.engine, "embedding", 60_000)
    assert other.take()
    with pytest.raises(EmbedderUnavailable, match="another process of this store keeps embedding"):
        run(hive, Counted())
    other.release()
    assert done(run(hive, Counted())) == (1, 0, 0, 0)
