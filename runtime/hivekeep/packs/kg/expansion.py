"""The edges that one graph read follows: how many it may look at, and for how long.

Invariant: a read that needs more than it may use ends in GraphBudgetExceeded, so nobody takes a part for the whole.
"""

from collections.abc import Sequence
from time import monotonic

from hivekeep.packs.context import Context
from hivekeep.storage import edges, graph
from hivekeep.storage.edges import NeighborFilter, NeighborRow
from hivekeep.storage.graph import Adjacent
from hivekeep_contract.errors import GraphBudgetExceeded
from hivekeep_contract.limits import GRAPH_EXPANSION_MS, GRAPH_ROWS_MAX


class Expansion:
    """One budget of edges and time, for every root and hop of an operation."""

    def __init__(self, ctx: Context, filters: NeighborFilter) -> None:
        """The time begins now. `filters` decide which edges are followed, in the namespaces that `ctx` sees."""
        self._ctx = ctx
        self._namespaces = ctx.visible()
        self._filters = filters
        self._left = GRAPH_ROWS_MAX
        self._deadline = monotonic() + GRAPH_EXPANSION_MS / 1000

    def adjacent(self, frontier: Sequence[str]) -> list[Adjacent]:
        """The edges at many records and where they lead; raises GraphBudgetExceeded."""
        self._check_time()
        rows = graph.adjacent(self._ctx.tx, frontier, self._namespaces, self._filters, limit=self._left + 1)
        self._spend(len(rows))
        return rows

    def neighbors(self, node_id: str, fanout: int) -> list[NeighborRow]:
        """The heaviest edges of one record with their neighbors; raises GraphBudgetExceeded."""
        self._check_time()
        rows = edges.neighbors(self._ctx.tx, node_id, self._namespaces, self._filters, limit=fanout)
        self._spend(len(rows))
        return rows

    def _spend(self, rows: int) -> None:
        self._left -= rows
        if self._left < 0:
            raise self._exceeded("rows", GRAPH_ROWS_MAX, f"{GRAPH_ROWS_MAX:,} edges")

    def _check_time(self) -> None:
        if monotonic() >= self._deadline:
            raise self._exceeded("time", GRAPH_EXPANSION_MS, f"{GRAPH_EXPANSION_MS:,} ms")

    def _exceeded(self, budget: str, allowed: int, amount: str) -> GraphBudgetExceeded:
        return GraphBudgetExceeded(
            f"{self._ctx.verb}: following the edges takes more than the {amount} that one operation may use; "
            "go less deep, start from fewer records, or filter by relations, direction or weight",
            details={"budget": budget, "allowed": allowed},
        )
