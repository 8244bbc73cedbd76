"""traverse, context and resolve: what they promise beyond the shape of the walk."""

import json
from typing import Any

import pytest

from hivekeep.identity.caller import make_caller
from hivekeep.identity.recent import RecentEntities
from hivekeep.packs.kg import expansion
from hivekeep.storage import edges, entities
from hivekeep.storage.engine import Tx
from hivekeep_contract.limits import RECENT_CALLERS_MAX, RECENT_ENTITIES_MAX
from support import stores
from support.client import Hive
from support.stores import record_id


def concept(hive: Hive, name: str, **fields: Any) -> str:
    """The id of a fresh concept."""
    made: str = hive.call("create", kind="concept", name=name, **fields)["id"]
    return made


def link(hive: Hive, source: str, target: str, relation: str = "extends", weight: float = 1.0) -> str:
    """The id of a fresh edge."""
    made: str = hive.call("link", source_id=source, target_id=target, relation=relation, weight=weight)["id"]
    return made


def star(tx: Tx, rays: int) -> None:
    """Node 1 with an edge to each of so many others."""
    for node in range(1, rays + 2):
        entities.insert(tx, stores.entity(node))
    for ray in range(rays):
        edges.insert(tx, stores.edge(1_000_000 + ray, 1, ray + 2))


def names(walk: dict[str, Any]) -> list[str]:
    """The names of the nodes of a walk."""
    return [node["name"] for node in walk["nodes"]]


# traverse


def test_bounds_of_a_walk_are_refused_not_clamped(hive: Hive) -> None:
    """101 raw roots, depth 11 and limit 1001 are refused by name; 100 equal roots are one walk."""
    root = concept(hive, "A")
    for name, args in (
        ("roots", {"roots": [root] * 101}),
        ("roots", {"roots": []}),
        ("max_depth", {"roots": [root], "max_depth": 11}),
        ("limit", {"roots": [root], "limit": 1001}),
    ):
        error = hive.refuses("traverse", **args)
        assert error["kind"] == "invalid_input"
        assert repr(name) in error["message"]
    assert len(hive.call("traverse", roots=[root] * 100, max_depth=10, limit=1000)) == 1


@pytest.mark.parametrize("name", ["roots", "ids", "start_ids"])
def test_roots_have_three_names_and_any_form_of_reference(hive: Hive, name: str) -> None:
    """A name, a prefix and the full id of one entity are one root."""
    root = concept(hive, "A")
    assert [walk["root_id"] for walk in hive.call("traverse", **{name: ["A", root[:8], root]})] == [root]


def test_properties_are_those_of_entities_and_notes_have_a_name(hive: Hive) -> None:
    """A nameless note is called by its kind and shows no properties, also when they are asked for."""
    root = concept(hive, "A", properties={"year": 2021})
    note = hive.call("create", kind="observation", content="x", properties={"y": 1}, annotates=[root])["id"]
    (walk,) = hive.call("traverse", roots=[root], include_properties=True)
    assert walk["nodes"][0]["properties"] == {"year": 2021}
    assert {key: walk["nodes"][1].get(key) for key in ("id", "name", "kind", "properties")} == {
        "id": note,
        "name": "[observation]",
        "kind": "observation",
        "properties": None,
    }
    assert all("properties" not in node for node in hive.call("traverse", roots=[root])[0]["nodes"])


def test_deleted_records_end_a_walk(hive: Hive) -> None:
    """A deleted node is neither shown nor walked through, and neither is a deleted edge."""
    a, b, c = (concept(hive, name) for name in "ABC")
    link(hive, a, b)
    edge = link(hive, b, c)
    assert names(hive.call("traverse", roots=[a])[0]) == ["A", "B", "C"]
    hive.call("delete", id=edge)
    assert names(hive.call("traverse", roots=[a])[0]) == ["A", "B"]
    hive.call("restore", id=edge)
    hive.call("delete", id=b)
    assert names(hive.call("traverse", roots=[a])[0]) == ["A"]
    assert hive.refuses("traverse", roots=[b])["kind"] == "not_found"


