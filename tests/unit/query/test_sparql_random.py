"""SPARQL compared with another engine: random graphs, random queries, the same rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
import rdflib

from hivekeep.query.execute import run
from hivekeep.storage import edges, entities
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine
from support.sparql_random import Graph, Select, graph, select
from support.stores import OPTIONS, edge, entity, record_id

KG = rdflib.Namespace("urn:kg:")
PREFIX = "PREFIX : <urn:kg:>\n"
GRAPHS = 20
QUERIES = 20


@contextmanager
def loaded(known: Graph) -> Iterator[Tx]:
    """A store that holds the graph."""
    number = {name: place for place, (name, *_) in enumerate(known.entities)}

    def write(tx: Tx) -> None:
        for name, kind, color, year in known.entities:
            properties = json.dumps({} if year is None else {"year": year})
            row = entity(number[name], name=name, kind=kind, description=color, properties=properties)
            entities.insert(tx, row)
        for place, (source, relation, target) in enumerate(known.edges):
            edges.insert(tx, edge(1000 + place, number[source], number[target], relation))

    engine = SqliteEngine(":memory:", OPTIONS)
    engine.start(threaded=False)
    engine.run_write(write)
    with engine.read() as tx:
        yield tx
    engine.close()


def as_rdf(known: Graph) -> rdflib.Graph:
    """The same graph for the other engine."""
    triples = rdflib.Graph()
    for name, kind, color, year in known.entities:
        triples.add((KG[name], rdflib.RDF.type, KG[kind]))
        triples.add((KG[name], KG.name, rdflib.Literal(name)))
        if color is not None:
            triples.add((KG[name], KG.description, rdflib.Literal(color)))
        if year is not None:
            triples.add((KG[name], KG.year, rdflib.Literal(year)))
    for source, relation, target in known.edges:
        triples.add((KG[source], KG[relation], KG[target]))
    return triples


def ours(known: Graph, tx: Tx, query: Select) -> list[tuple[Any, ...]]:
    """Our rows, a record by its name."""
    names = {record_id(place): name for place, (name, *_) in enumerate(known.entities)}
    rows = run(tx, PREFIX + query.text, ("local",), 10_000).rows
    return [tuple(names.get(row[f"{c}_id"]) if f"{c}_id" in row else row[c] for c in query.columns) for row in rows]


def plain(term: Any) -> Any:
    """A term as our rows show it."""
    if isinstance(term, rdflib.URIRef):
        return str(term).removeprefix(str(KG))
    return None if term is None else term.toPython()


def same(one: Sequence[Any], other: Sequence[Any], *, ordered: bool) -> bool:
    """Whether two answers have the same rows, in the same order where there is one.

    The other engine leaves out a row in which nothing is bound.
    """
    one = [row for row in one if any(value is not None for value in row)]
    return one == other if ordered else sorted(one, key=repr) == sorted(other, key=repr)


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_random_queries_have_the_rows_of_another_engine(seed: int) -> None:
    """Over a random graph, random queries have equal rows, as often as they occur, in order where one is fixed."""
    random = Random(seed)
    known = graph(random)
    triples = as_rdf(known)
    with loaded(known) as tx:
        for _ in range(QUERIES):
            query = select(random)
            theirs = [tuple(map(plain, row)) for row in triples.query(PREFIX + query.text)]
            assert same(ours(known, tx, query), theirs, ordered=query.ordered), query.text
