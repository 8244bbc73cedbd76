"""recall: what is answered, in which order, and what is said about the rest."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.packs.memory import recall as recalling
from hivekeep.search.embedders import EmbedderUnavailable
from hivekeep.storage import embedding_queue, notes, vectors
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.vectors import VectorRow
from hivekeep.times import iso, now_us
from support.client import Hive, open_hive
from support.stores import record_id

DAY_US = 86_400_000_000
OLD = 30
"""Days after which no episode is fresh."""


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server with the memory pack and nothing that it does not need."""
    with open_hive(runtime_packs=["kg", "memory"]) as opened:
        yield opened


def keep(hive: Hive, number: int, content: str, *, days: float = 0.0, **fields: Any) -> str:
    """Store a memory that is so many days old; `properties` is an object. Answers its id."""
    made = now_us() - int(days * DAY_US)
    if "properties" in fields:
        fields["properties"] = dump(fields["properties"])
    row = NoteRow(record_id(number), "local", "memory", content, made, made)._replace(**fields)

    def write(tx: Tx) -> None:
        notes.insert(tx, row)

    hive.server.engine.run_write(write)
    return row.id


def ids(hive: Hive, query: str, **args: Any) -> list[str]:
    """The ids of a recall in their order."""
    return [hit["id"] for hit in hive.call("memory.recall", query=query, **args)]


def left_out(hive: Hive, query: str, args: str = "") -> dict[str, int] | None:
    """The counts of the advisory of a recall, None when there is none."""
    entry = hive.entry(f'memory.recall(query="{query}"{args})')
    assert entry["ok"], entry
    found = [advisory for advisory in entry.get("advisories", ()) if advisory["code"] == "recall_filtered"]
    if not found:
        return None
    (advisory,) = found
    return {name: advisory[name] for name in ("candidates", "below_floor", "superseded", "other_scope")}


# scores


def test_the_score_of_a_lone_hit_is_the_formula(hive: Hive) -> None:
    """A leg with one hit scores 1.0, lowered to 0.82; the stored weight and decay count, and age in days."""
    keep(hive, 1, "the cache is warm", days=10, salience=0.4, decay_factor=0.02, properties={"memory_type": "semantic"})
    (hit,) = hive.call("memory.recall", query="warm cache", include_breakdown=True)
    recency = math.exp(-0.02 * 10)
    wanted = 0.7 * 0.82 * (1 + 0.1 * recency) * (1 + 0.2 * 0.4)
    assert hit["rank_score"] == pytest.approx(wanted, abs=1e-6)
    assert hit["score"] == hit["rank_score"]
    assert hit["raw_score"] is None
    assert hit["breakdown"]["relevance"] == 0.82
    assert hit["breakdown"]["salience_decayed"] == pytest.approx(0.4 * recency, abs=1e-6)
    assert hit["breakdown"]["temporal"] == pytest.approx(0.5 ** (10 / 30), abs=1e-6)
    assert hit["breakdown"]["profile_component"] == 1.0
    assert hit["breakdown"]["entity_posterior_mean"] is None
    assert hit["serve_attribution"] == "unspecified"
    assert "served_by_profile_id" not in hit


def test_what_a_memory_leaves_out_is_resolved(hive: Hive) -> None:
    """A note of the kind memory without type, weight and decay is an episode with the defaults of one."""
    made = hive.call("create", kind="memory", content="the cache is warm")["id"]
    (hit,) = hive.call("memory.recall", query="warm cache")
    assert (hit["id"], hit["memory_type"], hit["salience"], hit["decay_factor"]) == (made, "episodic", 0.3, 0.02)
    recency_and_salience = 1.1 * (1 + 0.2 * 0.3)
    assert hit["rank_score"] == pytest.approx(0.7 * 0.82 * recency_and_salience + 0.05, abs=1e-6)


