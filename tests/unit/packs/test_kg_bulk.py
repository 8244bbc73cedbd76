"""create(items) and link(links): many records in one call."""

import json
from typing import Any

import pytest

from hivekeep_contract.errors import ParseError
from hivekeep_contract.limits import BULK_CAP
from support.client import Hive, open_hive

MISSING = "00000000-0000-4000-8000-000000000000"
GOOD = {"kind": "concept", "name": "RoPE"}
SECRET = "AKIA" + "ABCDEFGHIJKLMNOP"


def rows(hive: Hive) -> dict[str, int]:
    """How many entities, notes and edges there are, and how many events that are not audit rows."""
    counts = hive.call("stats")
    happened = [event for event in hive.events() if event["kind"] != "audit"]
    return {**{name: counts[name] for name in ("entities", "notes", "edges")}, "events": len(happened)}


def concepts(hive: Hive, *names: str) -> list[str]:
    """The ids of fresh concepts."""
    items = [{"kind": "concept", "name": name} for name in names]
    return [entry["result"]["id"] for entry in hive.call("create", items=items)["results"]]


# create


def test_a_bulk_create_stores_entities_and_notes_in_their_order(hive: Hive) -> None:
    """The receipts are index-aligned, the records are those that single creates would make, each has its event."""
    items = [
        {"kind": "paper", "name": " RoFormer ", "tags": ["a"], "properties": {"year": 2021}},
        {"kind": "note", "content": "one", "tags": ["t"], "salience": 0.5},
        {"kind": "entity", "entity_kind": "Org", "name": "ACL", "entity_type": "nonprofit", "description": None},
        {"kind": "insight", "content": "two", "name": "title", "properties": {"tags": ["lost"], "k": 1}, "tags": ["w"]},
    ]
    made = hive.call("create", items=items)
    assert {name: made[name] for name in made if name != "results"} == {
        "attempted": 4,
        "created": 4,
        "skipped": 0,
        "failed": 0,
    }
    assert [(entry["index"], entry["ok"], entry["result"]["created"]) for entry in made["results"]] == [
        (index, True, True) for index in range(4)
    ]
    assert [entry["result"]["kind"] for entry in made["results"]] == ["document", "observation", "org", "insight"]
    ids = [entry["result"]["id"] for entry in made["results"]]
    paper, first, org, second = (hive.call("get", id=record) for record in ids)
    assert (paper["name"], paper["entity_type"], paper["tags"], paper["properties"]) == (
        "RoFormer",
        "paper",
        ["a"],
        {"year": 2021},
    )
    assert (first["content"], first["salience"], first["properties"]) == ("one", 0.5, {"tags": ["t"]})
    assert (org["entity_type"], org["description"]) == ("nonprofit", None)
    assert (second["name"], second["properties"]) == ("title", {"tags": ["w"], "k": 1})
    kinds = [[event["kind"] for event in hive.events(observed=[record])] for record in ids]
    assert kinds == [["entity_created"], ["note_created"], ["entity_created"], ["note_created"]]


def test_bulk_created_records_are_searched_and_walked_in_their_order(hive: Hive) -> None:
    """Text indexes and insertion sequences are those of single creates."""
    hive.call("create", kind="concept", name="zebra 0")
    ids = concepts(hive, *(f"zebra {number}" for number in range(1, 30)))
    hive.call("create", kind="concept", name="zebra 30")
    walked = hive.call("list", kind="entity", after="", limit=500)["entities"]
    assert [row["name"] for row in walked] == [f"zebra {number}" for number in range(31)]
    assert [row["id"] for row in walked[1:-1]] == ids
    assert [hit["id"] for hit in hive.call("search", kind="entity", query="zebra 17")][:1] == [ids[16]]


def test_verbose_answers_whole_records(hive: Hive) -> None:
    """Each result is the record with created=true; the entities are listed once more."""
    items = [GOOD, {"kind": "note", "content": "x"}]
    made = hive.call("create", items=items, verbose=True)
    entity, note = (entry["result"] for entry in made["results"])
    assert entity == {**hive.call("get", id=entity["id"]), "created": True}
    assert note == {**hive.call("get", id=note["id"]), "created": True}
    assert made["entities"] == [hive.call("get", id=entity["id"])]


