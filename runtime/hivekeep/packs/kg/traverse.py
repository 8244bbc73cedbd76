"""traverse: breadth-first walks from several roots.

Invariant: each node of a walk stands once, at its smallest depth, and every node on the way to it was live.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

from hivekeep.identity.resolve import Wanted, resolve
from hivekeep.packs.context import Context
from hivekeep.packs.kg.expansion import Expansion
from hivekeep.storage import graph
from hivekeep.storage.edges import NeighborFilter
from hivekeep.storage.graph import Node
from hivekeep.storage.json_text import load_object
from hivekeep_contract.models import kg as models

FRONTIER_BATCH = 250
"""Records whose edges one statement looks up: few, so that a walk with a small limit ends early."""

NODE_BATCH = 100
"""Reached records that are looked up at once at least."""


def traverse(ctx: Context, args: models.TraverseArgs) -> list[models.Traversal]:
    """One walk for each distinct root; raises NotFound, Ambiguous, GraphBudgetExceeded."""
    wanted = Wanted("roots")
    roots = list(dict.fromkeys(resolve(ctx.tx, text, wanted, ctx.caller).id for text in args.roots))
    filters = NeighborFilter(args.direction, tuple(args.relations or ()), args.min_weight)
    walk = _Walk(ctx, args, Expansion(ctx, filters))
    known = graph.nodes(ctx.tx, roots, properties=args.include_properties) if args.include_roots else {}
    return [
        {
            "root_id": root,
            "nodes": [*([_shown(known[root], None, 0)] if root in known else []), *walk.from_root(root)],
        }
        for root in roots
    ]


class _Walk:
    """What the walks of one operation share."""

    def __init__(self, ctx: Context, args: models.TraverseArgs, expansion: Expansion) -> None:
        self._tx = ctx.tx
        self._args = args
        self._expansion = expansion

    def from_root(self, root: str) -> list[models.PathNode]:
        """The nodes that the root leads to, nearest first, the root left out."""
        seen = {root}
        found: list[models.PathNode] = []
        frontier = [root]
        for depth in range(1, self._args.max_depth + 1):
            room = self._args.limit - len(found)
            if not frontier or room <= 0:
                break
            layer = list(islice(self._layer(frontier, seen, depth), room))
            found += layer
            frontier = [node["id"] for node in layer]
        return found

    def _layer(self, frontier: Sequence[str], seen: set[str], depth: int) -> Iterator[models.PathNode]:
        """The live nodes one edge behind the frontier that were not seen before."""
        for start in range(0, len(frontier), FRONTIER_BATCH):
            rows = self._expansion.adjacent(frontier[start : start + FRONTIER_BATCH])
            via = {node_id: edge_id for node_id, edge_id in rows if node_id not in seen}
            seen.update(via)
            reached = list(via)
            batch = max(NODE_BATCH, self._args.limit)
            for begin in range(0, len(reached), batch):
                ids = reached[begin : begin + batch]
                nodes = graph.nodes(self._tx, ids, properties=self._args.include_properties)
                for node_id in ids:
                    if node_id in nodes:
                        yield _shown(nodes[node_id], via[node_id], depth)


def _shown(node: Node, via_edge: str | None, depth: int) -> models.PathNode:
    node_id, name, kind, properties, _ = node
    shown: models.PathNode = {"id": node_id, "via_edge": via_edge, "depth": depth}
    if kind is not None:
        shown["kind"] = kind
    if name is not None:
        shown["name"] = name
    if properties is not None:
        shown["properties"] = load_object(properties)
    return shown
