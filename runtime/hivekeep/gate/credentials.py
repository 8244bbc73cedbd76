"""What a text holds that must not be kept: credentials, plain, in URLs, and behind escapes.

What stays true: a text is looked at in time linear in its length, whatever it holds, and the marks that stand for
credentials are never findings. The shapes are those of registry/secrets.yaml and wider ones of the gateway.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final
from urllib.parse import unquote

from hivekeep.gate import secrets
from hivekeep_contract import secrets as table
from hivekeep_contract.gateway import (
    REDACTION_DETECTORS,
    REDACTION_LOWER_SHAPES,
    REDACTION_PATTERN_MARKS,
    REDACTION_SHAPES,
    REDACTION_SIGNS,
    REDACTION_URL_PARAMETERS,
)
from hivekeep_contract.limits import REDACTION_MARK

_SHAPES: Final = {kind: re.compile(pattern) for kind, pattern in REDACTION_SHAPES.items()}
_LOWER_SHAPES: Final = {kind: re.compile(pattern) for kind, pattern in REDACTION_LOWER_SHAPES.items()}
_ASSIGNED_MARK: Final = REDACTION_PATTERN_MARKS[REDACTION_DETECTORS[table.ENTROPY_DETECTOR]]
URL_MARK: Final = _ASSIGNED_MARK
"""Stands for a text with a URL that cannot be cut out of it."""
MARKS: Final = frozenset([REDACTION_MARK, *REDACTION_PATTERN_MARKS.values()])
"""Everything that stands for a credential."""

SCHEME: Final = "://"
"""Every URL has it."""
_JOINTS: Final = ("_", "-")


def _signs() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What every credential and every telling key holds at least one of, in lower case, none within another: those
    without a joint, which most texts lack, and those with one."""
    literals = (row.literal.lower() for row in table.DETECTORS)
    signs = {*REDACTION_SIGNS, *table.TRIGGERS, table.TOKEN_TRIGGER, *literals, SCHEME}
    least = sorted(sign for sign in signs if not any(other in sign for other in signs - {sign}))
    jointed = tuple(sign for sign in least if any(joint in sign for joint in _JOINTS))
    return tuple(sign for sign in least if sign not in jointed), jointed


_WORDS, _JOINTED = _signs()
SHORTEST: Final = 10
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


def holds_credential(text: str) -> bool:
    """Whether a text that can only stay as it is, because it names something, holds a credential."""
    return mark_for(text) is not None or _leaks(text) or hides_url(text)


def without_url_credentials(text: str) -> str:
    """A text whose URLs lead nowhere that only their owner may go.

    One that is the whole text loses user, query and fragment; one inside of a longer text does when it has a user or
    a parameter that holds a credential.
    """
    if _WHOLE_URL.fullmatch(text):
        scheme, _, rest = text.partition(SCHEME)
        text = scheme + SCHEME + _bare(rest)
    return _without_leaks(text)


def _leaks(text: str) -> bool:
    return SCHEME in text and _without_leaks(text) != text


def hides_url(text: str) -> bool:
    """Whether a URL that leaks stands in the text behind escapes, where it cannot be cut out."""
    return any(_leaks(view) for view in islice(views(text), 1, None))


def _without_leaks(text: str) -> str:
    first, *rests = text.split(SCHEME)
    return SCHEME.join([first, *map(_without_leak, rests)])


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


def mark_for(text: str, label: str | None = None) -> str | None:
    """What must stand for a text, because it holds a credential; None for one that holds none."""
    if text in MARKS:
        return None
    if label is not None and secrets.assigned(label, text):
        return _ASSIGNED_MARK
    for view in views(text):
        if not has_sign(view):
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


def views(text: str) -> Iterator[str]:
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


def has_sign(text: str) -> bool:
    """Whether a text has a sign of a credential or of a telling key; one that has none holds neither."""
    low = text.lower()
    for sign in _WORDS:
        if sign in low:
            return True
    if "_" in low or "-" in low:
        for sign in _JOINTED:
            if sign in low:
                return True
    return False
