"""The search pipeline over a real store: what is found, in which order, and what is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.search.hybrid import (
    EntitySearch,
    Hit,
    NoteSearch,
    SearchResult,
    participation,
    search_entities,
    search_notes,
)
from hivekeep.search.meaning import NO_MEANING, Meaning
from hivekeep.storage import edges, entities, notes, text_index
from hivekeep.storage.text_places import place
from hivekeep_contract.limits import SNIPPET_MAX_CHARS
from support.meanings import meaning

if TYPE_CHECKING:
    from conftest import Store

LOCAL = ("local",)


def found(store: Store, query: str, meaning: Meaning = NO_MEANING, **options: object) -> list[Hit]:
    search = EntitySearch(query=query, namespaces=LOCAL, **options)  # type: ignore[arg-type]
    return search_entities(store.tx, search, meaning).hits


def found_notes(store: Store, query: str, meaning: Meaning = NO_MEANING, **options: object) -> list[Hit]:
    search = NoteSearch(query=query, namespaces=LOCAL, **options)  # type: ignore[arg-type]
    return search_notes(store.tx, search, meaning).hits


HARD_TEXTS = {
    "GB/s": "throughput of 3 GB/s on disk",
    "C++": "written in C++ twenty years ago",
    "C#": "ported to C# later",
    "foo-bar": "the foo-bar flag",
    "don't": "we don't know",
    "设备": "关于设备管理系统的说明",
    "备管理": "关于设备管理系统的说明",
    "Müller": "Der Müller mahlt",
    "muller": "Der Müller mahlt",
    "ülle": "Der Müller mahlt",
    "KV": "a KV cache",
    "vca": "the kvcache module",
    "$prev.id": "pass $prev.id on",
    "NEAR(": "calls NEAR(x) twice",
    '"': 'a " alone',
    "🚀": "rocket 🚀 launch",
    "rocket 🚀": "rocket 🚀 launch",
    "жизнь": "ЖИЗНЬ",
    "öl": "ÖL",
    "école": "e\u0301cole",
    "e\u0301cole": "école",
    "title:foo": "not a column, title:foo",
    "a* ^b": "starred a* and ^b",
    "runs": "it was running",
    "path/to/file.py": "see path/to/file.py",
    "サーバ": "サーバー障害",
    "ไทย": "ภาษาไทย",
    "설정": "설정을 바꾼다",
}


@pytest.mark.parametrize("mode", ["all_terms", "any_term"])
@pytest.mark.parametrize("query", HARD_TEXTS)
def test_text_of_every_sort_is_found_in_both_modes(
    store: Store, query: str, mode: Literal["all_terms", "any_term"]
) -> None:
    """Punctuation, operators, short terms, accents and every script find the stored text."""
    store.entity("other", "nothing of the kind")
    wanted = store.entity("E", HARD_TEXTS[query])
    note = store.note(HARD_TEXTS[query])
    assert [hit.id for hit in found(store, query, text_mode=mode)] == [wanted]
    assert [hit.id for hit in found_notes(store, query, text_mode=mode)] == [note]


@settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(max_size=40), st.sampled_from(["all_terms", "any_term"]))
def test_no_query_raises(store: Store, query: str, mode: str) -> None:
    """Any text at all is answered with a list."""
    if not store.tx.one("SELECT 1 FROM entities"):
        store.entity("E", "some text")
    assert len(found(store, query, text_mode=mode)) <= 1


def test_hostile_queries_are_answered(store: Store) -> None:
    """A query of one mebibyte, of 10,000 terms or of nothing but marks finds nothing and ends."""
    store.entity("E", "some text")
    for query in ("q" * 1_048_576, " ".join(f"t{n}" for n in range(10_000)), "ab-" * 20_000, '"' * 65_536):
        assert found(store, query) == []


def test_an_entity_named_like_the_query_scores_one_eleventh_and_a_half(store: Store) -> None:
    """The exact title, case and blanks ignored, adds 0.5 to the first rank of one arm."""
    store.entity("LoRA", "low-rank adaptation")
    (hit,) = found(store, "  lora ")
    assert hit.score == 1 / 11 + 0.5
    assert (hit.source, hit.title, hit.kind) == ("text", "LoRA", "concept")


def test_an_exact_title_is_never_crowded_out(store: Store) -> None:
    """However many better bm25 hits there are, the record of that name is first."""
    wanted = store.entity("cache", "a long description that says very much about other things " * 5)
    for number in range(60):
        store.entity(f"cache cache {number}", "cache cache cache")
    hits = found(store, "cache", limit=3)
    assert len(hits) == 3
    assert hits[0].id == wanted


def test_word_hits_come_before_hits_of_the_trigram_index_alone(store: Store) -> None:
    """bm25 values of the two indexes are not compared: a whole word beats a substring."""
    inside = store.entity("A", "rotaryembeddings")
    word = store.entity("B", "here rotary stands in a rather long sentence among many other words")
    hits = found(store, "rotary")
    assert [hit.id for hit in hits] == [word, inside]
    assert [hit.score for hit in hits] == [1 / 11, 1 / 12]
    assert all(hit.keyword_score is not None and hit.keyword_score > 0 for hit in hits)


def test_a_hit_of_a_comparison_has_no_keyword_score(store: Store) -> None:
    """The word index finds the word, only the record itself shows the substring: no bm25 is made up for that."""
    word = store.entity("A", "vom Öl")
    inside = store.entity("B", "im Öltank")
    first, second = found(store, "öl")
    assert (first.id, second.id, second.keyword_score) == (word, inside, None)
    assert first.keyword_score is not None


def test_a_short_term_at_the_end_of_a_text_is_found_by_the_index(store: Store) -> None:
    """Every character begins a trigram, the last ones too; so the hit has a keyword score."""
    wanted = store.entity("设", "关于设备")
    for query in ("备", "设备", "设"):
        (hit,) = found(store, query)
        assert hit.id == wanted
        assert hit.keyword_score is not None


def test_a_short_term_that_begins_too_many_trigrams_is_compared(store: Store) -> None:
    """More than TRIGRAMS_MAX continuations: the records are read, newest first, and no bm25 is made up."""
    for number in range(text_index.TRIGRAMS_MAX + 1):
        store.entity("x", "设" + chr(0x5000 + number) + "中")
    hits = found(store, "设")
    assert [hit.keyword_score for hit in hits] == [None] * 10
    assert [hit.created_at for hit in hits] == list(range(301, 291, -1))


def test_equal_scores_are_ordered_by_id(store: Store) -> None:
    """Records with the same text have the same bm25; the arm ranks them by id."""
    ids = [store.entity("same", "same text") for _ in range(3)]
    assert [hit.id for hit in found(store, "text")] == ids


def test_all_terms_needs_every_term_and_any_term_one(store: Store) -> None:
    """The text mode joins the terms."""
    both = store.entity("A", "rotary position embedding")
    one = store.entity("B", "rotary engine")
    assert [hit.id for hit in found(store, "rotary embedding")] == [both]
    assert [hit.id for hit in found(store, "rotary embedding", text_mode="any_term")] == [both, one]


@pytest.mark.parametrize(("first", "second"), [("设备", "管理"), ("öx", "äx")])
def test_short_terms_keep_to_the_mode(store: Store, first: str, second: str) -> None:
    """Looked up or compared: both records in any_term, neither in all_terms."""
    store.entity("A", "a" + first)
    store.entity("B", "b" + second)
    assert len(found(store, f"{first} {second}", text_mode="any_term")) == 2
    assert found(store, f"{first} {second}") == []


def test_salience_weighs_notes(store: Store) -> None:
    """Two notes with the same text: salience 1 gives its whole rank score, salience 0 half of it."""
    low = store.note("alpha beta", salience=0.0)
    high = store.note("alpha beta", salience=1.0)
    assert [(hit.id, hit.score) for hit in found_notes(store, "alpha")] == [(high, 1 / 62), (low, 0.5 / 61)]


def test_the_floor_is_inclusive(store: Store) -> None:
    """A hit that scores exactly the floor stays; 0.1 removes all hits of one arm but an exact title."""
    store.entity("A", "alpha beta")
    assert len(found(store, "beta", floor=1 / 11)) == 1
    assert found(store, "beta", floor=0.1) == []


def test_filters_apply_before_the_limit(store: Store) -> None:
    """Sixty better hits of another kind, type, namespace or tag do not hide the one asked for."""
    for number in range(60):
        store.entity(f"x{number}", "beta", kind="document", tags=("b",))
        store.entity(f"y{number}", "beta", namespace="elsewhere", kind="concept", entity_type="t", tags=("a",))
    wanted = store.entity("z", "beta and a lot of further words", entity_type="t", tags=("A", "c"))
    for filters in ({"kind": "concept"}, {"entity_type": "t"}, {"tags": ["a"]}):
        assert [hit.id for hit in found(store, "beta", limit=1, **filters)] == [wanted]


def test_note_tags_are_read_from_properties(store: Store) -> None:
    """Any of the tags, ASCII case ignored; a note without a tag list does not match."""
    wanted = store.note("beta", properties={"tags": ["Ops", "x"]})
    store.note("beta", properties={"tags": ["opsy"]})
    store.note("beta")
    assert [hit.id for hit in found_notes(store, "beta", tags=["ops", "none"])] == [wanted]


def test_properties_match_within_the_window(store: Store) -> None:
    """The fortieth hit is found with limit 1, because the window is fifty for each hit asked for."""
    for number in range(39):
        store.entity(f"x{number}", "beta", properties={"colour": "blue"})
    wanted = store.entity("z", "beta and some more words", properties={"colour": "red", "size": 1})
    assert [hit.id for hit in found(store, "beta", limit=1, properties={"colour": "red"})] == [wanted]


@pytest.mark.parametrize(
    ("wanted", "matches"),
    [
        ({"n": 1}, True),
        ({"n": 1.0}, True),
        ({"n": True}, False),
        ({"flag": True}, True),
        ({"flag": 1}, False),
        ({"none": None}, True),
        ({"absent": None}, False),
        ({"list": [1, {"a": "b"}]}, True),
        ({"list": [1, {"a": "c"}]}, False),
        ({"n": 1, "flag": False}, False),
        ({}, True),
    ],
)
def test_properties_are_compared_as_json(store: Store, wanted: dict[str, object], matches: bool) -> None:
    """Every pair must be there with an equal JSON value: 1 is 1.0 and is not true, null is not absent."""
    store.entity("A", "beta", properties={"n": 1, "flag": True, "none": None, "list": [1, {"a": "b"}]})
    assert bool(found(store, "beta", properties=wanted)) is matches


def test_time_orders_are_newest_first_after_the_floor(store: Store) -> None:
    """created_at and updated_at reorder the window; scores stay as they are."""
    first = store.entity("A", "beta")
    second = store.entity("B", "beta")
    row = entities.get(store.tx, first)
    assert row is not None
    entities.update(store.tx, row, row._replace(description="beta again", updated_at=99))
    assert [hit.id for hit in found(store, "beta", order_by="created_at")] == [second, first]
    assert [hit.id for hit in found(store, "beta", order_by="updated_at")] == [first, second]


def test_limit_zero_and_no_namespace_find_nothing(store: Store) -> None:
    """An empty answer, not an error."""
    store.entity("A", "beta")
    assert found(store, "beta", limit=0) == []
    assert search_entities(store.tx, EntitySearch(query="beta", namespaces=())) == SearchResult([], 0, 0)


def test_the_index_follows_the_record(store: Store) -> None:
    """A changed text is found by the new words only, a deleted record not at all, a restored one again."""
    record = store.entity("A", "alpha")
    row = entities.get(store.tx, record)
    assert row is not None
    row = entities.update(store.tx, row, row._replace(description="gamma"))
    assert found(store, "alpha") == []
    assert [hit.id for hit in found(store, "gamma")] == [record]
    row = entities.soft_delete(store.tx, row, 5)
    assert found(store, "gamma") == []
    assert text_index.differences(store.tx, "entity") == ([], [])
    row = entities.restore(store.tx, row, 6)
    assert [hit.id for hit in found(store, "gamma")] == [record]
    entities.hard_delete(store.tx, row)
    assert found(store, "gamma") == []
    assert text_index.differences(store.tx, "entity") == ([], [])


def test_differences_name_missing_and_stale_rows(store: Store) -> None:
    """A live record without an index row and an index row without a live record are both told by `seq`."""
    store.entity("A", "alpha")
    text_index.remove(store.tx, "entity", place("local", "concept", 1))
    text_index.put(store.tx, "entity", place("local", "concept", 77), "ghost", None)
    assert text_index.differences(store.tx, "entity") == ([1], [77])


def test_a_replaced_note_is_found_only_on_request(store: Store) -> None:
    """The target of a live supersedes edge is left out unless include_superseded."""
    older = store.note("beta one")
    newer = store.note("beta two")
    edge = store.supersede(newer, older)
    assert [hit.id for hit in found_notes(store, "beta")] == [newer]
    assert {hit.id for hit in found_notes(store, "beta", include_superseded=True)} == {newer, older}
    row = edges.get(store.tx, edge)
    assert row is not None
    edges.soft_delete(store.tx, row, 9)
    assert {hit.id for hit in found_notes(store, "beta")} == {newer, older}


def test_a_note_comes_back_when_its_replacement_is_deleted(store: Store) -> None:
    """A deleted correction corrects nothing."""
    older = store.note("beta one")
    newer = store.note("beta two")
    store.supersede(newer, older)
    row = notes.get(store.tx, newer)
    assert row is not None
    notes.soft_delete(store.tx, row, 9)
    assert [hit.id for hit in found_notes(store, "beta")] == [older]


def test_an_edge_of_an_unseen_namespace_hides_nothing(store: Store) -> None:
    """Somebody else's correction counts only for those who see it."""
    older = store.note("beta one")
    newer = store.note("beta two", namespace="elsewhere")
    store.supersede(newer, older, namespace="elsewhere")
    assert [hit.id for hit in found_notes(store, "beta")] == [older]


