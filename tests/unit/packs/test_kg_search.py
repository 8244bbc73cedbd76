"""search and context with an embedder: what the answer says of both arms, and when no model is asked."""

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hivekeep.jobs.embedding import Worker
from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.search.embedders.protocol import unit_vector
from hivekeep_contract.errors import EmbedderUnavailable
from support.client import Hive, open_hive


def embed(hive: Hive) -> None:
    """Make every vector that is waited for."""
    worker = Worker(hive.server.engine, hive.server.around.embedders, batch_size=16)
    while worker.work():
        pass
    worker.close()


@pytest.fixture
def hashed(tmp_path: Path) -> Iterator[Hive]:
    """A server on a file with the embedder of tests."""
    with open_hive(tmp_path / "hive.db", embedding_models=("hashed",)) as opened:
        yield opened


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the embedder of tests makes vectors of, from now on."""
    texts: list[str] = []
    embed_really = HashedEmbedder.embed

    def listen(self: HashedEmbedder, inputs: Sequence[str]) -> list[bytes]:
        texts.extend(inputs)
        return embed_really(self, inputs)

    monkeypatch.setattr(HashedEmbedder, "embed", listen)
    return texts


def test_a_record_is_found_by_words_until_its_vector_is_made(hashed: Hive) -> None:
    """The vector arm ran and says how many records of the scope wait; then both arms find it."""
    hashed.call("create", kind="concept", name="RoPE", description="Rotary position embedding")
    hashed.call("create", kind="observation", content="another scope")
    search = 'search(kind="concept", query="rotary position")'
    before = hashed.entry(search)
    assert before["arm_participation"]["vector"] == {"status": "ran", "candidate_count": 0, "pending": 1}
    assert [hit["source"] for hit in before["result"]] == ["text"]
    embed(hashed)
    after = hashed.entry(search)
    assert after["arm_participation"]["vector"] == {"status": "ran", "candidate_count": 1, "pending": 0}
    (hit,) = after["result"]
    assert (hit["source"], hit["rank_score"]) == ("both", 2 / 11)
    assert hit["signals"].keys() == {"keyword_score", "vector_similarity"}


@pytest.mark.parametrize("query", ["\ufeff", "\u200b", "\u202e", "\u0301", "\u0000", "\U000e0001", "﹏", "💥"])
def test_a_lone_character_that_is_no_white_space_can_be_searched(hive: Hive, query: str) -> None:
    """JSON Schema takes U+FEFF for white space, so that a query of it alone was refused as blank."""
    assert hive.call("search", kind="note", query=query) == []
    assert hive.call("search", kind="entity", query=query) == []


def test_a_hit_of_the_vector_arm_alone_has_its_signal_alone(hashed: Hive) -> None:
    """Evidence that is not there is left out, never made up."""
    hashed.call("create", kind="concept", name="rotary engines", description="turning pistons")
    embed(hashed)
    entry = hashed.entry('search(kind="entity", query="rotary embedding")')
    (hit,) = entry["result"]
    assert (hit["source"], hit["signals"].keys()) == ("vector", {"vector_similarity"})
    assert entry["arm_participation"]["text"]["candidate_count"] == 0
    assert entry["arm_participation"]["text"]["reason"].endswith("try fewer terms.")


def test_without_an_embedder_the_vector_arm_is_skipped(hive: Hive) -> None:
    """And nothing waits for anything."""
    hive.call("create", kind="concept", name="RoPE")
    entry = hive.entry('search(kind="entity", query="RoPE")')
    assert entry["arm_participation"]["vector"] == {"status": "skipped", "candidate_count": 0}


def test_no_model_runs_for_a_store_without_vectors(hashed: Hive, asked: list[str]) -> None:
    """There is nothing that the vector of the query could be compared with."""
    hashed.call("create", kind="concept", name="RoPE")
    hashed.call("search", kind="entity", query="RoPE")
    hashed.call("context", query="RoPE")
    assert asked == []


def test_context_makes_one_vector_of_its_query_and_none_of_ids(hashed: Hive, asked: list[str]) -> None:
    """Anchors are found by meaning as in search; explicit entities need no model."""
    record = hashed.call("create", kind="concept", name="rotary engines")["id"]
    embed(hashed)
    asked.clear()
    found = hashed.call("context", query="a rotary wing")
    assert [anchor["entity"]["id"] for anchor in found["anchors"]] == [record]
    assert asked == ["a rotary wing"]
    hashed.call("context", entity_ids=[record])
    assert asked == ["a rotary wing"]


def test_resolve_stays_lexical(hashed: Hive, asked: list[str]) -> None:
    """A reference is never resolved to what is merely similar."""
    hashed.call("create", kind="concept", name="rotary engines")
    embed(hashed)
    asked.clear()
    (answer,) = hashed.call("resolve", refs=["rotary wings"])["results"]
    assert (answer["status"], asked) == ("not_found", [])


def test_an_embedder_that_cannot_work_fails_the_call(hashed: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A typed error that may be tried again, with nothing of the answer; resolve and reads by id go on."""
    hashed.call("create", kind="concept", name="RoPE")
    embed(hashed)

    def fail(_self: HashedEmbedder, _inputs: Sequence[str]) -> list[bytes]:
        raise EmbedderUnavailable("hashed: out of order")

    monkeypatch.setattr(HashedEmbedder, "embed", fail)
    for operation in ('search(kind="entity", query="RoPE")', 'context(query="RoPE")'):
        entry = hashed.entry(operation)
        assert (entry["ok"], entry["domain_disposition"]) == (False, "not_committed")
        assert "arm_participation" not in entry
        error = entry["error"]
        assert (error["kind"], error["code"], error["retryable"]) == ("unavailable", "embedder_unavailable", True)
        assert "out of order" in error["message"]
    assert hashed.call("resolve", refs=["RoPE"])["results"][0]["status"] == "resolved"