def test_weight_and_recency_order_equal_texts(hive: Hive) -> None:
    """The heavier one first, then the newer one."""
    for number, days, salience in ((1, 300, 0.3), (2, 30, 0.3), (3, 300, 0.9)):
        keep(hive, number, f"warm cache {number}", days=days, salience=salience)
    assert ids(hive, "warm cache", entity_names=[]) == [record_id(3), record_id(2), record_id(1)]


def test_a_named_entity_moves_a_memory_up_by_three_tenths(hive: Hive) -> None:
    """Given names count in any case; a capital letter in the query makes no name."""
    keep(hive, 1, "Ada asked about the cache", days=OLD, salience=0.0, decay_factor=100.0)
    base = 0.7 * 0.82 * (1 + 0.1 * math.exp(-0.05 * OLD))
    for args, factor in (
        ({"query": "Ada cache"}, 1.0),
        ({"query": "Ada cache", "entity_names": ["Ada"]}, 1.3),
        ({"query": "cache question", "entity_names": ["ADA"]}, 1.3),
        ({"query": "cache question", "entity_names": ["Grace"]}, 1.0),
    ):
        (hit,) = hive.call("memory.recall", **args)
        assert hit["rank_score"] == pytest.approx(base * factor, abs=1e-6), args


def test_the_name_of_an_entity_of_the_graph_counts_in_any_case(hive: Hive) -> None:
    """Words and pairs of the query that an entity is called by are names; a longer word is no mention of one."""
    hive.call("create", kind="concept", name="Vector Index")
    for number, content, factor in ((1, "about the vector index: quick", 1.3), (2, "vector indexes, quick", 1.0)):
        kept = keep(hive, number, content, days=OLD, salience=0.0, decay_factor=0.0)
        (hit,) = hive.call("memory.recall", query="quick vector index")
        assert hit["rank_score"] == pytest.approx(0.7 * 0.82 * 1.1 * factor, abs=1e-6)
        hive.call("delete", id=kept)


def test_the_weaker_of_two_near_duplicates_pays(hive: Hive) -> None:
    """A tenth less than the same memory would have alone."""
    for number, salience in ((1, 0.5), (2, 0.4)):
        keep(hive, number, "warm cache " + "x" * 100 + str(number), days=OLD, salience=salience, decay_factor=100.0)
    first, second = hive.call("memory.recall", query="warm cache")
    base = 0.7 * 0.82 * (1 + 0.1 * math.exp(-0.05 * OLD))
    assert first["rank_score"] == pytest.approx(base * (1 + 0.2 * 0.5), abs=1e-6)
    assert second["rank_score"] == pytest.approx(base * (1 + 0.2 * 0.4) - 0.1, abs=1e-6)


# the request


def test_limits_are_clamped(hive: Hive) -> None:
    """limit to 200, top_k to 100; top_k beats limit; 0 asks for nothing; below zero is refused."""
    for number in range(1, 231):
        keep(hive, number, f"warm cache {number}")
    assert len(ids(hive, "warm cache")) == 10
    assert len(ids(hive, "warm cache", limit=500)) == 200
    assert len(ids(hive, "warm cache", top_k=500)) == 100
    assert len(ids(hive, "warm cache", top_k=3, limit=50)) == 3
    assert ids(hive, "warm cache", limit=0) == []
    assert "limit" in hive.refuses("memory.recall", query="warm cache", limit=-1)["message"]