def test_a_nameless_note_has_no_title(store: Store) -> None:
    """title is the note's name or None, the snippet its content."""
    store.note("beta")
    (hit,) = found_notes(store, "beta")
    assert (hit.title, hit.snippet, hit.kind) == (None, "beta", "observation")


def test_participation_counts_and_explains() -> None:
    """The sentences for an empty text arm stand word for word in the reference; a hit leaves them out."""
    assert participation("all_terms", SearchResult([], 0, 0), None) == {
        "text": {
            "status": "ran",
            "candidate_count": 0,
            "mode": "all_terms",
            "reason": "No text candidate survived matching, filtering, fusion, and the result limit. "
            "Plain text search combines normalized term groups conjunctively; try fewer terms.",
        },
        "vector": {"status": "skipped", "candidate_count": 0},
    }
    assert participation("any_term", SearchResult([], 0, 0), None)["text"]["reason"] == (
        "No text candidate survived matching, filtering, fusion, and the result limit."
    )
    ran = participation("any_term", SearchResult([], 2, 3), 7)
    assert ran == {
        "text": {"status": "ran", "candidate_count": 2, "mode": "any_term"},
        "vector": {"status": "ran", "candidate_count": 3, "pending": 7},
    }


# both arms


def test_ranks_of_both_arms_add_up(store: Store) -> None:
    """First in both arms and named like the query: 2/11 + 0.5; a hit of the vector arm alone has its rank there."""
    both = store.entity("LoRA", "low-rank adaptation")
    vector = store.entity("lore", "old stories")
    store.embed(both, vector)
    first, second = found(store, "LoRA", meaning("LoRA low-rank adaptation"))
    assert (first.id, first.source, first.score) == (both, "both", 2 / 11 + 0.5)
    assert (second.id, second.source, second.score) == (vector, "vector", 1 / 12)
    assert first.keyword_score is not None
    assert first.similarity is not None
    assert second.keyword_score is None
    assert second.similarity is not None
    assert first.similarity > second.similarity