def test_a_model_that_became_another_one_is_told_apart(hashed: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of another length under the same name cannot be compared: a typed refusal, not a fault of the store."""
    hashed.call("create", kind="concept", name="RoPE")
    embed(hashed)
    monkeypatch.setattr(HashedEmbedder, "embed", lambda _self, inputs: [unit_vector([1.0, 2.0])] * len(inputs))
    error = hashed.refuses("search", kind="entity", query="RoPE")
    assert error["code"] == "embedder_unavailable"
    assert "now makes vectors of 2 numbers, this store has some of 384" in error["message"]


def test_no_reader_is_held_while_the_model_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only reader of a store is free while the vector of a query is made."""
    embed_really = HashedEmbedder.embed
    with open_hive(tmp_path / "hive.db", embedding_models=("hashed",), storage_max_readers=1) as hive:
        hive.call("create", kind="concept", name="RoPE")
        embed(hive)
        counted: list[int] = []

        def read_meanwhile(self: HashedEmbedder, inputs: Sequence[str]) -> list[bytes]:
            with hive.server.engine.read() as tx:
                counted.extend(tx.all("SELECT count(*) FROM entities")[0])
            return embed_really(self, inputs)

        monkeypatch.setattr(HashedEmbedder, "embed", read_meanwhile)
        hive.call("search", kind="entity", query="RoPE")
        hive.call("context", query="RoPE again")
    assert counted == [1, 1]


def test_a_search_waits_for_vectors_as_long_as_the_setting_says(tmp_path: Path) -> None:
    """With embedding.wait_ms a record that was just written is found by meaning; without it, it is still waited for."""
    with open_hive(tmp_path / "hive.db", embedding_models=("hashed",), embedding_wait_ms=20_000) as hive:
        hive.call("create", kind="concept", name="rotary engines")
        later = threading.Thread(target=lambda: (time.sleep(0.3), embed(hive)))
        later.start()
        entry = hive.entry('search(kind="entity", query="a rotary wing")')
        later.join()
    assert [hit["source"] for hit in entry["result"]] == ["vector"]
    assert entry["arm_participation"]["vector"]["pending"] == 0


def test_a_wait_ends_with_its_time(tmp_path: Path) -> None:
    """Nobody makes vectors: the answer comes after the wait, and says how many records still wait."""
    with open_hive(tmp_path / "hive.db", embedding_models=("hashed",), embedding_wait_ms=150) as hive:
        hive.call("create", kind="concept", name="rotary engines")
        started = time.monotonic()
        entry = hive.entry('search(kind="entity", query="rotary")')
    assert time.monotonic() - started >= 0.15
    assert entry["arm_participation"]["vector"]["pending"] == 1


def test_records_written_without_any_embedder_are_right_in_both_arms(tmp_path: Path) -> None:
    """A server without embedders changes and deletes records; one with them then answers nothing that is gone."""
    path = tmp_path / "hive.db"
    with open_hive(path, embedding_models=("hashed",)) as hive:
        changed = hive.call("create", kind="concept", name="rotary engines")["id"]
        deleted = hive.call("create", kind="concept", name="rotary wings")["id"]
        embed(hive)
    with open_hive(path) as hive:
        hive.call("update", id=changed, name="diesel motors")
        hive.call("delete", id=deleted)
    with open_hive(path, embedding_models=("hashed",)) as hive:
        assert hive.call("search", kind="entity", query="rotary engines") == []
        (hit,) = hive.call("search", kind="entity", query="diesel motors")
        assert (hit["id"], hit["source"]) == (changed, "text")
        hive.call("restore", id=deleted)
        (hit,) = hive.call("search", kind="entity", query="rotary wings")
        assert (hit["id"], hit["source"]) == (deleted, "both")
