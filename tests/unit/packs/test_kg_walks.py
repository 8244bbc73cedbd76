"""traverse, context and neighbors against networkx, over random graphs."""

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import networkx as nx
import pytest

from hivekeep.storage import edges as edge_table
from hivekeep.storage import entities
from hivekeep.storage.engine import Tx
from hivekeep_contract.vocabulary import RELATIONS
from support import stores
from support.client import Hive, open_hive
from support.stores import record_id

GRAPHS = range(200)
WORDS = ("extends", "depends_on", "competes_with", "annotates")
SYMMETRIC = {name for name, relation in RELATIONS.items() if relation.symmetric}
FIRST_EDGE = 1000


class Sample(NamedTuple):
    """A random graph in a store and the same edges in memory; numbers are those of `record_id`."""

    hive: Hive
    rng: random.Random
    nodes: int
    edges: list[tuple[int, int, str, float]]

    def graph(self, direction: str, relations: list[str] | None, min_weight: float | None) -> nx.MultiDiGraph:
        """The edges that a walk may follow, each in the direction in which it is followed."""
        graph = nx.MultiDiGraph()
        graph.add_nodes_from(range(self.nodes))
        for source, target, relation, weight in self.edges:
            if (relations is not None and relation not in relations) or (
                min_weight is not None and weight < min_weight
            ):
                continue
            either = direction == "both" or relation in SYMMETRIC
            if either or direction == "outgoing":
                graph.add_edge(source, target, relation=relation, weight=weight)
            if either or direction == "incoming":
                graph.add_edge(target, source, relation=relation, weight=weight)
        return graph

    def filters(self) -> tuple[str, list[str] | None, float | None]:
        """Direction, relations and lowest weight by chance."""
        direction = self.rng.choice(["outgoing", "incoming", "both"])
        relations = self.rng.choice([None, self.rng.sample(WORDS, self.rng.randint(1, 3))])
        return direction, relations, self.rng.choice([None, 0.25, 0.5])


def number(text: str) -> int:
    """The number that a made-up id was made from."""
    return int(text[-12:], 16)


def given(**args: Any) -> dict[str, Any]:
    """The arguments that are not None."""
    return {name: value for name, value in args.items() if value is not None}


@pytest.fixture(params=GRAPHS, ids=lambda seed: f"graph {seed}")
def sample(request: pytest.FixtureRequest) -> Iterator[Sample]:
    """A graph of up to 24 nodes: sparse and dense ones, with parallel edges and few weights, so that many are equal."""
    rng = random.Random(request.param)
    nodes = rng.randint(1, 24)
    edges: dict[tuple[int, int, str], float] = {}
    for _ in range(rng.randint(0, nodes * 3) if nodes > 1 else 0):
        source, target = rng.sample(range(nodes), 2)
        relation = rng.choice(WORDS)
        if relation in SYMMETRIC and target < source:
            source, target = target, source
        edges[source, target, relation] = rng.choice([0.125, 0.25, 0.5, 1.0])
    listed = [(*ends, weight) for ends, weight in edges.items()]
    with open_hive() as hive:
        hive.server.engine.run_write(lambda tx: fill(tx, nodes, listed))
        yield Sample(hive, rng, nodes, listed)


def fill(tx: Tx, nodes: int, edges: list[tuple[int, int, str, float]]) -> None:
    """Store a graph."""
    for node in range(nodes):
        entities.insert(tx, stores.entity(node))
    for place, (source, target, relation, weight) in enumerate(edges):
        edge_table.insert(tx, stores.edge(FIRST_EDGE + place, source, target, relation, weight=weight))


def test_a_walk_reaches_what_the_graph_reaches_at_the_same_depth(sample: Sample) -> None:
    """Nodes and depths are those of a breadth-first search, each node is reached over an edge from the depth before."""
    direction, relations, min_weight = sample.filters()
    depth = sample.rng.randint(0, 10)
    roots = sample.rng.sample(range(sample.nodes), min(sample.nodes, 3))
    args = given(direction=direction, relations=relations, min_weight=min_weight, max_depth=depth)
    answer = sample.hive.call("traverse", roots=[record_id(root) for root in [*roots, roots[0]]], **args)
    assert [number(walk["root_id"]) for walk in answer] == roots
    graph = sample.graph(direction, relations, min_weight)
    for root, walk in zip(roots, answer, strict=True):
        depths = {number(node["id"]): node["depth"] for node in walk["nodes"]}
        assert depths == nx.single_source_shortest_path_length(graph, root, cutoff=depth)
        assert [node["depth"] for node in walk["nodes"]] == sorted(depths.values())
        assert (walk["nodes"][0]["id"], walk["nodes"][0]["via_edge"]) == (record_id(root), None)
        for node in walk["nodes"][1:]:
            source, target, relation, _ = sample.edges[number(node["via_edge"]) - FIRST_EDGE]
            end = number(node["id"])
            start = source if end == target else target
            assert {start, end} == {source, target}
            assert depths[start] == node["depth"] - 1
            assert relation in {edge["relation"] for edge in graph[start][end].values()}
            assert node["name"] == f"entity {end}"


