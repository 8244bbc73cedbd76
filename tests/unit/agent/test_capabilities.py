"""The capability catalog: what is accepted, dropped and shortened, what is said of it, and what a run is bound to."""

import json
import sys
import time
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivekeep.agent.capabilities import (
    Catalog,
    _stands_alone,
    catalog_digest,
    check_binding,
    read_catalog,
    refuse_reserved,
    warnings,
)
from hivekeep.storage.agent_runs import RunRow
from hivekeep_contract.gateway import CATALOG_WARNINGS
from hivekeep_contract.gateway_errors import Conflict, IntegrityError, ValidationError
from hivekeep_contract.limits import (
    CATALOG_BINDING_KEY,
    CATALOG_DESCRIPTION_MAX,
    CATALOG_DESCRIPTION_RAW_MAX,
    CATALOG_ITEMS_MAX,
    CATALOG_NAME_MAX,
    CATALOG_RAW_MAX,
)

COMPACTED, DROPPED, EXCEEDED, UNAVAILABLE = CATALOG_WARNINGS
SECRET = "ghp_" + "a1B2" * 9


def skill(name: Any, description: Any = None) -> dict[str, Any]:
    """A skill as a client names it."""
    return {"kind": "skill", "name": name} | ({} if description is None else {"description": description})


def tool(name: str, description: str | None = None) -> dict[str, Any]:
    """An MCP tool as a client names it."""
    return {**skill(name, description), "kind": "mcp_tool"}


def read(value: Any) -> Catalog:
    """The catalog of a request that has one."""
    return read_catalog(value, supplied=True)


def counts(catalog: Catalog) -> tuple[int, int, int, int]:
    """Received, accepted, truncated, dropped."""
    said = catalog.diagnostics
    return said["received"], said["accepted"], said["truncated"], said["dropped"]


def codes(catalog: Catalog) -> list[str]:
    """The codes of what is said of a catalog."""
    return [warning["code"] for warning in warnings(catalog)]


# availability


@pytest.mark.parametrize(
    ("value", "supplied", "availability", "diagnostics", "said"),
    [
        (None, False, "unknown", (0, 0, 0, 0), []),
        (None, True, "unknown", (0, 0, 0, 0), [UNAVAILABLE]),
        ({}, True, "unknown", (0, 0, 0, 0), [UNAVAILABLE]),
        ("kiokuko-soul", True, "unknown", (0, 0, 0, 0), [UNAVAILABLE]),
        ([], True, "known-empty", (0, 0, 0, 0), []),
        ([skill("a")], True, "known-nonempty", (1, 1, 0, 0), []),
        ([skill("a"), tool("a")], True, "known-nonempty", (2, 2, 0, 0), []),
        ([skill("a"), skill("a")], True, "known-nonempty", (2, 2, 0, 0), []),
        ([skill("a"), 7], True, "unknown", (2, 1, 0, 1), [DROPPED, UNAVAILABLE]),
        ([7], True, "unknown", (1, 0, 0, 1), [DROPPED, UNAVAILABLE]),
    ],
)
def test_a_catalog_is_known_when_nothing_of_it_was_dropped(
    value: Any, supplied: bool, availability: str, diagnostics: tuple[int, ...], said: list[str]
) -> None:
    """An empty list says that there is nothing; no list says nothing. Only a client that sent one is warned."""
    catalog = read_catalog(value, supplied=supplied)
    assert catalog.availability == availability
    assert catalog.supplied is supplied
    assert counts(catalog) == diagnostics
    assert codes(catalog) == said


def test_a_warning_says_what_its_code_means() -> None:
    """The sentence is that of the contract."""
    assert warnings(read(None)) == [{"code": UNAVAILABLE, "message": CATALOG_WARNINGS[UNAVAILABLE]}]


# items


