"""What GQL refuses, and how: each refusal is typed, names the word or place, and ends in a bounded time."""

from __future__ import annotations

import json
import time

import pytest

from hivekeep_contract import limits
from support.client import Hive

HOSTILE_SECONDS = 10
"""A text at the limits is refused or answered well within this, on a slow machine too."""

WRITES = (
    "CREATE (n:concept {name: 'x'})",
    "create (n)",
    "MERGE (n) RETURN n",
    "DELETE n",
    "DROP INDEX i",
    "LOAD CSV FROM 'x' AS row",
    "INSERT (n)",
    "UPDATE x",
    "REMOVE n.x",
    "SET n.x = 1",
    "COPY a TO b",
    "MATCH (n) SET n.name = 'x'",
    "MATCH (n) SET n.name = 'x' RETURN n",
    "MATCH (n) DELETE n",
    "MATCH (n) REMOVE n.name",
    "MATCH (n) WHERE n.name = 'a' MERGE (m)",
    "MATCH (n) RETURN n.name CREATE (m)",
    "MATCH (a), (b) CREATE (a)-[:extends]->(b)",
    "MATCH (n) FOREACH (x IN [1] | SET n.x = x)",
    "// find\nMATCH (n) /* and */ dElEtE n",
    "WITH 1 AS x MATCH (n) DELETE n",
)
OUTSIDE = (
    ("OPTIONAL MATCH (n) RETURN n", "OPTIONAL"),
    ("UNWIND [1] AS x RETURN x", "UNWIND"),
    ("CALL db.labels()", "CALL"),
    ("RETURN 1", "RETURN"),
    ("ASK { ?x ?y ?z }", "ASK"),
    ("MATCH (a), (b) RETURN a", ","),
    ("MATCH (a) MATCH (b) RETURN a", "MATCH"),
    ("MATCH (a) WITH a RETURN a", "WITH"),
    ("MATCH (a) RETURN a UNION MATCH (b) RETURN b", "UNION"),
    ("MATCH (a) RETURN a OFFSET 1", "OFFSET"),
    ("MATCH (a) RETURN *", "*"),
    ("MATCH (a) RETURN sum(a.x)", "sum()"),
    ("MATCH (a) RETURN collect(a.name) AS c", "collect()"),
    ("MATCH (a) WHERE toLower(a.name) = 'x' RETURN a", "toLower()"),
    ("MATCH (a) WHERE a.name = $name RETURN a", "$"),
    ("MATCH (a {name: $name}) RETURN a", "$"),
    ("MATCH (a) WHERE a.name =~ 'x.*' RETURN a", "=~"),
    ("MATCH (a) WHERE a.name = NULL RETURN a", "NULL"),
    ("MATCH (a) WHERE a.name = 'x' XOR a.name = 'y' RETURN a", "XOR"),
    ("MATCH (a) WHERE EXISTS { (a)-->() } RETURN a", "EXISTS"),
    ("MATCH (a)-[:extends*1..2]->(b)-[:extends]->(c) RETURN a", "variable-length"),
    ("MATCH (a)-->(b)-[e*]->(c) RETURN a", "variable-length"),
    ("MATCH (a)" + "-->()" * 30 + " RETURN a", "too large"),
    ("MATCH (a) WHERE " + " AND ".join(["a.x = 1"] * limits.QUERY_MAX_PARTS) + " RETURN a.x", "at most 500"),
)
MISTAKES = (
    ("", "MATCH (GQL) or SELECT (SPARQL)"),
    ("   # nothing", "MATCH (GQL) or SELECT (SPARQL)"),
    ("hello", "MATCH (GQL) or SELECT (SPARQL)"),
    ("MATCH", "the query ends here"),
    ("MATCH (n", "accepted: ), :, {"),
    ("MATCH (n)", "RETURN"),
    ("MATCH (n) RETURN", "a name"),
    ("MATCH (n) RETURN n.", "a name"),
    ("MATCH (n RETURN n", "column 10"),
    ("MATCH (n)\nRETURN n.name AS", "line 2, column 17"),
    ("MATCH (n) RETURN n LIMIT -1", "'-1' is not expected"),
    ("MATCH (n) RETURN n LIMIT 1.5", "'.5' is not expected"),
    ("MATCH (n) RETURN n SKIP -1", "'-1' is not expected"),
    ("MATCH (n) RETURN n LIMIT 1 SKIP 1", "'SKIP 1' is not expected"),
    ("MATCH (n) RETURN n LIMIT 9223372036854775808", "64 bits"),
    ("MATCH (n) WHERE n.x = " + "9" * 400 + ".0 RETURN n", "finite"),
    ("MATCH (n) WHERE n.name = 'x RETURN n", "is not expected"),
    ("MATCH (n) WHERE n.name RETURN n", "accepted"),
    ("MATCH (n) WHERE (n.name = 'x' RETURN n", "accepted: )"),
    ("MATCH (n) WHERE n.name = 'x' AND RETURN n", "is not expected"),
    ("MATCH (n) RETURN x", "MATCH binds no variable 'x'; it binds n"),
    ("MATCH () RETURN x", "it binds none"),
    ("MATCH (n) WHERE m.name = 'x' RETURN n", "no variable 'm'"),
    ("MATCH (n) RETURN n ORDER BY m.name", "no variable 'm'"),
    ("MATCH (n) RETURN n.name AS a, n.kind AS a", "column 'a' is there already"),
    ("MATCH (n) RETURN n, n.kind AS n_id", "column 'n_id' is there already"),
    ("MATCH (n {name: 'a', name: 'b'}) RETURN n", "'name' is given twice"),
    ("MATCH (n {namespace: 'x'}) RETURN n", "those of its caller"),
    ("MATCH (n) WHERE n.namespace = 'x' RETURN n", "those of its caller"),
    ("MATCH (n {entity_type: 3}) RETURN n", "entity_type must be a string"),
    ("MATCH (n) WHERE n.properties = 'x' RETURN n", "n.properties.<name>"),
    ("MATCH (n) WHERE n.created_at > 'yesterday' RETURN n", "ISO 8601"),
    ("MATCH (a)-[:x]->(b) RETURN b", "relations are contains, part_of"),
    ("MATCH (a)-[e]->(b) WHERE e.relation = 'x' RETURN b", "relations are contains, part_of"),
    ("MATCH (a)-[e]->(b) WHERE e.color = 'x' RETURN b", "fields of an edge are"),
    ("MATCH (a)-[a]->(b) RETURN b", "'a' is taken"),
    ("MATCH (a)-[e]->(b)-[e]->(c) RETURN b", "'e' is taken"),
    ("MATCH (a)-[:extends*0..2]->(b) RETURN b", "from 1 to 10 hops"),
    ("MATCH (a)-[:extends*0]->(b) RETURN b", "from 1 to 10 hops"),
    ("MATCH (a)-[:extends*3..2]->(b) RETURN b", "not 3 to 2"),
    ("MATCH (a)-[:extends*1..11]->(b) RETURN b", "from 1 to 10 hops"),
    ("MATCH (a)-[e:extends*1..2]->(b) RETURN e", "not one edge"),
    ("MATCH (a)-[e:extends*1..2]->(b) WHERE e.weight > 0.5 RETURN b", "not one edge"),
    ("MATCH (a)-[:extends*1..2]->(b) RETURN b.name ORDER BY a.name", "takes what RETURN shows"),
    ("MATCH (n) RETURN DISTINCT n.name ORDER BY n.kind", "takes what RETURN shows"),
    ("MATCH (n) RETURN n.kind, count(*) ORDER BY n.name", "takes what RETURN shows"),
    ("MATCH (n) RETURN n.kind ORDER BY count(*)", "only when RETURN does"),
    ("MATCH (e:event)-[:observed_as_target|extends]->(n) RETURN n", "not mixed"),
    ("MATCH (n)<-[:observed_as_target]-(e) RETURN n", "leads from an event"),
    ("MATCH (e:event)-[o:observed_as_target]->(n) RETURN o", "not an edge"),
    ("MATCH (n) WHERE " + "(" * 51 + "n.x = 1" + ")" * 51 + " RETURN n", "nested 50 deep"),
    ("MATCH (n) WHERE " + "NOT " * 51 + "n.x = 1 RETURN n", "nested 50 deep"),
    ("MATCH (n) RETURN n" + " " * limits.QUERY_MAX_BYTES, "at most 65536"),
)
HOSTILE = (
    "MATCH (n) WHERE " + "(" * 60_000,
    "MATCH (n) WHERE " + "NOT " * 16_000 + "n.x = 1 RETURN n",
    "MATCH (n) WHERE " + " OR ".join(["n.x=1"] * 6_500) + " RETURN n",
    "MATCH (n) RETURN " + ",".join(f"n.x{place}" for place in range(6_000)),
    "MATCH " + "-->".join(["()"] * 12_000) + " RETURN 1",
    "MATCH (n {x: " + "9" * 65_000 + "}) RETURN n",
    "MATCH (n) WHERE n.x" + ".a" * 32_000 + " = 1 RETURN n",
    "MATCH (n) WHERE n.name LIKE '" + "%a" * 32_000 + "' RETURN n",
    "/*" * 32_000,
    "MATCH (n) " + "/*" * 32_000,
    "MATCH (n) RETURN n " + "'\"" * 32_000,
    "<" * 65_000,
)