def test_a_limit_keeps_the_nearest_nodes_of_each_root(sample: Sample) -> None:
    """With a limit as many nodes are shown as there are up to it, none farther than one that is left out."""
    direction, relations, min_weight = sample.filters()
    limit = sample.rng.randint(0, 6)
    roots = sample.rng.sample(range(sample.nodes), min(sample.nodes, 2))
    args = given(direction=direction, relations=relations, min_weight=min_weight, limit=limit, include_roots=False)
    answer = sample.hive.call("traverse", roots=[record_id(root) for root in roots], **args)
    graph = sample.graph(direction, relations, min_weight)
    for root, walk in zip(roots, answer, strict=True):
        reached = nx.single_source_shortest_path_length(graph, root, cutoff=3)
        nearest = sorted(reached.values())[1:]
        assert [node["depth"] for node in walk["nodes"]] == nearest[:limit]
        assert all(reached[number(node["id"])] == node["depth"] for node in walk["nodes"])


def test_pages_of_neighbors_joined_are_the_neighbors(sample: Sample) -> None:
    """Walking the cursor gives the rows of the bare list, in its order; those are the edges of the graph."""
    direction, relations, min_weight = sample.filters()
    node = sample.rng.randrange(sample.nodes)
    args = given(node_id=record_id(node), direction=direction, relations=relations, min_weight=min_weight)
    whole = sample.hive.call("neighbors", **args)
    graph = sample.graph(direction, relations, min_weight)
    expected = sorted((-data["weight"], end, data["relation"]) for _, end, data in graph.edges(node, data=True))
    assert sorted((-row["weight"], number(row["id"]), row["relation"]) for row in whole) == expected
    assert whole == sorted(whole, key=lambda row: (-row["weight"], row["id"], row["edge_id"]))
    joined: list[dict[str, Any]] = []
    after: str | None = ""
    size = sample.rng.randint(1, 4)
    while after is not None:
        page = sample.hive.call("neighbors", **args, limit=size, after=after)
        joined += page["neighbors"]
        after = page["next_after"]
        assert len(page["neighbors"]) == size or after is None
    assert joined == whole


def around(
    sample: Sample, anchors: list[int], fanout: int, hops: int, args: dict[str, Any]
) -> list[list[tuple[Any, ...]]]:
    """What context shows of each anchor, computed from the pages of neighbors: (id, relation, weight, hop, via)."""

    def nearest(node: int) -> list[dict[str, Any]]:
        page = sample.hive.call("neighbors", node_id=record_id(node), limit=fanout, **args)
        rows: list[dict[str, Any]] = page["neighbors"]
        return rows

    seen = set(anchors)
    shown: list[list[tuple[Any, ...]]] = []
    for anchor in anchors:
        found: list[tuple[Any, ...]] = []
        for hop in range(1, hops + 1):
            parents = [anchor] if hop == 1 else [entry[0] for entry in found]
            pool = [(row, parent) for parent in parents for row in nearest(parent)]
            pool.sort(key=lambda pair: (-pair[0]["weight"], pair[0]["id"], record_id(pair[1])))
            for row, parent in pool:
                end = number(row["id"])
                if end not in seen:
                    seen.add(end)
                    via = None if hop == 1 else record_id(parent)
                    found.append((end, row["relation"], row["weight"], hop, via))
        shown.append(found)
    return shown


def test_context_is_what_neighbors_say(sample: Sample) -> None:
    """Around each anchor stand its heaviest neighbors, then theirs, each entity once over all anchors."""
    direction, relations, _ = sample.filters()
    fanout, hops = sample.rng.randint(1, 5), sample.rng.randint(0, 2)
    anchors = sample.rng.sample(range(sample.nodes), min(sample.nodes, 3))
    args = given(direction=direction, relations=relations)
    body = sample.hive.call(
        "context", entity_ids=[record_id(node) for node in anchors], hops=hops, fanout=fanout, budget=65536, **args
    )
    assert [number(entry["entity"]["id"]) for entry in body["anchors"]] == anchors
    assert [
        [(number(n["id"]), n["relation"], n["weight"], n["hop"], n["via"]) for n in entry["neighbors"]]
        for entry in body["anchors"]
    ] == around(sample, anchors, fanout, hops, args)
    assert (body["truncated"], body["dropped"]) == (False, {"anchors": 0, "neighbors": 0})
    ends = {(source, target) for source, target, _, _ in sample.edges}
    for entry in body["anchors"]:
        for near in entry["neighbors"]:
            start, end = number(near["via"] or entry["entity"]["id"]), number(near["id"])
            if relations is not None and set(relations) <= SYMMETRIC:
                assert near["direction"] == "both"
            else:
                assert ((start, end) if near["direction"] == "outgoing" else (end, start)) in ends