BAD_ITEMS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "invalid_input", "'kind' is required"),
    ({"kind": None, "name": "x"}, "invalid_input", "'kind' is required"),
    ({"kind": 7, "name": "x"}, "invalid_input", "'kind' must be a string"),
    ({"kind": "concept"}, "invalid_input", "'name' is required"),
    ({"kind": "concept", "name": None}, "invalid_input", "'name' is required"),
    ({"kind": "concept", "name": " \n"}, "invalid_input", "not blank"),
    ({"kind": "entity", "name": "x"}, "invalid_input", "entity_kind is one of concept"),
    ({"kind": "nosuch", "name": "x"}, "invalid_input", "unknown kind 'nosuch'"),
    ({"kind": "edge"}, "invalid_input", "link"),
    ({"kind": "concept", "name": "x", "colour": "red"}, "invalid_input", "unknown field 'colour'"),
    ({"kind": "concept", "name": "x", "content": "y"}, "invalid_input", "'content' is for a note"),
    ({"kind": "concept", "name": "x", "salience": None}, "invalid_input", "'salience' is for a note"),
    ({"kind": "note", "content": "x", "description": "y"}, "invalid_input", "'description' is for an entity"),
    ({"kind": "note", "content": "x", "entity_type": "y"}, "invalid_input", "'entity_type' is for an entity"),
    ({"kind": "note"}, "invalid_input", "'content' is required"),
    ({"kind": "note", "content": 7}, "invalid_input", "'content' must be a string"),
    ({"kind": "note", "content": "x", "salience": 1.5}, "invalid_input", "'salience' must be a number from 0.0 to 1.0"),
    ({"kind": "concept", "name": "x", "properties": []}, "invalid_input", "'properties' must be an object"),
    ({"kind": "concept", "name": "x", "entity_type": "paper"}, "invalid_input", "it is a type of document"),
    ({"kind": "concept", "name": "x", "edges": []}, "invalid_input", "takes no 'edges'"),
    ({"kind": "note", "content": "x", "annotates": [MISSING]}, "invalid_input", "takes no 'annotates'"),
    ({"kind": "note", "content": "x", "key": "k"}, "invalid_input", "takes no 'key'"),
    ({"kind": "note", "content": "xy", "embedding_content": "x"}, "invalid_input", "takes no 'embedding_content'"),
    ({"kind": "note", "content": "x", "decay_factor": 1}, "invalid_input", "takes no 'decay_factor'"),
    ({"kind": "note", "content": "x", "namespace": "n"}, "invalid_input", "takes no 'namespace'"),
    ({"kind": "note", "content": "x", "expected_version": 1}, "invalid_input", "unknown field 'expected_version'"),
    ({"kind": "note", "content": f"key is {SECRET}"}, "secret_detected", "note.content"),
]


@pytest.mark.parametrize(("item", "code", "says"), BAD_ITEMS)
def test_a_wrong_item_ends_an_atomic_call(hive: Hive, item: dict[str, Any], code: str, says: str) -> None:
    """The error of the call names the item and what is accepted; the right items around it are not stored."""
    error = hive.refuses("create", items=[GOOD, item, GOOD])
    assert error["code"] == code
    assert error["message"].startswith("items[1]: ")
    assert says in error["message"]
    assert rows(hive) == {"entities": 0, "notes": 0, "edges": 0, "events": 0}


@pytest.mark.parametrize(("item", "code", "says"), BAD_ITEMS)
def test_a_wrong_item_does_not_stop_its_siblings(hive: Hive, item: dict[str, Any], code: str, says: str) -> None:
    """With atomic=false the others are stored and the failure stands at its index, proven to have written nothing."""
    made = hive.call("create", items=[GOOD, item, {"kind": "note", "content": "y"}], atomic=False)
    assert (made["attempted"], made["created"], made["skipped"], made["failed"]) == (3, 2, 0, 1)
    assert [(entry["index"], entry["ok"]) for entry in made["results"]] == [(0, True), (1, False), (2, True)]
    failed = made["results"][1]
    assert failed["domain_disposition"] == failed["error"]["domain_disposition"] == "not_committed"
    assert failed["error"]["code"] == code
    assert says in failed["error"]["message"]
    assert rows(hive) == {"entities": 1, "notes": 1, "edges": 0, "events": 2}


