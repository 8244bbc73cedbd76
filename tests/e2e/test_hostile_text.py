"""Whatever text arrives, the whole server answers with an envelope or one named fault."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep_contract.errors import InvalidParams, ParseError
from hivekeep_contract.request import DSL_ERRORS
from support.client import open_hive

WORDS = st.sampled_from(
    [
        *("create", "get", "list", "stats", "link", "kg.stats", "nosuch", "a.b.c", "kind", "id", "name", "limit"),
        *("(", ")", "[", "]", "{", "}", "|", ",", "=", '"', "'", "\\", "help=true", "null", "true"),
        *("$prev", "$prev.id", "$prev[0]", '"$prev"', "1", "-1", "1e999", "0x1", '"concept"', '"x"'),
        *("\n", "\t", " ", "é", "设备", "\u0000", "\ud800"),
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
VERBS = st.sampled_from(["create", "get", "list", "search", "update", "delete", "link", "neighbors", "scan", "verbs"])
NAMES = st.sampled_from(
    ["kind", "id", "name", "content", "limit", "after", "properties", "tags", "query", "node_id", "x"]
)
CALLS = st.lists(
    st.fixed_dictionaries({"tool": VERBS, "args": st.dictionaries(NAMES, VALUES, max_size=4)}), min_size=1, max_size=3
)


def assert_named(refusal: ParseError | InvalidParams) -> None:
    """A request that is refused whole names its fault."""
    assert isinstance(refusal, InvalidParams) or refusal.fields["dsl_error"] in DSL_ERRORS


def answers(ops: str) -> None:
    """Run one text on a fresh server; anything but an envelope or a named fault fails."""
    with open_hive() as hive:
        try:
            entries = hive.run(ops)["results"]
        except (ParseError, InvalidParams) as refusal:
            assert_named(refusal)
            entries = []
    assert [entry for entry in entries if not entry["ok"] and entry.get("error", {}).get("kind") == "internal"] == []


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.lists(WORDS, max_size=14).map("".join))
def test_word_salad(ops: str) -> None:
    """Pieces of the language in any order."""
    answers(ops)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(CALLS)
def test_any_json_value_as_any_argument(calls: list[object]) -> None:
    """Well-formed calls whose arguments hold any JSON value never end in an internal error."""
    answers(json.dumps(calls))
