"""One text for one JSON value, its hash, and the timestamps of the gateway.

Invariant: two values that a JSON reader of any language takes for equal have the same text. It is
`json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)` of the value whose floats without a
fraction are integers; orjson writes it where its text is that one.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

import orjson

from hivekeep.times import iso, now_us, parse_iso

_plain: Final = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), sort_keys=True, check_circular=False, allow_nan=False
).encode
# orjson writes exponents otherwise than Python does. What looks like a fraction or an exponent may stand in a string as
# well, then the slow way is taken for nothing; no float inside of a value goes without one of the two.
_float: Final = re.compile(rb"[\[:,]-?[0-9]+[.e]").search
_TIMESTAMP: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_MICROSECOND_DIGITS: Final = 3
_MILLISECOND_US: Final = 1000


def canonical(value: Any) -> bytes:
    """The canonical JSON of a value that JSON can hold, as UTF-8 (gateway rules, scalars).

    Keys are sorted at every depth, nothing but control characters, quotes and backslashes is escaped; half of a
    surrogate pair, which no request has, keeps its three bytes.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer over 64 bits, half of a surrogate pair
        return _slowly(value)
    return _slowly(value) if isinstance(value, float) or _float(text) else text


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, 64 hex digits in lower case (gateway rules, scalars)."""
    return hashlib.sha256(canonical(value)).hexdigest()


def integral(value: float) -> float | int:
    """A float as the integer that it is, or itself: 1, 1.0 and 1e0 are one JSON number."""
    return int(value) if value.is_integer() else value


def moment_now() -> int:
    """The present moment in microseconds, in whole milliseconds as all moments of the gateway."""
    return now_us() // _MILLISECOND_US * _MILLISECOND_US


def ts(us: int) -> str:
    """`YYYY-MM-DDTHH:MM:SS.mmmZ` of a moment in microseconds, cut to its millisecond."""
    return iso(us)[: -_MICROSECOND_DIGITS - 1] + "Z"


def ts_us(text: str) -> int:
    """Microseconds of such a text. Raises ValueError for any other one, also for a day that the calendar lacks."""
    if _TIMESTAMP.fullmatch(text) is None:
        raise ValueError("not a timestamp in milliseconds")
    us = parse_iso(text)
    if ts(us) != text:
        raise ValueError("not a moment of the calendar")
    return us


def _slowly(value: Any) -> bytes:
    return _plain(_with_integers(value)).encode("utf-8", "surrogatepass")


def _with_integers(value: Any) -> Any:
    if isinstance(value, float):
        return integral(value)
    if isinstance(value, dict):
        return {key: _with_integers(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_with_integers(member) for member in value]
    return value