def test_an_atomic_refusal_keeps_code_and_details(hive: Hive) -> None:
    """The call fails with the error of the item, so its details lead to the place as well."""
    error = hive.refuses("create", items=[GOOD, {"kind": "note", "content": SECRET}])
    assert (error["kind"], error["domain_disposition"]) == ("secret_detected", "not_committed")
    assert error["details"]["location"] == "note.content"
    assert SECRET not in json.dumps(error)


def test_every_item_may_fail(hive: Hive) -> None:
    """A call that is not atomic succeeds with nothing created."""
    made = hive.call("create", items=[{}, {"kind": "concept"}], atomic=False)
    assert (made["created"], made["failed"]) == (0, 2)
    assert rows(hive)["events"] == 0


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"items": []}, "'items'"),
        ({"items": [GOOD] * (BULK_CAP + 1)}, "'items'"),
        ({"items": GOOD}, "'items'"),
        ({"items": [GOOD, "x"]}, "'items[1]'"),
        ({"items": [GOOD], "kind": "concept"}, "give kind for one record, or items for many"),
        ({"items": [GOOD], "name": "x"}, "'name' belongs into each of items"),
        ({"items": [GOOD], "skip_dedup_check": True}, "'skip_dedup_check' belongs into each of items"),
        ({"items": [GOOD], "edges": []}, "'edges' belongs into each of items"),
        ({"items": [GOOD], "atomic": "no"}, "'atomic' must be true or false"),
        ({"kind": "concept", "name": "x", "atomic": False}, "'atomic' needs 'items'"),
        ({"kind": "concept", "name": "x", "verbose": True}, "'verbose' needs 'items'"),
        ({}, "give kind for one record, or items for many"),
    ],
)
def test_a_bulk_create_that_cannot_be_meant_is_refused_whole(hive: Hive, fields: dict[str, Any], says: str) -> None:
    """What is wrong with the call itself refuses it whether or not it is atomic."""
    error = hive.refuses("create", **fields)
    assert (error["code"], says in error["message"]) == ("invalid_input", True), error["message"]
    assert rows(hive) == {"entities": 0, "notes": 0, "edges": 0, "events": 0}


@pytest.mark.parametrize("atomic", [True, False])
def test_the_cap_is_inclusive(hive: Hive, atomic: bool) -> None:
    """1,000 items are stored by one call."""
    made = hive.call("create", items=[{"kind": "note", "content": str(n)} for n in range(BULK_CAP)], atomic=atomic)
    assert (made["created"], len(made["results"])) == (1000, 1000)
    assert hive.call("stats")["notes"] == 1000


def test_nulls_beside_items_are_absent(hive: Hive) -> None:
    """An optional argument that is null is not given."""
    made = hive.call("create", items=[GOOD], name=None, kind=None, atomic=None)
    assert made["created"] == 1


def test_items_are_written_to_the_namespace_of_the_call(hive: Hive) -> None:
    """`namespace` holds for every item."""
    made = hive.call("create", items=[GOOD, {"kind": "note", "content": "x"}], namespace="team", verbose=True)
    assert [entry["result"]["namespace"] for entry in made["results"]] == ["team", "team"]
    assert rows(hive) == {"entities": 0, "notes": 0, "edges": 0, "events": 0}
    assert rows(hive.as_actor(None, None, ("team",)))["events"] == 2


def test_equal_items_are_all_stored(hive: Hive) -> None:
    """Nothing is compared, neither inside the call nor with what exists."""
    assert hive.call("create", items=[GOOD, GOOD, GOOD])["created"] == 3
    assert hive.call("create", items=[GOOD])["created"] == 1
    assert hive.call("stats")["entities"] == 4


