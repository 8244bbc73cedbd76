"""Query text becomes quoted terms: what each sort of term is looked up as, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.search.lexical import (
    COMPARED_TERMS,
    INDEXED_TERM_CHARS,
    MAX_CASED_LETTERS,
    Expand,
    LiteralPlan,
    TextMode,
    WordPlan,
    parse_terms,
    plan_literals,
    plan_words,
    spellings,
)
from hivekeep_contract.limits import SEARCH_MAX_TERMS, SEARCH_QUERY_MAX_BYTES

EXPRESSION = re.compile(r'(?:"(?:[^"]|"")*"| AND | OR |[()])*')


def too_many(_start: str) -> None:
    """An index in which every short term begins too many trigrams."""


def two(start: str) -> list[str]:
    """An index in which every short term begins two trigrams."""
    return [start + "?", start + "!"]


def none(_start: str) -> list[str]:
    """An index that holds no short term."""
    return []


def words(query: str, mode: TextMode) -> WordPlan | None:
    return plan_words(parse_terms(query), mode)


def substrings(query: str, mode: TextMode, expand: Expand = too_many) -> LiteralPlan:
    return plan_literals(parse_terms(query), mode, expand)


def literals(query: str) -> list[str]:
    return [term.literal for term in parse_terms(query)]


def test_plain_words_are_quoted_and_joined_by_the_mode() -> None:
    """all_terms joins by AND, any_term by OR, in both indexes alike."""
    both, one = '"rotary" AND "embedding"', '"rotary" OR "embedding"'
    assert words("rotary embedding", "all_terms") == WordPlan(both, ())
    assert words("rotary embedding", "any_term") == WordPlan(one, ())
    assert substrings("rotary embedding", "all_terms") == LiteralPlan(both, (), (), scan_any=False)
    assert substrings("rotary embedding", "any_term") == LiteralPlan(one, (), (), scan_any=True)


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
    start = f'"{"x" * INDEXED_TERM_CHARS}"'
    assert words(long, "all_terms") == WordPlan(start, ((long,),))
    assert substrings(long, "all_terms") == LiteralPlan(start, ((long,),), (), scan_any=False)


def test_a_term_without_a_word_reading_filters_the_word_hits() -> None:
    """all_terms: what the word index cannot hold is compared in the records that it found."""
    assert words("KV 设备", "all_terms") == WordPlan('"KV"', (("设备",),))
    assert words("KV 设备", "any_term") == WordPlan('"KV"', ())
    assert words("设备 🚀", "all_terms") is None


def test_a_short_term_is_looked_up_as_the_trigrams_that_begin_with_it() -> None:
    """Lower case, as the index writes it; each term keeps its place among the groups."""
    assert substrings("KV cache", "all_terms", two).match == '"cache" AND ("kv?" OR "kv!")'
    assert substrings("设备 管理", "any_term", two).match == '("设备?" OR "设备!") OR ("管理?" OR "管理!")'


def test_a_short_term_that_no_record_holds_ends_the_search_for_all_terms() -> None:
    """all_terms: nothing can be found; any_term: the other terms still count."""
    assert substrings("设备 cache", "all_terms", none) == LiteralPlan(None, (), (), scan_any=False)
    assert substrings("设备 cache", "any_term", none) == LiteralPlan('"cache"', (), (), scan_any=True)


def test_a_too_common_short_term_is_compared_beside_an_index_and_scanned_without_one() -> None:
    """all_terms: it filters the trigram hits; only a query of nothing but such terms compares all records."""
    assert substrings("GQA KV cache", "all_terms") == LiteralPlan('"GQA" AND "cache"', (("kv",),), (), scan_any=False)
    assert substrings("KV 设备", "all_terms") == LiteralPlan(None, (), (("kv",), ("设备",)), scan_any=False)


def test_letters_that_the_index_folds_its_own_way_are_compared() -> None:
    """A short term with case or accents outside ASCII is never looked up as trigrams."""
    assert substrings("öl", "all_terms", none).scan == (spellings("öl"),)
    assert substrings("Жо", "all_terms", none).scan == (spellings("Жо"),)


def test_any_term_leaves_short_words_beside_longer_terms_to_the_word_index() -> None:
    """ "of" as a substring is noise; a Chinese or symbolic term has no word reading and is looked for."""
    assert substrings("state of KV cache", "any_term", two).match == '"state" OR "cache"'
    assert substrings("cache 设备", "any_term").scan == (("设备",),)
    assert substrings("KV", "any_term").scan == (("kv",),)


def test_any_term_takes_a_run_without_spaces_apart() -> None:
    """Three neighbouring characters are the terms of a script that does not separate words."""
    assert substrings("设备管理", "any_term").match == '("设备管" OR "备管理")'
    assert substrings("设备管理", "all_terms").match == '"设备管理"'


def test_the_number_of_short_terms_is_limited() -> None:
    """No query makes a record be compared with more than COMPARED_TERMS terms."""
    pairs = " ".join(chr(0x4E00 + number) + "设" for number in range(SEARCH_MAX_TERMS))
    assert len(substrings(pairs, "all_terms").scan) == COMPARED_TERMS
    assert len(substrings("cache " + pairs, "all_terms").where) == COMPARED_TERMS
    assert substrings(pairs, "any_term", two).match.count("?") == COMPARED_TERMS


def test_spellings_cover_case_and_composition() -> None:
    """ASCII letters are lowered, other letters tried in both cases, composed characters also decomposed."""
    assert spellings("KV") == ("kv",)
    assert set(spellings("öL")) == {"öl", "Öl", "o\u0308l", "O\u0308l"}
    assert len(spellings("Ж" * MAX_CASED_LETTERS)) == 2**MAX_CASED_LETTERS
    assert spellings("ЖИЗНЬ") == ("ЖИЗНЬ", "Жизнь", "жизнь")


@settings(max_examples=500, derandomize=True, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["all_terms", "any_term"]))
def test_an_expression_is_only_quoted_text_and_our_operators(query: str, mode: TextMode) -> None:
    """Whatever is asked, outside the quotes stand only AND, OR and brackets."""
    terms = parse_terms(query)
    word = plan_words(terms, mode)
    literal = plan_literals(terms, mode, two)
    for expression in (word and word.match, literal.match):
        assert expression is None or EXPRESSION.fullmatch(expression)


def test_any_term_leaves_stop_words_out_while_another_term_is_left() -> None:
    """Words that say nothing are not asked for; a query of nothing else is asked as it is; all_terms keeps them."""
    assert words("what is the rotary", "any_term") == WordPlan('"rotary"', ())
    assert words("to be or not to be", "any_term") == WordPlan('"to" OR "be"', ())
    assert words("the rotary", "all_terms") == WordPlan('"the" AND "rotary"', ())
    assert substrings("the rotary wing", "any_term").match == '"rotary" OR "wing"'


def test_any_term_asks_for_the_parts_of_a_compound_of_words() -> None:
    """Beside the compound its parts count one by one; parts of two letters, and those of an identifier, do not."""
    assert words("tumor-suppressor genes", "any_term") == WordPlan(
        '"tumor-suppressor" OR "tumorsuppressor" OR "tumor" OR "suppressor" OR "genes"', ()
    )
    assert words("ad-hoc genes", "any_term") == WordPlan('"ad-hoc" OR "adhoc" OR "hoc" OR "genes"', ())
    assert words("BENCH-100821 fails", "any_term") == WordPlan(
        '"BENCH-100821" OR "BENCH100821" OR ("BENCH" AND "100821") OR "fails"', ()
    )


@pytest.mark.parametrize("mark", ["'s", "’s", "'S"])
def test_any_term_takes_a_possessive_for_its_word(mark: str) -> None:
    """Its two forms counted twice for a text with the same possessive; the word counts once, all_terms keeps both."""
    assert words(f"Ada{mark} goat", "any_term") == WordPlan('"Ada" OR "goat"', ())
    assert words(f"tumor-suppressor{mark} genes", "any_term") == words("tumor-suppressor genes", "any_term")
    assert words(f"Ada{mark} goat", "all_terms") == WordPlan(f'("Ada{mark}" OR "Ada{mark[-1]}") AND "goat"', ())
    assert words(f"what{mark} the goat doing", "any_term") == WordPlan('"goat" OR "doing"', ())


def test_other_apostrophes_are_part_of_their_word() -> None:
    """Those in names and behind digits keep both of their forms; short forms of stop words say nothing."""
    assert words("didn't we'd they’ll goat", "any_term") == WordPlan('"goat"', ())
    assert words("O'Neill goat", "any_term") == WordPlan('"O\'Neill" OR "ONeill" OR "goat"', ())
    assert words("90's goat", "any_term") == WordPlan('"90\'s" OR "90s" OR "goat"', ())


def test_any_term_looks_up_a_short_term_with_symbols_inside_as_a_phrase() -> None:
    """As a substring it would stand behind every hit of a word; one with symbols at an end is no phrase."""
    assert words("sugar 7.8", "any_term") == WordPlan('"sugar" OR "7.8"', ())
    assert words("I/O error", "any_term") == WordPlan('"I/O" OR "error"', ())
    assert words("C++ error", "any_term") == WordPlan('"error"', ())
    assert words("sugar 7.8", "all_terms") == WordPlan('"sugar"', (("7.8",),))


def test_a_compound_alone_is_one_term() -> None:
    """One term is enough, and this is the one: half of it is not."""
    alone = '("foo-bar" OR "foobar" OR ("foo" AND "bar"))'
    assert words("foo-bar", "any_term") == words("foo-bar", "all_terms") == WordPlan(alone, ())
    assert words("the foo-bar", "any_term") == WordPlan(alone, ())


def test_any_term_asks_for_each_word_once() -> None:
    """A word that the query says twice, alone and inside a compound, does not count twice."""
    assert words("cell T-cell stem-cell", "any_term") == WordPlan(
        '"cell" OR "T-cell" OR "Tcell" OR "stem-cell" OR "stemcell" OR "stem"', ()
    )
