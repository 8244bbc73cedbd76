"""JSON between rows and handlers: compact UTF-8 text that SQLite's JSON functions can read."""

from __future__ import annotations

import json
from typing import Any

from hivekeep.compact_json import dump

__all__ = ["EMPTY_LIST", "EMPTY_OBJECT", "dump", "load", "load_object", "load_tags"]

_decoder = json.JSONDecoder()
_read = _decoder.raw_decode

EMPTY_OBJECT = "{}"
EMPTY_LIST = "[]"


def load(text: str) -> Any:
    """The value of a JSON text, which is usually one that `dump` wrote: without blanks round it."""
    try:
        value, end = _read(text)
    except ValueError:
        end = -1
    return value if end == len(text) else _decoder.decode(text)


def load_object(text: str) -> dict[str, Any]:
    """The object of a `properties`, `metadata` or `payload` column; the empty one without parsing."""
    value: dict[str, Any] = {} if text == EMPTY_OBJECT else load(text)
    return value


def load_tags(text: str) -> list[str]:
    """The strings of a `tags` column; the empty list without parsing."""
    value: list[str] = [] if text == EMPTY_LIST else load(text)
    return value
