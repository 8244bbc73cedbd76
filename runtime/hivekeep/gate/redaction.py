"""Masks what a client reports, before any of it is stored or hashed: credentials, hidden reasoning, home folders.

What stays true: the value that comes out holds no credential that the scanner or the gateway's own shapes know, in no
text, key, URL or path, plain or behind escapes; a value that came out once comes out unchanged. Every value is walked
once, in time linear in its size, and the marks this module writes are never findings.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from enum import Enum, auto
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

import orjson

from hivekeep.gate import secrets
from hivekeep_contract import secrets as table
from hivekeep_contract.gateway import (
    REDACTION_DETECTORS,
    REDACTION_ENVIRONMENT_KEPT,
    REDACTION_KEY_PATTERNS,
    REDACTION_KINDS,
    REDACTION_LOWER_SHAPES,
    REDACTION_PATTERN_MARKS,
    REDACTION_SHAPES,
    REDACTION_SIGNS,
    REDACTION_URL_PARAMETERS,
)
from hivekeep_contract.gateway_errors import SecurityRejection
from hivekeep_contract.limits import (
    GATEWAY_NESTING_MAX,
    REDACTION_ELLIPSIS,
    REDACTION_HOME_MARK,
    REDACTION_LIST_MAX_CHARS,
    REDACTION_MARK,
    REDACTION_PREVIEW_MAX_BYTES,
)

_REASONING, _ENVIRONMENT, _KEY, _SECRET, _URL, _PATH, _PREVIEW = REDACTION_KINDS

_SHAPES: Final = {kind: re.compile(pattern) for kind, pattern in REDACTION_SHAPES.items()}
_LOWER_SHAPES: Final = {kind: re.compile(pattern) for kind, pattern in REDACTION_LOWER_SHAPES.items()}
_ASSIGNED_MARK: Final = REDACTION_PATTERN_MARKS[REDACTION_DETECTORS[table.ENTROPY_DETECTOR]]
_URL_MARK: Final = _ASSIGNED_MARK
_MARKS: Final = frozenset([REDACTION_MARK, *REDACTION_PATTERN_MARKS.values()])

_KEY_PATTERNS: Final = {
    name: re.compile(pattern, re.IGNORECASE | re.ASCII) for name, pattern in REDACTION_KEY_PATTERNS.items()
}
_KEPT_KEYS: Final = 4096
_KEPT_KEY_MAX: Final = 128
"""How many keys are remembered with what they say, and up to which length: few keys make up nearly all of them."""

_SCHEME: Final = "://"
_JOINTS: Final = ("_", "-")


def _signs() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What every credential and every telling key holds at least one of, in lower case, none within another: those
    without a joint, which most texts lack, and those with one."""
    literals = (row.literal.lower() for row in table.DETECTORS)
    signs = {*REDACTION_SIGNS, *table.TRIGGERS, table.TOKEN_TRIGGER, *literals, _SCHEME}
    least = sorted(sign for sign in signs if not any(other in sign for other in signs - {sign}))
    jointed = tuple(sign for sign in least if any(joint in sign for joint in _JOINTS))
    return tuple(sign for sign in least if sign not in jointed), jointed


_WORDS, _JOINTED = _signs()
_SHORTEST: Final = 10
"""No credential is shorter than `FlyV1 ` with four characters."""

_WHOLE_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")
_REST_OF_URL: Final = re.compile(r"[^\s\"'`<>\\^{}|]*")
_AUTHORITY: Final = re.compile(r"[^/?#\\]*")
_NO_PORT: Final = re.compile(r"[^\[\]:]*:(?![0-9]*\Z)")
_QUERY: Final = re.compile(r"[?#]")
_PARAMETERS: Final = re.compile(REDACTION_URL_PARAMETERS)

_UNVEILED_TIMES: Final = 3
# All levels at once: it does not matter how often a text was put into another one.
_PERCENT: Final = re.compile(r"%(?:25)*+([0-9a-fA-F]{2})")
_ESCAPE: Final = re.compile(r"\\++(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrt])|\r?\n)?")
_INVISIBLE: Final = re.compile("\x1b\\[[0-9;?]{0,32}[A-Za-z]|[\u00ad\u200b-\u200d\u2060\ufeff]")

_ENTRY_CHARS: Final = len('{"kind":"","path":"$"},')

_INTEGRAL: Final = re.compile(r"[\[:,]-?[0-9]+(?:\.0[,\]}]|(?:\.[0-9]+)?e)")

Place = tuple[Any, str] | None
"""Where a value is: the place of what holds it, and its key there. None is the whole value."""


