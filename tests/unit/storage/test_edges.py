"""Edges as rows, and the neighbours they make."""

from __future__ import annotations

import apsw
import pytest

from hivekeep.storage import edges, entities, notes
from hivekeep.storage.edges import EdgeFilter, NeighborAfter, NeighborFilter, NeighborRow
from hivekeep.storage.engine import Tx
from support.stores import edge, entity, note, record_id

LOCAL = ("local",)


@pytest.fixture
def graph(tx: Tx) -> Tx:
    """Five entities 1..5."""
    for number in range(1, 6):
        entities.insert(tx, entity(number))
    return tx


def _numbers(rows: list[edges.EdgeRow]) -> list[int]:
    return [int(row.id[-12:], 16) for row in rows]


def _near(rows: list[NeighborRow]) -> list[int]:
    return [int(row.neighbor_id[-12:], 16) for row in rows]


def _stored(tx: Tx, number: int) -> edges.EdgeRow:
    row = edges.get(tx, record_id(number), include_deleted=True)
    assert row is not None
    return row


def test_a_natural_key_is_one_edge_even_when_it_is_deleted(graph: Tx) -> None:
    """The holder is found live and deleted, a double is refused by the database, the reverse edge is another one."""
    edges.insert(graph, edge(10, 1, 2, weight=0.5, metadata='{"a":1}', target_backend="x"))
    assert _stored(graph, 10) == edge(10, 1, 2, weight=0.5, metadata='{"a":1}', target_backend="x", seq=1)
    edges.insert(graph, edge(11, 2, 1))
    edges.soft_delete(graph, _stored(graph, 10), 9)
    found = edges.find_natural(graph, "local", record_id(1), record_id(2), "extends")
    assert found == _stored(graph, 10)
    with pytest.raises(apsw.ConstraintError):
        edges.insert(graph, edge(12, 1, 2))
    assert edges.find_natural(graph, "other", record_id(1), record_id(2), "extends") is None


def test_a_resurrected_edge_keeps_id_and_birth(graph: Tx) -> None:
    """Replacing a tombstone by a live row keeps id, created_at and sequence."""
    edges.insert(graph, edge(10, 1, 2))
    gone = edges.soft_delete(graph, _stored(graph, 10), 9)
    back = edges.update(graph, gone, gone._replace(deleted_at=None, weight=0.25, updated_at=20))
    assert back == edge(10, 1, 2, weight=0.25, updated_at=20, version=3, seq=1)
    assert edges.get(graph, record_id(10)) == back


def test_lists_are_narrowed_by_ends_relations_and_weights(graph: Tx) -> None:
    """Bounds are inclusive; several relations match any."""
    edges.insert(graph, edge(10, 1, 2, weight=0.2))
    edges.insert(graph, edge(11, 1, 3, "depends_on", weight=0.5))
    edges.insert(graph, edge(12, 4, 3, "part_of", weight=0.8))

    def listed(filters: EdgeFilter) -> list[int]:
        return _numbers(edges.list_page(graph, LOCAL, filters, limit=9))

    assert listed(EdgeFilter()) == [12, 11, 10]
    assert listed(EdgeFilter(source_id=record_id(1))) == [11, 10]
    assert listed(EdgeFilter(target_id=record_id(3))) == [12, 11]
    assert listed(EdgeFilter(relations=("extends", "part_of"))) == [12, 10]
    assert listed(EdgeFilter(min_weight=0.5)) == [12, 11]
    assert listed(EdgeFilter(max_weight=0.5)) == [11, 10]
    assert listed(EdgeFilter(source_id=record_id(4), min_weight=0.9)) == []
    walk = edges.list_after(graph, LOCAL, EdgeFilter(min_weight=0.5), limit=1, after_seq=0)
    assert (_numbers(walk.rows), walk.next_after) == ([11], record_id(11))


