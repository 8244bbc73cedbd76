"""link, neighbors and search: what the kg pack promises about edges and ranking."""

import base64
import itertools
from typing import Any

import pytest

from hivekeep.packs.ontology import Ontology
from hivekeep_contract import vocabulary
from support.client import Hive

KINDS = vocabulary.ENTITY_KINDS


def nodes(hive: Hive, *names: str, kind: str = "concept") -> list[str]:
    """Ids of fresh entities."""
    return [hive.call("create", kind=kind, name=name)["id"] for name in names]


# the endpoint table


def test_every_pair_of_kinds_is_decided_as_the_registry_says(hive: Hive) -> None:
    """Over all 19 x 9 x 9 triples, a link succeeds exactly when the table of the loaded packs has it."""
    sources = {kind: hive.call("create", kind=kind, name=f"source {kind}")["id"] for kind in KINDS}
    targets = {kind: hive.call("create", kind=kind, name=f"target {kind}")["id"] for kind in KINDS}
    table = vocabulary.ENDPOINTS | vocabulary.PACK_ENDPOINTS["kg"]
    for relation, source, target in itertools.product(vocabulary.RELATIONS, KINDS, KINDS):
        entry = hive.entry(f'link(source_id="{sources[source]}", target_id="{targets[target]}", relation="{relation}")')
        allowed = (relation, source, target) in table or (relation, "*", target) in table
        assert entry["ok"] is allowed, (relation, source, target)
        if not allowed:
            fitting = [name for name in vocabulary.RELATIONS if Ontology(["kg"]).allows(name, source, target)]
            assert ", ".join(fitting) in entry["error"]["message"]


def test_notes_take_their_own_relations(hive: Hive) -> None:
    """A note annotates anything, and supersedes, supports or refutes notes only."""
    (concept,) = nodes(hive, "A")
    one, two = (hive.call("create", kind="observation", content=text)["id"] for text in ("one", "two"))
    event = hive.events(event_kind="entity_created")[0]["id"]
    for target in (concept, two, event):
        assert hive.call("link", source_id=one, target_id=target, relation="annotates")["mutation"] == "created"
    assert hive.call("link", source_id=one, target_id=two, relation="refutes")["mutation"] == "created"
    error = hive.refuses("link", source_id=one, target_id=concept, relation="supports")
    assert "annotates" in error["message"]
    assert hive.refuses("link", source_id=concept, target_id=one, relation="annotates")["kind"] == "invalid_input"
    assert hive.refuses("link", source_id=event, target_id=one, relation="annotates")["kind"] == "invalid_input"


def test_an_edge_joins_two_different_records_that_exist(hive: Hive) -> None:
    """Self-loops, missing and deleted ends are refused and named."""
    a, b = nodes(hive, "A", "B")
    assert "same record" in hive.refuses("link", source_id=a, target_id=a, relation="extends")["message"]
    error = hive.refuses("link", source_id=a, target_id="nobody", relation="extends")
    assert (error["kind"], error["details"]["param"]) == ("not_found", "target_id")
    hive.call("delete", id=b)
    assert hive.refuses("link", source_id=a, target_id=b, relation="extends")["kind"] == "not_found"


def test_linking_again_replaces_weight_and_metadata(hive: Hive) -> None:
    """What is not given falls back to its default; id and creation time stay."""
    a, b = nodes(hive, "A", "B")
    first = hive.call("link", source_id=a, target_id=b, relation="extends", weight=0.3, metadata={"x": 1})
    again = hive.call("link", source_id=a, target_id=b, relation="extends")
    assert (again["id"], again["created_at"]) == (first["id"], first["created_at"])
    assert (again["weight"], again["metadata"], again["mutation"]) == (1.0, None, "updated")


@pytest.mark.parametrize(
    ("pair", "kind"), [(pair, kind) for pair, kind in vocabulary.DEPENDENCY_DEFAULTS.items()], ids=str
)
def test_a_dependency_gets_the_kind_of_its_ends(hive: Hive, pair: tuple[str, str], kind: str) -> None:
    """depends_on stores the default dependency kind unless one is given."""
    source = hive.call("create", kind=pair[0], name="s")["id"]
    target = hive.call("create", kind=pair[1], name="t")["id"]
    assert hive.call("link", source_id=source, target_id=target, relation="depends_on")["metadata"] == {
        "dependency_kind": kind
    }
    given = hive.call("link", source_id=source, target_id=target, relation="depends_on", dependency_kind="data")
    assert given["metadata"] == {"dependency_kind": "data"}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"relation": "extends", "dependency_kind": "data"}, "belongs to depends_on"),
        ({"relation": "extends", "metadata": {"dependency_kind": "data"}}, "belongs to depends_on"),
        ({"relation": "depends_on", "metadata": {"dependency_kind": "magic"}}, "accepted: build"),
        (
            {"relation": "depends_on", "metadata": {"dependency_kind": "data"}, "dependency_kind": "build"},
            "contradicts",
        ),
    ],
)
def test_a_dependency_kind_that_makes_no_sense_is_refused(hive: Hive, fields: dict[str, Any], says: str) -> None:
    """Each message says what is wrong with it."""
    kind = "project" if fields["relation"] == "depends_on" else "concept"
    a, b = nodes(hive, "A", "B", kind=kind)
    assert says in hive.refuses("link", source_id=a, target_id=b, **fields)["message"]