def test_rows_are_counted_over_all_roots(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rows are enough for a walk that looks at ten edges, and too few for two such walks; nothing partial comes."""
    hive.server.engine.run_write(lambda tx: star(tx, 10))
    monkeypatch.setattr(expansion, "GRAPH_ROWS_MAX", 10)
    assert len(hive.call("traverse", roots=[record_id(1)], max_depth=1)[0]["nodes"]) == 11
    error = hive.refuses("traverse", roots=[record_id(1), record_id(2)], max_depth=1)
    assert (error["kind"], error["code"]) == ("budget_exceeded", "graph_budget_exceeded")
    assert (error["details"], error["domain_disposition"]) == ({"budget": "rows", "allowed": "10"}, "not_committed")


def test_edges_to_known_nodes_are_counted(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walking back over ten edges counts them again."""
    hive.server.engine.run_write(lambda tx: star(tx, 10))
    monkeypatch.setattr(expansion, "GRAPH_ROWS_MAX", 19)
    assert hive.refuses("traverse", roots=[record_id(1)], max_depth=2)["details"]["budget"] == "rows"
    monkeypatch.setattr(expansion, "GRAPH_ROWS_MAX", 20)
    assert len(hive.call("traverse", roots=[record_id(1)], max_depth=2)[0]["nodes"]) == 11


def test_time_is_bounded(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A walk and a context whose time is over say so."""
    root = concept(hive, "A")
    monkeypatch.setattr(expansion, "GRAPH_EXPANSION_MS", 0)
    for verb, args in (("traverse", {"roots": [root]}), ("context", {"entity_ids": [root]})):
        error = hive.refuses(verb, **args)
        assert (error["code"], error["details"]["budget"]) == ("graph_budget_exceeded", "time")
        assert error["message"].startswith(verb)


# context


def size(record: Any) -> int:
    """Characters of the compact JSON."""
    return len(json.dumps(record, ensure_ascii=False, separators=(",", ":")))


def test_an_exact_fit_is_not_truncated(hive: Hive) -> None:
    """A budget of just the size of everything shows everything; one character less drops the last neighbor."""
    a = concept(hive, "Ä", description="设备 " * 40)
    for number, weight in enumerate((0.9, 0.5)):
        link(hive, a, concept(hive, f"near {number}", description="x" * 60), weight=weight)
    body = hive.call("context", entity_ids=[a])
    (entry,) = body["anchors"]
    total = size(entry["entity"]) + sum(map(size, entry["neighbors"]))
    assert total > 256
    fitting = hive.call("context", entity_ids=[a], budget=total)
    assert fitting["anchors"] == body["anchors"]
    assert (fitting["truncated"], fitting["dropped"]) == (False, {"anchors": 0, "neighbors": 0})
    short = hive.call("context", entity_ids=[a], budget=total - 1)
    assert [near["name"] for near in short["anchors"][0]["neighbors"]] == ["near 0"]
    assert (short["truncated"], short["dropped"]) == (True, {"anchors": 0, "neighbors": 1})


def test_anchors_come_before_neighbors_and_end_at_the_first_that_does_not_fit(hive: Hive) -> None:
    """A large second anchor drops itself, all behind it and their neighbors; the first keeps its own."""
    small, large, last = concept(hive, "S"), concept(hive, "L", description="x" * 600), concept(hive, "T")
    link(hive, small, concept(hive, "near S"))
    link(hive, last, concept(hive, "near T"))
    body = hive.call("context", entity_ids=[small, large, last], budget=500)
    assert [entry["entity"]["name"] for entry in body["anchors"]] == ["S"]
    assert [near["name"] for near in body["anchors"][0]["neighbors"]] == ["near S"]
    assert body["dropped"] == {"anchors": 2, "neighbors": 1}


def test_an_overflow_ends_the_neighbors_of_its_anchor_only(hive: Hive) -> None:
    """The anchor behind still gets the neighbor that fits."""
    a, b = concept(hive, "A"), concept(hive, "B")
    link(hive, a, concept(hive, "huge", description="x" * 900), weight=0.9)
    link(hive, a, concept(hive, "tiny"), weight=0.5)
    link(hive, b, concept(hive, "fits"))
    body = hive.call("context", entity_ids=[a, b], budget=900)
    assert [[near["name"] for near in entry["neighbors"]] for entry in body["anchors"]] == [[], ["fits"]]
    assert body["dropped"] == {"anchors": 0, "neighbors": 2}


def test_only_numbers_that_were_given_are_reported(hive: Hive) -> None:
    """Each given number has three fields, clamped or not; null and absent ones have none."""
    a = concept(hive, "A")
    plain = hive.call("context", entity_ids=[a], limit=None)
    assert set(plain) == {"anchors", "truncated", "dropped"}
    body = hive.call("context", entity_ids=[a], hops=-1, budget=10**9, limit=5, fanout=0)
    assert {key: body[key] for key in body if key not in plain} == {
        "requested_hops": -1,
        "effective_hops": 0,
        "hops_clamped": True,
        "requested_budget": 10**9,
        "effective_budget": 65536,
        "budget_clamped": True,
        "requested_limit": 5,
        "effective_limit": 5,
        "limit_clamped": False,
        "requested_fanout": 0,
        "effective_fanout": 1,
        "fanout_clamped": True,
    }


def test_found_anchors_follow_the_named_ones(hive: Hive) -> None:
    """limit counts what the query adds; a named entity that is found too stands once, at its place."""
    ids = [concept(hive, f"adapter {number}", description="low rank") for number in range(4)]
    body = hive.call("context", query="adapter", entity_ids=[ids[2], "adapter 2", ids[2][:8]], limit=2, hops=0)
    shown = [entry["entity"]["id"] for entry in body["anchors"]]
    assert shown[0] == ids[2]
    assert len(shown) == len(set(shown)) == 3
    assert set(shown) <= set(ids)


def test_every_anchor_that_is_missing_is_named(hive: Hive) -> None:
    """Absent, deleted, invisible ids and notes are all listed; a blank query with no ids is nothing to start from."""
    gone, note = concept(hive, "gone"), hive.call("create", kind="observation", content="x")["id"]
    hidden = hive.call("create", kind="concept", name="hidden", namespace="elsewhere")["id"]
    hive.call("delete", id=gone)
    error = hive.refuses("context", entity_ids=[gone, note, hidden, "nobody"], query="x")
    assert error["kind"] == "not_found"
    assert error["details"] == {"param": "entity_ids", "id": f"{gone}, {note}, {hidden}, nobody"}
    for args in ({"query": "  "}, {"entity_ids": []}, {"query": None, "entity_ids": None}):
        assert hive.refuses("context", **args)["kind"] == "invalid_input"


def test_notes_neither_show_nor_take_a_place(hive: Hive) -> None:
    """With fanout 1 the entity is shown although a note weighs more."""
    a, b = concept(hive, "A"), concept(hive, "B")
    link(hive, a, b, weight=0.1)
    hive.call("create", kind="observation", content="x", annotates=[a])
    (entry,) = hive.call("context", entity_ids=[a], fanout=1)["anchors"]
    assert [near["name"] for near in entry["neighbors"]] == ["B"]


# resolve


def one(hive: Hive, ref: str, **args: Any) -> dict[str, Any]:
    """What resolve says of one reference."""
    (result,) = hive.call("resolve", refs=[ref], **args)["results"]
    assert result["ref"] == ref
    found: dict[str, Any] = result
    return found


def stored(hive: Hive, *numbers: int, **fields: Any) -> None:
    """Entities that nobody named."""
    for number in numbers:
        hive.server.engine.run_write(lambda tx, number=number: entities.insert(tx, stores.entity(number, **fields)))


def test_a_name_that_two_entities_have_is_never_picked(hive: Hive) -> None:
    """Stage 3 lists both, in the case they have; the kind tells them apart."""
    stored(hive, 1, name="Mercury")
    stored(hive, 2, name="Mercury", kind="project")
    found = one(hive, "Mercury")
    assert (found["status"], "id" in found) == ("ambiguous", False)
    assert [(entry["id"], entry["score"]) for entry in found["candidates"]] == [
        (record_id(1), 0.98),
        (record_id(2), 0.98),
    ]
    project = {"ref": "Mercury", "status": "resolved", "id": record_id(2), "confidence": 0.98}
    assert one(hive, "Mercury", kind="project") == project
    assert one(hive, "mercury")["status"] == "ambiguous"


def test_the_stages_answer_in_their_order(hive: Hive) -> None:
    """Ids 1.0, recent names 0.95, parts of them 0.7, exact names 0.98, the clear lead of a search 0.6."""
    stored(hive, 1, name="LoRA", description="low rank adaptation")
    assert one(hive, record_id(1))["confidence"] == 1.0
    assert one(hive, " LoRA ")["confidence"] == 0.98
    assert one(hive, "rank adaptation") == {
        "ref": "rank adaptation",
        "status": "resolved",
        "id": record_id(1),
        "confidence": 0.6,
    }
    hive.call("get", id=record_id(1))
    assert one(hive, "lora")["confidence"] == 0.95
    assert one(hive, "the LORA paper")["confidence"] == 0.7
    assert one(hive, "lor")["confidence"] == 0.7
    assert one(hive, "   ")["status"] == one(hive, "quantum gravity")["status"] == "not_found"


def test_equal_hits_of_a_search_are_candidates(hive: Hive) -> None:
    """Close scores are ambiguous; limit bounds what is listed; the best comes first."""
    stored(hive, *range(1, 8), description="rotary embedding")
    found = one(hive, "rotary embedding", limit=3)
    assert (found["status"], len(found["candidates"])) == ("ambiguous", 3)
    scores = [entry["score"] for entry in found["candidates"]]
    assert scores == sorted(scores, reverse=True)
    assert len(one(hive, "rotary embedding")["candidates"]) == 5


def test_ids_lead_to_entities_only(hive: Hive) -> None:
    """A note, a missing id and a deleted entity are not found; a prefix of two entities lists both without names."""
    note = hive.call("create", kind="observation", content="x")["id"]
    stored(hive, 1, 2)
    for ref in (note, note[:8], "f" * 32, "ffffffff"):
        assert one(hive, ref) == {"ref": ref, "status": "not_found"}
    found = one(hive, "00000000-0000")
    assert found["candidates"] == [{"id": record_id(number), "name": None, "score": 1.0} for number in (1, 2)]
    hive.call("delete", id=record_id(2))
    assert one(hive, "00000000")["id"] == record_id(1)
    assert one(hive, record_id(2))["status"] == "not_found"


def test_a_merged_entity_leads_to_the_kept_one(hive: Hive) -> None:
    """redirected_from lists the way; a circle of redirects fails."""
    stored(hive, 1, deleted_at=5, merged_into=record_id(2))
    stored(hive, 2, deleted_at=6, merged_into=record_id(3))
    stored(hive, 3)
    found = one(hive, record_id(1))
    assert (found["id"], found["redirected_from"]) == (record_id(3), [record_id(1), record_id(2)])
    stored(hive, 4, deleted_at=5, merged_into=record_id(5))
    stored(hive, 5, deleted_at=5, merged_into=record_id(4))
    assert hive.refuses("resolve", refs=[record_id(4)])["code"] == "redirect_cycle"


def test_kinds_are_entity_kinds(hive: Hive) -> None:
    """entity is no filter; a note kind and a note are refused."""
    stored(hive, 1, name="LoRA")
    assert one(hive, "LoRA", kind="entity")["id"] == record_id(1)
    assert one(hive, "LoRA", kind="person")["status"] == "not_found"
    for kind in ("observation", "note"):
        assert "kind" in hive.refuses("resolve", refs=["LoRA"], kind=kind)["message"]
    assert hive.refuses("resolve", refs=["x"] * 101)["kind"] == "invalid_input"


# what was named last


def test_what_names_an_entity(hive: Hive) -> None:
    """create, get, update, link and merge name entities; other reads and failures do not; delete takes them out."""
    stored(hive, 1, 2, 3, 4, name="Rotor", description="turns")
    one, two, three, four = map(record_id, (1, 2, 3, 4))

    def recent() -> list[str]:
        return hive.server.around.recent.of(hive.caller, "local")

    hive.call("search", kind="entity", query="rotor")
    hive.call("list", kind="entity")
    hive.call("neighbors", node_id=one)
    hive.refuses("update", id=one, content="x")
    hive.refuses("get", id=record_id(9))
    assert recent() == []
    hive.call("get", id=one)
    hive.call("update", id=two, description="spins")
    link(hive, three, four)
    assert recent() == [four, three, two, one]
    made = concept(hive, "Stator")
    assert recent() == [made, four, three, two, one]
    hive.call("merge", into_id=one, from_id=two)
    assert recent() == [one, made, four, three]
    hive.call("delete", id=four)
    hive.call("restore", id=four)
    assert recent() == [one, made, three]


def test_a_ring_is_the_actors_own(hive: Hive) -> None:
    """What one actor named, or in another namespace, is not what another one means."""
    rings = RecentEntities()
    a, b = make_caller("a", None, ()), make_caller("b", None, ())
    rings.admit(a, "local", ["1", "2", "1"])
    assert rings.of(a, "local") == ["1", "2"]
    assert rings.of(a, "team") == rings.of(b, "local") == rings.of(make_caller(None, None, ()), "local") == []
    rings.forget(["1"])
    assert rings.of(a, "local") == ["2"]


def test_rings_are_bounded() -> None:
    """The oldest entity of a full ring gives way, and the caller that was quiet longest."""
    rings = RecentEntities()
    first = make_caller("first", None, ())
    rings.admit(first, "local", map(str, range(RECENT_ENTITIES_MAX + 1)))
    assert rings.of(first, "local") == [str(number) for number in range(RECENT_ENTITIES_MAX, 0, -1)]
    for number in range(RECENT_CALLERS_MAX - 1):
        rings.admit(make_caller(f"caller {number}", None, ()), "local", ["1"])
    assert rings.of(first, "local")
    rings.admit(make_caller("one more", None, ()), "local", ["1"])
    assert rings.of(first, "local") == []
