"""Values at and beyond every edge: the whole server answers them or refuses them by name."""

import base64
import json
from typing import Any

import pytest

from hivekeep.dispatch.run import drive
from hivekeep_contract.limits import ERROR_MESSAGE_MAX_CHARS, NESTING_DEPTH_LIMIT, OBJECT_DEPTH_LIMIT
from support.client import Hive

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


def call(verb: str, **args: Any) -> str:
    return json.dumps([{"tool": verb, "args": args}])


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


def forged(place: bytes) -> str:
    return base64.urlsafe_b64encode(place).decode()


@pytest.mark.parametrize("blank", ["\x1f", "\x85", "\x1c\x1d"])
@pytest.mark.parametrize(("verb", "param"), [("create", "name"), ("search", "query"), ("get", "id")])
def test_what_only_python_calls_white_space_is_blank_too(hive: Hive, verb: str, param: str, blank: str) -> None:
    """The pattern of the schema lets U+001F through, stripping it leaves nothing: such a name was stored as ''."""
    kind = {} if verb == "get" else {"kind": "concept"}
    error = hive.fails(call(verb, **kind, **{param: blank}))
    assert (error["kind"], error["domain_disposition"]) == ("invalid_input", "not_committed")
    assert "not blank" in error["message"]
    assert hive.ok("stats()")["entities"] == 0


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30, 1e308])
@pytest.mark.parametrize(
    ("kind", "param"),
    [("entity", "limit"), *[(kind, "offset") for kind in ("entity", "note", "edge", "event")], ("event", "since")],
)
def test_whole_numbers_beyond_64_bits_are_refused(hive: Hive, kind: str, param: str, number: float) -> None:
    """SQLite binds 64 bits: a larger number ended in an OverflowError."""
    error = hive.fails(call("list", kind=kind, **{param: number}))
    assert (error["kind"], error["domain_disposition"]) == ("invalid_input", "not_committed")
    assert param in error["message"]


def test_the_largest_whole_numbers_are_served(hive: Hive) -> None:
    """2^63 - 1 is a number like any other; a float without a fraction is one as well."""
    assert hive.ok(call("list", kind="entity", offset=2**63 - 1, limit=2**63 - 1))["effective_limit"] == 500
    assert hive.ok(call("list", kind="event", until=-(2**63)))["items"] == []
    assert hive.ok(call("list", kind="entity", limit=5.0))["requested_limit"] == 5


def test_a_number_may_be_written_with_any_number_of_digits(hive: Hive) -> None:
    """A whole number of 65 bits is a fine decay factor; one that no float can hold is refused."""
    note = hive.ok(call("create", kind="observation", content="x", decay_factor=2**64, salience=1))
    assert (note["decay_factor"], note["salience"]) == (2.0**64, 1.0)
    assert hive.ok(call("get", id=note["id"])) == {**note}
    error = hive.fails(call("create", kind="observation", content="x", decay_factor=10**400))
    assert error["kind"] == "invalid_input"


@pytest.mark.parametrize(
    "ops",
    [
        call("list", kind="edge", relations=["extends"] * 40_000),
        call("list", kind="event", verbs=[f"v{number}" for number in range(40_000)]),
        call("list", kind="event", observed=["00000000-0000-4000-8000-000000000000"] * 26_000),
        call("list", kind="event", selected=["00000000-0000-4000-8000-000000000000"] * 26_000),
        call("neighbors", node_id="A", neighbor_kinds=["concept"] * 40_000),
    ],
)
def test_a_list_of_any_length_is_one_condition(hive: Hive, ops: str) -> None:
    """SQLite has 32,766 places for arguments: a longer list ended in an SQL error."""
    hive.ok('create(kind="concept", name="A")')
    assert hive.entry(ops)["ok"]


@pytest.mark.parametrize("count", [99, 100, 101, 40_000])
def test_a_long_list_of_tags_selects_what_a_short_one_does(hive: Hive, count: int) -> None:
    """Case does not matter on either side of the number at which the list travels as one text."""
    wanted = hive.ok('create(kind="concept", name="A", tags=["Última", "LAST"])')["id"]
    hive.ok('create(kind="concept", name="B", tags=["other"])')
    tags = [*(f"t{number}" for number in range(count - 1)), "last"]
    assert [item["id"] for item in hive.ok(call("list", kind="concept", tags=tags))["items"]] == [wanted]
    assert [hit["id"] for hit in hive.ok(call("search", kind="concept", query="a", tags=tags))] == [wanted]


@pytest.mark.parametrize(
    "place",
    [b"[" * 100_000, b'["a",%s,"b","c"]' % (b"9" * 400), b'["a",NaN,"b","c"]', b'{"a":1}', b"5", b'["a",null,"b","c"]'],
)
def test_a_forged_cursor_is_refused(hive: Hive, place: bytes) -> None:
    """A cursor is the client's text: nesting beyond the stack or a number beyond a float were internal errors."""
    hive.ok('create(kind="concept", name="A")')
    error = hive.fails(call("neighbors", node_id="A", limit=3, after=forged(place)))
    assert error["kind"] == "invalid_input"
    assert "after" in error["message"]


@pytest.mark.parametrize("content", ["1e999", "[" * 100_000, '"\\ud800"', "NaN", "9" * 5000, ""])
def test_content_that_is_no_json_value_is_not_shown_as_one(hive: Hive, content: str) -> None:
    """1e999 would be written as Infinity, which no client can read; deep nesting exhausted the stack."""
    note = hive.ok(call("create", kind="observation", content=content))["id"]
    error = hive.fails(call("get", id=note, parse_content=True))
    assert (error["kind"], "parse_content" in error["message"]) == ("invalid_input", True)
    assert hive.ok(call("get", id=note))["content"] == content


