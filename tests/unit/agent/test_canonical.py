"""Canonical JSON, its hash, and timestamps: one text for one value."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent.canonical import canonical, digest, ts, ts_us

PROFILE = {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": None}

floats = st.floats(allow_nan=False, allow_infinity=False)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.integers(-(2**70), 2**70), floats, st.text())
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


def defined(value: Any) -> str:
    """Canonical JSON as it is defined, written out sign by sign."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and value == int(value):
        value = int(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return '"' + "".join(_sign(char) for char in value) + '"'
    if isinstance(value, list):
        return "[" + ",".join(defined(member) for member in value) + "]"
    members = sorted(value.items(), key=lambda member: [ord(char) for char in member[0]])
    return "{" + ",".join(f"{defined(key)}:{defined(member)}" for key, member in members) + "}"


def _sign(char: str) -> str:
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return short.get(char) or (f"\\u{ord(char):04x}" if ord(char) < 0x20 else char)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (PROFILE, "cf81988c611f6c3b87302fcde42c93371ebd8632e8d8aab3932c8b49f98dbbf3"),
        ({**PROFILE, "constraints": "no deps"}, "ae945a7a27ce9b8f3d47b52276e561437e46b1636a86b6005557c0b7425d92b6"),
        (
            {"taskType": "debug", "target": "importer", "expected": "no crash", "constraints": None},
            "3839d90948ac4ece7a1a94a2b356f25187ccd69ecb9cdc8a76a6c9073461bc14",
        ),
        (
            {"title": "build the parser", "query": "build the parser", "profileHints": PROFILE},
            "c1db9860d5b3d64b422f891d9adcce53d5bdb0406364fb030962a8d6e5b5e2c1",
        ),
    ],
)
def test_golden_hashes(value: Any, expected: str) -> None:
    """The hashes that the reference platform gives to four values."""
    assert digest(value) == expected


@settings(max_examples=200, derandomize=True, deadline=None)
@given(values)
def test_the_text_is_the_one_of_the_definition(value: Any) -> None:
    """Whichever writer is taken, the text is that of an implementation that knows neither.

    Reading it and writing it with the standard library gives it again.
    """
    text = canonical(value).decode()
    assert text == defined(value)
    again = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert again == text


@settings(max_examples=500, derandomize=True, deadline=None)
@given(st.binary(min_size=8, max_size=8))
def test_every_float_is_written_as_python_does(pattern: bytes) -> None:
    """Any finite double, also the tiny and the huge ones that orjson writes with other exponents."""
    (number,) = struct.unpack("<d", pattern)
    if number - number != 0:
        return
    expected = str(int(number)) if number.is_integer() else repr(number)
    assert canonical(number).decode() == expected
    assert canonical({"a": [number]}).decode() == f'{{"a":[{expected}]}}'


@pytest.mark.parametrize("text", ["1", "1.0", "1e0", "10e-1"])
def test_one_number_has_one_hash(text: str) -> None:
    """1, 1.0 and 1e0 are one JSON number."""
    assert canonical(json.loads(text)) == b"1"
    assert canonical(json.loads(f'{{"x":[{text}]}}')) == b'{"x":[1]}'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0, "0"),
        (1e16, "10000000000000000"),
        (1e-7, "1e-07"),
        (0.00001, "1e-05"),
        (2**64, "18446744073709551616"),
        ({"é": "ü", "z": "\x7f\u2028", "a": "\x00"}, '{"a":"\\u0000","z":"\x7f\u2028","é":"ü"}'),
        ({"\U0001f600": 1, "\uffff": 2}, '{"\uffff":2,"\U0001f600":1}'),
        ("12:3.5,7e1", '"12:3.5,7e1"'),
    ],
)
def test_texts(value: Any, text: str) -> None:
    """Zero has no sign, exponents are Python's, integers are exact, keys are in the order of code points."""
    assert canonical(value).decode() == text


def test_half_of_a_surrogate_pair_does_not_stop_the_writer() -> None:
    """It keeps its three bytes; no request holds one."""
    assert canonical({"a": "\ud800"}) == b'{"a":"\xed\xa0\x80"}'


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_780_000_000_123_000, "2026-05-28T20:26:40.123Z"),
        (-1000, "1969-12-31T23:59:59.999Z"),
    ],
)
def test_moments_have_three_digits(us: int, text: str) -> None:
    """A moment in whole milliseconds goes to text and back."""
    assert ts(us) == text
    assert ts_us(text) == us


def test_a_moment_between_milliseconds_is_cut() -> None:
    """The last three digits of microseconds are not shown."""
    assert ts(1_999) == "1970-01-01T00:00:00.001Z"


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30T00:00:00.000Z",
        "2026-01-01T24:00:00.000Z",
        "2026-01-01T00:00:60.000Z",
        "0000-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.000000Z",
        "2026-01-01T00:00:00.000+00:00",
        "2026-01-01T00:00:00.000z",
        "2026-01-01 00:00:00.000Z",
        "２026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00.000Z\n",
        "",
    ],
)
def test_other_timestamps_are_refused(text: str) -> None:
    """Another form, another zone, or a moment that the calendar lacks."""
    with pytest.raises(ValueError, match=r"year|not a|range|minute|second|hour|day"):
        ts_us(text)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_every_millisecond_of_the_calendar_round_trips(ms: int) -> None:
    """From the year 1 to the year 9999."""
    assert ts_us(ts(ms * 1000)) == ms * 1000
