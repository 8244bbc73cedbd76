"""JSON between rows and handlers: compact UTF-8 text that SQLite's JSON functions can read."""

from __future__ import annotations

import json
from typing import Any, cast

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_decode = json.JSONDecoder().decode

EMPTY_OBJECT = "{}"
EMPTY_LIST = "[]"


def dump(value: object) -> str:
    """Any JSON value as text; raises ValueError for NaN and infinities."""
    return _encode(value)


def load(text: str) -> Any:
    """The value of a JSON text."""
    return _decode(text)


def load_object(text: str) -> dict[str, Any]:
    """The object of a `properties`, `metadata` or `payload` column; the empty one without parsing."""
    return {} if text == EMPTY_OBJECT else cast(dict[str, Any], _decode(text))


def load_tags(text: str) -> list[str]:
    """The strings of a `tags` column; the empty list without parsing."""
    return [] if text == EMPTY_LIST else cast(list[str], _decode(text))
