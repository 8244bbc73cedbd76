"""What becomes of the edges of a record that another one takes the place of.

Invariant: every edge at the vanishing record is in the plan exactly once, moved or removed; with a removed edge goes
what hangs on it, and each of those is in the plan exactly once too, as it was before. Planning writes nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from hivekeep.packs.context import Context
from hivekeep.packs.kg.endpoints import joins, ordered
from hivekeep.storage import edges, records
from hivekeep.storage.edges import EdgeRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.records import Located

Loss = Literal["self_loop", "contract", "conflict"]


class Removal(NamedTuple):
    """An edge to remove, why, what hangs on it (nearest first), and for a conflict the edge that holds its place."""

    edge: EdgeRow
    loss: Loss
    hanging: list[EdgeRow]
    surviving_id: str | None


class Rewiring(NamedTuple):
    """An edge before and after its end moved."""

    old: EdgeRow
    new: EdgeRow


class EdgePlan(NamedTuple):
    """All that happens to edges in one merge."""

    rewired: list[Rewiring]
    removed: list[Removal]

    def lost(self, loss: Loss) -> list[Removal]:
        """The removals of one cause, oldest edge first."""
        return [removal for removal in self.removed if removal.loss == loss]

    def gone(self) -> Iterator[EdgeRow]:
        """Every edge that is removed, whatever the cause."""
        for removal in self.removed:
            yield removal.edge
            yield from removal.hanging

    def touched(self) -> list[str]:
        """The ids of all edges that change or go."""
        return [*(move.new.id for move in self.rewired), *(edge.id for edge in self.gone())]


class _Move(NamedTuple):
    """One edge of the vanishing record: its moved form, or why there is none."""

    edge: EdgeRow
    new: EdgeRow | None
    loss: Loss | None = None
    surviving_id: str | None = None


def plan_edges(ctx: Context, into: Located, gone: Located) -> EdgePlan:
    """The plan for `into` taking the place of `gone` on every edge, of any namespace, live and deleted."""
    found = edges.incident(ctx.tx, [gone.id])
    around = records.locate_many(ctx.tx, sorted({end for edge in found for end in (edge.source_id, edge.target_id)}))
    around[gone.id] = around[into.id] = into
    moves = _moves(ctx, found, around)
    removed = list(_removals(ctx.tx, [move for move in moves if move.loss is not None]))
    plan = EdgePlan([], removed)
    lost = {edge.id for edge in plan.gone()}
    plan.rewired.extend(
        Rewiring(move.edge, move.new) for move in moves if move.new is not None and move.edge.id not in lost
    )
    return plan


def apply_edges(tx: Tx, plan: EdgePlan) -> None:
    """Carry the plan out."""
    edges.remove(tx, plan.gone())
    for move in plan.rewired:
        edges.update(tx, move.old, move.new)


def _moves(ctx: Context, found: Sequence[EdgeRow], around: Mapping[str, Located]) -> list[_Move]:
    """Decide about each edge for itself; `around` says who is at every end, with the kept record in both places."""
    places: dict[tuple[str, str, str, str], str] = {}
    moves = []
    for edge in found:
        move = _move(ctx, edge, around, places)
        if move.new is not None:
            places[_place(move.new)] = edge.id
        moves.append(move)
    return moves


def _move(
    ctx: Context, edge: EdgeRow, around: Mapping[str, Located], places: Mapping[tuple[str, str, str, str], str]
) -> _Move:
    source, target = around.get(edge.source_id), around.get(edge.target_id)
    if source is None or target is None:
        return _Move(edge, None, "contract")
    if source.id == target.id:
        return _Move(edge, None, "self_loop")
    if not joins(ctx.ontology, edge.relation, source, target):
        return _Move(edge, None, "contract")
    ends = ordered(edge.relation, source.id, target.id)
    new = edge._replace(source_id=ends.source_id, target_id=ends.target_id, updated_at=ctx.now_us)
    holder = edges.find_natural(ctx.tx, *_place(new))
    surviving_id = places.get(_place(new)) if holder is None else holder.id
    if surviving_id is not None:
        return _Move(edge, None, "conflict", surviving_id)
    return _Move(edge, new)


def _place(edge: EdgeRow) -> tuple[str, str, str, str]:
    """The natural key of an edge."""
    return edge.namespace, edge.source_id, edge.target_id, edge.relation


def _removals(tx: Tx, doomed: Sequence[_Move]) -> Iterator[Removal]:
    """Each doomed edge with what hangs on it; one that hangs on another doomed edge is listed there only."""
    hanging = edges.hanging(tx, [move.edge.id for move in doomed])
    above: dict[str, list[EdgeRow]] = defaultdict(list)
    for edge in hanging:
        above[edge.source_id].append(edge)
        above[edge.target_id].append(edge)
    listed = {edge.id for edge in hanging}
    for move in doomed:
        if move.edge.id not in listed:
            assert move.loss is not None
            yield Removal(move.edge, move.loss, _hanging(move.edge.id, above), move.surviving_id)


def _hanging(edge_id: str, above: Mapping[str, list[EdgeRow]]) -> list[EdgeRow]:
    """What hangs on an edge, nearest first; an edge hangs on one other at most."""
    found: list[EdgeRow] = []
    layer = above.get(edge_id, [])
    while layer:
        found += layer
        layer = [edge for below in layer for edge in above.get(below.id, ())]
    return found
