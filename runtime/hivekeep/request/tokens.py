"""The words of the request language as compiled patterns; everything that reads text shares them."""

import re

# ASCII white space only: a no-break space inside a call is a mistake worth naming, not a blank.
BLANKS = " \t\n\r\f\v"
BLANK = f"[{BLANKS}]"
IDENT = "[A-Za-z_][A-Za-z0-9_]*"

_SKIP = re.compile(f"{BLANK}+")
_IDENTIFIER = re.compile(IDENT)
_VERB = re.compile(rf"{IDENT}(?:\.{IDENT})?")


def skip(text: str, position: int) -> int:
    """The first position at or after `position` that is no blank."""
    blank = _SKIP.match(text, position)
    return blank.end() if blank else position


def is_identifier(word: str) -> bool:
    """Whether `word` is a whole identifier: ASCII letters, digits and `_`, not starting with a digit."""
    return _IDENTIFIER.fullmatch(word) is not None


def is_verb(word: str) -> bool:
    """Whether `word` is a whole verb name: an identifier, or two joined by one dot."""
    return _VERB.fullmatch(word) is not None
