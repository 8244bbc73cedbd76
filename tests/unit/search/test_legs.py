"""The legs of retrieval over a real store: words, vectors that are still true, and neighbors in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hivekeep.search.embedders.hashed import HashedEmbedder
from hivekeep.search.legs import neighbour_leg, text_leg, text_scores, vector_leg
from hivekeep.search.lexical import parse_terms
from hivekeep.storage import edges, notes
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.text_index import Candidate, Scope
from hivekeep_contract.limits import SEARCH_ARM_FACTOR, VECTOR_ROUNDS
from support.meanings import EMBEDDER, meaning

if TYPE_CHECKING:
    from conftest import Store

LOCAL = Scope(("local",))
CURRENT = LOCAL._replace(superseded=False)


def near(store: Store, query: str, scope: Scope = LOCAL, limit: int = 10) -> list[str]:
    (vector,) = meaning(query)
    return [one.candidate.id for one in vector_leg(store.tx, EMBEDDER, vector.embedding, scope, limit)]


def text(store: Store, query: str, scope: Scope = LOCAL, limit: int = 40) -> list[Candidate]:
    return text_leg(store.tx, parse_terms(query), scope, limit)


def stored(store: Store, record: str) -> NoteRow:
    row = notes.get(store.tx, record, include_deleted=True)
    assert row is not None
    return row


# vectors


def test_the_most_similar_text_is_first(store: Store) -> None:
    """Cosines in descending order; the vector of the query's own text has 1."""
    same = store.note("rotary position embedding")
    alike = store.note("rotary engine")
    other = store.note("nothing of the kind")
    store.embed(same, alike, other)
    (vector,) = meaning("rotary position embedding")
    found = vector_leg(store.tx, EMBEDDER, vector.embedding, LOCAL, 10)
    assert [one.candidate.id for one in found] == [same, alike, other]
    assert found[0].similarity == pytest.approx(1.0, abs=1e-5)
    assert found[0].similarity > found[1].similarity > found[2].similarity


def test_equal_vectors_are_ordered_by_id(store: Store) -> None:
    """Three notes of one text."""
    ids = [store.note("same") for _ in range(3)]
    store.embed(*reversed(ids))
    assert near(store, "same") == ids


def test_a_vector_of_an_older_text_does_not_count(store: Store) -> None:
    """From the change on, without anybody touching the vector; and it counts again when the text is put back."""
    record = store.note("alpha")
    store.embed(record)
    row = stored(store, record)
    row = notes.update(store.tx, row, row._replace(content="gamma"))
    assert near(store, "alpha") == []
    row = notes.update(store.tx, row, row._replace(name="a title", content="alpha"))
    assert near(store, "alpha") == []
    notes.update(store.tx, row, row._replace(name=None))
    assert near(store, "alpha") == [record]


def test_a_deleted_record_is_gone_and_a_restored_one_is_back(store: Store) -> None:
    """The vector stays where it is through both."""
    record = store.note("alpha")
    store.embed(record)
    row = notes.soft_delete(store.tx, stored(store, record), 5)
    assert near(store, "alpha") == []
    row = notes.restore(store.tx, row, 6)
    assert near(store, "alpha") == [record]
    notes.hard_delete(store.tx, row)
    assert near(store, "alpha") == []


def test_a_replaced_note_is_left_out_of_the_vector_leg(store: Store) -> None:
    """As in the text leg; and it is back when its replacement is taken back."""
    older, newer = store.note("alpha one"), store.note("alpha two")
    store.embed(older, newer)
    edge = store.supersede(newer, older)
    assert near(store, "alpha one", CURRENT) == [newer]
    row = edges.get(store.tx, edge)
    assert row is not None
    edges.soft_delete(store.tx, row, 9)
    assert near(store, "alpha one", CURRENT) == [older, newer]


def test_vectors_of_another_revision_or_model_are_not_compared(store: Store) -> None:
    """An embedder sees only what it made itself."""

    class Next(HashedEmbedder):
        revision = "next"

    record = store.note("alpha")
    store.embed(record)
    (vector,) = meaning("alpha")
    assert vector_leg(store.tx, Next(), vector.embedding, LOCAL, 10) == []
    store.embed(record, embedder=Next())
    assert len(vector_leg(store.tx, Next(), vector.embedding, LOCAL, 10)) == 1


def test_other_namespaces_and_kinds_are_never_looked_at(store: Store) -> None:
    """The scope of the leg is that of the vectors."""
    wanted = store.note("alpha beta")
    other = [store.note("alpha", namespace="elsewhere"), store.note("alpha", kind="insight"), store.entity("alpha")]
    store.embed(wanted, *other)
    assert near(store, "alpha", LOCAL._replace(kind="observation")) == [wanted]
    assert near(store, "alpha") == [other[1], wanted]


READ_ON = 2**VECTOR_ROUNDS - 1
"""Vectors that a leg of limit 1 reads before it compares all records that meet the filters."""


@pytest.mark.parametrize("crowd", [READ_ON - 1, READ_ON + 30])
def test_a_narrow_filter_is_met_behind_any_number_of_better_vectors(store: Store, crowd: int) -> None:
    """Reading on finds it, and beyond that a comparison of all records that meet the filter."""
    crowding = [store.note("alpha") for _ in range(crowd)]
    wanted = store.note("alpha and some more words", properties={"tags": ["t"]})
    store.embed(*crowding, wanted)
    assert near(store, "alpha", LOCAL._replace(tags=["t"]), limit=1) == [wanted]


def test_dead_vectors_do_not_take_the_places_of_live_ones(store: Store) -> None:
    """Thirty deleted records stand before the only live one."""
    dead = [store.note("alpha") for _ in range(30)]
    wanted = store.note("alpha and more")
    store.embed(*dead, wanted)
    for record in dead:
        notes.soft_delete(store.tx, stored(store, record), 5)
    assert near(store, "alpha", limit=1) == [wanted]


