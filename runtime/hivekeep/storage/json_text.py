"""JSON between rows and handlers: compact UTF-8 text that SQLite's JSON functions can read."""

from __future__ import annotations

import json
from typing import Any, cast

from hivekeep.compact_json import dump

__all__ = ["EMPTY_LIST", "EMPTY_OBJECT", "dump", "load", "load_object", "load_tags"]

_decode = json.JSONDecoder().decode

EMPTY_OBJECT = "{}"
EMPTY_LIST = "[]"


def load(text: str) -> Any:
    """The value of a JSON text."""
    return _decode(text)


def load_object(text: str) -> dict[str, Any]:
    """The object of a `properties`, `metadata` or `payload` column; the empty one without parsing."""
    return {} if text == EMPTY_OBJECT else cast(dict[str, Any], _decode(text))


def load_tags(text: str) -> list[str]:
    """The strings of a `tags` column; the empty list without parsing."""
    return [] if text == EMPTY_LIST else cast(list[str], _decode(text))
