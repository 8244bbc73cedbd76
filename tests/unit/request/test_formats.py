"""How results are written: json as they are, auto and table as a Markdown table or compact JSON text."""

import json
from typing import Any

import pytest

from hivekeep.request.formats import render

ROWS = [{"id": "a", "name": "x"}, {"id": "b", "kind": "c"}]


def test_json_is_never_reduced() -> None:
    """json answers the very same value in every mode."""
    result = {"full_id": "u", "namespace": "local", "name": "n", "properties": {"name": "n"}}
    assert render(result, "json", "agent") is result
    assert render(result, "json", "agent", parsed_content=True) is result


@pytest.mark.parametrize("format", ["auto", "table"])
def test_a_record_array_becomes_a_table(format: str) -> None:
    """Two or more objects make a table; columns are the union of keys as first seen."""
    table = "| id | name | kind |\n| --- | --- | --- |\n| a | x |  |\n| b |  | c |"
    assert render(ROWS, format, "agent") == table
    assert render({"n": 1, "items": ROWS, "next_after": None, "t": "a\nb", "o": {"k": [1]}}, format, "verbose") == (
        table + '\n\nn: 1\nnext_after: null\nt: "a\\nb"\no: {"k":[1]}'
    )


def test_the_first_record_array_is_the_table() -> None:
    """Of several arrays the first with two or more objects is shown as a table, the others as JSON beside
    it.
    """
    text = render({"a": [1, 2], "b": ROWS, "c": ROWS}, "auto", "agent")
    assert text.startswith("| id | name | kind |\n")
    assert '\n\na: [1,2]\nc: [{"id":"a","name":"x"},{"id":"b","kind":"c"}]' in text


@pytest.mark.parametrize(
    "result",
    [
        *(
            {"id": "a", "ä": [1, {"x": None}]},
            [{"id": "a"}],
            [{"id": "a"}, 1],
            [],
            5,
            None,
            "text",
            True,
            {"items": []},
        ),
        {"rows": [{}, {}], "offset": 0},
    ],
)
def test_anything_else_is_compact_json(result: object) -> None:
    """Without an array of two or more objects that have a field, the answer is compact JSON text in its own script.

    A table of rows without fields, which agent mode makes of rows of nulls, had no column.
    """
    expected = json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    assert render(result, "auto", "agent") == expected
    assert render(result, "table", "agent") == expected


def cells(row: dict[str, Any], mode: str = "agent") -> list[str]:
    """The cells of the first row of a table."""
    line = render([row, {}], "table", mode).split("\n")[2]
    return [cell.strip() for cell in line[1:-1].split(" | ")]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": 1}, "{…}"),
        ([1, [2]], "[…]"),
        ([{"a": 1}], "[…]"),
        (["a", 1, None], '["a",1,null]'),
        ([], "[]"),
        ("a|b", "a\\|b"),
        ("a\nb\r\nc", "a b c"),
    ],
)
def test_cells(value: object, cell: str) -> None:
    """Containers are hinted at, scalar arrays are JSON, bars are escaped and line breaks become blanks."""
    assert cells({"x": value}) == [cell]


def test_long_cells_are_cut() -> None:
    """Over 120 characters a cell is cut to 120 with dots, except identifying columns and in verbose mode."""
    assert cells({"x": "a" * 120}) == ["a" * 120]
    assert cells({"x": "a" * 121}) == ["a" * 117 + "..."]
    assert cells({"x": "a" * 121}, "human") == ["a" * 117 + "..."]
    assert cells({"x": "a" * 121}, "verbose") == ["a" * 121]
    for column in ("id", "title", "from", "source_id", "created_at", "due", "due_in"):
        assert cells({column: "a" * 121}) == ["a" * 121]
    assert cells({"x": "|" * 121}) == ["\\|" * 117 + "..."]


def test_column_names_are_escaped() -> None:
    """A bar in a key does not break the table."""
    assert render([{"a|b": 1}, {}], "table", "agent").startswith("| a\\|b |\n| --- |\n| 1 |")


def test_scalar_properties_are_hoisted() -> None:
    """trigger_at, due and status move out of properties unless the row has them; emptied properties go."""
    rows = [
        {"id": "a", "properties": {"due": "tomorrow", "status": "next"}},
        {"id": "b", "properties": {"due": {"x": 1}, "k": 1}, "status": "own"},
        {"id": "c", "status": "own", "properties": {"status": "other"}},
        {"id": "d", "properties": "text"},
    ]
    assert render(rows, "table", "verbose").split("\n") == [
        "| id | due | status | properties |",
        "| --- | --- | --- | --- |",
        "| a | tomorrow | next |  |",
        "| b |  | own | {…} |",
        "| c |  | own | {…} |",
        "| d |  |  | text |",
    ]


@pytest.mark.parametrize("mode", ["agent", "human"])
def test_repetitions_are_left_out_of_text(mode: str) -> None:
    """full_id, the default namespace and properties that repeat a field go, in objects and objects in
    arrays.
    """
    record = {
        "id": "u",
        "full_id": "u-u",
        "namespace": "local",
        "name": "n",
        "properties": {"name": "n", "id": "other", "full_id": 1},
    }
    lean = {"id": "u", "name": "n", "properties": {"id": "other", "full_id": 1}}
    assert json.loads(render(record, "auto", mode)) == lean
    assert json.loads(render({"list": [record], "in": record}, "table", mode)) == {"list": [lean], "in": lean}
    assert json.loads(render({"namespace": "team", "properties": {"namespace": "team"}}, "auto", mode)) == {
        "namespace": "team"
    }
    assert json.loads(render(record, "auto", "verbose")) == record


def test_sequenced_records_are_not_reduced() -> None:
    """The stored record inside {seq, id, created_at, record} keeps every key."""
    wrapped = {"seq": 1, "id": "u", "created_at": "t", "record": {"full_id": "u", "namespace": "local"}}
    assert json.loads(render({"item": wrapped}, "auto", "agent")) == {"item": wrapped}


CONTENT = {"full_id": "u", "namespace": "local", "rows": [{"a": 1}, {"a": 2}]}


def test_parsed_content_under_auto_is_json() -> None:
    """auto never makes a table of a parsed result and keeps the content whole, reducing only what is around
    it.
    """
    record = {"id": "u", "full_id": "u-u", "content": CONTENT}
    assert json.loads(render(record, "auto", "agent", parsed_content=True)) == {"id": "u", "content": CONTENT}
    rows = {"items": [{"id": "a", "content": [1, 2]}, {"id": "b", "content": CONTENT}]}
    assert json.loads(render(rows, "auto", "agent", parsed_content=True)) == rows


def test_parsed_content_under_table_is_text() -> None:
    """table shows parsed objects and arrays as JSON text; a content array of one record makes no table."""
    record = {"id": "u", "content": [{"a": 1}, {"a": 2}]}
    assert json.loads(render(record, "table", "agent", parsed_content=True)) == {
        "id": "u",
        "content": '[{"a":1},{"a":2}]',
    }
    assert record["content"] == [{"a": 1}, {"a": 2}]
    rows = {"notes": [{"id": "a", "content": {"k": None}}, {"id": "b", "content": 5}]}
    assert render(rows, "table", "agent", parsed_content=True).split("\n")[2:] == ['| a | {"k":null} |', "| b | 5 |"]
