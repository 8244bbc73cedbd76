"""SPARQL that is refused: which error, and what it says."""

from __future__ import annotations

import json
import time

import pytest

from hivekeep.query import execute
from hivekeep.query.cache import prepared
from hivekeep.query.sparql_parse import parse_tree
from hivekeep_contract.errors import HivekeepError, InvalidQuery, Unsupported
from hivekeep_contract.limits import QUERY_BUDGET_MS, QUERY_MAX_NESTING
from support.client import Hive
from support.graphs import store_graph

OUTSIDE = {
    "SELECT ?x { ?x :name ?n } OFFSET 1": "OFFSET",
    "SELECT ?x { ?x :name ?n } ORDER BY ?n LIMIT 3 OFFSET 1": "OFFSET",
    "SELECT * { ?x :name ?n }": "*",
    "SELECT REDUCED ?x { ?x :name ?n }": "REDUCED",
    "SELECT ?x FROM <urn:g> { ?x :name ?n }": "FROM",
    "SELECT ?x { GRAPH ?g { ?x :name ?n } }": "GRAPH",
    "SELECT ?x { SERVICE <urn:s> { ?x :name ?n } }": "SERVICE",
    "SELECT ?x { ?x :name ?n MINUS { ?x :born ?b } }": "MINUS",
    "SELECT ?x { ?x :name ?n BIND(1 AS ?one) }": "BIND",
    "SELECT ?x { VALUES ?n { 'a' } ?x :name ?n }": "VALUES",
    "SELECT ?x { { SELECT ?x { ?x :name ?n } } }": "SELECT",
    "SELECT ?n (COUNT(*) AS ?c) { ?x :name ?n } GROUP BY ?n HAVING(?c > 1)": "HAVING",
    "SELECT (SUM(?b) AS ?s) { ?x :born ?b }": "SUM",
    "SELECT (GROUP_CONCAT(?b) AS ?s) { ?x :born ?b }": "GROUP_CONCAT",
    "SELECT ?x { ?x :born ?b FILTER(?b + 1 = 2) }": "+",
    "SELECT ?x { ?x :born ?b FILTER(?b * 2 = 2) }": "*",
    "SELECT ?x { ?x :name ?n FILTER(LANG(?n) = 'en') }": "LANG",
    "SELECT ?x { ?x :name ?n FILTER(DATATYPE(?n) = :x) }": "DATATYPE",
    "SELECT ?x { ?x :name ?n FILTER REGEX(?n, 'a.*b') }": "REGEX",
    "SELECT ?x { ?x :name ?n FILTER(SUBSTR(?n, ?b) = 'a') }": "SUBSTR",
    "SELECT ?x { ?x :name 'a'@en }": "@",
    "SELECT ?x { ?x :born '1'^^:integer }": "^^",
    "SELECT ?x { ?x :name [] }": "[",
    "SELECT ?x { _:b :name ?x }": "_:",
    "SELECT ?x { ?x ?p ?o }": "?p",
    "SELECT ?x { ?x !:extends ?o }": "!",
    "SELECT ?x { ?x :properties ?o }": "properties",
    "SELECT ?x { ?x :namespace 'local' }": "namespace",
    "SELECT ?x { ?x (:extends+/:contains)+ ?y }": "repetition",
    "SELECT (COUNT(DISTINCT *) AS ?c) { ?x :name ?n }": "DISTINCT",
    "SELECT ?x { ?x :extends ?y . ?z :name ?y }": "?y",
    "SELECT ?x { ?x :extends ?y FILTER(?x < ?y) }": "order records",
    "SELECT ?x { ?x :extends ?y FILTER(?y = 'Ada') }": "?y :name",
    "SELECT ?x { ?x :extends ?y FILTER(STRLEN(?y) = 3) }": "?y :name",
    "ASK { ?x :name ?n }": "ASK",
    "CONSTRUCT { ?x :name ?n } WHERE { ?x :name ?n }": "CONSTRUCT",
    "DESCRIBE :Ada": "DESCRIBE",
}
"""Queries outside the dialect, and the word their refusal names."""