def test_a_floor_is_inclusive_and_may_be_percent(hive: Hive) -> None:
    """Above 1 it is percent; score_floor is the same; both, below zero and above a hundred are refused."""
    keep(hive, 1, "warm cache", days=10_000, salience=0.0, decay_factor=1.0)
    (hit,) = hive.call("memory.recall", query="warm cache")
    score = hit["rank_score"]
    assert score == pytest.approx(0.7 * 0.82, abs=1e-9)
    assert len(ids(hive, "warm cache", min_score=score)) == 1
    assert len(ids(hive, "warm cache", score_floor=57.3)) == 1
    assert ids(hive, "warm cache", min_score=57.5) == []
    assert ids(hive, "warm cache", min_score=0.575) == []
    assert left_out(hive, "warm cache", ", min_score=1") == {
        "candidates": 1,
        "below_floor": 1,
        "superseded": 0,
        "other_scope": 0,
    }
    for args in ({"min_score": -0.01}, {"min_score": 100.1}, {"min_score": 0.1, "score_floor": 0.1}):
        error = hive.refuses("memory.recall", query="warm cache", **args)
        assert (error["kind"], "min_score" in error["message"]) == ("invalid_input", True)


def test_min_salience_asks_for_the_weight_before_any_decay(hive: Hive) -> None:
    """An old memory of 0.5 stays, one without a weight counts as its type does."""
    old, episode, fact = (
        keep(hive, 1, "warm cache", days=900, salience=0.5),
        keep(hive, 2, "warm cache too"),
        keep(hive, 3, "warm cache as well", properties={"memory_type": "semantic"}),
    )
    assert set(ids(hive, "warm cache", min_salience=0.5)) == {old, fact}
    assert set(ids(hive, "warm cache", min_salience=0.3)) == {old, episode, fact}
    assert left_out(hive, "warm cache", ", min_salience=0.5") == {
        "candidates": 3,
        "below_floor": 1,
        "superseded": 0,
        "other_scope": 0,
    }


@pytest.mark.parametrize(
    ("args", "numbers"),
    [
        ({"tags": ["CI"]}, {1, 2}),
        ({"tags": ["ci", "disk"]}, {1, 2, 3}),
        ({"tags": ["ci", "disk"], "tag_mode": "all"}, {1}),
        ({"tags": ["nope"]}, set()),
        ({"exclude_tags": ["disk"]}, {2, 4}),
        ({"tags": ["ci"], "exclude_tags": ["DISK"]}, {2}),
        ({"memory_type": "semantic"}, {2, 3}),
        ({"memory_type": "episodic"}, {1, 4}),
        ({"tags": [], "exclude_tags": []}, {1, 2, 3, 4}),
    ],
)
def test_filters_are_met_by_every_hit(hive: Hive, args: dict[str, Any], numbers: set[int]) -> None:
    """Tags without case, any or all of them; excluded ones; the type, which is episodic where none is said."""
    keep(hive, 1, "warm cache", properties={"tags": ["ci", "Disk"]})
    keep(hive, 2, "warm cache 2", properties={"tags": ["ci"], "memory_type": "semantic"})
    keep(hive, 3, "warm cache 3", properties={"tags": ["disk"], "memory_type": "semantic"})
    keep(hive, 4, "warm cache 4", properties={"memory_type": "no such type"})
    assert set(ids(hive, "warm cache", **args)) == {record_id(number) for number in numbers}


def test_moments_bound_from_after_to_before(hive: Hive) -> None:
    """created_after is inclusive, created_before is not."""
    first, second, third = (1_700_000_000_000_000 + number for number in range(3))
    for number, moment in enumerate((first, second, third), 1):
        keep(hive, number, f"warm cache {number}", created_at=moment)
    assert set(ids(hive, "warm cache", created_after=iso(second))) == {record_id(2), record_id(3)}
    assert set(ids(hive, "warm cache", created_before=iso(second))) == {record_id(1)}
    assert ids(hive, "warm cache", created_after=iso(second), created_before=iso(third)) == [record_id(2)]


def test_filters_hold_before_anything_is_cut(hive: Hive) -> None:
    """The one tagged memory is found behind three hundred better ones."""
    for number in range(1, 301):
        keep(hive, number, "warm cache")
    wanted = keep(hive, 999, "a long text in which the cache is only one of very many words " * 3)
    hive.call("update", id=wanted, tags=["rare"])
    assert ids(hive, "warm cache", tags=["rare"]) == [wanted]


