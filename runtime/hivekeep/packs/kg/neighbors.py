"""neighbors: what a node is connected to, whole or in pages."""

import base64
import hashlib
import json

from hivekeep import strict_json, values
from hivekeep.identity.ids import classify
from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg.paging import clamp
from hivekeep.storage import edges
from hivekeep.storage.edges import NeighborAfter, NeighborFilter, NeighborRow
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import NEIGHBORS_CAP
from hivekeep_contract.models import kg as models

Hit = models.Neighbor | models.NeighborSummary | models.NeighborEdge


def neighbors(ctx: Context, args: models.NeighborsArgs) -> models.NeighborsResult:
    """The bare list of all neighbors, or a page when a limit is given.

    A full UUID that names no record has no neighbors; a prefix or name that fits none raises NotFound.
    """
    node_id = _node(ctx, args.node_id)
    filters = NeighborFilter(
        direction=args.direction,
        relations=tuple(args.relations or ()),
        min_weight=args.min_weight,
        kinds=_kinds(ctx, args.neighbor_kinds),
    )
    ctx.touch("entity", node_id)
    namespaces = ctx.visible()
    if args.limit is None:
        rows = edges.neighbors(ctx.tx, node_id, namespaces, filters)
        return [_hit(node_id, row, args) for row in rows]
    limit = clamp(args.limit, NEIGHBORS_CAP)
    walk = _walk_name(node_id, filters)
    after = _decode(args.after, walk) if args.after else None
    rows = edges.neighbors(ctx.tx, node_id, namespaces, filters, limit=limit.effective + 1, after=after)
    shown = rows[: limit.effective]
    more = len(rows) > limit.effective and bool(shown)
    return {
        "neighbors": [_hit(node_id, row, args) for row in shown],
        "next_after": _encode(shown[-1], walk) if more else None,
        **limit.report(),
    }


def _node(ctx: Context, text: str) -> str:
    if classify(text).form == "uuid":
        return text
    return resolve(ctx.tx, text, Wanted("node_id"), ctx.caller).id


def _kinds(ctx: Context, words: list[str] | None) -> tuple[str, ...]:
    if words is None:
        return ()
    kinds = []
    for word in words:
        ref = ctx.ontology.kind(word)
        if ref.kind is None:
            raise InvalidInput(f"neighbors: neighbor_kinds takes entity and note kinds, not {word!r}")
        kinds.append(ref.kind)
    return tuple(kinds)


def _hit(origin: str, row: NeighborRow, args: models.NeighborsArgs) -> Hit:
    if args.projection == "edge":
        return {
            "origin_id": origin,
            "edge_id": row.edge_id,
            "source_id": row.source_id,
            "target_id": row.target_id,
            "relation": row.relation,
            "weight": row.weight,
        }
    summary: models.NeighborSummary = {"origin_id": origin, "id": row.neighbor_id}
    if row.name is not None:
        summary["name"] = row.name
    if row.kind is not None:
        summary["kind"] = row.kind
    if args.include_entity_type and row.entity_type is not None:
        summary["entity_type"] = row.entity_type
    if args.projection == "summary":
        return summary
    return {
        **summary,
        "edge_id": row.edge_id,
        "relation": row.relation,
        "weight": row.weight,
    }


def _walk_name(node_id: str, filters: NeighborFilter) -> str:
    """What a cursor is bound to: the node and everything that decides which rows there are."""
    return hashlib.sha256(json.dumps([node_id, filters]).encode()).hexdigest()[:16]


def _encode(row: NeighborRow, walk: str) -> str:
    place = json.dumps([walk, row.weight, row.neighbor_id, row.edge_id])
    return base64.urlsafe_b64encode(place.encode()).decode()


def _decode(cursor: str, walk: str) -> NeighborAfter:
    try:
        bound, weight, neighbor_id, edge_id = strict_json.decode(base64.urlsafe_b64decode(cursor.encode()).decode())
        place = NeighborAfter(float(weight), values.full_uuid(neighbor_id), values.full_uuid(edge_id))
    except (ValueError, TypeError, OverflowError, AttributeError):
        raise InvalidInput("neighbors: after is not a cursor of this verb; pass next_after on unchanged") from None
    if bound != walk:
        raise InvalidInput("neighbors: after belongs to another node or other filters; keep them during a walk")
    return place
