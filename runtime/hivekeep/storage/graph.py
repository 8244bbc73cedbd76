"""Following edges from many records at once.

Functions on a `Tx`. Each statement reads a snapshot of its own; ids travel as one JSON argument, so that a frontier of
any size is the same prepared statement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from hivekeep.storage.edges import NeighborFilter, arms_of, edge_conditions
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.statements import sql

Adjacent = tuple[str, str]
"""(id at the far end of an edge, id of the edge)"""

_ARM: Final = (
    "SELECT {far}, edges.id FROM json_each(?) AS frontier"
    " CROSS JOIN edges INDEXED BY {index} ON {near} = frontier.value WHERE {where}"
)
_INDEXES: Final = {"source_id": "edges_by_source", "target_id": "edges_by_target"}

_NODES: Final = "SELECT id, {shown}, deleted_at FROM {table} WHERE id IN (SELECT value FROM json_each(?))"
_ENTITIES: Final = sql(_NODES, shown="name, kind, NULL", table="entities")
_ENTITIES_WITH_PROPERTIES: Final = sql(_NODES, shown="name, kind, properties", table="entities")
_NOTES: Final = sql(_NODES, shown="coalesce(name, '[' || kind || ']'), kind, NULL", table="notes")
_EDGES: Final = sql(_NODES, shown="NULL, NULL, NULL", table="edges")

Node = tuple[str, str | None, str | None, str | None, int | None]
"""(id, name, kind, properties, deleted_at) of a record that edges may join, plain because a walk makes thousands.

Edges and events have neither name nor kind here; only entities have properties.
"""


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
    missing = set(ids)
    found: dict[str, Any] = {}
    for statement in (_ENTITIES_WITH_PROPERTIES if properties else _ENTITIES, _NOTES, _EDGES):
        if not missing:
            return found
        rows = tx.all(statement, (dump(list(missing)),))
        found.update([(row[0], row) for row in rows if row[-1] is None])
        missing.difference_update([row[0] for row in rows])
    found.update((record_id, (record_id, None, None, None, None)) for record_id in missing)
    return found