# neighbors


@pytest.fixture
def star(hive: Hive) -> tuple[Hive, str, list[str]]:
    """A hub with ten neighbors of falling and partly equal weight."""
    (hub,) = nodes(hive, "hub")
    around = nodes(hive, *(f"n{number}" for number in range(10)))
    for number, node in enumerate(around):
        ends = (hub, node) if number % 2 else (node, hub)
        hive.call("link", source_id=ends[0], target_id=ends[1], relation="extends", weight=1 - (number // 3) / 10)
    return hive, hub, around


def test_pages_joined_are_the_whole(star: tuple[Hive, str, list[str]]) -> None:
    """Every page size walks the same rows in the same order, without a gap."""
    hive, hub, _ = star
    whole = hive.call("neighbors", node_id=hub)
    assert [(-hit["weight"], hit["id"]) for hit in whole] == sorted((-hit["weight"], hit["id"]) for hit in whole)
    for size in (1, 3, 10, 11):
        rows: list[Any] = []
        after: str | None = ""
        while after is not None:
            page = hive.call("neighbors", node_id=hub, limit=size, after=after)
            rows += page["neighbors"]
            after = page["next_after"]
        assert rows == whole


def test_directions_and_filters_of_neighbors(star: tuple[Hive, str, list[str]]) -> None:
    """Direction, weight and kinds choose the rows; projections choose their fields."""
    hive, hub, around = star
    ids = lambda **filters: {hit["id"] for hit in hive.call("neighbors", node_id=hub, **filters)}  # noqa: E731
    assert ids(direction="out") == set(around[1::2])
    assert ids(direction="incoming") == set(around[0::2])
    assert ids(min_weight=0.9) == set(around[:6])
    assert ids(neighbor_kinds=["person"]) == set()
    assert ids(relations=["enables"]) == set()
    edge = hive.call("neighbors", node_id=hub, projection="edge")[0]
    assert set(edge) == {"origin_id", "edge_id", "source_id", "target_id", "relation", "weight"}
    summary = hive.call("neighbors", node_id=hub, projection="summary")[0]
    assert set(summary) == {"origin_id", "id", "name", "kind"}


def test_a_cursor_belongs_to_its_walk(star: tuple[Hive, str, list[str]]) -> None:
    """Another node, other filters or a damaged cursor are refused."""
    hive, hub, around = star
    cursor = hive.call("neighbors", node_id=hub, limit=2)["next_after"]
    for fields in ({"node_id": around[0]}, {"node_id": hub, "direction": "out"}):
        assert "belongs to another" in hive.refuses("neighbors", limit=2, after=cursor, **fields)["message"]
    for broken in ("x", "!!!", cursor[:-4], "WzEsMl0=", "bnVsbA=="):
        assert hive.refuses("neighbors", node_id=hub, limit=2, after=broken)["kind"] == "invalid_input"


@pytest.mark.parametrize(
    "forge",
    [
        lambda text: text.replace("1.0,", "NaN,"),
        lambda text: text.replace("1.0,", "1e999,"),
        lambda text: text.replace("1.0,", "[],"),
        lambda text: text.replace('", "', '\\ud800", "'),
        lambda text: "[" * 100_000,
    ],
    ids=["nan", "infinite", "list", "surrogate", "deep"],
)
def test_a_forged_place_in_a_walk_is_refused(star: tuple[Hive, str, list[str]], forge: Any) -> None:
    """A place went to SQLite as it was decoded: half of a surrogate pair was an internal error, NaN ended the walk."""
    hive, hub, _ = star
    cursor = hive.call("neighbors", node_id=hub, limit=2, min_weight=0)["next_after"]
    text = base64.urlsafe_b64decode(cursor).decode()
    forged = base64.urlsafe_b64encode(forge(text).encode()).decode()
    assert forged != cursor
    error = hive.refuses("neighbors", node_id=hub, limit=2, min_weight=0, after=forged)
    assert error["message"] == "neighbors: after is not a cursor of this verb; pass next_after on unchanged"


def test_a_symmetric_relation_matches_both_ways(hive: Hive) -> None:
    """competes_with has no direction for neighbors."""
    a, b = nodes(hive, "A", "B")
    hive.call("link", source_id=a, target_id=b, relation="competes_with")
    for node, other in ((a, b), (b, a)):
        for direction in ("out", "in", "both"):
            assert [hit["id"] for hit in hive.call("neighbors", node_id=node, direction=direction)] == [other]


def test_a_nameless_note_is_called_by_its_kind(hive: Hive) -> None:
    """The other end of an annotation without a title shows [kind]; an entity type shows on request only."""
    concept = hive.call("create", kind="concept", name="A", entity_type="algorithm")["id"]
    note = hive.call("create", kind="insight", content="x", annotates=[concept])["id"]
    (hit,) = hive.call("neighbors", node_id=concept)
    assert (hit["name"], hit["kind"]) == ("[insight]", "insight")
    (back,) = hive.call("neighbors", node_id=note, include_entity_type=True)
    assert back["entity_type"] == "algorithm"


def test_a_full_id_of_nothing_has_no_neighbors(hive: Hive) -> None:
    """A full UUID is identity; a prefix or a name must fit something."""
    assert hive.call("neighbors", node_id="00000000-0000-4000-8000-000000000000") == []
    assert hive.refuses("neighbors", node_id="00000000")["kind"] == "not_found"
    assert hive.refuses("neighbors", node_id="nobody")["kind"] == "not_found"


# search


def test_search_says_what_the_arms_did(hive: Hive) -> None:
    """Counts of the text arm, the exact reason for nothing, and a vector arm that was skipped."""
    hive.call("create", kind="concept", name="rotary embedding")
    found = hive.entry('search(kind="entity", query="rotary")')
    assert found["status"] == "complete"
    assert found["arm_participation"] == {
        "text": {"status": "ran", "candidate_count": 1, "mode": "all_terms"},
        "vector": {"status": "skipped", "candidate_count": 0},
    }
    nothing = hive.entry('search(kind="entity", query="rotary absent")')
    assert nothing["result"] == []
    assert nothing["arm_participation"]["text"]["reason"] == (
        "No text candidate survived matching, filtering, fusion, and the result limit. Plain text search combines "
        "normalized term groups conjunctively; try fewer terms."
    )
    any_term = hive.entry('search(kind="entity", query="absent", text_mode="any_term")')
    assert any_term["arm_participation"]["text"]["reason"] == (
        "No text candidate survived matching, filtering, fusion, and the result limit."
    )


def test_the_floor_is_inclusive_and_comes_before_the_limit(hive: Hive) -> None:
    """A hit of exactly the floor stays; its older name means the same."""
    nodes(hive, "needle one", "needle two")
    scores = [hit["score"] for hit in hive.call("search", kind="entity", query="needle")]
    assert scores == [pytest.approx(1 / 11), pytest.approx(1 / 12)]
    for name in ("min_rank_score", "min_score"):
        assert len(hive.call("search", kind="entity", query="needle", **{name: scores[0]})) == 1
    assert hive.call("search", kind="entity", query="needle", limit=0) == []


def test_a_superseded_note_hides_until_asked_for(hive: Hive) -> None:
    """A live supersedes edge takes the old note out of the hits."""
    old = hive.call("create", kind="decision", content="use mysql")["id"]
    new = hive.call("create", kind="decision", content="use sqlite")["id"]
    hive.call("link", source_id=new, target_id=old, relation="supersedes")
    ids = lambda **fields: {hit["id"] for hit in hive.call("search", kind="note", query="use", **fields)}  # noqa: E731
    assert ids() == {new}
    assert ids(include_superseded=True) == {old, new}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "edge", "query": "x"}, "list"),
        ({"kind": "note", "query": "x", "entity_type": None}, "'entity_type'"),
        ({"kind": "entity", "query": "x", "include_superseded": False}, "'include_superseded'"),
        ({"kind": "concept", "query": "x", "entity_kind": "person"}, "contradicts"),
        ({"kind": "entity", "query": " "}, "'query'"),
        ({"kind": "entity", "query": "x", "entity_type": "nosuch"}, "unknown entity_type"),
        ({"kind": "entity", "query": "x", "entity_type": "lab"}, ""),
        ({"kind": "entity", "query": "x" * 70_000}, "65536"),
        ({"kind": "entity", "query": "x", "min_rank_score": 1.5}, "'min_rank_score'"),
    ],
)
def test_a_search_that_cannot_be_meant_is_refused(hive: Hive, fields: dict[str, Any], says: str) -> None:
    """Filters of another kind are errors even when null; the message names them."""
    if says:
        error = hive.refuses("search", **fields)
        assert error["kind"] == "invalid_input"
        assert says in error["message"]
    else:
        assert hive.call("search", **fields) == []


def test_times_order_hits_newest_first(hive: Hive) -> None:
    """order_by sorts by time after ranking, within the window."""
    first, second, third = nodes(hive, "needle a", "needle b", "needle c")
    hive.call("update", id=first, description="needle needle")
    ids = lambda order: [hit["id"] for hit in hive.call("search", kind="entity", query="needle", order_by=order)]  # noqa: E731
    assert ids("created_at") == [third, second, first]
    assert ids("updated_at") == [first, third, second]
