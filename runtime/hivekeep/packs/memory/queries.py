"""Which queries recall answers.

Invariant: a query is refused for its text by `check_query` or not at all, and always before any work.
"""

import unicodedata

from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import (
    RECALL_MIN_LETTERS,
    RECALL_REPEATED_MIN_LETTERS,
    RECALL_REPEATED_SHARE,
    SEARCH_QUERY_MAX_BYTES,
)

_CJK = (
    (0x1100, 0x11FF),  # Hangul letters
    (0x3005, 0x3007),  # iteration mark, closing mark, zero
    (0x3021, 0x3029),  # numerals
    (0x3031, 0x31FF),  # Kana, Bopomofo, Hangul letters
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA960, 0xA97F),  # Hangul letters, extended
    (0xAC00, 0xD7FF),  # Hangul syllables
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFFDC),  # half-width Kana and Hangul
    (0x1B000, 0x1B16F),  # Kana supplements
    (0x20000, 0x3FFFF),  # Han, further extensions
)


def check_query(query: str) -> None:
    """Refuse a query that says nothing, or more than a search takes; raises InvalidInput that says which."""
    if len(query.encode("utf-8", "surrogatepass")) > SEARCH_QUERY_MAX_BYTES:
        raise InvalidInput(f"memory.recall: 'query' must be at most {SEARCH_QUERY_MAX_BYTES} bytes")
    if not is_meaningful(query):
        raise InvalidInput(
            "memory.recall: 'query' says nothing to look for; it must hold at least"
            f" {RECALL_MIN_LETTERS} letters or one CJK character, and a word that does not only repeat its letters"
        )


def is_meaningful(query: str) -> bool:
    """Whether there is something to look for: letters enough, and not only words that repeat them."""
    letters = sum(map(str.isalpha, query))
    if letters < RECALL_MIN_LETTERS and not any(map(is_cjk, query)):
        return False
    return not all(map(_only_repeats, query.split()))


def is_cjk(char: str) -> bool:
    """Whether a character is a letter or numeral of the scripts of Chinese, Japanese and Korean."""
    code = ord(char)
    if code < _CJK[0][0] or not any(low <= code <= high for low, high in _CJK):
        return False
    return unicodedata.category(char)[0] in "LN"


def _only_repeats(word: str) -> bool:
    """Whether a word says nothing: `aaaaaa`, `hahahaha`. A short one may, and so may one with hardly a letter."""
    letters = [char.casefold() for char in word if char.isalpha()]
    return len(letters) >= RECALL_REPEATED_MIN_LETTERS and len(set(letters)) / len(letters) < RECALL_REPEATED_SHARE
