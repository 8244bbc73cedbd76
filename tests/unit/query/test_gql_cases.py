"""GQL: graphs and queries with the rows that are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.client import Hive
from support.graphs import store_graph

DATA = yaml.safe_load((Path(__file__).parents[2] / "data" / "gql_cases.yaml").read_text(encoding="utf-8"))
REFUSED = [case for case in DATA["cases"] if "refused" in case]
ANSWERED = [case for case in DATA["cases"] if "rows" in case]
CUT = [case for case in DATA["cases"] if "row_count" in case]


def rows_of(hive: Hive, case: dict[str, Any]) -> list[list[Any]]:
    """The rows of a case as lists, by the columns it names."""
    graph = DATA["graphs"][case["graph"]]
    store_graph(hive, graph["nodes"], graph["edges"])
    answered = hive.call("query", query=case["query"])["rows"]
    return [[row[column] for column in case["columns"]] for row in answered]


@pytest.mark.parametrize("case", ANSWERED, ids=lambda case: case["query"])
def test_a_query_has_exactly_these_rows(hive: Hive, case: dict[str, Any]) -> None:
    """The rows are right, in this order where the query decides one."""
    found, expected = rows_of(hive, case), case["rows"]
    if not case.get("ordered"):
        found, expected = sorted(found, key=json.dumps), sorted(expected, key=json.dumps)
    assert json.dumps(found) == json.dumps(expected)


@pytest.mark.parametrize("case", CUT, ids=lambda case: case["query"])
def test_a_limit_cuts_whatever_comes_first(hive: Hive, case: dict[str, Any]) -> None:
    """So many rows come back, each one of those there are."""
    found = rows_of(hive, case)
    assert len(found) == case["row_count"]
    assert all(row in case["drawn_from"] for row in found)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["query"])
def test_a_refused_query_changes_nothing(hive: Hive, case: dict[str, Any]) -> None:
    """The refusal has its code, and the graph is as it was."""
    graph = DATA["graphs"][case["graph"]]
    store_graph(hive, graph["nodes"], graph["edges"])
    before = hive.call("stats")
    assert hive.refuses("query", query=case["query"])["code"] == case["refused"]
    assert hive.call("stats") == before
