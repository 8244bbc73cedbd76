"""Argument values of the function-call form: JSON, plus `$prev`, raw line breaks and forgiving backslashes.

A container that is plain JSON can be read by the C decoder (`plain_container`); anything else by the careful reader
(`read`). Both give the same value, and only the careful one words refusals.
"""

import json
import re
from collections.abc import Callable
from json.scanner import make_scanner
from typing import Any, NamedTuple, TypeVar

from hivekeep.request.faults import fault, misplaced, unclosed
from hivekeep.request.json_values import depth_exceeds
from hivekeep.request.plan import PrevRef
from hivekeep.request.references import reference_at, settle
from hivekeep.request.tokens import BLANKS, skip
from hivekeep.strict_json import finite_float, refuse_constant
from hivekeep_contract.errors import ParseError
from hivekeep_contract.limits import NESTING_DEPTH_LIMIT

T = TypeVar("T")

LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_LIKE = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F]+")
_STRING = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_WORD = re.compile(rf'[^{BLANKS},|()\[\]{{}}"]+')
_REFERENCE_LIKE = re.compile(rf"\$[^{BLANKS},)|]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
# Control characters other than TAB, LF and CR may not stand raw inside a string.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MEANT_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_SHOWN = 60


class Found(NamedTuple):
    """A reference met while reading: in which argument, where, and how it was written."""

    argument: str
    position: int
    text: str


_decoder = json.JSONDecoder(strict=False, parse_float=finite_float, parse_constant=refuse_constant)
_scan = make_scanner(_decoder)  # type: ignore[arg-type]  # its stub asks for a scanner where it takes a decoder


class ValueReader:
    """Reads values out of one text and remembers every reference it met, in order."""

    __slots__ = ("references", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.references: list[Found] = []

    def read(self, position: int, argument: str, depth: int = 0) -> tuple[Any, int]:
        """Return the value that starts at `position` and the position after it.

        `argument` names the parameter for hints; `depth` counts the containers around the value.
        Raises ParseError.
        """
        first = self.text[position : position + 1]
        if first == '"':
            return self._string(position, argument)
        if first == "[" or first == "{":
            return self._container(position, argument, depth)
        if first == "$":
            return self._reference(position, argument)
        return self._word(position, argument, depth)

    def plain_container(self, position: int) -> tuple[Any, int] | None:
        """The container at `position` and the position after it, when it is ordinary JSON without references.

        None asks for the careful reader, also for every refusal.
        """
        try:
            value, end = _scan(self.text, position)
        except (StopIteration, ValueError, RecursionError):
            return None
        source = self.text[position:end]
        if "$" in source or "\\u" in source or (not source.isprintable() and _CONTROL.search(source)):
            return None
        # Few brackets cannot nest deeply; only many of them make the walk through the value worth its time.
        if source.count("[") + source.count("{") > NESTING_DEPTH_LIMIT and depth_exceeds(value, NESTING_DEPTH_LIMIT):
            return None
        return value, end

    def _string(self, position: int, argument: str) -> tuple[str | PrevRef, int]:
        decoded, end = self.string(position)
        value = settle(decoded)
        if isinstance(value, PrevRef):
            self.references.append(Found(argument, position, value.text))
        return value, end

    def string(self, position: int) -> tuple[str, int]:
        """Decode the quoted string at `position`; raises ParseError UnclosedString or InvalidValue."""
        quoted = _STRING.match(self.text, position)
        if quoted is None:
            raise fault("UnclosedString", position, "the string has no closing double quote")
        body = quoted[1]
        control = _CONTROL.search(body)
        if control:
            raise fault(
                "InvalidValue",
                position + 1 + control.start(),
                f"a raw control character stands in a string; write it as \\u{ord(control[0]):04x}",
            )
        return (self._unescape(body, position) if "\\" in body else body), quoted.end()

    def _unescape(self, body: str, position: int) -> str:
        decoded = _ESCAPE.sub(_unescape_one, body)
        if not _SURROGATE.search(decoded):
            return decoded
        try:
            return decoded.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            raise fault(
                "InvalidValue", position, "the string holds half of a surrogate pair, which is no character"
            ) from None

    def _container(self, position: int, argument: str, depth: int) -> tuple[Any, int]:
        if depth >= NESTING_DEPTH_LIMIT:
            raise fault(
                "NestingTooDeep",
                position,
                f"arrays and objects are nested {depth + 1} deep, the limit is {NESTING_DEPTH_LIMIT}",
                depth=depth + 1,
                max=NESTING_DEPTH_LIMIT,
            )
        if self.text[position] == "[":
            return self._members(position, "]", lambda at: self.read(at, argument, depth + 1))
        pairs, end = self._members(position, "}", lambda at: self._pair(at, argument, depth + 1))
        return dict(pairs), end

    def _members(self, opened: int, close: str, read_one: Callable[[int], tuple[T, int]]) -> tuple[list[T], int]:
        text = self.text
        members: list[T] = []
        at = skip(text, opened + 1)
        if at >= len(text):
            raise unclosed(text, at, opened, f"a value or {close!r}")
        if text[at] == close:
            return members, at + 1
        while True:
            member, at = read_one(at)
            members.append(member)
            at = skip(text, at)
            found = text[at : at + 1]
            if found == close:
                return members, at + 1
            if found != ",":
                raise unclosed(text, at, opened, f"',' or {close!r}")
            at = skip(text, at + 1)

    def _pair(self, position: int, argument: str, depth: int) -> tuple[tuple[str, Any], int]:
        if self.text[position : position + 1] != '"':
            raise misplaced(self.text, position, "a double-quoted key", "keys of an object are quoted strings")
        key, at = self.string(position)
        at = skip(self.text, at)
        if self.text[at : at + 1] != ":":
            raise misplaced(self.text, at, "':'")
        value, at = self.read(skip(self.text, at + 1), argument, depth)
        return (key, value), at

    def _reference(self, position: int, argument: str) -> tuple[PrevRef, int]:
        reference = reference_at(self.text, position)
        end = position + len(reference.text) if reference else position
        follows = self.text[end : end + 1]
        if reference is None or follows in (".", "[") or _continues_name(follows):
            raise fault(
                "InvalidValue",
                position,
                f"{self._written_reference(position)} is no reference; write $prev, $prev.field or"
                " $prev.items[0].id, or put a text into double quotes",
            )
        self.references.append(Found(argument, position, reference.text))
        return reference, end

    def _written_reference(self, position: int) -> str:
        written = _REFERENCE_LIKE.match(self.text, position)
        return repr(written[0][:_SHOWN] if written else "$")

    def _word(self, position: int, argument: str, depth: int) -> tuple[Any, int]:
        """A literal or a number; any other bare word is refused with the spelling that would work."""
        match = _WORD.match(self.text, position)
        if match is None:
            raise misplaced(self.text, position, "a value", f"argument {argument!r} has none here")
        word = match[0]
        if word in LITERALS:
            return LITERALS[word], match.end()
        if _NUMBER.fullmatch(word) is None:
            raise _bare_word(position, argument, word, depth)
        try:
            return (int(word) if word.lstrip("-").isdigit() else finite_float(word)), match.end()
        except ValueError:
            raise fault(
                "InvalidValue",
                position,
                f"the number {word[:_SHOWN]} of argument {argument!r} is out of range",
            ) from None


def is_plain(body: str) -> bool:
    """Whether what stands between two quotes means itself: no backslash, no control character that must be escaped."""
    return "\\" not in body and (body.isprintable() or not _CONTROL.search(body))


def _bare_word(position: int, argument: str, word: str, depth: int) -> ParseError:
    shown = word[:_SHOWN]
    quoted = json.dumps(shown.strip("'"), ensure_ascii=False)
    spelling = f"write {argument}={quoted}" if depth == 0 else f"write {quoted} inside argument {argument!r}"
    literal = _MEANT_LITERALS.get(word.lower())
    also = f" (or {literal}, in lower case)" if literal else ""
    if _NUMBER_LIKE.fullmatch(word):
        also = "; a number is written like 1, -2 or 0.5"
    return fault(
        "InvalidValue",
        position,
        f"{shown!r} is not a JSON value; strings stand in double quotes: {spelling}{also}",
        argument=argument,
    )


def _unescape_one(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _ESCAPES.get(escape[2], escape[0])


def _continues_name(character: str) -> bool:
    return character == "_" or character.isalnum()