class Sanitised(NamedTuple):
    """A value without what must not be kept, and the list of what was masked: `{path, kind}`, sorted by both.

    A path is like `$["payload"]["headers"]["Authorization"]`, with the numbers of array members as text.
    """

    value: Any
    redactions: list[dict[str, str]]


class _Does(Enum):
    """What happens to the value of a key."""

    STAYS = auto()
    GOES = auto()
    IS_ENVIRONMENT = auto()
    IS_CREDENTIAL = auto()
    IS_TOKEN = auto()


class _Rule(NamedTuple):
    """What a key says about its value; members of an array inherit `is_path` and `is_preview`.

    `opens` says that a container under the key is walked whatever else the key says, `label` that a random-looking
    text under it is a credential.
    """

    does: _Does
    opens: bool
    is_path: bool
    is_preview: bool
    label: str | None


_NO_RULE: Final = _Rule(_Does.STAYS, opens=False, is_path=False, is_preview=False, label=None)


def sanitise(value: Any, *, workspace: str | None = None, home: str | None = None) -> Sanitised:
    """A JSON value as it may be stored (gateway rules, sanitising); the given one is not changed.

    Floats without a fraction become integers. Paths below `workspace`, if it is an absolute path, become relative,
    those below `home` begin with a mark. Raises SecurityRejection for a key that holds a credential, for a value that
    nests deeper than a request may, and for one of which so much is masked that the list would be longer than a
    payload.
    """
    if _is_clean(value):
        return Sanitised(value, [])
    walk = _Walk(workspace, home)
    return Sanitised(walk.value(value, _NO_RULE, None, 0), walk.redactions())


def is_clean(value: Any) -> bool:
    """Whether nothing of a stored value would be masked, whoever reported it."""
    try:
        return not sanitise(value).redactions
    except SecurityRejection:
        return False


def _is_clean(value: Any) -> bool:
    """Whether one look at the JSON text of the value shows that a walk would change nothing; False asks for the walk.

    Most events have no sign of anything, and their text is made forty times as fast as they are walked.
    """
    try:
        whole = orjson.dumps([value])
    except TypeError:
        return False
    text = whole.decode()
    return (
        len(whole) <= REDACTION_PREVIEW_MAX_BYTES
        and text.count("{") + text.count("[") <= GATEWAY_NESTING_MAX + 1
        and '"/' not in text
        and '"env' not in text.lower()
        and _INTEGRAL.search(text) is None
        and not any(_has_sign(view) for view in _views(text))
    )


def _has_sign(text: str) -> bool:
    low = text.lower()
    for sign in _WORDS:
        if sign in low:
            return True
    if "_" in low or "-" in low:
        for sign in _JOINTED:
            if sign in low:
                return True
    return False


