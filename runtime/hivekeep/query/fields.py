"""What a query can ask of a record: the fields of each substrate, and where they are stored.

Invariant: a field of one name has one type in every substrate that has it.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from hivekeep.query.plan import Node, Substrate
from hivekeep_contract.vocabulary import ENTITY_KINDS, EVENT_KINDS, RELATIONS

FieldType = Literal["text", "id", "number", "time", "object"]


class Column(NamedTuple):
    """A field: its type and the SQL that reads it, with `{t}` for the table."""

    type: FieldType
    sql: str


_COMMON: Final = {
    "id": Column("id", "{t}.id"),
    "namespace": Column("text", "{t}.namespace"),
    "created_at": Column("time", "{t}.created_at"),
}
_NOTE_STATUS: Final = (
    "CASE json_type({t}.properties, '$.status') WHEN 'text' THEN json_extract({t}.properties, '$.status')"
    " ELSE {t}.status END"
)
"""A status of its own that a note's properties carry is what other verbs show as the status."""

COLUMNS: Final[dict[Substrate, dict[str, Column]]] = {
    "entity": {
        **_COMMON,
        "kind": Column("text", "{t}.kind"),
        "entity_type": Column("text", "{t}.entity_type"),
        "name": Column("text", "{t}.name"),
        "description": Column("text", "{t}.description"),
        "tags": Column("object", "{t}.tags"),
        "properties": Column("object", "{t}.properties"),
        "updated_at": Column("time", "{t}.updated_at"),
    },
    "note": {
        **_COMMON,
        "kind": Column("text", "{t}.kind"),
        "name": Column("text", "{t}.name"),
        "content": Column("text", "{t}.content"),
        "status": Column("text", _NOTE_STATUS),
        "salience": Column("number", "{t}.salience"),
        "tags": Column("object", "({t}.properties -> '$.tags')"),
        "properties": Column("object", "{t}.properties"),
        "updated_at": Column("time", "{t}.updated_at"),
    },
    "event": {
        **_COMMON,
        "kind": Column("text", "{t}.kind"),
        "properties": Column("object", "{t}.payload"),
        "updated_at": Column("time", "{t}.created_at"),
    },
    "edge": {
        **_COMMON,
        "kind": Column("text", "{t}.relation"),
        "source_id": Column("id", "{t}.source_id"),
        "target_id": Column("id", "{t}.target_id"),
        "relation": Column("text", "{t}.relation"),
        "weight": Column("number", "{t}.weight"),
        "properties": Column("object", "{t}.metadata"),
        "updated_at": Column("time", "{t}.updated_at"),
    },
}

TABLES: Final[dict[Substrate, str]] = {"entity": "entities", "note": "notes", "event": "events", "edge": "edges"}

EDGE_FIELDS: Final = tuple(name for name in COLUMNS["edge"] if name != "kind")
NODE_FIELDS: Final = tuple(
    dict.fromkeys(name for columns in COLUMNS.values() for name in columns if name not in ("source_id", "target_id"))
)

NODE_SHOWN: Final = ("id", "namespace", "kind", "entity_type", "name", "properties", "created_at", "updated_at")
"""What a whole node shows."""
EDGE_SHOWN: Final = {
    "id": "id",
    "source": "source_id",
    "target": "target_id",
    "relation": "relation",
    "weight": "weight",
}
"""What a whole edge shows: column, and field behind it."""
EDGE_ALIASES: Final = {"source": "source_id", "target": "target_id"}

RECORDS: Final[tuple[Substrate, ...]] = ("entity", "note")
"""What a node is unless its label, or an edge that may lead elsewhere, says otherwise."""
ANY_RECORD: Final = tuple(name for name, relation in RELATIONS.items() if relation.note_to == "any")
"""The relations whose target may be an edge or an event."""


def type_of(name: str) -> FieldType:
    """The type of a field."""
    return next(columns[name].type for columns in COLUMNS.values() if name in columns)


def node_of_label(var: str, label: str) -> Node:
    """What `(var:label)` asks for: a substrate by its name, else the records of exactly this stored kind."""
    word = label.lower()
    if word in TABLES:
        return Node(var, (word,))
    if word in ENTITY_KINDS:
        return Node(var, ("entity",), word)
    if word in EVENT_KINDS:
        return Node(var, ("event", "note"), word)
    # The kinds of notes are open: packs bring theirs, and notes stay when their pack is not loaded.
    return Node(var, ("note", "entity", "event"), word)