def test_each_caller_sees_its_own_namespaces(hive: Hive) -> None:
    """Without a namespace all visible ones; an explicit one is exact; others are neither shown nor counted."""
    ada, grace = hive.as_actor("ada", "team-a"), hive.as_actor("grace", "team-b")
    own = ada.call("memory.remember", content="the cache of team a is warm")["id"]
    shared = ada.call("memory.remember", content="caches are warm", memory_type="semantic")["id"]
    assert set(ids(ada, "warm cache")) == {own, shared}
    assert ids(grace, "warm cache") == [shared]
    assert left_out(grace, "warm cache") is None
    assert ids(ada, "warm cache", namespace="team-a") == [own]
    assert left_out(ada, "warm cache", ', namespace="team-a"') == {
        "candidates": 1,
        "below_floor": 0,
        "superseded": 0,
        "other_scope": 1,
    }


def test_only_live_memories_are_recalled(hive: Hive) -> None:
    """No other kind, no deleted one; an expired one is, until it is pruned."""
    hive.call("create", kind="observation", content="the cache is warm")
    gone = hive.call("memory.remember", content="the cache was warm")["id"]
    expired = keep(hive, 1, "the cache had been warm", expires_at=1)
    hive.call("delete", id=gone)
    assert ids(hive, "warm cache") == [expired]
    hive.call("update", id=expired, content="something else")
    assert ids(hive, "warm cache") == []
    assert ids(hive, "something else") == [expired]
    hive.call("restore", id=gone)
    assert ids(hive, "warm cache") == [gone]


# corrections


def test_a_correction_replaces_and_history_is_on_request(hive: Hive) -> None:
    """The old memory is left out and counted; include_superseded shows both and says which is which."""
    old = hive.call("memory.remember", content="The standup is at nine.")["id"]
    new = hive.call("memory.remember", content="The standup is at ten.", supersedes=old)["id"]
    assert ids(hive, "when is the standup") == [new]
    assert left_out(hive, "when is the standup") == {
        "candidates": 2,
        "below_floor": 0,
        "superseded": 1,
        "other_scope": 0,
    }
    both = hive.call("memory.recall", query="when is the standup", include_superseded=True)
    assert {hit["id"]: hit["superseded"] for hit in both} == {old: True, new: False}
    hive.call("delete", id=new)
    assert ids(hive, "when is the standup") == [old]
    hive.call("restore", id=new)
    assert ids(hive, "when is the standup") == [new]


def test_a_correction_pays_nothing_for_beginning_like_what_it_corrects(hive: Hive) -> None:
    """It scores as it would alone."""
    beginning = "warm cache " + "x" * 100
    old = keep(hive, 1, beginning + " at nine", days=OLD, salience=0.9)
    new = keep(hive, 2, beginning + " at ten", days=OLD, salience=0.0, decay_factor=100.0)
    hive.call("link", source_id=new, target_id=old, relation="supersedes")
    (hit,) = hive.call("memory.recall", query="warm cache")
    assert hit["id"] == new
    assert hit["rank_score"] == pytest.approx(0.7 * 0.82 * (1 + 0.1 * math.exp(-0.05 * OLD)), abs=1e-6)


@pytest.mark.parametrize("written", ["{id}", "{prefix}", ["{prefix}"], [1, "{id}"]])
def test_the_property_supersedes_of_another_candidate_counts_too(hive: Hive, written: Any) -> None:
    """A full id or a prefix, alone or in a list; it replaces nothing when its memory is no candidate."""
    old = keep(hive, 1, "The standup is at nine.", id="aaaaaaaa-0000-4000-8000-000000000001")

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(one) for one in value]
        return value.format(id=old, prefix=old[:8]) if isinstance(value, str) else value

    new = keep(hive, 2, "The standup is at ten.", properties={"supersedes": filled(written)})
    assert ids(hive, "when is the standup") == [new]
    assert ids(hive, "nine") == [old]


