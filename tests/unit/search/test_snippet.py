"""An excerpt is short, shows the match, and never cuts a word at its start."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.search.snippet import excerpt
from hivekeep_contract.limits import SNIPPET_MAX_CHARS

FILLER = "lorem ipsum dolor sit amet consetetur " * 20


def test_a_short_body_is_shown_whole_on_one_line() -> None:
    """Line breaks and runs of blanks become one blank."""
    assert excerpt("first\n\n  second\tthird", ["second"]) == "first second third"


def test_without_text_there_is_no_excerpt() -> None:
    """None, an empty body and a blank body have nothing to show."""
    assert [excerpt(body, ["x"]) for body in (None, "", " \n ")] == [None, None, None]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("needle", "needle"),
        ("Müller", "muller"),
        ("ÉCOLE", "école"),
        ("runner", "running"),
        ("e\u0301cole", "école"),
    ],
)
def test_the_match_is_inside_the_excerpt(written: str, asked: str) -> None:
    """Case, accents, composition and endings do not hide a match."""
    shown = excerpt(FILLER + written + " " + FILLER, [asked])
    assert shown is not None
    assert len(shown) <= SNIPPET_MAX_CHARS
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert ("école" if written == "e\u0301cole" else written) in shown


def test_accents_do_not_make_hangul_syllables_equal() -> None:
    """Folding takes marks off letters, it does not take syllables apart."""
    shown = excerpt("가 " * 150 + "각 " + "나 " * 150, ["각"])
    assert shown is not None
    assert "각" in shown


def test_a_match_in_the_title_alone_shows_the_start() -> None:
    """The excerpt is then the beginning of the body, cut behind."""
    shown = excerpt(FILLER, ["elsewhere"])
    assert shown is not None
    assert shown.startswith("lorem ipsum")
    assert shown.endswith("…")
    assert len(shown) == SNIPPET_MAX_CHARS


def test_an_excerpt_starts_with_a_whole_word() -> None:
    """The cut moves behind a blank."""
    shown = excerpt(FILLER + "needle " + FILLER, ["needle"])
    assert shown is not None
    assert shown.removeprefix("…").split()[0] in FILLER.split()


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.text(max_size=600), st.text(min_size=1, max_size=5))
def test_an_excerpt_is_never_too_long(body: str, asked: str) -> None:
    """Any text, any term: at most SNIPPET_MAX_CHARS characters, and no line break."""
    shown = excerpt(body, [asked])
    assert shown is None or (0 < len(shown) <= SNIPPET_MAX_CHARS and "\n" not in shown)
