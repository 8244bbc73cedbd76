"""The printed argument schemas accept and refuse exactly what the contract words say."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

SMALL = Path(__file__).parents[2] / "golden" / "small" / "generated" / "hivekeep_contract"
SCHEMAS: dict[str, Any] = json.loads((SMALL / "schemas.json").read_text(encoding="utf-8"))
VALID = {name: jsonschema_rs.Draft202012Validator(schema) for name, schema in SCHEMAS["args"].items()}


@pytest.mark.parametrize(
    ("verb", "arguments", "valid"),
    [
        ("keep", {"text": "x"}, True),
        ("keep", {}, False),
        ("keep", {"body": "x"}, True),
        ("keep", {"text": None}, False),
        ("keep", {"text": "x", "colour": 1}, False),
        ("keep", {"text": "x" * 100}, True),
        ("keep", {"text": "x" * 101}, False),
        ("keep", {"text": "x", "mood": "good"}, True),
        ("keep", {"text": "x", "mood": "fine"}, True),
        ("keep", {"text": "x", "mood": "bad"}, False),
        ("keep", {"text": "x", "mood": None}, True),
        ("keep", {"text": "x", "tint": "any word, the enum is lenient"}, True),
        ("keep", {"text": "x", "tags": ["a"] * 5}, True),
        ("keep", {"text": "x", "tags": ["a"] * 6}, False),
        ("keep", {"text": "x", "links": [{"target": "1"}]}, True),
        ("keep", {"text": "x", "links": [{"target": "1", "relation": None}]}, True),
        ("keep", {"text": "x", "links": [{"relation": "in"}]}, False),
        ("keep", {"text": "x", "links": [{"target": "1", "more": 1}]}, False),
        ("keep", {"text": "x", "tags": [], "links": []}, False),
        ("keep", {"text": "x", "tags": [], "links": None}, True),
        ("keep", {"text": "x", "at": "now"}, False),
        ("keep", {"text": "x", "at": "now", "reply_to": "1"}, True),
        ("keep", {"text": "x", "at": "now", "reply_to": None}, True),
        ("keep", {"text": "x", "reply_to": "1"}, False),
        ("keep", {"text": "x", "loud": False}, True),
        ("keep", {"text": "x", "loud": True}, False),
        ("keep", {"text": "x", "loud": True, "tint": "red"}, True),
        ("find", {"query": "x"}, True),
        ("find", {"id": "1"}, True),
        ("find", {}, False),
        ("find", {"query": "x", "id": "1"}, False),
        ("find", {"query": "x", "id": None}, True),
        ("find", {"query": None, "id": None}, False),
        ("find", {"query": "x", "limit": 10_000}, True),
        ("find", {"query": "x", "limit": -1}, False),
        ("todo.import", {"from": "a", "ids": ["1"]}, True),
        ("todo.import", {"from": ["a"], "edges": [{"source": "a"}]}, True),
        ("todo.import", {"from": "a"}, False),
        ("todo.import", {"from": "a", "ids": []}, False),
        ("todo.import", {"from": 1, "ids": ["1"]}, False),
        ("todo.list", {}, True),
        ("todo.list", {"x": 1}, False),
    ],
)
def test_arguments(verb: str, arguments: dict[str, object], valid: bool) -> None:
    """Aliases, null, bounds, nested objects and every rule, as the compiled schema sees them.

    Null means absent for optional parameters; where null is a value (`reply_to`), it counts as given.
    """
    assert VALID[verb].is_valid(arguments) is valid


@pytest.mark.parametrize(
    ("verb", "arguments", "says"),
    [
        ("keep", {}, "missing argument 'text'"),
        ("keep", {"text": "x", "tags": [], "links": []}, "give at most one of 'tags' or 'links'"),
        ("keep", {"text": "x", "at": "now"}, "'at' needs 'reply_to'"),
        ("keep", {"text": "x", "reply_to": "1"}, "a time belongs to an answer"),
        ("keep", {"text": "x", "loud": True}, "'tint' is required when 'loud' is true"),
        ("find", {}, "give exactly one of 'query' or 'id'"),
        ("todo.import", {"from": "a"}, "give at least one of 'edges' or 'ids'"),
    ],
)
def test_a_broken_rule_leads_to_its_sentence(verb: str, arguments: dict[str, object], says: str) -> None:
    """The failing member of `allOf` carries the sentence of the contract."""
    parts = SCHEMAS["args"][verb]["allOf"]
    broken = [part["description"] for part in parts if not jsonschema_rs.is_valid(part, arguments)]
    assert says in broken


def test_the_condition_of_when_counts_the_default() -> None:
    """`loud` is allowed with the default mood, with its value and with an alias of it, not with another one."""
    part = next(part for part in SCHEMAS["args"]["keep"]["allOf"] if part["description"].startswith("'loud'"))
    allowed = [{"loud": True}, {"loud": True, "mood": "good"}, {"loud": True, "mood": "fine"}, {"mood": "bad"}]
    assert [jsonschema_rs.is_valid(part, arguments) for arguments in allowed] == [True] * 4
    assert not jsonschema_rs.is_valid(part, {"loud": True, "mood": "bad"})


def test_results_are_closed_unless_the_shape_is_open() -> None:
    """A result with an undeclared field is refused, except where the contract says `open`; `plus` adds fields."""
    keep = jsonschema_rs.Draft202012Validator({**SCHEMAS["results"]["keep"], "$defs": SCHEMAS["$defs"]})
    note = {"id": "1", "text": "x", "mood": None, "kind": "remark"}
    assert keep.is_valid(note)
    assert keep.is_valid({**note, "replayed": True})
    assert keep.is_valid({**note, "kept": True, "extra": {"a": [1]}})
    assert not keep.is_valid({**note, "colour": 1})
    assert not keep.is_valid({key: value for key, value in note.items() if key != "mood"})
    bag = jsonschema_rs.Draft202012Validator({**SCHEMAS["results"]["todo.list"], "$defs": SCHEMAS["$defs"]})
    assert bag.is_valid({"notes": [note], "more": 1})
    assert not bag.is_valid({"more": 1})


def test_the_tool_schema_is_closed_and_knows_its_enums() -> None:
    """The input schema of the one tool refuses unknown fields and values."""
    tool = jsonschema_rs.Draft202012Validator(SCHEMAS["request"])
    assert tool.is_valid({"ops": "find()", "presentation": "verbose", "format_per_op": ["json", None]})
    assert not tool.is_valid({"ops": "find()", "presentaton": "verbose"})
    assert not tool.is_valid({"ops": "find()", "presentation": "loud"})
    assert not tool.is_valid({})