def test_one_audit_row_stands_for_the_call_and_runs_no_model() -> None:
    """A bulk create is one operation of cost 1, whatever models are registered."""
    with open_hive(embedding_models=("hashed",)) as hive:
        hive.call("create", items=[GOOD, GOOD])
        hive.call("create", **GOOD)
        costs = [row["payload"]["resource"]["cost_unit"] for row in hive.events(event_kind="audit", verb="create")]
    assert costs == [2, 1]


def test_the_disk_keeps_a_bulk_create_whole(tmp_path: Any) -> None:
    """What was answered is there after the store was closed and opened again, its text index included."""
    with open_hive(tmp_path / "hive.db") as hive:
        hive.call("create", items=[{"kind": "concept", "name": f"zebra {n}"} for n in range(50)])
    with open_hive(tmp_path / "hive.db") as hive:
        assert hive.call("stats")["entities"] == 50
        assert len(hive.call("search", kind="entity", query="zebra", limit=100)) == 50


# embedding_content


def test_embedding_content_is_checked_and_changes_nothing(hive: Hive) -> None:
    """A proper beginning is accepted; stored and searched is the whole content."""
    made = hive.call("create", kind="note", content="alpha beta gamma", embedding_content="alpha")
    plain = hive.call("create", kind="note", content="alpha beta gamma")
    assert set(made) == set(plain)
    assert made["content"] == "alpha beta gamma"
    assert len(hive.call("search", kind="note", query="gamma")) == 2


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "note", "content": "alpha", "embedding_content": ""}, "not empty and shorter"),
        ({"kind": "note", "content": "alpha", "embedding_content": "alpha"}, "not empty and shorter"),
        ({"kind": "note", "content": "alpha", "embedding_content": "lpha"}, "beginning of 'content'"),
        ({"kind": "note", "content": "alpha", "embedding_content": "alpha beta"}, "beginning of 'content'"),
        ({"kind": "note", "content": "alpha", "embedding_content": 1}, "'embedding_content' must be a string"),
        ({"kind": "concept", "name": "x", "embedding_content": "x"}, "'embedding_content' is for note only"),
    ],
)
def test_embedding_content_must_be_a_proper_beginning(hive: Hive, fields: dict[str, Any], says: str) -> None:
    """Anything else is refused and nothing is written."""
    error = hive.refuses("create", **fields)
    assert (error["code"], says in error["message"]) == ("invalid_input", True), error["message"]
    assert rows(hive)["notes"] == 0


# link


def test_a_bulk_link_reports_each_mutation(hive: Hive) -> None:
    """Created, updated, resurrected and skipped are counted apart; the edges come in the order of the call."""
    a, b, c, d = concepts(hive, "A", "B", "C", "D")
    old = hive.call("link", source_id=a, target_id=b, relation="extends", weight=0.2, metadata={"x": 1})
    gone = hive.call("link", source_id=a, target_id=c, relation="extends")
    hive.call("delete", id=gone["id"])
    links = [
        {"source_id": a, "target_id": b, "relation": "extends", "weight": 0.9},
        {"source": a, "target": c, "kind": "Extends", "resurrect": True},
        {"source_id": d, "target_id": a, "relation": "competes-with"},
        {"source_id": a, "target_id": d, "relation": "competes_with", "weight": 0.1},
        {"source_id": a[:13], "target_id": "b", "relation": "variant_of", "metadata": {"k": "v"}, "weight": None},
    ]
    done = hive.call("link", links=links, verbose=True)
    edges = done.pop("edges")
    assert done == {"attempted": 5, "created": 2, "updated": 1, "resurrected": 1, "skipped": 1, "failed": 0}
    assert [(edge["source_id"], edge["target_id"], edge["relation"], edge["mutation"]) for edge in edges] == [
        (a, b, "extends", "updated"),
        (a, c, "extends", "resurrected"),
        (d, a, "competes_with", "created"),
        (a, b, "variant_of", "created"),
    ]
    assert [edge["weight"] for edge in edges] == [0.9, 1.0, 1.0, 1.0]
    assert [edge["metadata"] for edge in edges] == [None, None, None, {"k": "v"}]
    assert (edges[0]["id"], edges[0]["created_at"]) == (old["id"], old["created_at"])
    assert [event["kind"] for event in hive.events(observed=[old["id"]])] == ["edge_updated", "link_created"]
    update = hive.events(observed=[old["id"]])[0]["payload"]
    assert update["changed_fields"] == ["weight", "metadata"]
    assert update["previous"] == {name: value for name, value in old.items() if name != "mutation"}
    stored = hive.call("get", id=edges[2]["id"])
    assert (stored["source_id"], stored["target_id"]) == tuple(sorted((a, d)))


