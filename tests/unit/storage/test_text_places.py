"""Where the text of a record lies in the full-text indexes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.storage import entities, notes, text_index, text_places
from hivekeep.storage.engine import Tx
from hivekeep.storage.text_index import Scope
from support.stores import entity, note

NAMES = st.text(max_size=12)
SEQS = st.integers(1, 2**36 - 1)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(namespace=NAMES, kind=NAMES, seq=SEQS, others=st.lists(NAMES, max_size=3))
def test_a_record_lies_in_the_ranges_of_its_namespace_and_kind(
    namespace: str, kind: str, seq: int, others: list[str]
) -> None:
    """In exactly one of them, whichever namespaces are asked beside its own; its place tells its number."""
    place = text_places.place(namespace, kind, seq)
    assert 0 < place < 2**63
    assert text_places.seq_of(place) == seq
    for asked in (kind, None):
        found = text_places.ranges([namespace, *others], asked)
        assert sum(low <= place <= high for low, high in found) == 1


def test_ranges_leave_other_namespaces_and_kinds_out() -> None:
    """Those of another hash; more than four namespaces are looked for everywhere."""
    place = text_places.place("local", "concept", 1)
    for namespace, kind in (("shared", "concept"), ("shared", None), ("local", "person")):
        [(low, high)] = text_places.ranges([namespace], kind)
        assert not low <= place <= high
    assert text_places.ranges("abcde", None) == [(0, 2**63 - 1)]


def test_a_place_is_the_same_in_every_process() -> None:
    """It is what an index on a disk was written with."""
    assert text_places.place("local", "observation", 7) == 8_320_162_817_055_391_751


def test_records_that_share_a_range_are_told_apart(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every name has the same number, the record still decides who is in the scope."""
    monkeypatch.setattr(text_places, "_number", lambda name, bits: 0)
    text_places._first.cache_clear()
    try:
        for number, namespace in enumerate(("a", "b"), 1):
            notes.insert(tx, note(number, namespace=namespace, content="shared word"))
        for namespaces, expected in ((("a",), [1]), (("b",), [2]), (("a", "b"), [1, 2])):
            found = text_index.match_words(tx, "note", '"word"', (), Scope(namespaces), 9)
            assert sorted(one.seq for one in found) == expected
    finally:
        text_places._first.cache_clear()


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_a_search_of_several_namespaces_is_one_ranking(tx: Tx, count: int) -> None:
    """Whether their ranges are searched one by one or everything is: the best of all of them, in the same order."""
    texts = ["word", "word and more", "word and word", "more and word and more", "word"]
    for number, text in enumerate(texts, 1):
        notes.insert(tx, note(number, namespace=f"n{number}", content=text))
    every = text_index.match_words(tx, "note", '"word"', (), Scope([f"n{number}" for number in range(1, 7)]), 9)
    asked = [f"n{number}" for number in range(1, count + 1)]
    found = text_index.match_words(tx, "note", '"word"', (), Scope(asked), 9)
    assert [one.seq for one in found] == [one.seq for one in every if one.seq <= count]
    assert all(one.found_by == "words" and one.body is None for one in found)


def test_a_record_that_moves_is_found_where_it_is(tx: Tx) -> None:
    """Its index rows follow its namespace and its kind, and none stays behind."""
    entities.insert(tx, entity(1, description="traveller"))
    row = entities.get(tx, entity(1).id)
    assert row is not None
    for namespace, kind in (("away", "concept"), ("away", "person")):
        row = entities.update(tx, row, row._replace(namespace=namespace, kind=kind))
        assert text_index.differences(tx, "entity") == ([], [])
        found = text_index.match_words(tx, "entity", '"traveller"', (), Scope((namespace,), kind), 9)
        assert [one.seq for one in found] == [1]
        assert text_index.match_words(tx, "entity", '"traveller"', (), Scope(("local",)), 9) == []