@pytest.mark.parametrize(
    "item",
    [
        None,
        True,
        1,
        "kiokuko-soul",
        [],
        {},
        {"kind": "skill"},
        {"name": "a"},
        {"kind": "tool", "name": "a"},
        {"kind": "Skill", "name": "a"},
        {"kind": ["skill"], "name": "a"},
        {"kind": {"skill": 1}, "name": "a"},
        {"kind": None, "name": "a"},
        {**skill("a"), "version": "1"},
        skill(None),
        skill(1),
        skill(["a"]),
        skill(""),
        skill(" a"),
        skill("a "),
        skill("a\u3000"),
        skill("a\nb"),
        skill("a\x00b"),
        skill("a\x7fb"),
        skill("a\u200bb"),
        skill("a\u00adb"),
        skill("a\u202eb"),
        skill("a\ud800"),
        skill("n" * (CATALOG_NAME_MAX + 1)),
        skill("a", 1),
        {**skill("a"), "description": None},
        skill("a", ["x"]),
        skill("a", "\udfff"),
    ],
)
def test_a_malformed_item_is_dropped_alone(item: Any) -> None:
    """The request goes on, the items round it count, and the catalog is no longer known."""
    catalog = read([skill("first"), item, skill("last")])
    assert [found.name for found in catalog.items] == ["first", "last"]
    assert counts(catalog) == (3, 2, 0, 1)
    assert catalog.availability == "unknown"


@pytest.mark.parametrize(
    "name", ["n" * CATALOG_NAME_MAX, "\U0001f41d" * CATALOG_NAME_MAX, "a b", "org/skills:tdd", "名前"]
)
def test_a_name_is_counted_in_code_points(name: str) -> None:
    """And kept as it was written."""
    assert [item.name for item in read([skill(name)]).items] == [name]


@pytest.mark.parametrize(
    ("description", "kept", "truncated"),
    [
        ("Writes tests first.", "Writes tests first.", 0),
        ("", None, 0),
        (" \n\t ", None, 0),
        ("\u200b", None, 0),
        ("  a \r\n\t b  ", "a b", 0),
        ("a\x00b\u200bc\u202ed", "abcd", 0),
        ("ｆｕｌｌ ﬁle", "full file", 0),
        ("x" * CATALOG_DESCRIPTION_MAX, "x" * CATALOG_DESCRIPTION_MAX, 0),
        ("x" * (CATALOG_DESCRIPTION_MAX + 1), "x" * (CATALOG_DESCRIPTION_MAX - 1) + "…", 1),
        ("x" * CATALOG_DESCRIPTION_MAX + "  \u200b\n", "x" * CATALOG_DESCRIPTION_MAX, 0),
        ("\U0001f41d" * 2001, "\U0001f41d" * 1999 + "…", 1),
        ("\ufdfa" * 200, ("صلى الله عليه وسلم" * 200)[:1999] + "…", 1),
        ("\u200b" * (CATALOG_DESCRIPTION_RAW_MAX - 1) + "x", "x", 0),
        ("x" * (CATALOG_DESCRIPTION_RAW_MAX + 1), None, 1),
        (" " * (CATALOG_DESCRIPTION_RAW_MAX + 1), None, 1),
    ],
)
def test_a_description_is_normalised_and_short(description: str, kept: str | None, truncated: int) -> None:
    """Compatible characters joined, invisible ones gone, blanks one; what is far too long is left out, its item not."""
    catalog = read([skill("a", description)])
    assert [(item.name, item.description) for item in catalog.items] == [("a", kept)]
    assert counts(catalog) == (1, 1, truncated, 0)
    assert catalog.availability == "known-nonempty"
    assert codes(catalog) == [COMPACTED] * truncated


JOINING = st.sampled_from(
    [
        *"aeo \n",
        "\u0301",
        "\u0323",
        "\u1100",
        "\u1161",
        "\u11a8",
        "\uffa1",
        "\uffc2",
        "\u09c7",
        "\u09be",
        "\u3099",
        "か",
        "ﬁ",
        "\u0f73",
        "\u00a8",
    ]
)


@given(
    head=st.text(JOINING, max_size=6), body=st.lists(st.text(JOINING, max_size=12), max_size=2), n=st.integers(500, 520)
)
def test_a_long_description_is_normalised_as_a_whole(head: str, body: list[str], n: int) -> None:
    """Where a text is cut into pieces for that, nothing that belongs together is separated."""
    description = f"x{'y' * n}".join(["", *body, head])
    whole = " ".join(unicodedata.normalize("NFKC", description).split())
    kept = whole if len(whole) <= CATALOG_DESCRIPTION_MAX else whole[: CATALOG_DESCRIPTION_MAX - 1] + "…"
    assert [item.description for item in read([skill("a", description)]).items] == [kept or None]