WRONG = {
    "SELECT ?x { ?x :name ?n": "ends here",
    "SELECT ?x { ?x :name }": "'}'",
    "SELECT ?x { ?x :name ?n } LIMIT x": "'x",
    "SELECT ?x { ?x :name ?n } LIMIT -1": "LIMIT",
    "SELECT ?x { ?x :name ?n } LIMIT 1.5": "LIMIT",
    "SELECT ?x { ?x :name ?n } LIMIT 99999999999999999999": "LIMIT",
    "SELECT ?x { ?x :name ?n } LIMIT 3 ORDER BY ?n": "ORDER",
    "SELECT { ?x :name ?n }": "a variable",
    "SELECT ?x { ?x :name 'a }": "'",
    "SELECT ?x { ?x :name 'a\\q' }": "escape",
    "SELECT ?x { ?x :name '\\uD800' }": "escape",
    "SELECT ?x { ?x :born 1e999 }": "too large",
    "SELECT ?x { ?x :born 9223372036854775808 }": "64 bits",
    "SELECT ?x { ?x kg:name ?n }": "kg:",
    "SELECT ?x { ?x <urn:kg:> ?n }": "urn:kg:",
    "SELECT ?z { ?x :name ?n }": "?z",
    "SELECT ?x ?x { ?x :name ?n }": "x_id",
    "SELECT ?n (?n AS ?n) { ?x :name ?n }": "?n",
    "SELECT ?n (COUNT(*) AS ?c) { ?x :name ?n }": "GROUP BY",
    "SELECT ?n { ?x :name ?n ; :born ?b } GROUP BY ?b": "GROUP BY",
    "SELECT ?n { ?x :name ?n } GROUP BY ?z": "?z",
    "SELECT ?n (COUNT(*) AS ?c) { ?x :name ?n ; :born ?b } GROUP BY ?n ORDER BY ?b": "GROUP BY",
    "SELECT ?x { ?x a :concept ; a :person }": "concept",
    "SELECT ?x { ?x :name 'a' ; :name 'b' }": "'a'",
    "SELECT ?x { ?x a 3 }": "kind",
    "SELECT ?x { ?x :extends 'text' }": "text",
    "SELECT ?x { ?x :name+ ?y }": "extends",
    "SELECT ?x { ?x :name/:extends ?y }": "behind a field",
    "SELECT ?x { ?x :extends{2,1} ?y }": "least",
    "SELECT ?x { ?x :extends{1,11} ?y }": "10",
    "SELECT ?x { ?x :name ?n FILTER BOUND(?n, ?x) }": "BOUND",
    "SELECT ?x { ?x :name ?n FILTER(STRSTARTS(?n)) }": "STRSTARTS",
    "SELECT ?x { ?x :created_at ?t FILTER(?t > 'yesterday') }": "ISO 8601",
}
"""Queries that are no SPARQL or cannot be meant, and what their refusal says."""

WRITES = (
    "INSERT DATA { :a :extends :b }",
    "delete data { :a :extends :b }",
    "DELETE WHERE { ?s ?p ?o }",
    "PREFIX : <urn:kg:>\n# comment\nINSERT { ?s :extends ?o } WHERE { ?s :enables ?o }",
    "WITH <urn:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "LOAD <http://example.org/x>",
    "CLEAR ALL",
    "DROP GRAPH <urn:g>",
    "COPY <urn:a> TO <urn:b>",
    "MOVE <urn:a> TO <urn:b>",
    "ADD <urn:a> TO <urn:b>",
    "CREATE GRAPH <urn:g>",
    "SELECT ?x { ?x :name ?n } ; DELETE WHERE { ?s ?p ?o }",
    "SELECT ?x { ?x :name ?n . INSERT { ?x :name 'a' } }",
)


def refusal(text: str) -> HivekeepError:
    """The error of a text; it is found before anything is read."""
    with pytest.raises(HivekeepError) as caught:
        prepared(text, ("local",))
    return caught.value


@pytest.mark.parametrize(("text", "word"), OUTSIDE.items())
def test_what_the_dialect_has_not_is_named(text: str, word: str) -> None:
    """Every word of SPARQL outside the dialect is refused by its name."""
    error = refusal(text)
    assert type(error) is Unsupported
    assert word in error.message


@pytest.mark.parametrize(("text", "says"), WRONG.items())
def test_what_cannot_be_meant_says_why(text: str, says: str) -> None:
    """Bad input gets the error of bad input and its reason."""
    error = refusal(text)
    assert error.kind == "invalid_input"
    assert says in error.message


@pytest.mark.parametrize("text", WRITES)
def test_a_write_is_pointed_to_the_verbs(text: str) -> None:
    """Whatever would write is refused as such, wherever the word stands."""
    error = refusal(text)
    assert type(error) is Unsupported
    assert "read-only" in error.message
    assert all(verb in error.message for verb in ("create", "update", "link", "merge", "delete"))