def test_a_deep_record_does_not_make_lists_unreadable(hive: Hive) -> None:
    """A page shows a record inside containers of its own: one record of 64 levels made every page of its kind fail."""
    first = hive.ok(call("create", kind="concept", name="A", properties=nested(OBJECT_DEPTH_LIMIT)))
    hive.ok(call("create", kind="concept", name="B"))
    for number in (1, 2):
        metadata = {**nested(OBJECT_DEPTH_LIMIT), "n": number}
        hive.ok(call("link", source="A", target="B", relation="extends", metadata=metadata))
    assert hive.ok(call("list", kind="concept"))["items"][1]["properties"] == first["properties"]
    changed = hive.ok(call("list", kind="event", event_kind="edge_updated"))["items"]
    assert changed[0]["payload"]["previous"]["metadata"]["n"] == 1
    error = hive.fails(call("create", kind="concept", name="C", properties=nested(OBJECT_DEPTH_LIMIT + 1)))
    assert (error["kind"], error["domain_disposition"]) == ("invalid_input", "not_committed")
    assert f"at most {OBJECT_DEPTH_LIMIT} levels" in error["message"]


@pytest.mark.parametrize("depth", [NESTING_DEPTH_LIMIT, 900])
@pytest.mark.parametrize("param", ["kind", "tags", "properties", "colour"])
def test_deep_arguments_without_the_request_language_are_refused(hive: Hive, param: str, depth: int) -> None:
    """The HTTP route of a verb has no parser that counts brackets; wording a refusal of 800 levels ended internally."""
    steps = hive.server.call_verb("create", {"kind": "concept", param: nested(depth)}, hive.caller, source="http")
    entry, _, error = drive(steps)
    assert (entry["error"]["kind"], entry["domain_disposition"]) == ("invalid_input", "not_committed")
    assert error.http_status == 400
    assert hive.ok("stats()")["entities"] == 0


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("x" * 1_000_000, {}),
        ("stats", {"x" * 1_000_000: 1}),
        ("get", {"id": "x" * 1_000_000}),
        ("list", {"kind": "x" * 1_000_000}),
        ("create", {"kind": "concept", "name": "A", "entity_type": "x" * 1_000_000}),
    ],
)
def test_a_refusal_does_not_repeat_a_megabyte(hive: Hive, verb: str, args: dict[str, Any]) -> None:
    """Beginning and end of a long message stay, so what is accepted is still told; the audit row is as short."""
    entry = hive.entry(call(verb, **args))
    assert len(json.dumps(entry)) < 3 * ERROR_MESSAGE_MAX_CHARS + 1000
    rows = hive.ok(call("list", kind="event", outcome="error"))["items"]
    assert [len(json.dumps(row)) < 2 * ERROR_MESSAGE_MAX_CHARS + 2000 for row in rows] == [True]


@pytest.mark.parametrize(
    "ops",
    [
        call(TOKEN),
        call("get", id=TOKEN),
        call("get", **{TOKEN: 1}),
        call("create", kind=TOKEN),
        call("create", kind="concept", name="A", entity_type=TOKEN),
        call("link", source="A", target="B", relation=TOKEN),
        call("list", kind="entity", limit=TOKEN),
        f"stats() | {TOKEN}() | {TOKEN}()",
        f"stats() | {TOKEN}(id=$prev.nothing)",
    ],
)
def test_a_refusal_does_not_repeat_a_credential(hive: Hive, ops: str) -> None:
    """Whatever argument it stood in: neither the answer nor the audit row holds it."""
    envelope = hive.run(ops)
    assert envelope["summary"]["failed"] == 1
    assert TOKEN not in json.dumps(envelope)
    assert TOKEN not in json.dumps(hive.ok('list(kind="event", limit=100)'))


def test_a_result_that_is_too_deep_is_told_in_the_shape_of_the_contract(hive: Hive) -> None:
    """Its error says `retryable: false`, which the printed schema of an error has to admit."""
    note = hive.ok(call("create", kind="observation", content="[" * 70 + "]" * 70))["id"]
    entry = hive.entry(call("get", id=note, parse_content=True))
    assert (entry["executed"], entry["error"]["code"], entry["error"]["retryable"]) == (True, "result_too_deep", False)


def test_a_clock_that_goes_backwards(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walks follow the order of insertion, no duration is negative, and a moment in the future is shown as it is."""
    seconds = iter(range(2_000_000_000, 0, -10))
    monkeypatch.setattr("hivekeep.dispatch.call.now_us", lambda: next(seconds) * 1_000_000)
    names = ["A", "B", "C"]
    hive.ok("[" + ", ".join(f'create(kind="concept", name="{name}")' for name in names) + "]")
    changed = hive.ok('update(id="A", description="later, earlier")')
    assert changed["updated_at"] < changed["created_at"]
    assert [row["name"] for row in hive.ok('list(kind="entity", after="")')["entities"]] == names
    assert [row["name"] for row in hive.ok('list(kind="entity")')["items"]] == names
    assert {row["duration_us"] for row in hive.ok('list(kind="event", outcome="success")')["items"]} <= {0, None}
    shown = hive.entry('list(kind="concept", limit=1)', presentation="agent")["result"]["items"][0]
    assert shown["created_at"].startswith("2033-05-")
