"""Masks what a client reports, before any of it is stored or hashed: credentials, hidden reasoning, home folders.

What stays true: the value that comes out holds no credential that the scanner or the gateway's own shapes know, in no
text, key, URL or path, plain or behind escapes; a value that came out once comes out unchanged. Every value is walked
once, in time linear in its size, and the marks this module writes are never findings.
"""

from __future__ import annotations

import json
import posixpath
import re
from enum import Enum, auto
from functools import lru_cache
from typing import Any, Final, NamedTuple

import orjson

from hivekeep.gate import secrets
from hivekeep.gate.credentials import (
    MARKS,
    SCHEME,
    SHORTEST,
    URL_MARK,
    has_sign,
    hides_url,
    holds_credential,
    mark_for,
    views,
    without_url_credentials,
)
from hivekeep_contract.gateway import (
    REDACTION_ENVIRONMENT_KEPT,
    REDACTION_KEY_PATTERNS,
    REDACTION_KINDS,
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

_KEY_PATTERNS: Final = {
    name: re.compile(pattern, re.IGNORECASE | re.ASCII) for name, pattern in REDACTION_KEY_PATTERNS.items()
}
_KEPT_KEYS: Final = 4096
_KEPT_KEY_MAX: Final = 128
"""How many keys are remembered with what they say, and up to which length: few keys make up nearly all of them."""

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
        and not any(has_sign(view) for view in views(text))
    )


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
        if len(text) < SHORTEST and "/" not in text:
            return text
        mark = mark_for(text, rule.label)
        if mark is not None:
            return self._replaced(mark, text, place)
        shown = self._short_url(text, place) if SCHEME in text else self._short_path(text, rule, place)
        if rule.is_preview:
            shown = self._preview(shown, place)
        mark = URL_MARK if hides_url(shown) else None if shown is text else mark_for(shown, rule.label)
        return shown if mark is None else self._replaced(mark, shown, place)

    def _replaced(self, mark: str, text: str, place: Place) -> str:
        if text not in MARKS:
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
        return value in MARKS
    if isinstance(value, bool):
        return True
    if isinstance(value, (int, float)):
        return rule.does is _Does.IS_TOKEN
    return rule.opens and isinstance(value, (dict, list, tuple))


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
