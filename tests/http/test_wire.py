"""Bytes in and out: what is no JSON message is a ValueError, and everything that is can be written again."""

from typing import Any

import pytest

from hivekeep.doors import wire


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"{'a': 1}",
        b'{"a": 1} x',
        b"NaN",
        b"[Infinity]",
        b"-Infinity",
        b"1e999",
        b'{"a": [-1.5e400]}',
        b"\xff",
        b"\xef\xbb\xbf{}",
        b'"\xed\xa0\x80"',
        b'"\\ud800"',
        b'{"\\uDFFF": 1}',
        b"[" * 500_000,
        b'{"a":' * 200_000,
        b"9" * 5000,
        b'"a\nb"',
    ],
)
def test_what_is_malformed_is_a_value_error(raw: bytes) -> None:
    """No other exception leaves `decode`, whatever a client sends."""
    with pytest.raises(ValueError):  # noqa: PT011 - the type is the whole promise
        wire.decode(raw)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b' {"a": [1, 2.5, null, true]} \n', {"a": [1, 2.5, None, True]}),
        ('"Müller 设备 🐝"'.encode(), "Müller 设备 🐝"),
        (b'"\\ud83d\\udc1d"', "🐝"),
        (b'"\\\\ud800"', "\\ud800"),
        (b"-0", 0),
        (b"18446744073709551616", 2**64),
    ],
)
def test_json_is_read_and_written_back(raw: bytes, value: Any) -> None:
    """Values survive; a pair of surrogate escapes is one character, an escaped backslash is no escape."""
    assert wire.decode(raw) == value
    assert wire.decode(wire.encode(value)) == value


def test_output_is_compact_readable_and_always_utf_8() -> None:
    """No blanks, no escapes for letters, one line; half a surrogate pair cannot break an answer."""
    assert wire.encode({"a": ["ü", 1], "b": "x\ny"}) == '{"a":["ü",1],"b":"x\\ny"}'.encode()
    assert wire.encode({"a": "\ud800"}) == b'{"a":"?"}'
