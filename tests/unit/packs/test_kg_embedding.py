"""What the verbs of kg put into the embedding queue, and what they say of texts that an embedder cuts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.search.embedders import Embedders, EmbedderUnavailable, minilm
from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.search.embedders.minilm import MiniLmEmbedder
from hivekeep.storage import embedding_queue
from hivekeep.storage.embedding_queue import QueueRow
from hivekeep.storage.vectors import source_hash
from hivekeep.times import now_us
from hivekeep_contract.limits import EMBEDDING_HASHED_BYTES_MAX, MERGE_SEPARATOR
from support.client import Hive, open_hive

LONG = "x" * (EMBEDDING_HASHED_BYTES_MAX + 7)


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A server in memory with the embedder `hashed`."""
    with open_hive(embedding_models=("hashed",)) as opened:
        yield opened


def queue(hive: Hive) -> list[QueueRow]:
    """The rows of the queue, oldest first."""
    with hive.server.engine.read() as tx:
        return embedding_queue.take(tx, now_us(), 1000)


def emptied(hive: Hive) -> list[str]:
    """The inputs that wait; afterwards none does."""
    rows = queue(hive)
    hive.server.engine.run_write(lambda tx: embedding_queue.done(tx, rows))
    return [row.input for row in rows]


def cut(discarded_bytes: int) -> list[dict[str, Any]]:
    """The warning of a cut text."""
    return [
        {
            "code": "embedding_truncated",
            "message": f"the embedder hashed looks at the beginning of this text only and leaves out its last "
            f"{discarded_bytes} bytes; the record and its text index hold all of it",
            "embedding_model": "hashed",
            "discarded_bytes": discarded_bytes,
        }
    ]


def test_a_new_record_waits_for_its_vector(hive: Hive) -> None:
    """The row of the queue says whose it is, of which text, and exactly what the model will get."""
    made = hive.call("create", kind="concept", name="LoRA", description="Low-rank adapters.", namespace="team")
    assert "warnings" not in made
    (row,) = queue(hive)
    assert row._replace(enqueued_at=0) == QueueRow(
        "hashed",
        "entity",
        1,
        "team",
        "concept",
        source_hash("LoRA", "Low-rank adapters."),
        "LoRA\n\nLow-rank adapters.",
        0,
    )


def test_a_long_text_is_stored_whole_and_embedded_in_part(hive: Hive) -> None:
    """Record and text index hold all of it; the answer says how many bytes the embedder does not see."""
    made = hive.call("create", kind="observation", content=LONG + " zebra")
    assert made["warnings"] == cut(7 + len(" zebra"))
    assert hive.call("get", id=made["id"])["content"] == LONG + " zebra"
    assert [row["id"] for row in hive.call("search", kind="note", query="zebra")] == [made["id"]]
    assert emptied(hive) == ["x" * EMBEDDING_HASHED_BYTES_MAX]


def test_the_name_counts_as_a_part_of_the_text(hive: Hive) -> None:
    """Name, a blank line and the description together are bounded."""
    made = hive.call("create", kind="concept", name="name", description="x" * EMBEDDING_HASHED_BYTES_MAX)
    assert made["warnings"] == cut(len("name\n\n"))


def test_a_chosen_beginning_is_embedded_instead_of_the_content(hive: Hive) -> None:
    """The hash is that of the whole note, no warning is due, and the next update embeds the whole again."""
    made = hive.call("create", kind="observation", name="n", content=LONG, embedding_content="xxx")
    assert "warnings" not in made
    (row,) = queue(hive)
    assert (row.input, row.source_hash) == ("n\n\nxxx", source_hash("n", LONG))
    assert hive.call("update", id=made["id"], name="m")["warnings"] == cut(7 + len("m\n\n"))


def test_each_embedder_that_cuts_is_named() -> None:
    """Two embedders, two rows, and a warning of each that leaves something out."""
    with open_hive(embedding_models=("hashed", "openai"), embedding_openai_input_bytes_max=16) as hive:
        made = hive.call("create", kind="observation", content="0123456789" * 2)
        assert [(one["embedding_model"], one["discarded_bytes"]) for one in made["warnings"]] == [("openai", 4)]
        both = hive.call("create", kind="observation", content=LONG)
        assert [one["embedding_model"] for one in both["warnings"]] == ["hashed", "openai"]
        assert [row.model_name for row in queue(hive)] == ["hashed", "openai"] * 2


