"""Inner patterns that are told where to start: the same rows, from fewer records."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from hivekeep.query import compile as compiling
from hivekeep.query import sparql
from hivekeep.query.bindings import find
from hivekeep.query.plan import Edge, Filter, Group, Node, Optional, Path, Plan, Within
from hivekeep.query.seeding import seeded
from hivekeep_contract.limits import QUERY_MAX_PARTS
from support.client import Hive
from support.graphs import store_graph
from support.sparql_random import select


def starts(text: str) -> list[str]:
    """The variables that the inner patterns of a query are told to start from."""
    return [within.var for within in find(seeded(sparql.parse(text)), Within)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?x { :A :extends ?x OPTIONAL { ?x :contains ?y } }", ["x"]),
        ("SELECT ?x { ?x :name 'A' OPTIONAL { ?y :contains ?x } }", ["x"]),
        ("SELECT ?x { ?x :name ?n OPTIONAL { ?x :contains ?y } FILTER(?n = 'A') }", ["x"]),
        ("SELECT ?x { ?x a :concept OPTIONAL { ?x :contains ?y } }", []),
        ("SELECT ?x { ?x a :concept OPTIONAL { ?x :contains+ ?y } }", ["x"]),
        ("SELECT ?x { :A :extends ?x OPTIONAL { ?z :contains ?y } }", []),
        ("SELECT ?x { :A :extends ?x OPTIONAL { ?x :name ?n } }", []),
        ("SELECT ?x { :A :extends ?x FILTER NOT EXISTS { ?x :contains ?y } }", []),
        ("SELECT ?x { :A :extends ?x FILTER NOT EXISTS { ?x :contains+ ?y } }", ["x"]),
        ("SELECT ?x { :A :extends ?x { ?x :contains* ?y } UNION { ?x :enables ?y } }", ["x"]),
        ("SELECT ?x { :A :extends ?x OPTIONAL { ?x :contains ?y OPTIONAL { ?y :enables ?z } } }", ["y", "x", "x"]),
    ],
)
def test_what_an_inner_pattern_starts_from(text: str, expected: list[str]) -> None:
    """A record that the pattern around it surely binds, where a condition narrows it down or a path walks far."""
    assert sorted(starts(text)) == sorted(expected)


def test_the_start_is_what_surely_holds_around_it() -> None:
    """Neither optional parts nor conditions on other things are in it."""
    plan = Plan(
        pattern=Group(
            (
                Node("a", ("entity",), "concept"),
                Edge("a", "b", ("extends",)),
                Optional(Group((Path("b", "c", ((),)),))),
                Optional(Group((Node("d"),))),
            )
        ),
        outputs=(),
    )
    inner = seeded(plan).pattern.parts[2]
    base = Group((Node("a", ("entity",), "concept"), Edge("a", "b", ("extends",))))
    assert inner == Optional(Group((Path("b", "c", ((),)), Filter(Within("b", base)))))
    assert seeded(plan).pattern.parts[3] == Optional(Group((Node("d"),)))


def test_a_plan_grows_by_a_bounded_number_of_parts() -> None:
    """A thousand optional patterns do not each get a copy of the pattern around them."""
    optional = Optional(Group((Edge("b", "c"),)))
    around = (Node("a"), Edge("a", "b"), Filter(Within("a", Group((Node("a"),)))))
    plan = Plan(pattern=Group((*around, *[optional] * 1000)), outputs=())
    assert sum(1 for _ in find(seeded(plan), (Node, Edge))) <= 1003 + QUERY_MAX_PARTS


def test_random_queries_keep_their_rows(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a start, two hundred queries have the same rows."""
    nodes = dict.fromkeys(("Alba", "Bona", "Cela", "Dora", "Elba"), "concept")
    pairs = [("Alba", "Bona"), ("Bona", "Cela"), ("Cela", "Alba"), ("Cela", "Dora"), ("Dora", "Elba")]
    links = [f"{one} {relation} {other}" for one, other in pairs for relation in ("extends", "contains")]
    store_graph(hive, nodes, [*links, "Bona depends_on Alba", "Elba depends_on Cela"])
    random = Random(7)
    texts = [select(random).text for _ in range(200)]
    told = [hive.call("query", query=text)["rows"] for text in texts]
    monkeypatch.setattr(compiling, "seeded", lambda plan: plan)
    # Another prefix makes another text, so nothing comes from the cache.
    untold = [hive.call("query", query="PREFIX other: <urn:x:> " + text)["rows"] for text in texts]
    assert told == untold
    assert any(list(find(seeded(sparql.parse(text)), Within)) for text in texts)


def test_a_name_is_a_start_for_an_optional_path(hive: Hive) -> None:
    """On a long chain the walk begins at the one record that is asked about."""
    names = [f"n{number}" for number in range(300)]
    links = [f"{one} contains {other}" for one, other in pairwise(names)]
    store_graph(hive, dict.fromkeys(names, "concept"), links)
    text = "SELECT ?n { ?x :name 'n297' OPTIONAL { ?x :contains+ ?y . ?y :name ?n } }"
    assert starts(text) == ["x"]
    assert hive.call("query", query=text)["rows"] == [{"n": "n298"}, {"n": "n299"}]