@pytest.mark.parametrize("text", WRITES)
def test_a_text_that_would_write_is_refused_by_its_word(hive: Hive, text: str) -> None:
    """The refusal says that queries only read, names the word, and names the verbs that write."""
    error = hive.refuses("query", query=text)
    assert error["code"] == "unsupported"
    assert "read-only" in error["message"]
    assert error["details"]["word"] in text.upper()
    assert "create, update, link, merge and delete" in error["message"]


@pytest.mark.parametrize(("text", "word"), OUTSIDE, ids=[word for _, word in OUTSIDE])
def test_what_is_outside_the_dialect_is_refused_by_name(hive: Hive, text: str, word: str) -> None:
    """The refusal names the word and what to do instead."""
    error = hive.refuses("query", query=text)
    assert error["code"] == "unsupported"
    assert word in error["message"]


@pytest.mark.parametrize(("text", "says"), MISTAKES, ids=[text[:60] for text, _ in MISTAKES])
def test_a_mistake_is_named(hive: Hive, text: str, says: str) -> None:
    """The refusal is invalid_input and says what was wrong, or what is accepted."""
    error = hive.refuses("query", query=text)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]


def test_a_mistake_tells_its_place(hive: Hive) -> None:
    """Position counts characters from 0, line and column from 1."""
    error = hive.refuses("query", query="MATCH (n)\n  RETRUN n")
    assert error["details"] == {"position": "12", "line": "2", "column": "3"}


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_ends_soon(hive: Hive, text: str) -> None:
    """A text that is all nesting, all length or all repetition is answered or refused, with a typed error, in time."""
    began = time.monotonic()
    entry = hive.entry(json.dumps([{"tool": "query", "args": {"query": text}}]))
    assert time.monotonic() - began < HOSTILE_SECONDS
    assert entry["ok"] or entry["error"]["code"] in ("unsupported", "invalid_query")


@pytest.mark.parametrize(
    "text",
    ["MATCH (n) RETURN count(count(*))", "MATCH (n) WHERE count(*) > 1 RETURN n", "MATCH (n) RETURN sum(n.x)"],
)
def test_a_function_that_is_not_taken_is_told_which_is_and_where(hive: Hive, text: str) -> None:
    """`count` itself is refused where it may not stand, so the answer says where it may."""
    message = hive.refuses("query", query=text)["message"]
    assert message.endswith("the only function is count(*) or count([DISTINCT] field), in RETURN and ORDER BY")


def test_words_of_writing_are_fine_as_names(hive: Hive) -> None:
    """Inside strings, comments and names a word of writing is no word of writing."""
    hive.call("create", kind="concept", name="delete set", properties={"set": "create"})
    text = "MATCH (merge:concept {name: 'DELETE SET'}) /* delete */ WHERE merge.set = 'create' RETURN merge.set AS drop"
    assert hive.call("query", query=text)["rows"] == [{"drop": "create"}]
