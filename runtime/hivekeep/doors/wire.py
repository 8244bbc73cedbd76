"""Bytes to JSON values and back, the same for every door.

What it keeps true: `decode` raises ValueError and nothing else, whatever the bytes are, so a door can answer
"malformed" in one place; and every value it lets through can be written back as UTF-8 JSON.
"""

from __future__ import annotations

import json
from typing import Any

from hivekeep import strict_json

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def decode(raw: bytes) -> Any:
    """The JSON value in `raw` (UTF-8, no byte order mark). Raises ValueError for anything malformed."""
    return strict_json.decode(raw.decode("utf-8"))


def encode(value: Any) -> bytes:
    """`value` as compact UTF-8 JSON on one line. A lone surrogate a handler produced is written as `?`."""
    return _encoder.encode(value).encode("utf-8", "replace")