@pytest.mark.parametrize("written", [5, True, None, "[x", ["aaaaaaaa", 5, None], {"a": [1]}, "", "  "])
@pytest.mark.parametrize("name", ["supersedes", "source_id", "session_id", "thread", "memory_type", "tags"])
def test_a_property_that_means_nothing_spoils_no_recall(hive: Hive, name: str, written: Any) -> None:
    """Properties are free: one memory whose `supersedes` was a number or a broken list failed every recall of it."""
    odd = hive.call("create", kind="memory", content="The standup is at ten.", properties={name: written})["id"]
    plain = hive.call("memory.remember", content="The standup is at nine.")["id"]
    hits = hive.call("memory.recall", query="when is the standup", include_source_id=True, include_superseded=True)
    assert {hit["id"]: (hit["source_id"], hit["memory_type"], hit["superseded"]) for hit in hits} == {
        odd: (None, "episodic", False),
        plain: (None, "episodic", False),
    }


def test_an_edge_of_a_namespace_that_the_caller_does_not_see_hides_nothing(hive: Hive) -> None:
    """Somebody else's correction counts for those who can read it."""
    old = hive.call("memory.remember", content="The standup is at nine.")["id"]
    stranger = hive.as_actor("eve", "team-e")
    new = stranger.call("memory.remember", content="The standup is at midnight.", supersedes=old)["id"]
    assert ids(hive, "when is the standup") == [old]
    assert ids(stranger, "when is the standup") == [new]


# what is said about the rest


def test_nothing_relevant_is_an_answer(hive: Hive) -> None:
    """An empty array, with the counts beside it."""
    hive.call("memory.remember", content="The standup is at nine.")
    assert hive.call("memory.recall", query="quantum gravity") == []
    nothing = {"candidates": 0, "below_floor": 0, "superseded": 0, "other_scope": 0}
    assert left_out(hive, "quantum gravity") == nothing
    assert left_out(hive, "standup") is None


def test_memories_that_only_the_filters_exclude_are_counted(hive: Hive) -> None:
    """By type, tag, moment; those that do not have the words are not."""
    keep(hive, 1, "warm cache", properties={"tags": ["a"]})
    keep(hive, 2, "warm cache 2", properties={"memory_type": "semantic"})
    keep(hive, 3, "cold pool")
    for args, others in (
        (', tags=["a"]', 1),
        (', memory_type="semantic"', 1),
        (', created_before="2001-01-01T00:00:00Z"', 2),
        (', tags=["b"]', 2),
    ):
        counts = left_out(hive, "warm cache", args)
        assert counts is not None
        assert counts["other_scope"] == others, args


# the answer


def test_short_content_is_two_hundred_characters_and_a_mark(hive: Hive) -> None:
    """200 characters stay whole; the ranking looks at all of it."""
    whole = keep(hive, 1, "cache " + "é" * 194)
    cut = keep(hive, 2, "cache " + "é" * 195 + " warm")
    shown = {hit["id"]: hit["content"] for hit in hive.call("memory.recall", query="warm cache", full_content=False)}
    assert shown == {whole: "cache " + "é" * 194, cut: "cache " + "é" * 194 + "…"}
    full = {hit["id"]: len(hit["content"]) for hit in hive.call("memory.recall", query="warm cache")}
    assert full == {whole: 200, cut: 206}


def test_content_is_cut_at_the_budget_of_an_answer(hive: Hive) -> None:
    """65,536 bytes of what is shown; the first memory that does not fit ends the answer, and each hit says so."""
    for number, size in enumerate((40_000, 25_500, 40, 10), 1):
        keep(hive, number, "warm cache".ljust(size, str(number)), days=OLD)
    whole = hive.call("memory.recall", query="warm cache", fusion_strategy="rrf")
    assert [(hit["id"], hit["truncated"]) for hit in whole] == [(record_id(number), True) for number in (4, 1, 2)]
    short = hive.call("memory.recall", query="warm cache", fusion_strategy="rrf", full_content=False)
    assert [hit["id"] for hit in short] == [record_id(number) for number in (4, 1, 2, 3)]
    assert all("truncated" not in hit for hit in short)


