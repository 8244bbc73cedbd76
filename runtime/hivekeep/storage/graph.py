"""Following edges from many records at once.

Functions on a `Tx`. Each statement reads a snapshot of its own; ids travel as one JSON argument, so that a frontier of
any size is the same prepared statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hivekeep.storage.edges import NeighborFilter, arms_of, edge_conditions
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.statements import sql

Adjacent = tuple[str, str]
"""(id of an edge, id at its far end)"""

_ARM: Final = (
    "SELECT edges.id, {far} FROM json_each(?) AS frontier"
    " CROSS JOIN edges INDEXED BY {index} ON {near} = frontier.value WHERE {where}"
)
_INDEXES: Final = {"source_id": "edges_by_source", "target_id": "edges_by_target"}

_NODES: Final = "SELECT id, deleted_at, {shown} FROM {table} WHERE id IN (SELECT value FROM json_each(?))"
_ENTITIES: Final = sql(_NODES, shown="name, kind, NULL", table="entities")
_ENTITIES_WITH_PROPERTIES: Final = sql(_NODES, shown="name, kind, properties", table="entities")
_NOTES: Final = sql(_NODES, shown="coalesce(name, '[' || kind || ']'), kind, NULL", table="notes")
_EDGES: Final = sql(_NODES, shown="NULL, NULL, NULL", table="edges")


class Node(NamedTuple):
    """A record that edges may join. Edges and events have neither name nor kind here; only entities have properties."""

    id: str
    name: str | None = None
    kind: str | None = None
    properties: str | None = None


def adjacent(
    tx: Tx, frontier: Sequence[str], namespaces: Sequence[str], filters: NeighborFilter, *, limit: int
) -> list[Adjacent]:
    """The live edges at the records and where they lead, at most `limit`; the state of the far ends is not looked at.

    Edges that leave come before edges that arrive, each in the order of the frontier. `filters.kinds` does not count.
    """
    ids = dump(frontier)
    arms = []
    args: list[object] = []
    for near, far, wanted in arms_of(filters):
        where = edge_conditions(namespaces, wanted, filters.min_weight)
        arms.append(sql(_ARM, near=near, far=far, index=_INDEXES[near], where=where.text))
        args += (ids, *where.args)
    return tx.all(" UNION ALL ".join(arms) + " LIMIT ?", [*args, limit])


def nodes(tx: Tx, ids: Iterable[str], *, properties: bool = False) -> dict[str, Node]:
    """What the records are, by id, those that are deleted left out; `properties` asks for those of entities."""
    wanted = dict.fromkeys(ids)
    found: dict[str, Node] = {}
    for statement in (_ENTITIES_WITH_PROPERTIES if properties else _ENTITIES, _NOTES, _EDGES):
        if not wanted:
            break
        for record_id, deleted_at, name, kind, text in tx.all(statement, (dump(list(wanted)),)):
            del wanted[record_id]
            if deleted_at is None:
                found[record_id] = Node(record_id, name, kind, text)
    found.update((record_id, Node(record_id)) for record_id in wanted)
    return found