@pytest.mark.parametrize("end", ["source", "target", "annotated edge"])
def test_an_edge_is_hidden_while_an_end_of_it_is_deleted(graph: Tx, end: str) -> None:
    """It leaves lists and comes back with its end; it counts as live all the while."""
    notes.insert(graph, note(6))
    edges.insert(graph, edge(9, 3, 4))
    edges.insert(graph, edge(10, *{"source": (1, 2), "target": (2, 1), "annotated edge": (6, 9)}[end]))
    if end == "annotated edge":
        gone_edge = edges.soft_delete(graph, _stored(graph, 9), 50)
    else:
        row = entities.get(graph, record_id(1))
        assert row is not None
        gone = entities.soft_delete(graph, row, 50)
    assert 10 not in _numbers(edges.list_page(graph, LOCAL, EdgeFilter(), limit=9))
    assert 10 not in _numbers(edges.list_after(graph, LOCAL, EdgeFilter(), limit=9, after_seq=0).rows)
    assert edges.get(graph, record_id(10)) is not None
    if end == "annotated edge":
        edges.restore(graph, gone_edge, 60)
    else:
        entities.restore(graph, gone, 60)
    assert 10 in _numbers(edges.list_page(graph, LOCAL, EdgeFilter(), limit=9))
    assert edges.count(graph, LOCAL) == 2


def test_neighbors_are_ordered_by_weight_then_id(graph: Tx) -> None:
    """Weight descending, then neighbour id, then edge id; the row tells what the neighbour is."""
    edges.insert(graph, edge(10, 1, 4, weight=0.5))
    edges.insert(graph, edge(11, 3, 1, weight=0.5))
    edges.insert(graph, edge(12, 1, 2, weight=0.9))
    edges.insert(graph, edge(13, 1, 3, "depends_on", weight=0.5))
    rows = edges.neighbors(graph, record_id(1), LOCAL, NeighborFilter())
    assert [(int(row.neighbor_id[-12:], 16), int(row.edge_id[-12:], 16)) for row in rows] == [
        (2, 12),
        (3, 11),
        (3, 13),
        (4, 10),
    ]
    assert rows[0] == NeighborRow(
        edge_id=record_id(12),
        source_id=record_id(1),
        target_id=record_id(2),
        relation="extends",
        weight=0.9,
        neighbor_id=record_id(2),
        substrate="entity",
        name="entity 2",
        kind="concept",
        entity_type=None,
    )


def test_neighbor_pages_continue_behind_their_last_row(graph: Tx) -> None:
    """Pages of two cover all neighbours once, ties included."""
    for number, (near, weight) in enumerate([(2, 0.5), (3, 0.5), (4, 0.5), (5, 1 / 3)]):
        edges.insert(graph, edge(10 + number, 1, near, weight=weight))
    seen: list[int] = []
    after = None
    while rows := edges.neighbors(graph, record_id(1), LOCAL, NeighborFilter(), limit=2, after=after):
        seen += _near(rows)
        after = NeighborAfter(rows[-1].weight, rows[-1].neighbor_id, rows[-1].edge_id)
    assert seen == [2, 3, 4, 5]


def test_direction_follows_the_stored_order_except_for_symmetric_relations(graph: Tx) -> None:
    """`competes_with` is met from both ends in every direction; `extends` only in its own."""
    edges.insert(graph, edge(10, 1, 2))
    edges.insert(graph, edge(11, 3, 1))
    edges.insert(graph, edge(12, 1, 4, "competes_with"))
    edges.insert(graph, edge(13, 1, 5, "depends_on"))

    def near(node: int, **filters: object) -> list[int]:
        return sorted(_near(edges.neighbors(graph, record_id(node), LOCAL, NeighborFilter(**filters))))

    assert near(1, direction="outgoing") == [2, 4, 5]
    assert near(1, direction="incoming") == [3, 4]
    assert near(1, direction="both") == [2, 3, 4, 5]
    assert near(4, direction="outgoing") == [1]
    assert near(4, direction="incoming", relations=("competes_with",)) == [1]
    assert near(4, direction="incoming", relations=("extends",)) == []
    assert near(1, direction="outgoing", relations=("extends", "competes_with")) == [2, 4]


