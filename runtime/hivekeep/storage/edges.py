"""Edges: weighted, typed links between records.

Functions on a `Tx`. (namespace, source, target, relation) is unique over live and deleted edges. An edge
stays when an endpoint is soft-deleted but is hidden from lists and neighbours until the endpoint is live
again; it goes with an endpoint that is hard-deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.rows import CursorPage, RecordTable
from hivekeep.storage.statements import Where, batches, sql
from hivekeep_contract.vocabulary import RELATIONS

Direction = Literal["outgoing", "incoming", "both"]


class EdgeRow(NamedTuple):
    """One edge. Endpoints of a symmetric relation are stored with the smaller id as source."""

    id: str
    namespace: str
    source_id: str
    target_id: str
    relation: str
    created_at: int
    updated_at: int
    weight: float = 1.0
    metadata: str | None = None
    target_backend: str | None = None
    deleted_at: int | None = None
    version: int = 1
    seq: int = 0


class EdgeFilter(NamedTuple):
    """Conditions on a list of edges; the weight bounds are inclusive."""

    source_id: str | None = None
    target_id: str | None = None
    relations: tuple[str, ...] = ()
    min_weight: float | None = None
    max_weight: float | None = None


class NeighborFilter(NamedTuple):
    """Conditions on neighbours: `kinds` are entity or note kinds."""

    direction: Direction = "both"
    relations: tuple[str, ...] = ()
    min_weight: float | None = None
    kinds: tuple[str, ...] = ()


class NeighborAfter(NamedTuple):
    """The last row of the page before, by which the next one starts."""

    weight: float
    neighbor_id: str
    edge_id: str


class NeighborRow(NamedTuple):
    """One live edge of a node with its live neighbour.

    `name`, `kind` and `substrate` are None for a neighbour that is neither an entity nor a note; a note
    without a name is called `[kind]`.
    """

    edge_id: str
    source_id: str
    target_id: str
    relation: str
    weight: float
    neighbor_id: str
    substrate: str | None
    name: str | None
    kind: str | None
    entity_type: str | None


_TABLE: Final = RecordTable("edges", EdgeRow)

get = _TABLE.get
get_many = _TABLE.get_many
insert = _TABLE.insert
insert_many = _TABLE.insert_many
update = _TABLE.update
soft_delete = _TABLE.soft_delete
restore = _TABLE.restore

_SYMMETRIC: Final = tuple(name for name, relation in RELATIONS.items() if relation.symmetric)

_DEGREE: Final = (
    "SELECT (SELECT count(*) FROM edges WHERE source_id = ?1) + (SELECT count(*) FROM edges WHERE target_id = ?1)"
)
_NATURAL: Final = _TABLE.select + " WHERE namespace = ? AND source_id = ? AND target_id = ? AND relation = ?"

# The index of the tombstones is small, so asking it costs less than looking at the record.
_GONE: Final = (
    "EXISTS (SELECT 1 FROM {table} AS t INDEXED BY {table}_deleted WHERE t.id = {end} AND t.deleted_at IS NOT NULL)"
)
# Only the target can be an edge; events are never deleted.
_ENDPOINTS_LIVE: Final = " AND ".join(
    "NOT " + sql(_GONE, table=table, end="edges." + end)
    for end, tables in (("source_id", ("entities", "notes")), ("target_id", ("entities", "notes", "edges")))
    for table in tables
)

_ARM: Final = (
    "SELECT id AS edge_id, source_id, target_id, relation, weight, {far} AS neighbor_id"
    " FROM edges WHERE {near} = ? AND {where}"
)
_NEIGHBORS: Final = (
    "SELECT edge_id, hit.source_id, hit.target_id, hit.relation, hit.weight, neighbor_id,"
    " CASE WHEN entity.id IS NOT NULL THEN 'entity' WHEN note.id IS NOT NULL THEN 'note' END,"
    " coalesce(entity.name, note.name, '[' || note.kind || ']'),"
    " coalesce(entity.kind, note.kind), entity_type"
    # The limit keeps SQLite from doing the joins and the sorting once for each arm.
    " FROM ({arms} LIMIT -1) AS hit"
    " LEFT JOIN entities AS entity ON entity.id = neighbor_id"
    " LEFT JOIN notes AS note ON entity.id IS NULL AND note.id = neighbor_id"
    " LEFT JOIN edges AS edge ON entity.id IS NULL AND note.id IS NULL AND edge.id = neighbor_id"
    " WHERE {where} ORDER BY hit.weight DESC, neighbor_id, edge_id LIMIT ?"
)


def hard_delete(tx: Tx, row: EdgeRow) -> list[EdgeRow]:
    """Remove an edge with the annotations on it, recursively; answers the other edges that went with it."""
    removed = remove_incident(tx, row.id)
    _TABLE.erase(tx, row)
    return removed


def find_natural(tx: Tx, namespace: str, source_id: str, target_id: str, relation: str) -> EdgeRow | None:
    """The edge of a natural key, live or deleted; the endpoints in stored order."""
    row = tx.one(_NATURAL, (namespace, source_id, target_id, relation))
    return None if row is None else EdgeRow._make(row)


def incident(tx: Tx, node_ids: Sequence[str]) -> list[EdgeRow]:
    """Every edge at one of the records, live and deleted, in any namespace; oldest first."""
    found: dict[str, EdgeRow] = {}
    for ids in batches(node_ids):
        for column in ("source_id", "target_id"):
            where = Where()
            where.among(column, ids)
            for row in tx.all(_TABLE.select + " WHERE " + where.text, where.args):
                edge = EdgeRow._make(row)
                found[edge.id] = edge
    return sorted(found.values(), key=lambda edge: edge.seq)


def degree(tx: Tx, node_id: str) -> int:
    """How many edges there are at a record, live and deleted, in any namespace."""
    row = tx.one(_DEGREE, (node_id,))
    assert row is not None
    return int(row[0])


def hanging(tx: Tx, node_ids: Sequence[str]) -> list[EdgeRow]:
    """Every edge at one of the records, then every edge on those, and so on; nearest first, each once."""
    found: dict[str, EdgeRow] = {}
    layer = incident(tx, node_ids)
    while layer:
        found.update((edge.id, edge) for edge in layer)
        layer = [edge for edge in incident(tx, [edge.id for edge in layer]) if edge.id not in found]
    return list(found.values())


def remove(tx: Tx, rows: Iterable[EdgeRow]) -> None:
    """Remove these edges and no others; what hangs on them is the caller's matter."""
    for row in rows:
        _TABLE.erase(tx, row)