def test_a_plain_bulk_link_answers_counts_only(hive: Hive) -> None:
    """Neither edges nor errors are there unless they were asked for or can occur."""
    a, b = concepts(hive, "A", "B")
    links = [{"source_id": a, "target_id": b, "relation": "extends"}]
    assert hive.call("link", links=links) == {
        "attempted": 1,
        "created": 1,
        "updated": 0,
        "resurrected": 0,
        "skipped": 0,
        "failed": 0,
    }
    assert hive.call("link", links=links, atomic=False)["errors"] == []


def test_a_name_of_many_counts_all_of_them(hive: Hive) -> None:
    """The search for a name stops at what a message shows; the number in it is that of all records, not of those."""
    concepts(hive, *["twin"] * 130, "B")
    error = hive.refuses("link", source_id="twin", target_id="B", relation="extends")
    assert "'twin' fits 130 records: " in error["message"]
    assert "and 110 more; give more digits" in error["message"]
    assert error["details"] == {"ref": "twin", "count": "130"}


BAD_LINKS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "invalid_input", "'source_id' is required"),
    ({"source_id": "A", "relation": "extends"}, "invalid_input", "'target_id' is required"),
    ({"source_id": "A", "target_id": "B"}, "invalid_input", "'relation' is required"),
    ({"source_id": "A", "target_id": "B", "relation": None}, "invalid_input", "'relation' is required"),
    ({"source_id": "A", "target_id": "B", "relation": "likes"}, "invalid_input", "one of contains"),
    ({"source_id": "A", "source": "A", "target_id": "B", "relation": "extends"}, "invalid_input", "given twice"),
    ({"source_id": "A", "target_id": "A", "relation": "extends"}, "invalid_input", "same record"),
    ({"source_id": "A", "target_id": "B", "relation": "located_in", "weight": 2}, "invalid_input", "'weight' must be"),
    ({"source_id": "A", "target_id": "B", "relation": "implements"}, "invalid_input", "for this pair use"),
    (
        {"source_id": "A", "target_id": "B", "relation": "extends", "links": []},
        "invalid_input",
        "unknown field 'links'",
    ),
    ({"source_id": "A", "target_id": "B", "relation": "extends", "verbose": True}, "invalid_input", "unknown field"),
    ({"source_id": "A", "target_id": "B", "relation": "extends", "metadata": {"k": SECRET}}, "secret_detected", "edge"),
    ({"source_id": "A", "target_id": MISSING, "relation": "extends"}, "not_found", f"target_id: not found: {MISSING}"),
    ({"source_id": "A", "target_id": "C", "relation": "extends"}, "edge_tombstoned", "resurrect=true"),
    ({"source_id": "twin", "target_id": "B", "relation": "extends"}, "ambiguous", "fits 2 records"),
]


@pytest.fixture
def three(hive: Hive) -> Hive:
    """A, B and C, two of one name, and a deleted edge from A to C."""
    concepts(hive, "A", "B", "C", "twin", "twin")
    edge = hive.call("link", source_id="A", target_id="C", relation="extends")
    hive.call("delete", id=edge["id"])
    return hive


@pytest.mark.parametrize(("entry", "code", "says"), BAD_LINKS)
def test_a_wrong_link_ends_an_atomic_call(three: Hive, entry: dict[str, Any], code: str, says: str) -> None:
    """The error names the entry; the right ones around it are not written."""
    before = rows(three)
    right = {"source_id": "B", "target_id": "C", "relation": "extends"}
    error = three.refuses("link", links=[right, entry, right])
    assert (error["code"], error["message"].startswith("links[1]: ")) == (code, True)
    assert says in error["message"]
    assert rows(three) == before


