"""The normalisers that types.yaml names: from a value the wire schema admits to the canonical one.

Invariant: a normaliser either answers the one canonical spelling of its input or raises ValueError with a phrase that
fits after "must be ..."; it never looks at the store.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from hivekeep.identity import ids, namespaces
from hivekeep.request.json_values import depth_exceeds
from hivekeep.times import iso, parse_iso
from hivekeep_contract import vocabulary
from hivekeep_contract.limits import KEY_MAX_BYTES, OBJECT_DEPTH_LIMIT

Normaliser = Callable[[Any], Any]

_INTEGER_LIMIT = 1 << 63
_SQUASHED = re.compile(r"[^a-z0-9]")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d))?", re.ASCII)
_FINER_THAN_MICROS = re.compile(r"\.\d{6}(\d+)", re.ASCII)
_RELATION_BY_LETTERS = {_SQUASHED.sub("", name): name for name in vocabulary.RELATIONS}
_EVENT_KIND_BY_LETTERS = {_SQUASHED.sub("", name): name for name in vocabulary.EVENT_KINDS}
_ENTITY_KIND_BY_SPELLING = {kind: kind for kind in vocabulary.ENTITY_KINDS} | vocabulary.ENTITY_KIND_ALIASES
_DECISION_BY_LETTERS = {_SQUASHED.sub("", name): name for name in vocabulary.ENUMS["kg.review_decision"]}


def name(value: str) -> str:
    """The text without outer white space. Python counts more characters as such than the pattern of the schema."""
    stripped = value.strip()
    if not stripped:
        raise ValueError("a string that is not blank")
    return stripped


def key(value: str) -> str:
    """The key itself, when it is short enough and holds no U+0000."""
    if "\x00" in value or len(value.encode()) > KEY_MAX_BYTES:
        raise ValueError(f"1 to {KEY_MAX_BYTES} UTF-8 bytes without U+0000")
    return value


def record_id(value: str) -> str:
    """A full UUID or prefix in lower case with its hyphens; a name as it stands."""
    return ids.classify(name(value)).text


def full_uuid(value: str) -> str:
    """A full UUID in lower case with its hyphens; a prefix or name raises."""
    ref = ids.classify(value.strip())
    if ref.form != "uuid":
        raise ValueError("a full UUID; prefixes are refused because the reference must be stable")
    return ref.text


def namespace(value: str) -> str:
    """The namespace itself, when its grammar allows it."""
    if not namespaces.is_namespace(value):
        raise ValueError(namespaces.GRAMMAR)
    return value


def integer(value: int | float) -> int:
    """JSON Schema counts 3.0 as an integer; the canonical value is 3. The store holds 64 bits."""
    if not -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
        raise ValueError("a whole number of at most 64 bits")
    return int(value)


def number(value: int | float) -> float:
    """The number as the store holds it; a whole number may be written with more digits than that."""
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a number up to 1.7e308") from None


def json_object(value: dict[str, Any]) -> dict[str, Any]:
    """The object itself; one that is so deep that no page could show it is refused."""
    if depth_exceeds(value, OBJECT_DEPTH_LIMIT):
        raise ValueError(f"an object of at most {OBJECT_DEPTH_LIMIT} levels")
    return value


def timestamp(value: str) -> int:
    """Microseconds of an ISO 8601 timestamp."""
    try:
        return parse_iso(value)
    except (ValueError, OverflowError):
        raise ValueError("an ISO 8601 timestamp such as 2026-01-31T12:00:00Z") from None


def moment(value: str) -> str:
    """The text of a moment in UTC with microseconds, from RFC 3339 or from a date, which means its midnight in UTC."""
    try:
        if not _MOMENT.fullmatch(value):
            raise ValueError
        micros = parse_iso(value.upper())
        text = iso(micros)
        if parse_iso(text) != micros:
            raise ValueError  # the offset leads out of the calendar, whose nearest year `iso` tells
        return text
    except (ValueError, OverflowError):
        raise ValueError("an RFC 3339 timestamp such as 2026-01-31T12:00:00Z, or a date such as 2026-01-31") from None


def since(value: str) -> int:
    """Microseconds of a lower bound, from RFC 3339 or from a date; a finer fraction is rounded up, so that it holds."""
    micros = parse_iso(moment(value))
    finer = _FINER_THAN_MICROS.search(value)
    return micros + 1 if finer and finer[1].strip("0") else micros


def relation(value: str) -> str:
    """The snake_case name of a relation, however its letters were cased and joined."""
    return _by_letters(value, _RELATION_BY_LETTERS)


def event_kind(value: str) -> str:
    """The snake_case name of an event kind, also from CamelCase."""
    return _by_letters(value, _EVENT_KIND_BY_LETTERS)


def entity_kind(value: str) -> str:
    """The entity kind that a word or an alias of one names, in any case. An alias that is also a subtype loses it."""
    found = _ENTITY_KIND_BY_SPELLING.get(value.strip().lower())
    if found is None:
        raise ValueError("one of " + ", ".join(vocabulary.ENTITY_KINDS))
    return found


def note_kind(value: str) -> str:
    """The note kind that a word names, in any case."""
    plain = value.strip().lower()
    if plain not in vocabulary.NOTE_KINDS:
        raise ValueError("one of " + ", ".join(vocabulary.NOTE_KINDS))
    return plain


def review_decision(value: str) -> str:
    """The snake_case name of a decision, however its letters were cased and joined."""
    return _by_letters(value, _DECISION_BY_LETTERS)


def _by_letters(value: str, known: Mapping[str, str]) -> str:
    found = known.get(_SQUASHED.sub("", value.lower()))
    if found is None:
        raise ValueError("one of " + ", ".join(known.values()))
    return found


NORMALISERS: dict[str, Normaliser] = {
    "name": name,
    "key": key,
    "id": record_id,
    "uuid": full_uuid,
    "namespace": namespace,
    "integer": integer,
    "number": number,
    "object": json_object,
    "timestamp": timestamp,
    "moment": moment,
    "since": since,
    "relation": relation,
    "event_kind": event_kind,
    "entity_kind": entity_kind,
    "note_kind": note_kind,
    "review_decision": review_decision,
}
