"""How rare a word is, the scope says: scores of word hits depend on no other namespace."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hivekeep.storage import notes, text_index, text_places
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from hivekeep.storage.text_index import Scope
from support.stores import OPTIONS, note

WORDS = ["ada", "goat", "boat", "kiln", "tuba"]
"""Words that are their own stems."""
MOST = 1000


def put(tx: Tx, texts: Sequence[str], namespace: str = "local", first: int = 1, **fields: object) -> None:
    """Store notes with these texts, numbered from `first`."""
    notes.insert_many(
        tx,
        [
            note(number, namespace=namespace, content=text, **fields)  # type: ignore[arg-type]
            for number, text in enumerate(texts, first)
        ],
    )


def found(tx: Tx, match: str, scope: Scope, limit: int = MOST) -> list[tuple[str | None, float | None]]:
    """(content's id, score) of the word hits, in order."""
    return [(one.id, one.score) for one in text_index.match_words(tx, "note", match, (), scope, limit)]


def okapi(texts: Sequence[str], asked: Sequence[str]) -> list[float]:
    """BM25 of each text by the book: k1 1.2, b 0.75, the length of those that have a word for average; 0 has none."""
    held = [text.split() for text in texts]
    hits = [words for words in held if set(words) & set(asked)]
    average = sum(map(len, hits)) / len(hits) if hits else 1.0
    scores = []
    for words in held:
        score = 0.0
        for word in asked:
            having = sum(word in other for other in held)
            idf = max(math.log((len(held) - having + 0.5) / (having + 0.5)), 1e-6)
            often = words.count(word)
            score += idf * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * len(words) / average))
        scores.append(score)
    return scores


TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), min_size=1, max_size=12)
QUICK = settings(
    max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@QUICK
@given(texts=TEXTS, others=TEXTS, asked=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
def test_scores_are_those_of_the_scope_whatever_else_is_stored(
    tx: Tx, texts: list[str], others: list[str], asked: list[str]
) -> None:
    """They equal BM25 computed from the texts of the scope alone; nothing of another namespace is found."""
    tx.run("SAVEPOINT example")
    try:
        put(tx, texts)
        put(tx, others * 3 + ["far away"] * 9, "other", first=100)
        hits = found(tx, " OR ".join(asked), Scope(["local"]))
        expected = {note(number).id: score for number, score in enumerate(okapi(texts, asked), 1) if score}
        assert {key for key, _ in hits} == set(expected)
        assert [score for _, score in hits] == pytest.approx(sorted(expected.values(), reverse=True), rel=1e-9)
        assert all(score == pytest.approx(expected[key or ""], rel=1e-9) for key, score in hits)
    finally:
        tx.run("ROLLBACK TO example")
        tx.run("RELEASE example")


def test_a_name_that_one_namespace_always_says_is_not_rare_in_it(tx: Tx) -> None:
    """FTS5 counts a word over all namespaces: the name weighed more than what was asked about it, and short texts with
    the name alone stood first."""
    put(tx, ["ada: hello", "ada: well then", "ada: the goat ate all of my tall red tulips", "ada: ah", "eve: a goat"])
    put(tx, [f"bob: the goat {number} of the hill" for number in range(40)], "other", first=100)
    best = [key for key, _ in found(tx, "ada OR goat", Scope(["local"]), 2)]
    assert best == [note(5).id, note(3).id]
    everywhere = text_index._match(
        tx, "note", "words", "ada OR goat", ("r.namespace = ?", ["local"]), Scope(["local"]), 2
    )
    assert [one.id for one in everywhere] == [note(1).id, note(4).id]


def test_filters_come_before_the_limit(tx: Tx) -> None:
    """Of ten hits the worst two have the tag that is asked for: they are found though only two are wanted."""
    put(tx, [" ".join(["goat"] * (12 - number)) for number in range(8)])
    put(tx, ["goat and a boat", "goat and two boats"], first=50, properties='{"tags":["kept"]}')
    put(tx, ["tuba"] * 20, "other", first=100)
    scope = Scope(["local"], tags=("kept",))
    assert [key for key, _ in found(tx, "goat", scope, 2)] == [note(50).id, note(51).id]
    assert [key for key, _ in found(tx, "goat", scope, 1)] == [note(50).id]


def test_what_is_alike_comes_in_the_order_it_was_stored(tx: Tx) -> None:
    """The same text four times: the same score, the oldest first."""
    put(tx, ["goat"] * 4)
    put(tx, ["tuba"] * 20, "other", first=100)
    hits = found(tx, "goat", Scope(["local"]))
    assert [key for key, _ in hits] == [note(number).id for number in range(1, 5)]
    assert len({score for _, score in hits}) == 1


def test_a_query_of_very_many_phrases_is_ranked_by_the_index(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty-four phrases over thousands of hits took half a second; the work is bounded by records times phrases."""
    put(tx, ["goat and boat", "goat goat"])
    put(tx, ["goat"] * 20, "other", first=100)
    own = found(tx, '"goat" OR "boat"', Scope(["local"]))
    monkeypatch.setattr(text_index, "TEXT_SCOPE_WORK_MAX", 4)
    assert found(tx, '"goat" OR "boat"', Scope(["local"])) == own
    of_index = text_index._match(
        tx, "note", "words", '"goat" OR "boat" OR "ada"', ("r.namespace = ?", ["local"]), Scope(["local"]), MOST
    )
    assert found(tx, '"goat" OR "boat" OR "ada"', Scope(["local"])) == [(one.id, one.score) for one in of_index]
    assert found(tx, '"goat"', Scope(["local"]), 0) == []


def test_where_all_words_are_asked_for_the_index_says_how_rare_they_are(tx: Tx) -> None:
    """Every hit of an AND has every phrase: counted among the hits all were alike, and the rare word told nothing."""
    put(tx, ["zebra zebra common filler", "zebra common common common", *["common thing"] * 60, *["tall tree"] * 38])
    put(tx, ["far away"] * 400, "other", first=1000)
    best = [key for key, _ in found(tx, '"zebra" AND "common"', Scope(["local"]))]
    assert best == [note(1).id, note(2).id]


def test_a_namespace_that_shares_its_range_counts_for_nothing(tx: Tx) -> None:
    """Of two names whose hashes are alike, the notes of the other one were counted, and changed every score."""
    assert text_places.ranges(["ns84"], None) == text_places.ranges(["ns395"], None)
    put(tx, ["goat boat", "boat", "goat goat", "kiln", "kiln", "tuba"], "ns84")
    put(tx, ["far away"] * 900, "elsewhere", first=100)
    alone = found(tx, '"goat" OR "boat"', Scope(["ns84"]))
    assert len(alone) == 3
    put(tx, ["goat"] * 200, "ns395", first=2000)
    assert found(tx, '"goat" OR "boat"', Scope(["ns84"])) == alone


def test_a_filter_that_few_hits_meet_costs_few_statements(tx: Tx) -> None:
    """Hits were read as many at a time as were wanted: one statement for each of a thousand hits where one was."""
    put(tx, ["goat"] * 1000)
    put(tx, ["goat and a very long boat"], first=3000, properties='{"tags":["kept"]}')
    put(tx, ["tuba"] * 400, "other", first=5000)

    class Counted:
        """A transaction that counts what is read."""

        statements = 0

        def all(self, sql: str, args: Sequence[object] = ()) -> list[tuple[object, ...]]:
            self.statements += 1
            return tx.all(sql, args)

        one = tx.one

    counted = Counted()
    hits = found(counted, '"goat"', Scope(["local"], tags=("kept",)), 1)  # type: ignore[arg-type]
    assert [key for key, _ in hits] == [note(3000).id]
    assert counted.statements == 1 + 10


def test_a_title_weighs_twice(tx: Tx) -> None:
    """A word in the title counts as two in the body."""
    put(tx, ["goat goat boat kiln", "ada tuba kiln"])
    notes.insert(tx, note(3, name="goat", content="boat kiln ada"))
    put(tx, ["tuba"] * 20, "other", first=100)
    scores = dict(found(tx, "goat", Scope(["local"])))
    assert scores[note(1).id] == pytest.approx(scores[note(3).id])


def test_a_large_scope_and_one_that_is_nearly_everything_are_ranked_by_the_index(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten notes nine in one namespace: its scores are FTS5's; the other one has its own, until it is too large."""
    engine = open_store(path, OPTIONS)

    def scores(tx: Tx) -> tuple[float | None, float | None, float | None]:
        of_index = tx.one("SELECT -bm25(note_words, 2.0, 1.0) FROM note_words WHERE note_words MATCH 'goat' LIMIT 1")
        assert of_index is not None
        (nine,) = [score for _, score in found(tx, "goat", Scope(["local"]), 1)]
        (one,) = [score for _, score in found(tx, "goat", Scope(["other"]), 1)]
        return of_index[0], nine, one

    engine.run_write(lambda tx: put(tx, ["goat"] * 9))
    engine.run_write(lambda tx: put(tx, ["goat"], "other", first=100))
    with engine.read() as tx:
        of_index, nine, one = scores(tx)
        assert of_index == nine == pytest.approx(1e-6)
        assert one == pytest.approx(1e-6)
        monkeypatch.setattr(text_index, "_match_by_scope", lambda *args: pytest.fail("ranked by the scope"))
        with pytest.raises(pytest.fail.Exception, match="ranked by the scope"):
            scores(tx)
        monkeypatch.setattr(text_index, "TEXT_SCOPE_RECORDS_MAX", 0)
        assert scores(tx) == (of_index, nine, of_index)
    engine.close()
