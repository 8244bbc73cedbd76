"""When a text means `$prev` and when it only looks like it.

A quoted string is promoted to a reference only when all of it is one; one leading backslash makes such a text
literal and is taken away. Every text can therefore be written: `protect` is the inverse of `settle`.
"""

import re

from hivekeep.request.plan import PrevRef
from hivekeep.request.tokens import IDENT

# An index has at most 18 digits: it stays a machine integer, and no result has more elements.
_PATH = re.compile(rf"\$prev(?:\.{IDENT}|\[[0-9]{{1,18}}\])*")
_STEP = re.compile(rf"\.({IDENT})|\[([0-9]+)\]")
_START = re.compile(r"\\*\$prev(?=[.\[]|\Z)")


def reference_at(text: str, position: int) -> PrevRef | None:
    """The longest reference that starts at `position`, or None."""
    path = _PATH.match(text, position)
    return _build(path[0]) if path else None


def settle(text: str) -> str | PrevRef:
    """What a decoded string means: a reference, the text without its escaping backslash, or itself."""
    if not text.startswith(("$", "\\")) or not _START.match(text):
        return text
    if text.startswith("\\"):
        return text[1:]
    return _build(text) if _PATH.fullmatch(text) else text


def names_prev(text: str) -> bool:
    """Whether a text is `$prev` or starts with `$prev.` or `$prev[`, well formed or not."""
    return text.startswith("$") and _START.match(text) is not None


def protect(text: str) -> str:
    """The text to write so that `settle` gives `text` back."""
    return "\\" + text if _START.match(text) else text


def _build(text: str) -> PrevRef:
    steps = (field or int(index) for field, index in _STEP.findall(text))
    return PrevRef(text, tuple(steps))