def test_a_mistake_is_placed(hive: Hive) -> None:
    """The position counts characters from 0; what would be accepted there is listed."""
    error = hive.refuses("query", query="SELECT ?x\nWHERE { ?x :name ?n FILTER(?n = ) }")
    assert (error["kind"], error["code"]) == ("invalid_input", "invalid_query")
    assert error["details"] == {"position": "42", "line": "2", "column": "33"}
    assert (
        "accepted: !, (, EXISTS, FALSE, NOT, TRUE, a function, a name, a number, a text, a variable" in error["message"]
    )


def test_words_of_writing_are_free_as_names() -> None:
    """A property, variable or text may be called like a word that writes."""
    query = parse_tree("SELECT ?delete { ?delete :insert 'drop' ; :set ?create }")
    assert [column.name.name for column in query.columns] == ["delete"]
    assert len(query.where.elements) == 2


# hostile texts


DEEP = QUERY_MAX_NESTING + 1
HOSTILE = {
    "brackets": "SELECT ?x { ?x :name ?n FILTER(" + "(" * DEEP + "?n" + ")" * DEEP + ") }",
    "groups": "SELECT ?x { " + "{" * DEEP + "?x :name ?n" + "}" * DEEP + " }",
    "brackets behind an address": "PREFIX p: <http://a/b> SELECT ?x { ?x :name ?n FILTER(" + "(" * DEEP,
    "patterns": "SELECT ?x { " + " ".join(f"?x{n} :name ?n{n} ." for n in range(1000)) + " ?x :name ?n }",
    "branches": "SELECT ?x { { ?x :a 1 }" + " UNION { ?x :a 1 }" * 2000 + " }",
    "alternatives": "SELECT ?x { ?x " + "|".join(f":extends/:p{n}" for n in range(2000)) + " ?y }",
    "a path of many ways": "SELECT ?x { ?x ((:extends|:contains|:enables){1,10}/:extends)+ ?y }",
    "conditions": "SELECT ?x { ?x :name ?n FILTER(" + " || ".join(f"?n = 'a{n}'" for n in range(3000)) + ") }",
    "functions": "SELECT ?x { ?x :v ?n FILTER(" + "STRAFTER(" * 40 + "?n" + ", 'a')" * 40 + " = 'b') }",
    "a long text without an end": 'SELECT ?x { ?x :v """' + 'a"' * 25_000,
    "quotes": "SELECT ?x { ?x :v " + "'" * 50_001,
    "escapes": 'SELECT ?x { ?x :v "' + "\\" * 50_001,
    "dots": "SELECT ?x { ?x :" + "a." * 25_000,
    "open comments": "SELECT ?x { " + "/* " * 20_000,
    "open addresses": "SELECT ?x { " + "<a" * 25_000,
    "options": "SELECT ?x { ?x :name ?n " + "OPTIONAL { ?x :a ?b } " * 1000 + "}",
}
"""Texts that are all legal SPARQL or nearly so, and larger than any sense."""


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_text_is_answered_in_time(hive: Hive, text: str) -> None:
    """However large or deep, a text ends in an answer or a refusal of the contract within the budget."""
    store_graph(hive, {"A": "concept", "B": "concept"}, ["A extends B"])
    started = time.monotonic()
    entry = hive.entry(json.dumps([{"tool": "query", "args": {"query": text}}]))
    assert time.monotonic() - started < QUERY_BUDGET_MS / 1000 + 1
    assert entry["ok"] or entry["error"]["kind"] in ("invalid_input", "unsupported")


def test_marks_of_denial_cost_no_depth(hive: Hive) -> None:
    """Ten thousand marks mean the same as two, and are read in time."""
    store_graph(hive, {"A": "concept", "B": "concept"}, [])
    text = "SELECT ?n {{ ?x :name ?n FILTER({}(?n = 'A')) }}"
    assert hive.call("query", query=text.format("!" * 10_000))["rows"] == [{"n": "A"}]
    assert hive.call("query", query=text.format("!" * 9_999))["rows"] == [{"n": "B"}]


def test_an_expensive_pattern_is_stopped(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of everything with everything ends in the budget's own error."""
    monkeypatch.setattr(execute, "QUERY_BUDGET_MS", 200)
    store_graph(hive, {f"n{number}": "concept" for number in range(400)}, [])
    text = "SELECT (COUNT(*) AS ?c) { ?a :name ?an . ?b :name ?bn . ?c1 :name ?cn . ?d :name ?dn }"
    assert hive.refuses("query", query=text)["code"] == "query_too_expensive"


def test_a_refusal_is_invalid_query() -> None:
    """What is no SPARQL has the class of bad query texts, with the position."""
    error = refusal("SELECT ?x { ?x :extends{3,2} ?y }")
    assert type(error) is InvalidQuery
    assert error.details == {"position": "24"}
