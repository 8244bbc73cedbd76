"""The fields of the `request` tool: which are taken, which are refused, and what they fall back to."""

from typing import Any

import pytest

from hivekeep.request.envelope import ToolCall, parse_tool_call
from hivekeep_contract.errors import InvalidParams


def test_only_ops_is_needed() -> None:
    """A bare call gets the defaults of the tool: agent, json, no file, no id."""
    assert parse_tool_call({"ops": "stats()"}) == ToolCall("stats()", "agent", (), "json", (), None, None)
    assert parse_tool_call({"ops": "stats()"}, default_presentation="verbose").presentation == "verbose"


def test_every_field() -> None:
    """All fields are taken over; null stands for absent."""
    call = parse_tool_call(
        {
            "ops": "a()",
            "presentation": "human",
            "presentation_per_op": ["verbose", None],
            "format": "table",
            "format_per_op": [None, "auto"],
            "save_to": "a/b.jsonl",
            "request_id": -7,
        }
    )
    assert call == ToolCall("a()", "human", ("verbose", None), "table", (None, "auto"), "a/b.jsonl", -7)
    nothing = dict.fromkeys(("presentation", "presentation_per_op", "format", "save_to", "request_id"))
    assert parse_tool_call({"ops": "a()", **nothing}) == parse_tool_call({"ops": "a()"})


def test_per_operation_choices_fall_back() -> None:
    """null and a missing index fall back to the field for the whole request."""
    call = parse_tool_call(
        {"ops": "a()", "presentation_per_op": [None, "verbose"], "format": "auto", "format_per_op": ["json"]}
    )
    assert [call.presentation_of(index) for index in range(3)] == ["agent", "verbose", "agent"]
    assert [call.format_of(index) for index in range(3)] == ["json", "auto", "auto"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"presentaton": "agent"}, "'presentaton'; did you mean 'presentation'?"),
        ({"zzz": 1}, "unknown field 'zzz'. The fields are ops, presentation,"),
        ({"presentation": "verbos"}, "'verbos'; did you mean 'verbose'?"),
        ({"presentation": 1}, "agent, verbose, human, not a number"),
        ({"presentation": ["agent"]}, "not an array"),
        ({"presentation_per_op": "agent"}, "an array with one entry an operation, not a string"),
        ({"presentation_per_op": [None, "x"]}, "presentation_per_op[1] must be one of"),
        ({"format": "yaml"}, "format must be one of json, auto, table, not 'yaml'"),
        ({"format_per_op": [True]}, "format_per_op[0] must be one of json, auto, table, not a boolean"),
        ({"save_to": " "}, "save_to"),
        ({"save_to": 3}, "save_to"),
        ({"request_id": 0}, "other than 0"),
        ({"request_id": True}, "request_id"),
        ({"request_id": "7"}, "request_id"),
        ({"request_id": 1.5}, "request_id"),
        ({"ops": None}, "ops must be a string of operations, not null"),
        ({"ops": ["a()"]}, "not an array"),
        ({"ops": {"tool": "a"}}, "not an object"),
    ],
)
def test_refused_fields(fields: dict[str, Any], words: str) -> None:
    """An unknown field or a wrong value refuses the call with what is accepted."""
    with pytest.raises(InvalidParams) as caught:
        parse_tool_call({"ops": "a()", **fields})
    assert words in caught.value.message


def test_per_operation_lists_may_not_be_longer_than_the_request() -> None:
    """Once the number of operations is known, a longer list is refused and an equal one is not."""
    for name in ("presentation_per_op", "format_per_op"):
        call = parse_tool_call({"ops": "a()", name: [None, None]})
        call.check_lengths(2)
        with pytest.raises(InvalidParams, match=f"{name} has 2 entries, but the request has 1 operations"):
            call.check_lengths(1)