# words


def test_substrings_are_looked_for_only_while_words_do_not_fill_the_places(store: Store) -> None:
    """A leg is asked for several candidates a place; one word hit fills the place of a leg of that many."""
    word = store.note("the rotary wing")
    inside = store.note("prerotaryx")
    assert [one.id for one in text(store, "rotary", limit=SEARCH_ARM_FACTOR + 1)] == [word, inside]
    assert [one.id for one in text(store, "rotary", limit=SEARCH_ARM_FACTOR)] == [word]


def test_terms_that_are_no_words_are_looked_for_in_any_case(store: Store) -> None:
    """Words that fill the places do not hide what only the trigram index can find."""
    words = [store.note("the rotary wing") for _ in range(3)]
    other = store.note("关于设备管理系统")
    assert [one.id for one in text(store, "rotary 设备管理", limit=2 * SEARCH_ARM_FACTOR)] == [*words, other]
    assert [one.id for one in text(store, "rotary 设备管理", limit=3)] == words


def test_a_match_in_the_title_counts_more(store: Store) -> None:
    """A title says what a record is about: of two notes of equal length it is the better one."""
    body = store.note("rotary wings", name="on aircraft")
    title = store.note("on aircraft", name="rotary wings")
    assert [one.id for one in text(store, "rotary")] == [title, body]


def test_scores_of_the_trigram_index_are_placed_below_the_words(store: Store) -> None:
    """Half the weakest word hit for the best of them, in proportion for the others, nothing for a comparison."""
    found = [
        candidate(1, 6.0, "words"),
        candidate(2, 2.0, "words"),
        candidate(3, 8.0, "trigrams"),
        candidate(4, 4.0, "trigrams"),
        candidate(5, None, None),
    ]
    assert text_scores(found) == {1: 6.0, 2: 2.0, 3: 1.0, 4: 0.5, 5: 0.0}
    assert text_scores(found[2:]) == {3: 8.0, 4: 4.0, 5: 0.0}
    assert text_scores([]) == {}


def candidate(seq: int, score: float | None, found_by: str | None) -> Candidate:
    return Candidate(seq, f"id {seq}", "memory", None, None, seq, seq, score, found_by)  # type: ignore[arg-type]


# neighbors


def remember(store: Store, *contents: str, **properties: str) -> list[str]:
    return [store.note(content, kind="memory", properties=dict(properties)) for content in contents]


def gained(store: Store, query: str, scope: Scope = LOCAL) -> dict[str, float]:
    found = text(store, query, scope)
    by_seq = {stored(store, record).seq: record for record in ids(store)}
    return {by_seq[seq]: score for seq, score in neighbour_leg(store.tx, found, scope).items()}


def ids(store: Store) -> list[str]:
    return [row[0] for row in store.tx.all("SELECT id FROM notes ORDER BY seq")]


def score_of(store: Store, query: str, record: str) -> float:
    (score,) = [one.score for one in text(store, query) if one.id == record]
    assert score is not None
    return score


@pytest.mark.parametrize("name", ["source_id", "thread_id", "thread", "session_id", "session"])
def test_a_memory_gains_what_its_two_neighbors_scored(store: Store, name: str) -> None:
    """The answer stands between two turns that say the words; turns further off gain nothing."""
    far, before, answer, behind, further = remember(
        store, "hello there", "where was the harbor", "in Lisbon", "a harbor, I see, how nice", "bye", **{name: "s"}
    )
    first, second = score_of(store, "harbor", before), score_of(store, "harbor", behind)
    assert gained(store, "harbor") == {far: first, answer: pytest.approx(first + second), further: second}


def test_threads_do_not_touch(store: Store) -> None:
    """The next memory of another session, of another namespace or of no session is no neighbor."""
    remember(store, "the harbor", session_id="a")
    remember(store, "in Lisbon", session_id="b")
    remember(store, "in Porto")
    store.note("in Faro", kind="memory", namespace="elsewhere", properties={"session_id": "a"})
    store.note("in Braga", kind="observation", properties={"session_id": "a"})
    assert gained(store, "harbor") == {}


def test_the_source_decides_before_the_session(store: Store) -> None:
    """Two sources of one session are two threads."""
    remember(store, "the harbor", source_id="x", session_id="s")
    remember(store, "in Lisbon", source_id="y", session_id="s")
    (beside,) = remember(store, "in Porto", source_id="x", session_id="s")
    assert gained(store, "harbor").keys() == {beside}


def test_deleted_memories_are_stepped_over(store: Store) -> None:
    """The neighbor is the next live one, and a deleted one is not answered."""
    _, lost, kept = remember(store, "the harbor", "in Porto", "in Lisbon", session_id="s")
    notes.soft_delete(store.tx, stored(store, lost), 5)
    assert gained(store, "harbor").keys() == {kept}


def test_neighbors_outside_the_scope_are_left_out(store: Store) -> None:
    """A replaced neighbor is not answered unless replaced ones are asked for."""
    _, older = remember(store, "the harbor", "in Porto", session_id="s")
    (newer,) = remember(store, "in Lisbon", session_id="t")
    store.supersede(newer, older)
    assert gained(store, "harbor", CURRENT) == {}
    assert gained(store, "harbor", LOCAL).keys() == {older}


def test_neighbors_that_are_hits_themselves_gain_from_each_other(store: Store) -> None:
    """Each counts beside its own score."""
    first, second = remember(store, "the harbor", "the harbor again", session_id="s")
    assert gained(store, "harbor") == {
        first: score_of(store, "harbor", second),
        second: score_of(store, "harbor", first),
    }