def test_no_piece_begins_with_what_joins_the_one_before() -> None:
    """Of all characters: those that compose with one before them or are put in order behind it, and what begins so."""
    every = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    pairs = [parts for char in every if len(parts := unicodedata.decomposition(char).split()) == 2]
    joining = {chr(int(second, 16)) for first, second in pairs if not first.startswith("<")}
    joining |= {unicodedata.normalize("NFD", "각")[place] for place in (1, 2)}
    begins = [(char, unicodedata.normalize("NFKD", char)[0]) for char in every]
    joins = {char for char, first in begins if first in joining or unicodedata.combining(first)}
    assert len(joins) > 900
    assert [hex(ord(char)) for char in joins if _stands_alone(char)] == []
    assert _stands_alone("a")
    assert _stands_alone("\ufdfa")


def test_a_secret_in_a_catalog_goes_no_further() -> None:
    """Names and descriptions are sanitised before they are answered or hashed; the item itself stays."""
    catalog = read([skill(f"key {SECRET}", f"Use it with {SECRET}."), skill("b")])
    assert SECRET not in str(catalog)
    assert catalog.availability == "known-nonempty"
    assert counts(catalog) == (2, 2, 0, 0)
    assert catalog_digest(catalog) == catalog_digest(
        read([skill(f"key {SECRET[:-4]}c3D4", f"With {SECRET}."), skill("b")])
    )


# limits of the whole


def test_items_beyond_the_limit_are_dropped() -> None:
    """The first two hundred stay, as they came; the catalog is no longer known."""
    full = read([skill(f"s{n:03}") for n in range(CATALOG_ITEMS_MAX)])
    assert (counts(full), full.availability) == ((200, 200, 0, 0), "known-nonempty")
    over = read([skill(f"s{n:03}") for n in range(CATALOG_ITEMS_MAX + 2)])
    assert (counts(over), over.availability) == ((202, 200, 0, 2), "unknown")
    assert over.items == full.items
    assert codes(over) == [DROPPED, UNAVAILABLE]
    assert not over.budget_exceeded