def test_an_answer_into_which_nothing_fits_says_so(hive: Hive) -> None:
    """An object instead of an empty array; shortened content fits."""
    keep(hive, 1, "warm cache " + "é" * 40_000)
    assert hive.call("memory.recall", query="warm cache") == {
        "results": [],
        "budget_capped": True,
        "truncated_for_budget": 1,
    }
    assert len(hive.call("memory.recall", query="warm cache", full_content=False)) == 1


def test_the_source_is_shown_on_request(hive: Hive) -> None:
    """Null where there is none; absent unless it is asked for."""
    concept = hive.call("create", kind="concept", name="Cache")["id"]
    about = hive.call("memory.remember", content="warm cache", source_id=concept)["id"]
    alone = hive.call("memory.remember", content="warm cache, alone")["id"]
    shown = {hit["id"]: hit["source_id"] for hit in hive.call("memory.recall", query="warm", include_source_id=True)}
    assert shown == {about: concept, alone: None}
    assert all("source_id" not in hit for hit in hive.call("memory.recall", query="warm"))


@pytest.mark.parametrize(
    ("format", "presentation", "full", "short"),
    [
        ("json", "agent", True, True),
        ("json", "verbose", True, False),
        ("json", "human", True, False),
        ("auto", "agent", False, True),
        ("table", "human", False, False),
        ("auto", "verbose", True, False),
        ("table", "verbose", True, False),
    ],
)
def test_full_id_is_there_in_json_and_in_verbose(
    hive: Hive, format: str, presentation: str, full: bool, short: bool
) -> None:
    """The other formats leave it out; agent mode shortens id, never full_id."""
    for number in (1, 2):
        keep(hive, number, f"warm cache {number}")
    shown = str(hive.ok('memory.recall(query="warm cache")', format=format, presentation=presentation))
    assert ("full_id" in shown) is full
    assert (record_id(1) in shown) is (full or not short)


# fusion


def test_a_memory_next_to_a_hit_is_found_by_weights_alone(hive: Hive) -> None:
    """The turn behind the question has none of its words; the other strategies look at words and vectors only."""
    turns = ["Where do we keep the spare keys?", "Below the third flowerpot.", "Thanks!"]
    for number, turn in enumerate(turns, 1):
        keep(hive, number, turn, properties={"session_id": record_id(77)})
    assert set(ids(hive, "spare keys")) == {record_id(1), record_id(2)}
    for strategy in ("rrf", "union", "keyword_only"):
        assert ids(hive, "spare keys", fusion_strategy=strategy) == [record_id(1)], strategy


def test_a_leg_of_weight_zero_is_switched_off() -> None:
    """The setting memory.weight_neighbours 0 leaves the words."""
    with open_hive(runtime_packs=["kg", "memory"], memory_weight_neighbours=0.0) as hive:
        for number, turn in enumerate(("Where are the spare keys?", "Below the flowerpot."), 1):
            keep(hive, number, turn, properties={"session_id": record_id(77)})
        assert ids(hive, "spare keys") == [record_id(1)]


def test_an_unknown_strategy_or_mode_is_refused(hive: Hive) -> None:
    """The message lists what is accepted."""
    for args, accepted in (({"fusion_strategy": "best"}, "keyword_only"), ({"tag_mode": "none"}, "any")):
        error = hive.refuses("memory.recall", query="warm cache", **args)
        assert (error["kind"], accepted in error["message"]) == ("invalid_input", True)


# vectors