def test_salience_weighs_a_note_that_only_its_vector_found(store: Store) -> None:
    """One arm, rank 1: 1/61 times 0.5 to 1 by salience."""
    record = store.note("completely different", salience=1.0)
    store.embed(record, text="alpha")
    (hit,) = found_notes(store, "alpha", meaning("alpha"))
    assert (hit.score, hit.source) == (1 / 61, "vector")
    assert hit.similarity == pytest.approx(1.0, abs=1e-5)


def test_the_snippet_of_a_vector_hit_is_the_start_of_its_body(store: Store) -> None:
    """None when it has none; nothing of the query needs to stand there."""
    long, bare = store.entity("X", "filler " * 60), store.entity("Y")
    store.embed(long, bare, text="alpha")
    first, second = found(store, "alpha", meaning("alpha"))
    assert first.snippet == ("filler " * 60)[: SNIPPET_MAX_CHARS - 1].rstrip() + "…"
    assert second.snippet is None


def test_a_vector_arm_answers_what_no_word_finds(store: Store) -> None:
    """Not one term of the query stands in the record; each arm counts the final hits that it found."""
    record = store.entity("A", "nothing of it")
    store.embed(record, text="alpha beta")
    search = EntitySearch(query="alpha beta", namespaces=LOCAL)
    answer = search_entities(store.tx, search, meaning("alpha beta"))
    assert ([hit.id for hit in answer.hits], answer.text_candidates, answer.vector_candidates) == ([record], 0, 1)


