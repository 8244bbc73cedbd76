"""What agent mode does to each sort of field, and what it must leave alone."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.request.present import present, round_score
from hivekeep_contract.presentation import FULL_ID_KEYS, PRESERVE_NULL, SCORE_KEYS

UUID = "3f2a9c1e-1111-4222-8333-abcdefabcdef"
NOW = 1_764_515_045_000_000  # 2025-11-30T15:04:05Z


def agent(result: Any, **options: Any) -> Any:
    """The result as an agent sees it."""
    return present(result, "agent", NOW, **options)


@pytest.mark.parametrize("mode", ["verbose", "human"])
def test_other_modes_change_nothing(mode: str) -> None:
    """verbose and human pass the very same value through."""
    result: dict[str, Any] = {"id": UUID, "name": None, "tags": []}
    assert present(result, mode, NOW) is result


@pytest.mark.parametrize(
    ("verbose", "shown"),
    [
        ({"a": None, "merged_into": None, "expires_at": None, "n": 0, "f": False}, {"n": 0, "f": False}),
        ({"deleted_at": None, "parent_id": None, "x": None}, {"deleted_at": None, "parent_id": None}),
        ({"a": "", "b": [], "c": {}, "d": " "}, {"d": " "}),
        (
            {"properties": {"k": "", "n": None, "deep": {"e": "", "l": [], "o": {}}}},
            {"properties": {"k": "", "deep": {"e": ""}}},
        ),
        ({"properties": {"list": [{"e": ""}]}}, {"properties": {"list": [{"e": ""}]}}),
        ({"properties": [{"e": "", "x": 1}]}, {"properties": [{"x": 1}]}),
        ({"a": {"b": {"c": None, "d": []}}, "n": 1}, {"n": 1}),
        ({"a": None}, {}),
        ([None, "", [], {}, {"a": None}], [None, "", [], {}, {}]),
        ({"rows": [{}, {"a": None}]}, {"rows": [{}, {}]}),
        (None, None),
        ("", ""),
        ([], []),
        ("2025-11-30T15:04:00Z", "5s ago"),
        (UUID, UUID),
    ],
)
def test_empty_values(verbose: object, shown: object) -> None:
    """Empty fields go, lifecycle nulls and texts under an object `properties` stay, array positions never
    shift.
    """
    assert agent(verbose) == shown


@pytest.mark.parametrize("key", sorted(PRESERVE_NULL))
def test_every_lifecycle_null_is_kept(key: str) -> None:
    """A null that tells something is shown, wherever the record stands."""
    assert agent({"items": [{key: None}]}) == {"items": [{key: None}]}


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("id", UUID, "3f2a9c1e"),
        ("source_id", UUID, "3f2a9c1e"),
        ("merge_event_id", UUID.upper(), "3F2A9C1E"),
        ("superseded_by", UUID, "3f2a9c1e"),
        ("replaced_by", UUID, "3f2a9c1e"),
        ("id", "lambda:leo", "lambda:leo"),
        ("id", UUID.replace("-", ""), UUID.replace("-", "")),
        ("id", "3f2a9c1e_1111_4222_8333_abcdefabcdef", "3f2a9c1e_1111_4222_8333_abcdefabcdef"),
        ("id", "zf2a9c1e-1111-4222-8333-abcdefabcdef", "zf2a9c1e-1111-4222-8333-abcdefabcdef"),
        ("content", UUID, UUID),
        ("name", UUID, UUID),
        ("via", UUID, UUID),
        ("kept", UUID, UUID),
    ],
)
def test_ids(key: str, value: str, shown: str) -> None:
    """A canonical UUID under id, *_id or a successor key is cut to 8; other keys and other texts are not
    touched.
    """
    assert agent({key: value}) == {key: shown}
    assert agent({"properties": {key: value}}) == {"properties": {key: shown}}


@pytest.mark.parametrize("key", sorted(FULL_ID_KEYS))
def test_full_ids_stay_full(key: str) -> None:
    """Keys whose UUID must be usable unchanged keep all 36 characters."""
    assert agent({key: UUID}) == {key: UUID}


def test_a_message_keeps_its_id() -> None:
    """A record that carries its own short_id shows id in full; its other ids are shortened as usual."""
    message = {"id": UUID, "short_id": "3f2a9c1e", "full_id": UUID, "author_id": UUID}
    assert agent([message]) == [{**message, "author_id": "3f2a9c1e"}]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("2025-11-30T15:04:05.000000Z", "0s ago"),
        ("2025-11-30T15:03:06.000000Z", "59s ago"),
        ("2025-11-30T15:03:05.000000Z", "1m ago"),
        ("2025-11-30T14:04:05.000001Z", "59m ago"),
        ("2025-11-30T14:04:05.000000Z", "1h ago"),
        ("2025-11-29T15:04:05.000001Z", "23h ago"),
        ("2025-11-29T15:04:05.000000Z", "2025-11-29T15:04"),
        ("2025-11-30T15:04:05.000001Z", "2025-11-30T15:04"),
        ("2031-01-02T03:04:05.678900Z", "2031-01-02T03:04"),
        ("2025-11-30T16:04:00+01:00", "5s ago"),
        ("2024-01-01T01:30:00+02:00", "2023-12-31T23:30"),
        ("2025-11-30T15:03", "1m ago"),
        ("2025-11-30T15:04:05", "0s ago"),
        ("2025-11-30", "2025-11-30"),
        ("2025-11-30T15:04:05 was the moment", "2025-11-30T15:04:05 was the moment"),
        ("2025-13-30T15:04:05Z", "2025-13-30T15:04:05Z"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("2024-W01-1T10:00", "2024-W01-1T10:00"),
        ("at 2025-11T15:04", "at 2025-11T15:04"),
    ],
)
def test_times(value: str, shown: str) -> None:
    """Under a day old is relative in whole units; older and future are minutes in UTC; anything else is
    text.
    """
    assert agent({"created_at": value}) == {"created_at": shown}
    assert agent({"whens": [value]}) == {"whens": [shown]}


def test_times_left_alone() -> None:
    """trigger_at, due and everything under an object `properties` keep their exact time."""
    result = {"trigger_at": "2025-11-30T15:04:05Z", "due": "2025-11-30T15:04:05Z"}
    assert agent(result) == result
    nested = {"properties": {"at": "2025-11-30T15:04:05Z", "deep": [{"at": "2025-11-30T15:04:05Z"}]}}
    assert agent(nested) == nested


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.090909090909, 0.0909),
        (0.51234, 0.512),
        (0.6825, 0.683),
        (1.125, 1.13),
        (-1.125, -1.13),
        (2.675, 2.68),
        (1234.5, 1230.0),
        (1235.0, 1240.0),
        (0.00012345, 0.000123),
        (9.999, 10.0),
        (1e-310, 1e-310),
        (0.0, 0.0),
        (0, 0),
        (7, 7),
        (999, 999),
        (1000, 1000),
        (12345, 12300),
        (-98765, -98800),
    ],
)
def test_scores(value: float, shown: float) -> None:
    """Three significant figures with halves away from zero; integers stay integers and 0 stays 0."""
    got = round_score(value)
    assert got == shown
    assert type(got) is type(value)


def test_which_numbers_are_scores() -> None:
    """Score keys and everything under a breakdown are rounded; weight, confidence and booleans are not."""
    row = {"score": 0.123456, "weight": 0.123456, "confidence": 0.98765, "stalled": True, "salience": 0.98765}
    assert agent(row) == {**row, "score": 0.123, "salience": 0.988}
    parts = {"score_breakdown": {"text": 0.123456, "deep": {"n": [0.98765, True]}}, "breakdown": [12345]}
    assert agent(parts) == {"score_breakdown": {"text": 0.123, "deep": {"n": [0.988, True]}}, "breakdown": [12300]}
    assert agent({"signals": dict.fromkeys(sorted(SCORE_KEYS), 0.55555)}) == {
        "signals": dict.fromkeys(sorted(SCORE_KEYS), 0.556)
    }


LIMITS = {"requested_limit": 5, "effective_limit": 5, "limit_clamped": False}


@pytest.mark.parametrize("array", ["items", "entities", "notes", "edges", "results", "entries", "neighbors"])
def test_an_empty_page_keeps_its_shape(array: str) -> None:
    """A page shows its array even when empty, a null cursor and all three limit fields."""
    page: dict[str, Any] = {array: [], "next_after": None, **LIMITS, "warnings": [], "note": None}
    assert agent(page) == {array: [], "next_after": None, **LIMITS}


def test_other_empty_arrays_go() -> None:
    """Without the limit fields an empty array is dropped; a cursor beside `results` keeps both of them."""
    assert agent({"items": [], "n": 1}) == {"n": 1}
    assert agent({"items": [], "requested_limit": 5, "effective_limit": 5}) == {
        "requested_limit": 5,
        "effective_limit": 5,
    }
    assert agent({"results": [], "next_after": None}) == {"results": [], "next_after": None}
    assert agent({"items": [], "next_after": None, "n": 1}) == {"n": 1}
    assert agent({"results": None, "next_after": None, "n": 1}) == {"n": 1}


OPAQUE: dict[str, Any] = {"id": UUID, "at": "2025-11-30T15:04:05Z", "n": None, "s": "", "l": [], "score": 0.123456}


def test_parsed_content_is_untouched() -> None:
    """With opaque_content the content of the record, of items and of notes is exactly what was stored."""
    assert agent({"id": UUID, "content": OPAQUE, "name": ""}, opaque_content=True) == {
        "id": "3f2a9c1e",
        "content": OPAQUE,
    }
    for name in ("items", "notes"):
        rows = [{"content": OPAQUE, "id": UUID, "x": None}, {"content": None}, {"content": ""}, {"x": None}]
        assert agent({name: rows}, opaque_content=True) == {
            name: [{"content": OPAQUE, "id": "3f2a9c1e"}, {"content": None}, {"content": ""}, {}]
        }
    assert agent({"content": OPAQUE}) == {
        "content": {"id": "3f2a9c1e", "at": "0s ago", "score": 0.123},
    }


def test_opaque_content_keeps_the_order_of_fields() -> None:
    """Putting content back does not move it."""
    assert list(agent({"a": 1, "content": [], "b": 2}, opaque_content=True)) == ["a", "content", "b"]


def test_sequenced_records_are_opaque() -> None:
    """{seq, id, created_at, record} keeps its record as stored; without a numeric seq it is ordinary data."""
    wrapped = {"seq": 3, "id": UUID, "created_at": "2025-11-30T15:04:05Z", "record": OPAQUE}
    assert agent([wrapped]) == [{"seq": 3, "id": "3f2a9c1e", "created_at": "0s ago", "record": OPAQUE}]
    plain = agent({**wrapped, "seq": "3"})
    assert plain["record"] == {"id": "3f2a9c1e", "at": "0s ago", "score": 0.123}


KEYS = st.sampled_from(
    [
        "id",
        "a_id",
        "full_id",
        "name",
        "properties",
        "score",
        "breakdown",
        "deleted_at",
        "due",
        "at",
        "items",
        "next_after",
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", UUID, "2025-11-30T15:04:05Z", "2020-01-01T00:00:00.000001Z", "text"]),
)
RESULTS = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(RESULTS)
def test_agent_mode_only_takes_away(result: Any) -> None:
    """Input stays as it was; keys are a subset, lists keep their length, and a second pass changes nothing
    more.
    """
    before = copy.deepcopy(result)
    shown = agent(result)
    assert result == before
    _assert_no_more_than(result, shown)
    assert agent(shown) == shown


def _assert_no_more_than(source: Any, shown: Any) -> None:
    assert type(source) is type(shown)
    if isinstance(source, dict):
        assert set(shown) <= set(source)
        for key in shown:
            _assert_no_more_than(source[key], shown[key])
    elif isinstance(source, list):
        assert len(source) == len(shown)
        for before, after in zip(source, shown, strict=True):
            _assert_no_more_than(before, after)
    elif isinstance(source, str):
        assert len(shown) <= len(source)