def test_neighbors_are_narrowed_before_the_limit(graph: Tx) -> None:
    """Kinds, weight and namespace are conditions of the search, not of the page."""
    notes.insert(graph, note(6))
    edges.insert(graph, edge(10, 1, 2, weight=0.9))
    edges.insert(graph, edge(11, 6, 1, "annotates", weight=0.4))
    edges.insert(graph, edge(12, 1, 3, weight=1.0, namespace="hidden"))
    row = edges.neighbors(graph, record_id(1), LOCAL, NeighborFilter(kinds=("observation",)), limit=1)
    assert [(near.substrate, near.name, near.kind) for near in row] == [("note", "[observation]", "observation")]
    assert _near(edges.neighbors(graph, record_id(1), LOCAL, NeighborFilter(min_weight=0.5))) == [2]
    assert _near(edges.neighbors(graph, record_id(1), LOCAL, NeighborFilter(), limit=1)) == [2]


def test_deleted_neighbors_and_edges_make_no_row(graph: Tx) -> None:
    """Neither a soft-deleted neighbour nor a soft-deleted edge shows; an edge as neighbour has no kind."""
    edges.insert(graph, edge(10, 1, 2))
    edges.insert(graph, edge(11, 1, 3))
    edges.insert(graph, edge(12, 4, 5))
    edges.insert(graph, edge(13, 1, 12, "annotates"))
    row = entities.get(graph, record_id(2))
    assert row is not None
    entities.soft_delete(graph, row, 9)
    edges.soft_delete(graph, _stored(graph, 11), 9)
    rows = edges.neighbors(graph, record_id(1), LOCAL, NeighborFilter())
    assert [(row.neighbor_id, row.substrate, row.kind) for row in rows] == [(record_id(12), None, None)]
    edges.soft_delete(graph, _stored(graph, 12), 9)
    assert edges.neighbors(graph, record_id(1), LOCAL, NeighborFilter()) == []


def test_hard_delete_of_an_edge_takes_its_annotations(graph: Tx) -> None:
    """The edges that pointed at the removed edge go too, and only they are answered."""
    edges.insert(graph, edge(10, 1, 2))
    edges.insert(graph, edge(11, 3, 10, "annotates"))
    assert _numbers(edges.hard_delete(graph, _stored(graph, 10))) == [11]
    assert edges.count(graph, LOCAL) == 0


def test_incident_edges_are_found_for_more_nodes_than_one_statement_takes(graph: Tx) -> None:
    """1,100 nodes are asked in pieces; an edge between two of them is answered once; deleted ones are included."""
    edges.insert(graph, edge(10, 1, 2))
    edges.insert(graph, edge(11, 2000, 3, namespace="other"))
    edges.soft_delete(graph, _stored(graph, 10), 9)
    found = edges.incident(graph, [record_id(number) for number in (1, 2, *range(1000, 2098))])
    assert _numbers(found) == [10, 11]


def test_what_hangs_on_edges_is_found_layer_by_layer(graph: Tx) -> None:
    """Annotations of edges, of any namespace and state, each once; removing some leaves the others."""
    notes.insert(graph, note(6))
    edges.insert(graph, edge(10, 1, 2))
    edges.insert(graph, edge(11, 6, 10, "annotates", namespace="team"))
    edges.insert(graph, edge(12, 6, 11, "annotates", deleted_at=9))
    edges.insert(graph, edge(13, 2, 3))
    assert _numbers(edges.hanging(graph, [record_id(10)])) == [11, 12]
    assert _numbers(edges.hanging(graph, [record_id(10), record_id(11)])) == [11, 12]
    assert _numbers(edges.hanging(graph, [record_id(1)])) == [10, 11, 12]
    assert edges.hanging(graph, []) == []
    edges.remove(graph, edges.hanging(graph, [record_id(11)]))
    assert _numbers(edges.incident(graph, [record_id(6)])) == [11]
    assert [edges.degree(graph, record_id(number)) for number in (1, 2, 6, 4)] == [1, 2, 1, 0]
