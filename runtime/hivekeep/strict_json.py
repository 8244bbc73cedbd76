"""JSON text to values, and nothing that is not JSON.

Invariant: `decode` raises ValueError and nothing else, whatever the text is (NaN, a number beyond the range of a float
or the interpreter's digit limit, nesting beyond its stack, half of a surrogate pair), and what it answers can be
written as JSON again.
"""

import json
import math
from collections.abc import Callable
from typing import Any

_SHOWN = 60


def finite_float(text: str) -> float:
    """A JSON number as float; ValueError when it is too large to be one (JSON has no infinity)."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:_SHOWN]} is out of range")
    return value


def refuse_constant(name: str) -> float:
    """Called by the JSON decoder for NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{name} is not JSON")


class DuplicateKey(ValueError):
    """An object has a key twice, and readers differ in which one they take."""


class NestedTooDeep(ValueError):
    """The text nests beyond the interpreter's stack."""


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) != len(members):
        raise DuplicateKey("an object has a key twice")
    return value


_decoder = json.JSONDecoder(parse_float=finite_float, parse_constant=refuse_constant)
_strict_decoder = json.JSONDecoder(parse_float=finite_float, parse_constant=refuse_constant, object_pairs_hook=_unique)
_read = _decoder.raw_decode
_write = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


def _value(text: str) -> Any:
    """The value that fills the text. Looking for blanks round it costs as much as reading a short one, so that is done
    only for a text that is more than its value, or none."""
    try:
        value, end = _read(text)
    except ValueError:
        end = -1
    return value if end == len(text) else _decoder.decode(text)


def decode(text: str) -> Any:
    """The JSON value of the whole text. Raises ValueError for anything malformed."""
    return _checked(_value, text)


def decode_unique(text: str) -> Any:
    """The same, and no object may have a key twice. Raises DuplicateKey, NestedTooDeep or another ValueError."""
    return _checked(_strict_decoder.decode, text)


def _checked(read: Callable[[str], Any], text: str) -> Any:
    try:
        value = read(text)
        if "\\ud" in text or "\\uD" in text:
            _write(value).encode()
    except RecursionError:
        raise NestedTooDeep("nested too deeply") from None
    return value