class _Walk:
    """One walk through one value."""

    def __init__(self, workspace: str | None, home: str | None) -> None:
        self._roots = [
            (posixpath.normpath(root), mark)
            for root, mark in ((workspace, ""), (home, REDACTION_HOME_MARK))
            if root and root.strip("/") and posixpath.isabs(root)
        ]
        self._masked: list[tuple[Place, str]] = []

    def redactions(self) -> list[dict[str, str]]:
        """What was masked so far. Raises SecurityRejection when the list would be too long."""
        room = REDACTION_LIST_MAX_CHARS
        told = []
        for place, kind in self._masked:
            room -= _length(place, kind)
            if room < 0:
                raise SecurityRejection("too_large")
            told.append({"path": _path(place), "kind": kind})
        return sorted(told, key=lambda one: (one["path"], one["kind"]))

    def value(self, value: Any, rule: _Rule, place: Place, depth: int) -> Any:
        """The value of a key that is neither removed nor replaced whole."""
        if isinstance(value, str):
            return self._text(value, rule, place)
        if isinstance(value, dict):
            return self._object(value, place, depth)
        if isinstance(value, (list, tuple)):
            return self._array(value, rule, place, depth)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value

    def _object(self, members: dict[str, Any], place: Place, depth: int) -> dict[str, Any]:
        _check_depth(depth)
        kept: dict[str, Any] = {}
        for key, value in members.items():
            rule = _rule(key)
            if rule.does is _Does.STAYS:
                kept[key] = self.value(value, rule, (place, key), depth + 1)
            else:
                self._special(kept, key, value, rule, (place, key), depth + 1)
        return kept

    def _special(self, kept: dict[str, Any], key: str, value: Any, rule: _Rule, place: Place, depth: int) -> None:
        """Put into `kept` what stays of the value of a key that the rules name."""
        if rule.does is _Does.GOES:
            self._mask(place, _REASONING)
        elif rule.does is _Does.IS_ENVIRONMENT:
            if isinstance(value, dict):
                kept[key] = self._environment(value, place, depth)
            else:
                self._mask(place, _ENVIRONMENT)
        elif _is_harmless(value, rule):
            kept[key] = self.value(value, rule, place, depth)
        else:
            self._mask(place, _KEY)
            kept[key] = REDACTION_MARK

    def _environment(self, variables: dict[str, Any], place: Place, depth: int) -> dict[str, Any]:
        _check_depth(depth)
        kept = {}
        for key, value in variables.items():
            rule = _rule(key)
            if key in REDACTION_ENVIRONMENT_KEPT:
                kept[key] = self.value(value, rule, (place, key), depth + 1)
            else:
                self._mask((place, key), _ENVIRONMENT)
        return kept

    def _array(self, members: list[Any] | tuple[Any, ...], rule: _Rule, place: Place, depth: int) -> list[Any]:
        _check_depth(depth)
        return [self.value(member, rule, (place, str(number)), depth + 1) for number, member in enumerate(members)]

    def _text(self, text: str, rule: _Rule, place: Place) -> str:
        """A text without credentials, in its short form. Each step may bring the next one about, so all are taken."""
        if len(text) < _SHORTEST and "/" not in text:
            return text
        mark = _mark(text, rule.label)
        if mark is not None:
            return self._replaced(mark, text, place)
        shown = self._short_url(text, place) if _SCHEME in text else self._short_path(text, rule, place)
        if rule.is_preview:
            shown = self._preview(shown, place)
        mark = _URL_MARK if _hides_url(shown) else None if shown is text else _mark(shown, rule.label)
        return shown if mark is None else self._replaced(mark, shown, place)

    def _replaced(self, mark: str, text: str, place: Place) -> str:
        if text not in _MARKS:
            self._mask(place, _SECRET)
        return mark

    def _short_url(self, text: str, place: Place) -> str:
        shown = without_url_credentials(text)
        if shown == text:
            return text
        self._mask(place, _URL)
        return shown

    def _short_path(self, text: str, rule: _Rule, place: Place) -> str:
        """A path below one of the roots, from there on. A text of several lines is one only where the key says so."""
        if not text.startswith("/") or ("\n" in text and not rule.is_path):
            return text
        path = "/" + posixpath.normpath(text).lstrip("/")
        for root, mark in self._roots:
            if path == root:
                shown = mark or posixpath.curdir
            elif path.startswith(root + "/"):
                rest = path[len(root) + 1 :]
                shown = f"{mark}/{rest}" if mark else rest
            else:
                continue
            self._mask(place, _PATH)
            return shown
        return text

    def _preview(self, text: str, place: Place) -> str:
        if len(text) <= REDACTION_PREVIEW_MAX_BYTES // 4:  # a character has four bytes at most
            return text
        whole = text.encode("utf-8", "surrogatepass")
        if len(whole) <= REDACTION_PREVIEW_MAX_BYTES:
            return text
        self._mask(place, _PREVIEW)
        room = REDACTION_PREVIEW_MAX_BYTES - len(REDACTION_ELLIPSIS.encode())
        while room and whole[room] & 0xC0 == 0x80:  # never half of a character
            room -= 1
        return whole[:room].decode("utf-8", "surrogatepass") + REDACTION_ELLIPSIS

    def _mask(self, place: Place, kind: str) -> None:
        self._masked.append((place, kind))


def holds_credential(text: str) -> bool:
    """Whether a text that can only stay as it is, because it names something, holds a credential."""
    return _mark(text, None) is not None or _leaks(text) or _hides_url(text)


def without_url_credentials(text: str) -> str:
    """A text whose URLs lead nowhere that only their owner may go.

    One that is the whole text loses user, query and fragment; one inside of a longer text does when it has a user or
    a parameter that holds a credential.
    """
    if _WHOLE_URL.fullmatch(text):
        scheme, _, rest = text.partition(_SCHEME)
        text = scheme + _SCHEME + _bare(rest)
    return _without_leaks(text)


def _leaks(text: str) -> bool:
    return _SCHEME in text and _without_leaks(text) != text


def _hides_url(text: str) -> bool:
    """Whether a URL that leaks stands in the text behind escapes, where it cannot be cut out."""
    return any(_leaks(view) for view in islice(_views(text), 1, None))


def _without_leaks(text: str) -> str:
    first, *rests = text.split(_SCHEME)
    return _SCHEME.join([first, *map(_without_leak, rests)])


