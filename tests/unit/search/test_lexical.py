"""Query text becomes quoted terms: what each sort of term is looked up as, and nothing else."""

from __future__ import annotations

import re

import pytest
from hivekeep.search.lexical import (
    COMPARED_TERMS,
    INDEXED_TERM_CHARS,
    MAX_CASED_VARIANTS,
    parse_terms,
    plan_text,
    spellings,
)
from hivekeep_contract.limits import SEARCH_MAX_TERMS, SEARCH_QUERY_MAX_BYTES
from hypothesis import given, settings
from hypothesis import strategies as st

EXPRESSION = re.compile(r'(?:"(?:[^"]|"")*"| AND | OR |[()])*')


def literals(query: str) -> list[str]:
    return [term.literal for term in parse_terms(query)]


def test_plain_words_are_quoted_and_joined_by_the_mode() -> None:
    """all_terms joins by AND, any_term by OR, in both indexes alike."""
    both = plan_text("rotary embedding", "all_terms")
    one = plan_text("rotary embedding", "any_term")
    assert both.words == both.trigrams == '"rotary" AND "embedding"'
    assert one.words == one.trigrams == '"rotary" OR "embedding"'
    assert (both.words_where, both.trigrams_where, both.scan) == ((), (), ())


@pytest.mark.parametrize(
    ("token", "words", "trigrams"),
    [
        (
            "foo-bar",
            '("foo-bar" OR "foobar" OR ("foo" AND "bar"))',
            '("foo-bar" OR "foobar" OR ("foo" AND "bar"))',
        ),
        ("node.js", '("node.js" OR "nodejs")', '("node.js" OR "nodejs")'),
        ("GB/s", '("GB/s" OR "GBs")', '("GB/s" OR "GBs")'),
        ("don't", '("don\'t" OR "dont")', '("don\'t" OR "dont")'),
        ("$prev.id", '("$prev.id" OR "previd")', '("$prev.id" OR "previd")'),
        ("snake_case", '"snake_case"', '"snake_case"'),
        ("KV", '"KV"', None),
        ("C++", None, '"C++"'),
        ("C#", None, None),
        ("设备", None, None),
        ("设备管理", None, '"设备管理"'),
        ("Müller", '"Müller"', '"Müller"'),
        ("🚀", None, None),
        ('say"what', '("say""what" OR "saywhat")', '("say""what" OR "saywhat")'),
    ],
)
def test_a_token_has_a_word_reading_and_a_literal_reading(token: str, words: str | None, trigrams: str | None) -> None:
    """Punctuated tokens add their joined and split forms; short and symbolic ones lose a reading."""
    (term,) = parse_terms(token)
    assert (term.words, term.trigrams) == (words, trigrams)


def test_punctuation_round_a_word_is_not_part_of_it() -> None:
    """Brackets, quotes and sentence marks at the edges of a token are decoration."""
    assert literals('("vitamin" C, iron?)') == ["vitamin", "C", "iron"]
    assert literals("《设备》，管理。") == ["设备》，管理"]


def test_operator_words_and_lone_marks_are_dropped_unless_nothing_else_is_asked() -> None:
    """AND, OR, NOT and NEAR of any case fall out beside real terms, and are looked up when alone."""
    assert literals("cats AND dogs or NOT near( birds *") == ["cats", "dogs", "birds"]
    assert literals("NEAR(") == ["NEAR("]
    assert literals('"') == ['"']
    assert literals("rocket 🚀 -") == ["rocket", "🚀"]
    assert literals("and not") == ["and", "not"]


def test_blank_and_unprintable_queries_have_no_terms() -> None:
    """White space, NUL, control characters and lone surrogates leave nothing to look up."""
    assert parse_terms(" \t\n\u3000") == ()
    assert parse_terms("\x00\x07\ud800") == ()
    assert literals("a\x00b") == ["ab"]


def test_a_repeated_term_counts_once() -> None:
    """Terms that differ only in case are one term, the first spelling kept."""
    assert literals("Rope rope ROPE scale") == ["Rope", "scale"]


def test_terms_and_bytes_of_a_query_are_limited() -> None:
    """The first SEARCH_MAX_TERMS terms of the first SEARCH_QUERY_MAX_BYTES bytes are looked up."""
    many = " ".join(f"t{number}" for number in range(10_000))
    assert literals(many) == [f"t{number}" for number in range(SEARCH_MAX_TERMS)]
    (cut,) = parse_terms("ü" * SEARCH_QUERY_MAX_BYTES)
    assert cut.literal == "ü" * (SEARCH_QUERY_MAX_BYTES // 2)


def test_a_long_term_is_looked_up_by_its_start_and_compared_in_whole() -> None:
    """The index gets INDEXED_TERM_CHARS characters; the record must hold all of them."""
    long = "x" * 100
    plan = plan_text(long, "all_terms")
    assert plan.trigrams == f'"{"x" * INDEXED_TERM_CHARS}"'
    assert plan.trigrams_where == plan.words_where == ((long,),)


def test_short_terms_are_compared_beside_an_index_and_scanned_without_one() -> None:
    """all_terms: a short term filters the trigram hits; only a query of nothing but short terms scans."""
    beside = plan_text("GQA KV cache", "all_terms")
    assert beside.words == '"GQA" AND "KV" AND "cache"'
    assert beside.trigrams == '"GQA" AND "cache"'
    assert beside.trigrams_where == (("kv",),)
    assert beside.scan == ()
    alone = plan_text("KV 设备", "all_terms")
    assert (alone.words, alone.words_where) == ('"KV"', (("设备",),))
    assert (alone.trigrams, alone.scan, alone.scan_any) == (None, (("kv",), ("设备",)), False)


def test_any_term_scans_only_for_what_no_index_holds() -> None:
    """A short ASCII word beside longer terms is left to the word index; other short terms are scanned."""
    assert plan_text("state of KV cache", "any_term").scan == ()
    assert plan_text("cache 设备", "any_term").scan == (("设备",),)
    assert plan_text("KV", "any_term").scan == (("kv",),)


def test_any_term_takes_a_run_without_spaces_apart() -> None:
    """Three neighbouring characters are the terms of a script that does not separate words."""
    assert plan_text("设备管理", "any_term").trigrams == '("设备管" OR "备管理")'
    assert plan_text("设备管理", "all_terms").trigrams == '"设备管理"'


def test_the_number_of_compared_terms_is_limited() -> None:
    """No query makes a record be compared with more than COMPARED_TERMS terms."""
    pairs = " ".join(chr(0x4E00 + number) + "设" for number in range(SEARCH_MAX_TERMS))
    assert len(plan_text(pairs, "all_terms").scan) == COMPARED_TERMS
    assert len(plan_text("cache " + pairs, "all_terms").trigrams_where) == COMPARED_TERMS


def test_spellings_cover_case_and_composition() -> None:
    """ASCII letters are lowered, other letters tried in both cases, composed characters also decomposed."""
    assert spellings("KV") == ("kv",)
    assert set(spellings("öL")) == {"öl", "Öl", "o\u0308l", "O\u0308l"}
    assert len(spellings("Ж" * 40)) <= 2 * MAX_CASED_VARIANTS


@settings(max_examples=500, derandomize=True, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["all_terms", "any_term"]))
def test_an_expression_is_only_quoted_text_and_our_operators(query: str, mode: str) -> None:
    """Whatever is asked, outside the quotes stand only AND, OR and brackets."""
    plan = plan_text(query, mode)  # type: ignore[arg-type]
    for expression in (plan.words, plan.trigrams):
        assert expression is None or EXPRESSION.fullmatch(expression)
