"""GQL compared with networkx: random graphs, random patterns, the same rows."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, NamedTuple

import networkx as nx
import pytest

from hivekeep.query.execute import run
from hivekeep.storage import edges, entities
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine
from support.stores import OPTIONS, edge, entity, record_id

RELATIONS = ("extends", "depends_on", "contains")
KINDS = ("concept", "document", "project")
PAGE = 10_000
GRAPHS = 200
GRAPHS_A_TEST = 20


class Step(NamedTuple):
    """One edge of a pattern: relations (() = all) and direction (1 along, -1 against, 0 either way)."""

    relations: tuple[str, ...]
    direction: int

    @property
    def text(self) -> str:
        """The edge in GQL."""
        body = "[" + (":" + "|".join(self.relations) if self.relations else "") + "]"
        return {1: f"-{body}->", -1: f"<-{body}-", 0: f"-{body}-"}[self.direction]


def random_graph(random: Random) -> nx.MultiDiGraph:
    """Three to eight entities; edges have a weight in quarters, so sums are exact."""
    graph = nx.MultiDiGraph()
    count = random.randint(3, 8)
    for number in range(count):
        graph.add_node(number, kind=random.choice(KINDS), size=random.randint(0, 3), live=random.random() < 0.9)
    wanted = {(*random.sample(range(count), 2), random.choice(RELATIONS)) for _ in range(random.randint(2, count * 2))}
    for source, target, relation in sorted(wanted):
        live = random.random() < 0.9
        graph.add_edge(source, target, relation, weight=random.randint(0, 4) / 4, live=live)
    return graph


@contextmanager
def stored(graph: nx.MultiDiGraph) -> Iterator[Tx]:
    """A store that holds the graph; what is not live there is a tombstone here."""

    def write(tx: Tx) -> None:
        for number, data in graph.nodes(data=True):
            properties = json.dumps({"size": data["size"]})
            row = entity(number, kind=data["kind"], name=f"n{number}", properties=properties)
            entities.insert(tx, row)
            if not data["live"]:
                entities.soft_delete(tx, entities.get(tx, row.id), 1)
        for place, (source, target, relation, data) in enumerate(graph.edges(keys=True, data=True)):
            row = edge(1000 + place, source, target, relation, weight=data["weight"])
            edges.insert(tx, row._replace(deleted_at=None if data["live"] else 1))

    engine = SqliteEngine(":memory:", OPTIONS)
    engine.start(threaded=False)
    engine.run_write(write)
    with engine.read() as tx:
        yield tx
    engine.close()


def alive(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    """The part of a graph whose nodes queries may see."""
    return graph.subgraph([node for node, data in graph.nodes(data=True) if data["live"]])


def steps_between(graph: nx.MultiDiGraph, one: int, other: int, step: Step) -> list[tuple[int, int, str]]:
    """The live edges that lead from one node to another in the way a step asks for."""
    found = []
    for source, target in ((one, other), (other, one)):
        forward = (source, target) == (one, other)
        if step.direction in (0, 1 if forward else -1) and one != other:
            found += [
                (source, target, relation)
                for relation, data in (graph.get_edge_data(source, target) or {}).items()
                if data["live"] and (not step.relations or relation in step.relations)
            ]
    return found


def random_step(random: Random) -> Step:
    return Step(tuple(random.sample(RELATIONS, random.choice((0, 1, 1, 2)))), random.choice((1, 1, -1, 0)))


def check_fixed(random: Random, graph: nx.MultiDiGraph, tx: Tx) -> None:
    """A chain of one to three edges: variables may repeat, nodes may have kinds, a condition may compare fields."""
    steps = [random_step(random) for _ in range(random.randint(1, 3))]
    names = [random.choice("abc") if random.random() < 0.3 else "abcd"[place] for place in range(len(steps) + 1)]
    kinds = {name: random.choice((None, None, *KINDS)) for name in names}
    nodes = [f"({name}{':' + kinds[name] if kinds[name] else ''})" for name in names]
    text = nodes[0] + "".join(step.text + node for step, node in zip(steps, nodes[1:], strict=True))
    condition, test = random_condition(random, names)
    shown = sorted(set(names))
    query = f"MATCH {text}{condition} RETURN {', '.join(f'{name}.id AS {name}' for name in shown)}"
    expected: Counter[tuple[str, ...]] = Counter()
    for chosen in itertools.product(graph.nodes, repeat=len(shown)):
        at = dict(zip(shown, chosen, strict=True))
        if not all(kinds[name] in (None, graph.nodes[at[name]]["kind"]) for name in shown):
            continue
        if not test(graph, at):
            continue
        ways = [steps_between(graph, at[names[i]], at[names[i + 1]], step) for i, step in enumerate(steps)]
        matches = len(list(itertools.product(*ways)))
        if matches:
            expected[tuple(record_id(node) for node in chosen)] += matches
    rows = run(tx, query, ("local",), PAGE).rows
    assert Counter(tuple(row[name] for name in shown) for row in rows) == expected, query
    counted = run(tx, query.split(" RETURN")[0] + " RETURN count(*) AS n", ("local",), PAGE).rows
    assert counted == [{"n": expected.total()}], query


def random_condition(random: Random, names: list[str]) -> tuple[str, Any]:
    """A WHERE with what it means."""
    one, other = random.choice(names), random.choice(names)
    size = random.randint(0, 3)
    options: list[tuple[str, Any]] = [
        ("", lambda graph, at: True),
        (f" WHERE {one}.name = 'N{size}'", lambda graph, at: at[one] == size),
        (f" WHERE {one}.size >= {size}", lambda graph, at: graph.nodes[at[one]]["size"] >= size),
        (
            f" WHERE {one}.size < {other}.size OR NOT {other}.name IN ['n1', 'n2']",
            lambda graph, at: graph.nodes[at[one]]["size"] < graph.nodes[at[other]]["size"] or at[other] not in (1, 2),
        ),
        (f" WHERE {one} <> {other}", lambda graph, at: at[one] != at[other]),
    ]
    return random.choice(options)


def check_variable(random: Random, graph: nx.MultiDiGraph, tx: Tx) -> None:
    """A path of variable length: the pairs between which a simple path of an allowed length exists, nearest first."""
    step = random_step(random)
    least = random.randint(1, 3)
    most = random.randint(least, 5)
    start = random.choice((None, *KINDS))
    condition, test = random_condition(random, ["a", "b"])
    edge_text = step.text.replace("]", f"*{least}..{most}]")
    match = f"MATCH (a{':' + start if start else ''}){edge_text}(b){condition}"
    rows = run(tx, f"{match} RETURN a.id AS a, b.id AS b", ("local",), PAGE).rows
    ways = nx.MultiDiGraph()
    ways.add_nodes_from(graph.nodes)
    for one, other in itertools.permutations(graph.nodes, 2):
        for source, target, relation in steps_between(graph, one, other, step):
            ways.add_edge(one, other, weight=graph.edges[source, target, relation]["weight"])
    best: dict[tuple[int, int], tuple[int, float]] = {}
    for one, other in itertools.permutations(graph.nodes, 2):
        if start not in (None, graph.nodes[one]["kind"]) or not test(graph, {"a": one, "b": other}):
            continue
        for path in nx.all_simple_edge_paths(ways, one, other, cutoff=most):
            if len(path) >= least:
                total = sum(ways.edges[way]["weight"] for way in path)
                best[one, other] = min(best.get((one, other), (most + 1, 0.0)), (len(path), -total))
    expected = sorted((*rank, record_id(one), record_id(other)) for (one, other), rank in best.items())
    assert [(row["a"], row["b"]) for row in rows] == [tuple(pair[2:]) for pair in expected], match


@pytest.mark.parametrize("first", range(0, GRAPHS, GRAPHS_A_TEST))
def test_patterns_have_the_rows_that_a_search_finds(first: int) -> None:
    """Over 200 seeded graphs, fixed and variable patterns have exactly the rows of a search over all assignments."""
    for seed in range(first, first + GRAPHS_A_TEST):
        random = Random(seed)
        graph = random_graph(random)
        with stored(graph) as tx:
            seen = alive(graph)
            for _ in range(2):
                check_fixed(random, seen, tx)
                check_variable(random, seen, tx)
