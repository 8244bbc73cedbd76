"""Pages of a query: joined they are the whole, and each says whether another one follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.query import cache, execute
from hivekeep.storage import edges, entities, events, notes
from hivekeep.storage.engine import Tx
from hivekeep_contract.errors import QueryTooExpensive
from hivekeep_contract.limits import QUERY_PAGE_CAP
from support.client import Hive, open_hive
from support.graphs import store_graph
from support.stores import edge, entity, event, note, record_id

MATCHES = 600


@pytest.fixture(scope="module")
def crowd() -> Iterator[Hive]:
    """600 projects, each depending on the one called hub."""
    with open_hive() as hive:
        names = [f"p{number}" for number in range(MATCHES)]
        nodes = {"hub": "project"} | dict.fromkeys(names, "project")
        store_graph(hive, nodes, [f"{name} depends_on hub" for name in names])
        yield hive


def pages(hive: Hive, text: str, size: int) -> list[dict[str, Any]]:
    """Every page, each asked for by SKIP next_offset of the one before."""
    found = [hive.call("query", query=text, page_size=size)]
    while found[-1]["has_more"]:
        found.append(hive.call("query", query=f"{text} SKIP {found[-1]['next_offset']}", page_size=size))
    return found


def test_600_matches_come_in_two_pages(crowd: Hive) -> None:
    """Without LIMIT 500 rows come with next_offset 500; SKIP 500 gives the 100 that are left, and no next_offset."""
    text = "MATCH (a)-[r:depends_on]->(b) RETURN a, r, b"
    first = crowd.call("query", query=text)
    assert (len(first["rows"]), first["offset"], first["page_size"]) == (500, 0, 500)
    assert (first["has_more"], first["truncated"], first["next_offset"]) == (True, True, 500)
    second = crowd.call("query", query=f"{text} SKIP 500")
    assert (len(second["rows"]), second["offset"], second["has_more"], second["truncated"]) == (100, 500, False, False)
    assert "next_offset" not in second
    assert len({row["r_id"] for row in first["rows"] + second["rows"]}) == MATCHES


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)-[r:depends_on]->(b) RETURN a.name, r.id",
        "MATCH (a)-[r]-(b) RETURN a.id, b.id",
        "MATCH (n) RETURN n.name",
        "MATCH (n) RETURN n.kind, n.name ORDER BY n.kind",
        "MATCH (n)-[*1..2]->(m) RETURN n.id, m.id",
        "MATCH (n) RETURN DISTINCT n.name",
        "MATCH (n) RETURN n.name, count(*) AS c ORDER BY c",
    ],
)
def test_pages_joined_are_the_whole(crowd: Hive, text: str) -> None:
    """Pages of 97 rows, one after the other, are the rows of one large page, in its order."""
    whole = crowd.call("query", query=text, page_size=QUERY_PAGE_CAP)
    assert whole["has_more"] is False
    joined = pages(crowd, text, 97)
    assert [row for page in joined for row in page["rows"]] == whole["rows"]
    assert [len(page["rows"]) for page in joined[:-1]] == [97] * (len(joined) - 1)


def test_a_limit_that_fits_ends_the_rows(crowd: Hive) -> None:
    """LIMIT up to the page size is terminal; a larger one pages; LIMIT 0 has no rows."""
    text = "MATCH (n:project) RETURN n.id LIMIT "
    exact = crowd.call("query", query=text + "5", page_size=5)
    assert (len(exact["rows"]), exact["has_more"]) == (5, False)
    larger = crowd.call("query", query=text + "6", page_size=5)
    assert (len(larger["rows"]), larger["has_more"], larger["next_offset"]) == (5, True, 5)
    assert crowd.call("query", query=text + "0")["rows"] == []
    assert crowd.call("query", query="MATCH (n:project) RETURN n.id SKIP 598 LIMIT 5")["offset"] == 598


def test_the_size_of_a_page_is_bounded(crowd: Hive) -> None:
    """`limit` is another name of page_size; 0 is refused, both at once are, and more than the cap is the cap."""
    text = "MATCH (n:project) RETURN n.id"
    assert len(crowd.call("query", query=text, limit=3)["rows"]) == 3
    assert crowd.refuses("query", query=text, page_size=0)["kind"] == "invalid_input"
    assert crowd.refuses("query", query=text, page_size=3, limit=3)["kind"] == "invalid_input"
    assert crowd.call("query", query=text, page_size=QUERY_PAGE_CAP + 1)["page_size"] == QUERY_PAGE_CAP


def test_a_text_is_compiled_once(crowd: Hive) -> None:
    """The second run of a text takes the compiled query of the first; other namespaces have another one."""
    text = "MATCH (n:project {name: 'p1'}) RETURN n.name"
    assert cache.prepared(text, ("local",)) is cache.prepared(text, ["local"])
    other = cache.prepared(text, ("local", "elsewhere"))
    assert other.compiled.statement.args[:2] == ["local", "elsewhere"]


def test_nothing_of_a_text_stands_in_the_statement() -> None:
    """Literals, kinds, relations and property names are bound arguments only."""
    text = (
        "MATCH (n:oddkind {oddkey: 'oddvalue'})-[e:extends]->(m) WHERE m.a.oddpath LIKE 'odd%'"
        " RETURN m.oddshown AS oddname"
    )
    statement = cache.prepared(text, ("oddspace",)).compiled.statement
    assert "odd" not in statement.sql
    assert "extends" not in statement.sql
    assert {"oddkind", "oddvalue", "odd%", "oddspace", "extends"} <= set(statement.args)


def test_a_query_that_runs_too_long_is_stopped(crowd: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern with 600 to the power of 5 matches ends with an error when its time is over, and the store goes on."""
    monkeypatch.setattr(execute, "QUERY_BUDGET_MS", 200)
    error = crowd.refuses("query", query="MATCH (a)-->(h)<--(b)-->(i)<--(c)-->(j)<--(d) RETURN count(*)")
    assert (error["code"], error["details"]) == ("query_too_expensive", {"budget_ms": "200"})
    assert crowd.call("query", query="MATCH (n {name: 'hub'}) RETURN n.name")["rows"] == [{"n_name": "hub"}]