@pytest.mark.parametrize(("entry", "code", "says"), BAD_LINKS)
def test_a_wrong_link_does_not_stop_its_siblings(three: Hive, entry: dict[str, Any], code: str, says: str) -> None:
    """With atomic=false the others are written and the failure is told by its index."""
    right = {"source_id": "B", "target_id": "C", "relation": "extends"}
    done = three.call("link", links=[right, entry, {**right, "relation": "variant_of"}], atomic=False)
    (failed,) = done.pop("errors")
    assert done == {"attempted": 3, "created": 2, "updated": 0, "resurrected": 0, "skipped": 0, "failed": 1}
    assert (failed["index"], failed["error"]["code"]) == (1, code)
    assert failed["error"]["domain_disposition"] == "not_committed"
    assert says in failed["error"]["message"]
    assert three.call("stats")["edges"] == 2


def test_a_refused_link_does_not_claim_its_edge(three: Hive) -> None:
    """The first link that can be carried out wins, not the first that names the edge."""
    links = [
        {"source_id": "A", "target_id": "C", "relation": "extends", "weight": 0.1},
        {"source_id": "A", "target_id": "C", "relation": "extends", "weight": 0.2, "resurrect": True},
        {"source_id": "A", "target_id": "C", "relation": "extends", "weight": 0.3, "resurrect": True},
    ]
    done = three.call("link", links=links, atomic=False, verbose=True)
    assert (done["failed"], done["resurrected"], done["skipped"]) == (1, 1, 1)
    assert [edge["weight"] for edge in done["edges"]] == [0.2]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"links": []}, "'links'"),
        ({"links": [{}] * (BULK_CAP + 1)}, "'links'"),
        ({"links": ["x"]}, "'links[0]'"),
        ({"links": [{}], "source_id": "A"}, "give source_id for one edge, or links for many"),
        ({"links": [{}], "target": "A"}, "give target_id for one edge, or links for many"),
        ({"links": [{}], "kind": "extends"}, "give relation for one edge, or links for many"),
        ({"links": [{}], "weight": 0.5}, "'weight' belongs into each of links"),
        ({"links": [{}], "resurrect": True}, "'resurrect' belongs into each of links"),
        ({"source_id": "A", "target_id": "B"}, "give relation for one edge, or links for many"),
        ({"source_id": "A", "target_id": "B", "relation": "extends", "atomic": True}, "'atomic' needs 'links'"),
        ({"source_id": "A", "target_id": "B", "relation": "extends", "verbose": True}, "'verbose' needs 'links'"),
    ],
)
def test_a_bulk_link_that_cannot_be_meant_is_refused_whole(hive: Hive, fields: dict[str, Any], says: str) -> None:
    """What is wrong with the call itself refuses it whether or not it is atomic."""
    error = hive.refuses("link", **fields)
    assert (error["code"], says in error["message"]) == ("invalid_input", True), error["message"]


def test_1000_links_are_written_by_one_call(hive: Hive) -> None:
    """The cap is inclusive, and each edge has its event."""
    hub, *others = concepts(hive, *(f"n{number}" for number in range(BULK_CAP)))
    links = [{"source_id": other, "target_id": hub, "relation": "extends"} for other in others]
    links.append({"source_id": hub, "target_id": others[0], "relation": "extends"})
    assert hive.call("link", links=links)["created"] == 1000
    assert hive.call("stats")["edges"] == 1000
    assert len(hive.events(event_kind="link_created")) == 1000


def test_edges_of_a_bulk_link_are_write_keys_of_a_batch(hive: Hive) -> None:
    """Two operations of a batch never write one edge, nor one a record that the other links."""
    a, b = concepts(hive, "A", "B")
    many = {"tool": "link", "args": {"links": [{"source": b, "target": a, "relation": "competes_with"}]}}
    one = {"tool": "link", "args": {"source_id": a, "target_id": b, "relation": "Competes With"}}
    for rival in (one, {"tool": "delete", "args": {"id": a}}):
        with pytest.raises(ParseError, match="both write"):
            hive.run(json.dumps([many, rival]))
    assert hive.call("stats")["edges"] == 0