def test_an_update_of_the_text_makes_the_record_wait_again(hive: Hive) -> None:
    """A change of name, description or content does; tags, properties, salience and no change at all do not."""
    entity = hive.call("create", kind="concept", name="A", description="d")["id"]
    note = hive.call("create", kind="observation", content="c")["id"]
    assert emptied(hive) == ["A\n\nd", "c"]
    hive.call("update", id=entity, tags=["t"], properties={"p": 1})
    hive.call("update", id=entity, name="A", description="d")
    hive.call("update", id=note, salience=0.9, content="c")
    assert emptied(hive) == []
    hive.call("update", id=entity, name="B")
    hive.call("update", id=note, content="e")
    assert emptied(hive) == ["B\n\nd", "e"]
    hive.call("update", id=entity, description=None)
    assert emptied(hive) == ["B"]
    assert hive.call("update", id=entity, description=LONG)["warnings"] == cut(7 + len("B\n\n"))


def test_a_text_that_becomes_blank_waits_no_more(hive: Hive) -> None:
    """There is nothing to embed, and no warning."""
    note = hive.call("create", kind="observation", content="c")["id"]
    hive.call("update", id=note, content=" ")
    assert emptied(hive) == []


def test_a_restored_record_waits_for_its_vector(hive: Hive) -> None:
    """With its warning; restoring a live record changes nothing."""
    note = hive.call("create", kind="observation", content=LONG)["id"]
    entity = hive.call("create", kind="concept", name="A")["id"]
    hive.call("delete", id=note)
    hive.call("delete", id=entity)
    emptied(hive)
    assert hive.call("restore", id=note)["warnings"] == cut(7)
    assert "warnings" not in hive.call("restore", id=entity)
    assert emptied(hive) == [LONG[:-7], "A"]
    assert "warnings" not in hive.call("restore", id=note)
    assert emptied(hive) == []


def test_the_survivor_of_a_merge_waits_when_its_text_changed(hive: Hive) -> None:
    """An appended description is embedded and may be cut; a merge that only moves edges embeds nothing."""
    ids = [
        hive.call("create", kind="concept", name="Same", description=text, skip_dedup_check=True)["id"]
        for text in ("one", LONG, None)
    ]
    emptied(hive)
    merged = hive.call("merge", into_id=ids[0], from_id=ids[1], content_strategy="append")
    beginning = f"Same\n\none{MERGE_SEPARATOR}"
    assert merged["warnings"] == cut(7 + len(beginning))
    assert emptied(hive) == [(beginning + LONG)[:EMBEDDING_HASHED_BYTES_MAX]]
    assert "warnings" not in hive.call("merge", into_id=ids[0], from_id=ids[2])
    assert emptied(hive) == []
    more = hive.call("create", kind="concept", name="Same", description="two")["id"]
    assert "warnings" not in hive.call("merge", into_id=ids[0], from_id=more, content_strategy="append", dry_run=True)
    assert emptied(hive) == ["Same\n\ntwo"]


def test_an_approved_change_warns_as_its_steps_would(hive: Hive) -> None:
    """The warnings of all steps stand in the answer of the review; a change that fails leaves nothing waiting."""
    added = [{"kind": "add_note", "note": {"kind": "observation", "content": LONG + "y" * extra}} for extra in (0, 1)]
    proposal = hive.call("propose", title="t", description="d", changeset={"kind": "compound", "steps": added})
    assert hive.call("review", id=proposal["id"], decision="approve")["warnings"] == [*cut(7), *cut(8)]
    assert len(emptied(hive)) == 2
    missing = {"kind": "update_entity", "id": "00000000-0000-4000-8000-000000000000", "patch": {"name": "n"}}
    steps = {"kind": "compound", "steps": [added[0], missing]}
    failing = hive.call("propose", title="t", description="d", changeset=steps)
    answer = hive.call("review", id=failing["id"], decision="approve")
    assert ("warnings" in answer, answer["status"], emptied(hive)) == (False, "approved", [])


