"""SPARQL: graphs and queries with the rows that are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.client import Hive
from support.graphs import store_graph

DATA = yaml.safe_load((Path(__file__).parents[2] / "data" / "sparql_cases.yaml").read_text(encoding="utf-8"))
REFUSED = [case for case in DATA["cases"] if "refused" in case]
ANSWERED = [case for case in DATA["cases"] if "rows" in case]


def store(hive: Hive, case: dict[str, Any]) -> None:
    """Store the graph of a case."""
    graph = DATA["graphs"][case["graph"]]
    store_graph(hive, graph["nodes"], graph["edges"])


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["query"])
def test_a_query_has_exactly_these_rows(hive: Hive, case: dict[str, Any]) -> None:
    """The rows are right, as often as they occur, in this order where the query decides one."""
    store(hive, case)
    answer = hive.call("query", query=case["query"])
    found = [[row[column] for column in case["columns"]] for row in answer["rows"]]
    expected = case["rows"]
    if not case.get("ordered"):
        found, expected = sorted(found, key=json.dumps), sorted(expected, key=json.dumps)
    assert json.dumps(found) == json.dumps(expected)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["query"])
def test_a_refused_query_changes_nothing(hive: Hive, case: dict[str, Any]) -> None:
    """The refusal has its code, and the graph is as it was."""
    store(hive, case)
    before = hive.call("stats")
    assert hive.refuses("query", query=case["query"])["code"] == case["refused"]
    assert hive.call("stats") == before
