"""Bytes to JSON values and back, the same for every door.

What it keeps true: `decode` raises ValueError and nothing else, whatever the bytes are (broken UTF-8, NaN,
nesting beyond the interpreter's stack, integers beyond its digit limit, escapes of half a surrogate pair),
so a door can answer "malformed" in one place; and every string it lets through can be written back as
UTF-8.
"""

from __future__ import annotations

import json
from typing import Any


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)


def decode(raw: bytes) -> Any:
    """The JSON value in `raw` (UTF-8, no byte order mark). Raises ValueError for anything malformed."""
    try:
        value = _decoder.decode(raw.decode("utf-8"))
        if b"\\ud" in raw or b"\\uD" in raw:
            _encoder.encode(value).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def encode(value: Any) -> bytes:
    """`value` as compact UTF-8 JSON on one line. A lone surrogate a handler produced is written as `?`."""
    return _encoder.encode(value).encode("utf-8", "replace")
