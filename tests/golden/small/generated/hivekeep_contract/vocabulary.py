"""The words that records are made of: kinds, relations, events, enums.

Printed from registry/kinds.yaml, relations.yaml, events.yaml and packs/ by `make generate`; do not edit.
"""

from typing import NamedTuple


class Relation(NamedTuple):
    """`note_to`: what a note may be joined to by it: another note, any record, or nothing."""

    category: str
    symmetric: bool
    note_to: str | None


ENTITY_KINDS: tuple[str, ...] = ("thing", "place", "goal")

ENTITY_KIND_ALIASES: dict[str, str] = {"object": "thing", "aim": "goal"}

ENTITY_SUBTYPES: dict[str, dict[str, tuple[str, ...]]] = {
    "thing": {"tool": ("instrument",), "toy": ()},
    "place": {},
    "goal": {},
}

NOTE_KINDS: tuple[str, ...] = ("remark", "task")

DEFAULT_NOTE_KIND: str = "remark"

KIND_OWNERS: dict[str, str] = {"goal": "todo", "task": "todo"}

CONSUMER_KINDS: dict[str, tuple[str, ...]] = {"todo": ("next",)}

RELATIONS: dict[str, Relation] = {
    "in": Relation("structure", False, None),
    "beside": Relation("structure", True, None),
    "about": Relation("annotation", False, "any"),
}

ENDPOINTS: frozenset[tuple[str, str, str]] = frozenset({
    ("beside", "thing", "thing"),
    ("in", "*", "place"),
    ("in", "thing", "place"),
})

PACK_ENDPOINTS: dict[str, frozenset[tuple[str, str, str]]] = {"base": frozenset({("in", "place", "place")})}

DEPENDENCY_KINDS: tuple[str, ...] = ("build", "run")

DEPENDENCY_DEFAULTS: dict[tuple[str, str], str] = {("thing", "thing"): "run"}

EVENT_KINDS: tuple[str, ...] = ("audit", "noted")

OUTCOMES: tuple[str, ...] = ("success", "error")

SUBSTRATES: tuple[str, ...] = ("entity", "note")

EVENT_ROLES: tuple[str, ...] = ("target",)

CATEGORIES: tuple[str, ...] = ("Assertive", "Commissive")

ENUMS: dict[str, tuple[str, ...]] = {
    "base.mood": ("good", "bad"),
    "base.tint": ("red", "green"),
    "category": ("Assertive", "Commissive"),
    "dependency_kind": ("build", "run"),
    "entity_kind": ("thing", "place", "goal"),
    "event_kind": ("audit", "noted"),
    "event_role": ("target",),
    "format": ("json", "table"),
    "gateway.level": ("low", "high"),
    "gateway.reason": ("no_run", "closed", "wrong_value"),
    "note_kind": ("remark", "task"),
    "outcome": ("success", "error"),
    "presentation": ("agent", "verbose"),
    "relation": ("in", "beside", "about"),
    "substrate": ("entity", "note"),
    "todo.state": ("open", "closed"),
}

ENUM_ALIASES: dict[str, dict[str, str]] = {
    "base.mood": {"fine": "good"},
    "category": {"assertive": "Assertive"},
    "entity_kind": {"object": "thing", "aim": "goal"},
}

TRANSITIONS: dict[str, dict[str, tuple[str, ...]]] = {"todo.state": {"open": ("closed",), "closed": ()}}
