"""How an id is written: full UUID, hex prefix, or a name.

Invariant: classification looks at the text alone, so the same text means the same thing for every verb; what the
text refers to is decided by `hivekeep.identity.resolve`.
"""

import os
import re
from itertools import pairwise
from typing import Literal, NamedTuple

from hivekeep_contract.limits import ID_PREFIX_MIN_HEX

_FULL = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\Z")
_HEX = re.compile(r"[0-9a-fA-F]+\Z")
_GROUPS = (8, 12, 16, 20)
_HEX_DIGITS = 32
_AT_ONCE = 32
"""Ids that are made together."""

_ready: list[str] = []
# A forked process must not give out the ids that its parent will.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ready.clear)


def new_id() -> str:
    """A fresh random UUID (RFC 9562, version 4) in canonical text, from a stock: an operation needs several."""
    while True:
        try:
            return _ready.pop()
        except IndexError:
            _ready.extend(_random_ids(_AT_ONCE))


def _random_ids(count: int) -> list[str]:
    """Made by hand because `str(uuid.uuid4())` takes three times as long."""
    text = os.urandom(count * _HEX_DIGITS // 2).hex()
    each = (text[start : start + _HEX_DIGITS] for start in range(0, len(text), _HEX_DIGITS))
    return [
        f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{'89ab'[int(digits[16], 16) & 3]}{digits[17:20]}-{digits[20:]}"
        for digits in each
    ]


class Ref(NamedTuple):
    """A reference by its form: `uuid` and `prefix` hold lower-case text with hyphens at the canonical places."""

    form: Literal["uuid", "prefix", "name"]
    text: str


def hyphenate(digits: str) -> str:
    """Lower-case hex digits (up to 32) with hyphens at 8-4-4-4-12, as far as they go."""
    cuts = (0, *(cut for cut in _GROUPS if cut < len(digits)), len(digits))
    return "-".join(digits[start:end] for start, end in pairwise(cuts))


def classify(text: str) -> Ref:
    """Tell a full UUID (36 characters, or 32 hex digits), a prefix (8 to 31 hex digits) and a name apart.

    Hyphens in a prefix count only at the canonical places; anything else is a name.
    """
    if _FULL.match(text):
        return Ref("uuid", text.lower())
    digits = text.replace("-", "")
    if not ID_PREFIX_MIN_HEX <= len(digits) <= _HEX_DIGITS or not _HEX.match(digits):
        return Ref("name", text)
    digits = digits.lower()
    written = hyphenate(digits)
    if "-" in text and text.lower() not in (written, written + "-"):
        return Ref("name", text)
    return Ref("uuid" if len(digits) == _HEX_DIGITS else "prefix", written)