def test_vectors_alone_without_an_embedder_are_a_degraded_answer(hive: Hive) -> None:
    """An object that says why; the default strategy does without and says nothing."""
    keep(hive, 1, "warm cache")
    assert hive.call("memory.recall", query="warm cache", fusion_strategy="vector_only") == {
        "results": [],
        "degraded": True,
        "degraded_reason": "no embedder is configured",
    }
    (hit,) = hive.call("memory.recall", query="warm cache")
    assert "degraded" not in hit


def test_an_embedder_that_fails_leaves_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every hit is marked, an empty answer is an object, and the event says so."""
    with open_hive(runtime_packs=["kg", "memory"], embedding_models=["hashed"]) as hive:
        keep(hive, 1, "warm cache")

        def fails(*_args: object, **_kwargs: object) -> None:
            raise EmbedderUnavailable("the model is away")

        monkeypatch.setattr(recalling, "meaning_of", fails)
        (hit,) = hive.call("memory.recall", query="warm cache")
        assert (hit["degraded"], hit["degraded_reason"]) == ("ann_unavailable", "the model is away")
        assert hive.call("memory.recall", query="quantum gravity") == {
            "results": [],
            "degraded": True,
            "degraded_reason": "the model is away",
        }
        payloads = [event["payload"] for event in hive.events() if event["kind"] == "recall_executed"]
        assert [payload["degraded"] for payload in payloads] == [True, True]


def embed(hive: Hive) -> None:
    """Make the vectors that wait, as the worker does."""

    def write(tx: Tx) -> None:
        (embedder,) = hive.server.around.embedders
        rows = embedding_queue.take(tx, now_us(), 100)
        made = embedder.embed([row.input for row in rows])
        assert embedder.dims is not None
        model = vectors.register_model(tx, embedder.name, embedder.revision, embedder.dims, now_us())
        vectors.put_many(
            tx,
            model,
            [
                VectorRow(row.substrate, row.seq, row.namespace, row.kind, row.source_hash, vector)
                for row, vector in zip(rows, made, strict=True)
            ],
        )
        embedding_queue.done(tx, rows)

    hive.server.engine.run_write(write)


def test_a_vector_gives_the_score_and_not_the_order() -> None:
    """score and raw_score are the cosine, rank_score orders; a changed text has no vector until a new one is made."""
    with open_hive(runtime_packs=["kg", "memory"], embedding_models=["hashed"]) as hive:
        made = hive.call("memory.remember", content="The cache is warm after ten minutes.")["id"]
        (words,) = hive.call("memory.recall", query="warm cache")
        assert (words["raw_score"], words["score"]) == (None, words["rank_score"])
        embed(hive)
        (both,) = hive.call("memory.recall", query="The cache is warm after ten minutes.")
        assert both["id"] == made
        assert both["raw_score"] == pytest.approx(1.0, abs=1e-6)
        assert both["score"] == pytest.approx(1.0, abs=1e-6)
        assert both["rank_score"] < 1.0
        (alone,) = hive.call("memory.recall", query="caches warming", fusion_strategy="vector_only")
        assert 0.1 <= alone["raw_score"] < 1.0
        hive.call("update", id=made, content="The pool is cold.")
        assert hive.call("memory.recall", query="caches warming", fusion_strategy="vector_only") == []
        embed(hive)
        (again,) = hive.call("memory.recall", query="The pool is cold.", fusion_strategy="vector_only")
        assert again["raw_score"] == pytest.approx(1.0, abs=1e-6)


def test_filters_and_corrections_hold_for_vectors_too() -> None:
    """A tag, a deletion and a correction leave a memory out of the vector leg at once."""
    with open_hive(runtime_packs=["kg", "memory"], embedding_models=["hashed"]) as hive:
        old = hive.call("memory.remember", content="The cache is warm after ten minutes.", tags=["a"])["id"]
        embed(hive)

        def found(**args: Any) -> list[str]:
            return ids(hive, "caches warming", fusion_strategy="vector_only", **args)

        assert (found(), found(tags=["a"]), found(tags=["b"]), found(exclude_tags=["a"])) == ([old], [old], [], [])
        new = hive.call("memory.remember", content="The cache is warm after five minutes.", supersedes=old)["id"]
        assert found() == []
        embed(hive)
        assert found() == [new]
        assert set(found(include_superseded=True)) == {old, new}
        hive.call("delete", id=new)
        assert found() == [old]


def test_what_a_vector_hardly_finds_is_no_answer() -> None:
    """Below a cosine of 0.1 a memory without any of the words is dropped and counted."""
    with open_hive(runtime_packs=["kg", "memory"], embedding_models=["hashed"]) as hive:
        hive.call("memory.remember", content="zzzz qqqq")
        embed(hive)
        assert hive.call("memory.recall", query="completely different words") == []
        assert left_out(hive, "completely different words") == {
            "candidates": 1,
            "below_floor": 1,
            "superseded": 0,
            "other_scope": 0,
        }


def test_an_empty_answer_tells_how_many_vectors_are_still_to_come() -> None:
    """Nothing relevant may be nothing yet: the advisory did not say that a memory waits for its vector."""
    with open_hive(runtime_packs=["kg", "memory"], embedding_models=["hashed"]) as hive:
        hive.call("memory.remember", content="rotary embeddings", namespace="local")
        hive.call("memory.remember", content="elsewhere", namespace="other")

        def waiting(**args: Any) -> int:
            said = json.dumps([{"tool": "memory.recall", "args": {"query": "rotating embedding", **args}}])
            (advisory,) = hive.entry(said)["advisories"]
            return int(advisory["pending"])

        assert waiting(min_score=1.0) == 1
        assert waiting(fusion_strategy="keyword_only", min_score=1.0) == 0
        embed(hive)
        assert waiting(min_score=1.0) == 0


def test_a_model_that_is_not_registered_is_refused(hive: Hive) -> None:
    """By its name."""
    error = hive.refuses("memory.recall", query="warm cache", embedding_model="none-such")
    assert (error["kind"], "none-such" in error["message"]) == ("invalid_input", True)


# what is left behind


def test_each_recall_leaves_one_event(hive: Hive) -> None:
    """What was asked and answered, how long it took and what tuned it; a credential in the query is masked."""
    kept = keep(hive, 1, "warm cache")
    hive.call("memory.recall", query="warm cache token=ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    (event,) = [event for event in hive.events() if event["kind"] == "recall_executed"]
    payload = event["payload"]
    latency = payload.pop("latency_us")
    assert 0 < latency < 30_000_000
    assert "k1L2m3N4o5P6" not in payload["query"]
    assert payload["query"].startswith("warm cache token=")
    del payload["query"]
    assert payload == {
        "target_ids": [kept],
        "hits": 1,
        "fusion_strategy": "weighted",
        "serve_attribution": "unspecified",
        "served_by_profile_id": None,
        "degraded": False,
    }
    assert (event["verb"], event["substrate"], event["outcome"]) == ("memory.recall", "note", "success")


def test_a_profile_needs_the_pack_that_keeps_them(hive: Hive) -> None:
    """Without it, a named profile is refused and not ignored."""
    error = hive.refuses("memory.recall", query="warm cache", profile_id="mine")
    assert (error["kind"], "brain" in error["message"]) == ("unsupported", True)


def test_a_recall_that_takes_too_long_is_given_up(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """deadline_exceeded, and no part of an answer."""
    keep(hive, 1, "warm cache")
    monkeypatch.setattr(recalling, "RECALL_DEADLINE_MS", -1)
    error = hive.refuses("memory.recall", query="warm cache")
    assert (error["kind"], error["code"], error["retryable"]) == ("deadline_exceeded", "deadline_exceeded", True)
