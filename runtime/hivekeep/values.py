"""The normalisers that types.yaml names: from a value the wire schema admits to the canonical one.

Invariant: a normaliser either answers the one canonical spelling of its input or raises ValueError with a phrase that
fits after "must be ..."; it never looks at the store.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from hivekeep.identity import ids, namespaces
from hivekeep.times import parse_iso
from hivekeep_contract import vocabulary
from hivekeep_contract.limits import KEY_MAX_BYTES

Normaliser = Callable[[Any], Any]

_SQUASHED = re.compile(r"[^a-z0-9]")
_RELATION_BY_LETTERS = {_SQUASHED.sub("", name): name for name in vocabulary.RELATIONS}
_EVENT_KIND_BY_LETTERS = {_SQUASHED.sub("", name): name for name in vocabulary.EVENT_KINDS}
_DECISION_BY_LETTERS = {_SQUASHED.sub("", name): name for name in vocabulary.ENUMS["kg.review_decision"]}


def name(value: str) -> str:
    """The text without outer white space."""
    return value.strip()


def key(value: str) -> str:
    """The key itself, when it is short enough and holds no U+0000."""
    if "\x00" in value or len(value.encode()) > KEY_MAX_BYTES:
        raise ValueError(f"1 to {KEY_MAX_BYTES} UTF-8 bytes without U+0000")
    return value


def record_id(value: str) -> str:
    """A full UUID or prefix in lower case with its hyphens; a name as it stands."""
    return ids.classify(value.strip()).text


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
    """JSON Schema counts 3.0 as an integer; the canonical value is 3."""
    return int(value)


def timestamp(value: str) -> int:
    """Microseconds of an ISO 8601 timestamp."""
    try:
        return parse_iso(value)
    except (ValueError, OverflowError):
        raise ValueError("an ISO 8601 timestamp such as 2026-01-31T12:00:00Z") from None


def relation(value: str) -> str:
    """The snake_case name of a relation, however its letters were cased and joined."""
    return _by_letters(value, _RELATION_BY_LETTERS)


def event_kind(value: str) -> str:
    """The snake_case name of an event kind, also from CamelCase."""
    return _by_letters(value, _EVENT_KIND_BY_LETTERS)


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
    "timestamp": timestamp,
    "relation": relation,
    "event_kind": event_kind,
    "review_decision": review_decision,
}