def test_a_record_counts_in_each_arm_that_found_it(store: Store) -> None:
    """A hit of both arms is counted twice, and only what is answered is counted."""
    ids = [store.entity(f"alpha {number}") for number in range(5)]
    store.embed(*ids[:3])
    answer = search_entities(store.tx, EntitySearch(query="alpha", namespaces=LOCAL, limit=2), meaning("alpha"))
    assert (len(answer.hits), answer.text_candidates, answer.vector_candidates) == (2, 2, 2)


@pytest.mark.parametrize("narrow", [{"kind": "concept"}, {"entity_type": "t"}, {"tags": ["a"]}])
def test_filters_apply_before_the_limit_in_the_vector_arm(store: Store, narrow: dict[str, object]) -> None:
    """Sixty more similar records of another kind, type, namespace or tag do not hide the one asked for."""
    crowd = [store.entity(f"x{number}", "beta", kind="document", tags=("b",)) for number in range(60)]
    crowd += [store.entity(f"y{number}", namespace="elsewhere", tags=("a",), entity_type="t") for number in range(9)]
    wanted = store.entity("z", "something else", entity_type="t", tags=("A", "c"))
    store.embed(*crowd, text="alpha")
    store.embed(wanted, text="alpha gamma")
    assert [hit.id for hit in found(store, "alpha", meaning("alpha"), limit=1, **narrow)] == [wanted]