def test_a_record_that_goes_waits_no_more(hive: Hive) -> None:
    """Deleted softly or for good, or merged into another one."""
    ids = [hive.call("create", kind="concept", name="Same", skip_dedup_check=True)["id"] for _ in range(4)]
    note = hive.call("create", kind="observation", content="c")["id"]
    hive.call("delete", id=ids[0])
    hive.call("delete", id=ids[1], hard=True)
    hive.call("delete", id=note)
    hive.call("merge", into_id=ids[2], from_id=ids[3])
    assert [(row.substrate, row.seq) for row in queue(hive)] == [("entity", 3)]


def test_what_stores_nothing_new_leaves_the_queue_alone(hive: Hive) -> None:
    """A bulk create, an exact replay of a keyed note, a refusal and a link."""
    hive.call("create", items=[{"kind": "concept", "name": "A"}, {"kind": "observation", "content": LONG}])
    assert emptied(hive) == []
    hive.call("create", kind="observation", content="c", key="k")
    assert emptied(hive) == ["c"]
    assert hive.call("create", kind="observation", content="c", key="k")["created"] is False
    hive.refuses("create", kind="concept", name="A", edges=[{"target_id": "nowhere", "relation": "extends"}])
    assert emptied(hive) == []


def test_without_an_embedder_nothing_is_queued_and_nothing_said() -> None:
    """A long text is no matter then."""
    with open_hive() as hive:
        assert "warnings" not in hive.call("create", kind="observation", content=LONG)
        assert queue(hive) == []


def test_the_tokenizer_is_loaded_before_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    """For a text that might be too long, and for stored texts of any length; never for a short new one."""
    with open_hive(embedding_models=("minilm",)) as hive:
        engine = hive.server.engine
        loaded_in: list[bool] = []
        load = minilm._load_tokenizer

        def noted() -> Any:
            loaded_in.append(engine._writer._transactions.connection.in_transaction)  # type: ignore[attr-defined]
            return load()

        monkeypatch.setattr(minilm, "_load_tokenizer", noted)
        entity = hive.call("create", kind="concept", name="short")["id"]
        assert loaded_in == []
        made = hive.call("create", kind="observation", content="memory " * 300)
        assert (loaded_in, made["warnings"][0]["discarded_bytes"]) == ([False], 46 * len("memory ") + 1)
        hive.call("update", id=entity, name="shorter")
        assert loaded_in == [False]
    with open_hive(embedding_models=("minilm",)) as hive:
        monkeypatch.setattr(minilm, "_load_tokenizer", load)
        entity = hive.call("create", kind="concept", name="short")["id"]
        (embedder,) = hive.server.around.embedders
        assert isinstance(embedder, MiniLmEmbedder)
        assert embedder._tokenizer is None
        hive.call("update", id=entity, name="shorter")
        assert embedder._tokenizer is not None


def test_a_broken_embedder_does_not_refuse_a_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record is stored, the embedder is taken out, and its reason is kept."""

    def broken() -> None:
        raise EmbedderUnavailable("minilm: the tokenizer cannot be loaded (OSError)")

    monkeypatch.setattr(minilm, "_load_tokenizer", broken)
    with open_hive(embedding_models=("minilm",)) as hive:
        made = hive.call("create", kind="observation", content="memory " * 300)
        assert "warnings" not in made
        assert hive.server.around.embedders.names == ()
        assert queue(hive) == []


def test_the_cost_of_an_operation_counts_the_embedders() -> None:
    """A create costs one more for each, an update one, a bulk create none."""
    with open_hive() as hive:
        hive.server.around.embedders = Embedders([HashedEmbedder(), MiniLmEmbedder(threads=1)])
        made = hive.call("create", kind="concept", name="A")
        hive.call("update", id=made["id"], name="B")
        hive.call("create", items=[{"kind": "concept", "name": "C"}])
        costs = [row["payload"]["resource"]["cost_unit"] for row in hive.events(event_kind="audit")]
        assert costs == [1, 2, 3]