def _without_leak(rest: str) -> str:
    """What stands behind a scheme, up to the next one."""
    found = _REST_OF_URL.match(rest)
    assert found is not None
    url = found[0]
    query = _QUERY.search(url)
    leaks = "@" in url and _without_user(url) != url
    if not leaks and query is not None:
        leaks = _PARAMETERS.search(unquote(url[query.start() :])) is not None
    return _bare(url) + rest[found.end() :] if leaks else rest


def _bare(rest: str) -> str:
    """Host and path of what stands behind a scheme."""
    return _QUERY.split(_without_user(rest), maxsplit=1)[0]


def _without_user(rest: str) -> str:
    """The same from the host on. A password may hold any sign, so one that seems to end in a wrong port goes on."""
    while "@" in rest:
        authority = _AUTHORITY.match(rest)
        assert authority is not None
        if "@" in authority[0]:
            rest = rest[authority[0].rindex("@") + 1 :]
        elif _NO_PORT.match(authority[0]):
            rest = rest[rest.rindex("@") + 1 :]
        else:
            break
    return rest


@lru_cache(maxsize=_KEPT_KEYS)
def _kept_rule(key: str) -> _Rule:
    return _rule_of(key)


def _rule(key: str) -> _Rule:
    """What a key says. Raises SecurityRejection for one that holds a credential itself."""
    return _kept_rule(key) if len(key) <= _KEPT_KEY_MAX else _rule_of(key)


def _rule_of(key: str) -> _Rule:
    if holds_credential(key):
        raise SecurityRejection("secret")
    says = {name for name, pattern in _KEY_PATTERNS.items() if pattern.search(key)}
    if "reasoning" in says:
        does = _Does.GOES
    elif "environment" in says:
        does = _Does.IS_ENVIRONMENT
    elif "credential" in says:
        does = _Does.IS_CREDENTIAL
    else:
        does = _Does.IS_TOKEN if "token" in says else _Does.STAYS
    label = key if secrets.trigger_of(key) else None
    return _Rule(does, "container" in says, "path" in says, "preview" in says, label)


def _is_harmless(value: Any, rule: _Rule) -> bool:
    """Whether a value may stay under a key that names a credential: a switch, a count of tokens, a mark of ours, a
    container whose own keys say more."""
    if isinstance(value, str):
        return value in _MARKS
    if isinstance(value, bool):
        return True
    if isinstance(value, (int, float)):
        return rule.does is _Does.IS_TOKEN
    return rule.opens and isinstance(value, (dict, list, tuple))


def _mark(text: str, label: str | None) -> str | None:
    """What must stand for a text, because it holds a credential; None for one that holds none."""
    if text in _MARKS:
        return None
    if label is not None and secrets.assigned(label, text):
        return _ASSIGNED_MARK
    for view in _views(text):
        if not _has_sign(view):
            continue
        kinds = set(_kinds(view))
        for kind, mark in REDACTION_PATTERN_MARKS.items():
            if kind in kinds:
                return mark
    return None


def _kinds(text: str) -> Iterator[str]:
    for kind, pattern in _SHAPES.items():
        if pattern.search(text):
            yield kind
    if ":" in text or "=" in text:
        low = text.lower()
        for kind, pattern in _LOWER_SHAPES.items():
            if pattern.search(low):
                yield kind
    for finding in secrets.find_all(text):
        if finding.detector in REDACTION_DETECTORS:
            yield REDACTION_DETECTORS[finding.detector]


def _views(text: str) -> Iterator[str]:
    """The text, and what it is without the escapes that could split a credential: of JSON in a text, of URLs, of a
    shell, of a terminal."""
    yield text
    for _ in range(_UNVEILED_TIMES):
        plain = _unveiled(text)
        if plain == text:
            return
        yield plain
        text = plain


def _unveiled(text: str) -> str:
    if "%" in text:
        text = _PERCENT.sub(_unescaped_byte, text)
    if "\\" in text:
        text = _ESCAPE.sub(_unescaped, text)
    if "\x1b" in text or not text.isascii():
        text = _INVISIBLE.sub("", text)
    return text


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    if code:
        return chr(int(code, 16))
    return " " if escape[3] else ""


def _unescaped_byte(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16))


def _check_depth(depth: int) -> None:
    if depth >= GATEWAY_NESTING_MAX:
        raise SecurityRejection("nested_too_deep")


def _path(place: Place) -> str:
    steps = []
    while place is not None:
        place, key = place
        steps.append(f"[{json.dumps(key, ensure_ascii=False)}]")
    return "$" + "".join(reversed(steps))


def _length(place: Place, kind: str) -> int:
    """The characters of an entry of the redaction list, without making it."""
    total = _ENTRY_CHARS + len(kind)
    while place is not None:
        place, key = place
        total += len(key) + 4
    return total
