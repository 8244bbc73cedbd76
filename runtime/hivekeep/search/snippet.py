"""The excerpt that shows why a record was found: a limited number of characters round the first match."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from hivekeep.normal_form import normal_form
from hivekeep_contract.limits import SNIPPET_MAX_CHARS

_LEAD = 60
"""Characters shown before the match, so that it stands in its sentence."""

_STEM_CUT = 3
_STEM_MIN = 4
"""A word found by its stem is looked for again without its last letters, never by fewer than four."""


class _Folding(dict[int, str]):
    """One character to one character: lower case without accents; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        apart = unicodedata.normalize("NFD", char)
        accented = all(map(unicodedata.combining, apart[1:]))
        lower = (apart[0] if accented else char).lower()
        self[code] = folded = lower if len(lower) == 1 else char
        return folded


_FOLDING = _Folding()


def excerpt(body: str | None, literals: Sequence[str]) -> str | None:
    """Up to SNIPPET_MAX_CHARS characters of the body round the earliest match of a literal.

    Without a match (the title was hit) it is the start of the body, and None when there is no body. Line
    breaks and runs of blanks become one blank; "…" marks a cut end and counts as a character.
    """
    text = " ".join(normal_form("NFC", body).split()) if body else ""
    if not text:
        return None
    if len(text) <= SNIPPET_MAX_CHARS:
        return text
    return _cut(text, _first_match(_fold(text), literals))


def _fold(text: str) -> str:
    """The text for comparing, character by character in the same places."""
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def _first_match(folded: str, literals: Sequence[str]) -> int:
    needles = [_fold(literal) for literal in literals]
    places = [place for needle in needles if (place := folded.find(needle)) >= 0]
    if not places:
        stems = [needle[: max(_STEM_MIN, len(needle) - _STEM_CUT)] for needle in needles if len(needle) > _STEM_MIN]
        places = [place for stem in stems if (place := folded.find(stem)) >= 0]
    return min(places, default=0)


def _cut(text: str, match: int) -> str:
    start = _word_start(text, min(max(match - _LEAD, 0), len(text) - SNIPPET_MAX_CHARS + 1), match)
    before = "…" if start else ""
    room = SNIPPET_MAX_CHARS - len(before)
    if len(text) - start <= room:
        return before + text[start:]
    return before + text[start : start + room - 1].rstrip() + "…"


def _word_start(text: str, start: int, match: int) -> int:
    """`start`, moved behind the next blank when one lies before the match, so that no word is cut in two."""
    if start == 0:
        return 0
    blank = text.find(" ", start - 1, match)
    return start if blank < 0 else blank + 1
