"""Which queries recall refuses, and which names it finds in one."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.packs.memory import entity_names
from hivekeep.packs.memory.entity_names import Mentions
from hivekeep.packs.memory.queries import is_cjk, is_meaningful
from hivekeep.storage import entities
from hivekeep.storage.engine import Tx
from support.client import Hive, open_hive
from support.stores import entity

WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
PIECES = st.sampled_from(
    [
        "aaaa",
        "hahaha",
        "ab",
        "a",
        "é",
        "ß",
        "I",
        "12",
        "?!",
        "--",
        "naïve",
        "Привет",
        "ааааа",
        "記憶",
        "한국",
        "ๆ",
        "x1y",
    ]
)
QUERIES = st.lists(st.one_of(PIECES, WORDS), max_size=5).map(" ".join)


@pytest.fixture(scope="module")
def memory_hive() -> Iterator[Hive]:
    """A server with one memory, for queries that change nothing."""
    with open_hive(runtime_packs=["kg", "memory"]) as opened:
        opened.call("memory.remember", content="The standup is at nine; 記憶, Привет, naïve.")
        yield opened


def says_nothing(query: str) -> bool:
    """The rule, written down once more: too few letters, or only words that repeat theirs."""
    letters = [char for char in query if char.isalpha()]
    if len(letters) < 2 and not any(is_cjk(char) for char in query):
        return True
    for word in query.split():
        of_word = [char.casefold() for char in word if char.isalpha()]
        if len(of_word) <= 2 or len(set(of_word)) >= 0.4 * len(of_word):
            return False
    return True


@pytest.mark.parametrize(
    ("query", "meaningful"),
    [
        ("", False),
        ("   ", False),
        ("?!", False),
        ("42", False),
        ("a", False),
        ("a 1", False),
        ("ab", True),
        ("記", True),
        ("한", True),
        ("あ", True),
        ("・", False),
        ("é", False),
        ("aaaa", False),
        ("aaaaaa hahahahaha", False),
        ("aaa", False),
        ("aa", True),
        ("hahaha", False),
        ("mama", True),
        ("aaaa b", True),
        ("aaaa 12", True),
        ("GB/s", True),
        ("BENCH-100821", True),
        ("C++ x", True),
        ("Ada", True),
    ],
)
def test_what_says_nothing_is_refused(query: str, meaningful: bool) -> None:
    """No letters, one letter, or nothing but words that repeat their letters."""
    assert is_meaningful(query) is meaningful
    assert says_nothing(query) is not meaningful


@settings(derandomize=True, max_examples=150, deadline=None)
@given(QUERIES)
def test_recall_refuses_exactly_the_queries_that_say_nothing(memory_hive: Hive, query: str) -> None:
    """Every other text has an answer, whatever characters it is made of."""
    if says_nothing(query):
        error = memory_hive.refuses("memory.recall", query=query)
        assert error["kind"] == "invalid_input"
        assert "'query' says nothing" in error["message"]
    else:
        assert isinstance(memory_hive.call("memory.recall", query=query), list)


def test_a_query_longer_than_a_search_takes_is_refused(memory_hive: Hive) -> None:
    """65,536 bytes are searched, one more is too many; the message says so."""
    assert memory_hive.call("memory.recall", query="ab " * 21845 + "c") == []
    error = memory_hive.refuses("memory.recall", query="ab " * 21845 + "cd")
    assert error["message"] == "memory.recall: 'query' must be at most 65536 bytes"


# names


def test_a_name_is_mentioned_where_nothing_alphanumeric_touches_it() -> None:
    """Case does not count; a part of a word is no mention, and an underscore or a hyphen ends a word."""
    ada = Mentions(("ada",))
    for text, mentioned in (
        ("Ada writes.", True),
        ("(ADA)", True),
        ("adaptation", False),
        ("Canada", False),
        ("ada2", False),
        ("ada_lovelace", True),
        ("pre-ada", True),
        ("", False),
    ):
        assert ada.in_text(text) is mentioned, text
    assert Mentions(("c++",)).in_text("In C++, of course") is True
    assert Mentions(()).in_text("anything") is False


def test_a_name_of_cjk_characters_is_found_inside_words() -> None:
    """Words of those scripts have no blanks between them; a mixed name needs its borders."""
    assert Mentions(("東京",)).in_text("新東京都") is True
    assert Mentions(("東京a",)).in_text("東京ab") is False


def test_given_names_are_lowered_and_blank_ones_dropped() -> None:
    """Each once, in their order."""
    assert entity_names.given_names(["Ada", " ", "GRACE", "ada "]) == ("ada", "grace")


def test_names_of_entities_are_what_a_query_is_about(hive: Hive) -> None:
    """Words and pairs of the query that are names of visible entities; a capital letter alone makes no name."""

    def seed(tx: Tx) -> tuple[str, ...]:
        entities.insert(tx, entity(1, name="vector index"))
        entities.insert(tx, entity(2, name="LoRA"))
        entities.insert(tx, entity(3, name="elsewhere", namespace="other"))
        query = "What did Grace say, about the vector index and lora elsewhere? Grace!"
        return entity_names.names_in(tx, query, ("local",))

    assert hive.server.engine.run_write(seed) == ("lora", "vector index")