def remove_incident(tx: Tx, node_id: str) -> list[EdgeRow]:
    """Remove every edge on a record, then every edge on those, and so on; answers them, nearest first."""
    removed = hanging(tx, [node_id])
    remove(tx, removed)
    return removed


def list_page(tx: Tx, namespaces: Sequence[str], filters: EdgeFilter, *, limit: int, offset: int = 0) -> list[EdgeRow]:
    """Live edges with live endpoints, newest first."""
    return _TABLE.page(
        tx, namespaces, _conditions(filters), limit=limit, offset=offset, index=_index_of_the_end(filters)
    )


def list_after(
    tx: Tx, namespaces: Sequence[str], filters: EdgeFilter, *, limit: int, after_seq: int
) -> CursorPage[EdgeRow]:
    """Live edges with live endpoints in the order they were added, behind a cursor's sequence."""
    return _TABLE.walk(
        tx, namespaces, _conditions(filters), limit=limit, after_seq=after_seq, index=_index_of_the_end(filters)
    )


def count(tx: Tx, namespaces: Sequence[str]) -> int:
    """How many live edges there are, whatever the state of their endpoints."""
    return _TABLE.count(tx, namespaces, Where())


def neighbors(
    tx: Tx,
    node_id: str,
    namespaces: Sequence[str],
    filters: NeighborFilter,
    *,
    limit: int | None = None,
    after: NeighborAfter | None = None,
) -> list[NeighborRow]:
    """Live edges of a node with their live neighbours: weight descending, then neighbour id, then edge id.

    A symmetric relation matches from both of its ends whatever the direction. `limit=None` gives every
    neighbour.
    """
    arms = []
    args: list[object] = []
    for near, far, wanted in arms_of(filters):
        where = edge_conditions(namespaces, wanted, filters.min_weight)
        arms.append(sql(_ARM, near=near, far=far, where=where.text))
        args += (node_id, *where.args)
    hits = _hit_conditions(filters.kinds, after)
    statement = sql(_NEIGHBORS, arms=" UNION ALL ".join(arms), where=hits.text)
    rows = tx.all(statement, [*args, *hits.args, -1 if limit is None else limit])
    return [NeighborRow._make(row) for row in rows]


def arms_of(filters: NeighborFilter) -> list[tuple[str, str, tuple[str, ...] | None]]:
    """(near end, far end, wanted relations or None for all) of each way to reach a neighbour."""
    wanted = filters.relations or None
    symmetric = tuple(name for name in _SYMMETRIC if wanted is None or name in wanted)
    outgoing = wanted if filters.direction != "incoming" else symmetric
    incoming = wanted if filters.direction != "outgoing" else symmetric
    arms = [("source_id", "target_id", outgoing), ("target_id", "source_id", incoming)]
    return [arm for arm in arms if arm[2] != ()] or arms[:1]


def edge_conditions(namespaces: Sequence[str], relations: tuple[str, ...] | None, min_weight: float | None) -> Where:
    """What a live edge must be to be followed; `relations` None is any."""
    where = Where("deleted_at IS NULL")
    where.among("namespace", namespaces)
    if relations is not None:
        where.among("relation", relations)
    if min_weight is not None:
        where.add("weight >= ?", min_weight)
    return where


def _hit_conditions(kinds: tuple[str, ...], after: NeighborAfter | None) -> Where:
    where = Where("coalesce(entity.deleted_at, note.deleted_at, edge.deleted_at) IS NULL")
    if kinds:
        where.among("coalesce(entity.kind, note.kind)", kinds)
    if after is not None:
        where.add(
            "(hit.weight < ? OR (hit.weight = ? AND (neighbor_id, edge_id) > (?, ?)))",
            after.weight,
            after.weight,
            after.neighbor_id,
            after.edge_id,
        )
    return where


def _index_of_the_end(filters: EdgeFilter) -> str | None:
    """The edges of one record are few, however many a namespace has."""
    if filters.source_id is not None:
        return "edges_by_source"
    return None if filters.target_id is None else "edges_by_target"


def _conditions(filters: EdgeFilter) -> Where:
    where = Where(_ENDPOINTS_LIVE)
    where.equal("source_id", filters.source_id)
    where.equal("target_id", filters.target_id)
    if filters.relations:
        where.among("relation", filters.relations)
    if filters.min_weight is not None:
        where.add("weight >= ?", filters.min_weight)
    if filters.max_weight is not None:
        where.add("weight <= ?", filters.max_weight)
    return where