def test_characters_beyond_the_limit_drop_the_rest() -> None:
    """Names and descriptions count as they were sent, those that are left out as well."""
    size = 64_000
    items = [skill(f"{n:02}", "d" * (size - 2)) for n in range(CATALOG_RAW_MAX // size)]
    full = read(items)
    assert (counts(full), full.budget_exceeded, full.availability) == ((8, 8, 8, 0), False, "known-nonempty")
    over = read([*items, skill("x"), skill("y")])
    assert (counts(over), over.budget_exceeded, over.availability) == ((10, 8, 8, 2), True, "unknown")
    assert codes(over) == [COMPACTED, DROPPED, EXCEEDED, UNAVAILABLE]
    left_out = read([skill("a", "d" * (CATALOG_RAW_MAX - 1)), skill("b")])
    assert (counts(left_out), left_out.budget_exceeded) == ((2, 1, 1, 1), True)


def test_a_malformed_item_uses_up_the_limit_by_its_texts() -> None:
    """Only what could be a name or a description counts; anything else costs nothing."""
    free = read([{"kind": "skill", "name": 1, "other": "x" * CATALOG_RAW_MAX}, skill("a")])
    assert (counts(free), free.budget_exceeded) == ((2, 1, 0, 1), False)
    costly = read([{"kind": "none", "name": "x" * (CATALOG_RAW_MAX + 1)}, skill("a")])
    assert (counts(costly), costly.budget_exceeded) == ((2, 0, 0, 2), True)


def test_a_hostile_catalog_is_read_in_a_moment() -> None:
    """Characters that normalise to many, as many as fit: reading stops where nothing more would be kept."""
    items = [skill(f"s{n}", "\ufdfa" * 2_500) for n in range(CATALOG_ITEMS_MAX)]
    begun = time.process_time()
    assert counts(read(items)) == (200, 200, 200, 0)
    assert time.process_time() - begun < 1


# digest


def test_order_and_duplicates_do_not_matter() -> None:
    """The same items are the same catalog, however they are listed; a catalog says its counts as they were sent."""
    items = [skill("b", "x"), tool("a"), skill("a"), skill("a", "y")]
    again = [skill("a"), skill("a", "y"), tool("a"), skill("a"), skill("b", "x"), skill("b", " x ")]
    assert catalog_digest(read(items)) == catalog_digest(read(again))
    assert counts(read(again)) == (6, 6, 0, 0)


@pytest.mark.parametrize(
    "other",
    [
        read([]),
        read(None),
        read_catalog(None, supplied=False),
        read([skill("a"), skill("b")]),
        read([skill("A")]),
        read([tool("a")]),
        read([skill("a", "x")]),
        read([skill("a"), 7]),
        read([skill("a", "x" * (CATALOG_DESCRIPTION_RAW_MAX + 1))]),
    ],
    ids=["empty", "malformed", "omitted", "more", "case", "kind", "description", "dropped", "left out"],
)
def test_what_the_gate_could_see_is_in_the_digest(other: Catalog) -> None:
    """Another name, kind, description or state is another catalog."""
    assert catalog_digest(other) != catalog_digest(read([skill("a")]))


def test_no_malformed_and_empty_catalogs_differ() -> None:
    """Three ways to say nothing, three digests."""
    said = {catalog_digest(catalog) for catalog in (read([]), read({}), read_catalog(None, supplied=False))}
    assert len(said) == 3
    assert all(len(digest) == 64 and set(digest) <= set("0123456789abcdef") for digest in said)


ITEMS = st.one_of(
    st.builds(skill, st.sampled_from(["a", "b", " a", ""]), st.sampled_from([None, "", "x", "x ", 1])),
    st.builds(tool, st.sampled_from(["a", "b"])),
    st.sampled_from([None, 1, {}, {"kind": []}]),
)


@given(items=st.lists(ITEMS, max_size=8), data=st.data())
def test_a_catalog_does_not_depend_on_its_order(items: list[Any], data: st.DataObject) -> None:
    """Within the limits of a catalog every permutation reads alike; counts always add up."""
    shuffled = data.draw(st.permutations(items))
    catalog, other = read(items), read(shuffled)
    assert catalog == other
    assert catalog_digest(catalog) == catalog_digest(other)
    received, accepted, truncated, dropped = counts(catalog)
    assert received == accepted + dropped == len(items)
    assert truncated == 0
    assert catalog.known == (dropped == 0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["skill", "mcp_tool"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["kind", "name", "description"]) | st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(value=JSON)
def test_no_value_is_refused(value: Any) -> None:
    """Whatever JSON comes as a catalog, it is read, digested and told of."""
    catalog = read(value)
    assert len(catalog_digest(catalog)) == 64
    assert catalog.known == (isinstance(value, list) and catalog.diagnostics["dropped"] == 0)


# binding


def run(binding: str | None) -> RunRow:
    """A run that was opened with a catalog of that digest."""
    fields = dict.fromkeys(RunRow._fields, "") | {"seq": 1, "binding_digest": binding}
    return RunRow(**fields)  # type: ignore[arg-type]


def test_a_run_takes_the_catalog_that_it_was_opened_with() -> None:
    """The same one passes, in any order; one that was left out at the opening is left out later."""
    check_binding(run(catalog_digest(read([skill("a"), skill("b")]))), read([skill("b"), skill("a")]))
    omitted = read_catalog(None, supplied=False)
    check_binding(run(catalog_digest(omitted)), omitted)


def test_another_catalog_is_a_conflict() -> None:
    """Also none at all, and one whose only difference is what was dropped; nothing of it is told."""
    for other in (read([skill("b")]), read_catalog(None, supplied=False), read([skill("a"), 7])):
        with pytest.raises(Conflict) as refusal:
            check_binding(run(catalog_digest(read([skill("a")]))), other)
        assert refusal.value.reason == "catalog_differs"
        assert refusal.value.field == "/capabilities"


def test_a_run_without_a_binding_is_broken() -> None:
    """No run is made without one, so this is no fault of the client."""
    with pytest.raises(IntegrityError) as fault:
        check_binding(run(None), read([]))
    assert fault.value.reason == "broken_record"


def test_a_client_cannot_speak_for_the_gateway() -> None:
    """The reserved key of the metadata is refused, whatever it holds; any other stays."""
    with pytest.raises(ValidationError) as refusal:
        refuse_reserved(json.loads(f'{{"{CATALOG_BINDING_KEY}": null}}'))
    assert (refusal.value.reason, refusal.value.field) == ("reserved_key", "/metadata")
    refuse_reserved({"note": {CATALOG_BINDING_KEY: 1}})


# cost


def test_marks_in_changing_order_do_not_stop_a_server() -> None:
    """Marks are sorted by insertion: eight descriptions of 63,000 of them took 40 s."""
    marks = "a" + "\u0301\u0323" * 31_500
    begin = time.process_time()
    catalog = read([skill(str(number), marks) for number in range(8)])
    assert time.process_time() - begin < 5
    assert counts(catalog) == (8, 8, 8, 0)
    assert catalog.items[0].description == "\u1ea1" + "\u0323" * (CATALOG_DESCRIPTION_MAX - 2) + "…"