def test_the_floor_properties_and_time_orders_hold_for_vector_hits(store: Store) -> None:
    """They come behind the fusion of both arms."""
    first = store.entity("A", properties={"p": 1})
    second = store.entity("B", properties={"p": 1})
    store.embed(first, text="alpha")
    store.embed(second, text="alpha beta")
    assert [hit.id for hit in found(store, "alpha", meaning("alpha"), order_by="created_at")] == [second, first]
    assert [hit.id for hit in found(store, "alpha", meaning("alpha"), floor=1 / 11)] == [first]
    assert found(store, "alpha", meaning("alpha"), properties={"p": 2}) == []


def test_several_embedders_are_united_by_their_best_similarity(store: Store) -> None:
    """A record that two of them found is one hit of the vector arm, with the better of its cosines."""

    class Other(HashedEmbedder):
        name = "other"

    first, second = store.note("one"), store.note("two")
    store.embed(first, text="alpha beta gamma")
    store.embed(first, text="alpha", embedder=Other())
    store.embed(second, text="alpha beta")
    one, two = found_notes(store, "alpha", (*meaning("alpha"), *meaning("alpha", Other())))
    assert (one.id, two.id) == (first, second)
    assert (one.score, two.score) == (1 / 61 * 0.75, 1 / 62 * 0.75)
    assert one.similarity == pytest.approx(1.0, abs=1e-5)


def test_records_are_right_in_both_arms_at_once(store: Store) -> None:
    """Changed, deleted, restored and replaced: the vector follows the record, though nobody touches the vector."""
    record = store.note("alpha")
    store.embed(record)

    def sources(query: str) -> list[str]:
        return [hit.source for hit in found_notes(store, query, meaning(query))]

    assert sources("alpha") == ["both"]
    row = notes.get(store.tx, record)
    assert row is not None
    row = notes.update(store.tx, row, row._replace(content="gamma"))
    assert (sources("alpha"), sources("gamma")) == ([], ["text"])
    store.embed(record)
    assert sources("gamma") == ["both"]
    row = notes.soft_delete(store.tx, row, 5)
    assert sources("gamma") == []
    notes.restore(store.tx, row, 6)
    assert sources("gamma") == ["both"]
    store.supersede(store.note("delta"), record)
    assert sources("gamma") == []


NEIGHBORS = {
    "BENCH-100821": "BENCH-100822",
    "GB/s": "MB/s",
    "v1.2.3": "v1.2.4",
    "ERR_CONN_RESET": "ERR_CONN_CLOSED",
    "192.168.0.17": "192.168.0.18",
    "C++": "C#",
    "设备": "设计",
    "жизнь": "жив",
    "설정": "설명",
    "école": "écran",
    "サーバ": "サービス",
    "user@example.com": "user@example.org",
}


@pytest.mark.parametrize("mode", ["all_terms", "any_term"])
@pytest.mark.parametrize("wanted", NEIGHBORS)
def test_an_exact_term_is_found_and_its_neighbor_is_not(
    store: Store, wanted: str, mode: Literal["all_terms", "any_term"]
) -> None:
    """In both modes, though the two share most of their characters."""
    store.note(f"see {NEIGHBORS[wanted]} here")
    record = store.note(f"see {wanted} here")
    assert [hit.id for hit in found_notes(store, wanted, text_mode=mode)] == [record]


@settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.text(min_size=1, max_size=40).filter(str.strip), st.sampled_from(["all_terms", "any_term"]))
def test_no_query_raises_in_both_arms(store: Store, query: str, mode: str) -> None:
    """Any text that is not blank has a vector and is answered with the one record that has one."""
    if not store.tx.one("SELECT 1 FROM entities"):
        store.embed(store.entity("E", "some text"))
    assert [hit.title for hit in found(store, query, meaning(query), text_mode=mode)] == ["E"]