def test_the_clock_of_one_query_is_not_that_of_the_next(crowd: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a query was stopped the same reader carries out longer statements."""
    with crowd.server.engine.read() as tx:
        monkeypatch.setattr(execute, "QUERY_BUDGET_MS", 1)
        with pytest.raises(QueryTooExpensive):
            execute.run(tx, "MATCH (a)-->(h)<--(b)-->(i)<--(c) RETURN count(*)", ("local",), 10)
        numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"
        assert tx.all(numbers + " SELECT max(i) FROM n") == [(300_000,)]


# what is seen


def write_scene(tx: Tx) -> None:
    """Records of every substrate, some deleted, some in another namespace."""
    for number, fields in enumerate(
        ({}, {}, {"deleted_at": 9}, {"namespace": "other"}, {"kind": "document"}, {"name": "note twin"})
    ):
        entities.insert(tx, entity(number, **fields))
    notes.insert(tx, note(10, name="note twin", status="active", salience=0.25))
    notes.insert(tx, note(11, content="about an edge", properties='{"status": "done"}'))
    for place, (source, target, fields) in enumerate(
        ((0, 1, {}), (1, 2, {}), (0, 3, {}), (1, 4, {"deleted_at": 9}), (4, 0, {"namespace": "other"}))
    ):
        edges.insert(tx, edge(100 + place, source, target, **fields))
    edges.insert(tx, edge(110, 11, 100, "annotates", weight=0.5))
    events.insert(tx, event(200, kind="entity_created", payload='{"name": "x"}'))
    events.observe(tx, record_id(200), "target", (record_id(0), record_id(0)))
    events.observe(tx, record_id(200), "selected", (record_id(10),))


@pytest.fixture(scope="module")
def scene() -> Iterator[Hive]:
    """See `write_scene`."""
    with open_hive() as hive:
        hive.server.engine.run_write(write_scene)
        yield hive


SEEN = (
    ("MATCH (n:concept) RETURN n.id AS id", [0, 1, 5]),
    ("MATCH (n) RETURN n.id AS id", [0, 1, 4, 5, 10, 11]),
    ("MATCH (n:entity) RETURN n.id AS id", [0, 1, 4, 5]),
    ("MATCH (n:note) RETURN n.id AS id", [10, 11]),
    ("MATCH (n:observation) RETURN n.id AS id", [10, 11]),
    ("MATCH (n:edge) RETURN n.id AS id", [100, 101, 102, 110]),
    ("MATCH (n:entity_created) RETURN n.id AS id", [200]),
    ("MATCH (a)-[:extends]->(b) RETURN b.id AS id", [1]),
    ("MATCH (a)-[]->(b) RETURN b.id AS id", [1, 100]),
    ("MATCH (a)-[]-(b) RETURN a.id AS id", [0, 1, 11, 100]),
    ("MATCH (a:note)-[:annotates]->(e:edge) WHERE e.relation = 'extends' RETURN e.id AS id", [100]),
    ("MATCH (a)-[:extends*1..4]->(b) RETURN b.id AS id", [1]),
    ("MATCH (a)-[*1..4]->(b) RETURN b.id AS id", [1, 100]),
    ("MATCH (n {name: 'NOTE TWIN'}) RETURN n.id AS id", [5, 10]),
    ("MATCH (n) WHERE n.status = 'done' RETURN n.id AS id", [11]),
    ("MATCH (n {status: 'active'}) RETURN n.id AS id", [10]),
    ("MATCH (n) WHERE n.salience < 0.5 RETURN n.id AS id", [10]),
    ("MATCH (n) WHERE n.content CONTAINS 'EDGE' RETURN n.id AS id", [11]),
    ("MATCH (n) WHERE n.created_at >= '1970-01-01T00:00:00.000005Z' AND n.created_at < 11 RETURN n.id AS id", [5, 10]),
    (f"MATCH (n) WHERE n.id = '{record_id(10).upper()}' RETURN n.id AS id", [10]),
    ("MATCH (e:event)-[:observed_as_target]->(n) RETURN n.id AS id", [0]),
    ("MATCH (e:event)-[:observed_as_target|observed_as_selected]->(n) RETURN n.id AS id", [0, 10]),
    ("MATCH (e)-[:observed_as_selected]->(n:note) WHERE e.properties.name = 'X' RETURN e.id AS id", [200]),
)


@pytest.mark.parametrize(("text", "numbers"), SEEN, ids=[text for text, _ in SEEN])
def test_a_query_sees_what_is_live_and_visible(scene: Hive, text: str, numbers: list[int]) -> None:
    """Deleted records and edges, and those of other namespaces, match nowhere; labels choose the substrate."""
    rows = scene.call("query", query=text)["rows"]
    ids = [row["id"] for row in rows if row["id"] in {record_id(number) for number in range(300)}]
    assert ids == [record_id(number) for number in numbers]


def test_other_namespaces_are_seen_by_those_who_may(scene: Hive) -> None:
    """A caller with two visible namespaces sees the nodes and edges of both."""
    both = scene.as_actor(None, None, ("other",))
    assert [row["b"] for row in both.call("query", query="MATCH (a)-[:extends]->(b) RETURN b.id AS b")["rows"]] == [
        record_id(1),
        record_id(3),
        record_id(0),
    ]


def test_whole_records_have_their_columns(scene: Hive) -> None:
    """A node shows eight columns with JSON properties and ISO times, an edge five."""
    text = "MATCH (a:concept)-[r]->(b) RETURN a, r AS link"
    assert scene.call("query", query=text)["rows"] == [
        {
            "a_id": record_id(0),
            "a_namespace": "local",
            "a_kind": "concept",
            "a_entity_type": None,
            "a_name": "entity 0",
            "a_properties": {},
            "a_created_at": "1970-01-01T00:00:00.000000Z",
            "a_updated_at": "1970-01-01T00:00:00.000000Z",
            "link_id": record_id(100),
            "link_source": record_id(0),
            "link_target": record_id(1),
            "link_relation": "extends",
            "link_weight": 1.0,
        }
    ]


def test_a_name_that_is_no_field_is_told(scene: Hive) -> None:
    """A property asked for by its bare name works, and a warning says how it was read."""
    answer = scene.call("query", query="MATCH (n:concept) WHERE n.severity = 'high' RETURN n.id")
    assert answer["rows"] == []
    assert answer["warnings"][0].startswith("n.severity is read as n.properties.severity; fields of nodes are id,")
    plain = "MATCH (n:concept) WHERE n.properties.severity = 'x' RETURN n.id"
    assert "warnings" not in scene.call("query", query=plain)
