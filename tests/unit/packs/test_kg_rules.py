"""Rules of single records and lists that need a crowd, another caller, or a record in an odd state."""

from typing import Any

import pytest

from hivekeep.gate.policy import Decision, GateRequest
from hivekeep_contract.limits import BULK_CAP, NOTE_SCAN_CEILING
from support.client import Hive

COUNT = {"count_scope": {"namespaces": "caller_visible", "rows": "live_only"}}


def crowd(hive: Hive, count: int, **fields: Any) -> list[str]:
    """The ids of `count` fresh notes, by insertion."""
    ids: list[str] = []
    while len(ids) < count:
        size = min(BULK_CAP, count - len(ids))
        items = [{"kind": "observation", "content": f'{{"n": {len(ids) + at}}}', **fields} for at in range(size)]
        ids += [entry["result"]["id"] for entry in hive.call("create", items=items)["results"]]
    return ids


# list


def test_a_filtered_note_walk_goes_on_behind_the_scan_ceiling(hive: Hive) -> None:
    """A match behind 10,000 others comes with the second page; the first is empty, incomplete and can be continued."""
    ids = crowd(hive, NOTE_SCAN_CEILING)
    late = hive.call("create", kind="insight", content="late")
    first = hive.call("list", kind="insight", after="")
    assert (first["notes"], first["next_after"], first["scan_incomplete"]) == ([], ids[-1], True)
    second = hive.call("list", kind="insight", after=first["next_after"])
    assert [row["id"] for row in second["notes"]] == [late["id"]]
    assert (second["next_after"], "scan_incomplete" in second) == (None, False)
    unfiltered = hive.call("list", kind="note", after=ids[-1])
    assert ([row["id"] for row in unfiltered["notes"]], "scan_incomplete" in unfiltered) == ([late["id"]], False)


def test_a_filtered_event_page_says_when_it_could_not_look_at_all(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short page is marked incomplete; one that is full is not, nor one whose condition an index answers."""
    monkeypatch.setattr("hivekeep_contract.limits.EVENT_SCAN_CEILING", 5)
    hive.call("create", kind="concept", name="old")
    for _ in range(6):
        hive.call("whoami")
    page = hive.call("list", kind="event", verb="create")
    assert (page["items"], page["scan_incomplete"]) == ([], True)
    page = hive.call("list", kind="event", verb="whoami", limit=2)
    assert (len(page["items"]), "scan_incomplete" in page) == (2, False)
    page = hive.call("list", kind="event", event_kind="entity_created")
    assert (len(page["items"]), "scan_incomplete" in page) == (1, False)


def test_parsed_content_walks_with_cursors_and_keys(hive: Hive) -> None:
    """Every page of a walk gives JSON values, keyed notes and granular kinds included; nothing stored changes."""
    ids = crowd(hive, 5)
    keyed = hive.call("create", kind="decision", content=' {"n": [5]} ', key="k")
    seen: list[tuple[str, Any]] = []
    after: str | None = ""
    while after is not None:
        page = hive.call("list", kind="note", after=after, limit=2, parse_content=True)
        assert (page["requested_limit"], page["effective_limit"], page["limit_clamped"]) == (2, 2, False)
        seen += [(row["id"], row["content"]) for row in page["notes"]]
        after = page["next_after"]
    assert seen == [*((record, {"n": at}) for at, record in enumerate(ids)), (keyed["id"], {"n": [5]})]
    (row,) = hive.call("list", kind="decision", parse_content=True)["items"]
    assert row == {**hive.call("get", id=keyed["id"]), "content": {"n": [5]}}
    assert hive.call("list", kind="decision")["items"][0]["content"] == ' {"n": [5]} '


def test_one_note_that_is_not_json_refuses_its_page_only(hive: Hive) -> None:
    """The error names note and field; pages without it are answered, and other kinds never look."""
    ids = crowd(hive, 2)
    bad = hive.call("create", kind="insight", content="{not json")
    hive.call("create", kind="concept", name="A")
    assert len(hive.call("list", kind="note", after="", limit=2, parse_content=True)["notes"]) == 2
    error = hive.refuses("list", kind="note", after=ids[1], parse_content=True)
    assert (error["code"], bad["id"] in error["message"], "'content'" in error["message"]) == (
        "invalid_input",
        True,
        True,
    )
    assert [row["name"] for row in hive.call("list", kind="entity", parse_content=True)["items"]] == ["A"]


def test_parsed_content_stays_as_it_is_for_agents(hive: Hive) -> None:
    """Nulls, empty values, ids and times inside a parsed payload are kept in agent mode."""
    record = hive.call("create", kind="concept", name="A")["id"]
    text = f'{{"id": "{record}", "none": null, "empty": [], "created_at": "2026-01-01T00:00:00Z"}}'
    hive.call("create", kind="note", content=text)
    page = hive.ok('list(kind="note", after="", parse_content=true)', presentation="agent")
    assert page["notes"][0]["content"] == {
        "id": record,
        "none": None,
        "empty": [],
        "created_at": "2026-01-01T00:00:00Z",
    }


def test_a_cursor_belongs_to_its_substrate_and_namespaces(hive: Hive) -> None:
    """The id of another kind of record, or one the caller does not see, is no boundary."""
    (foreign,) = crowd(hive.as_actor(None, "team"), 1)
    entity = hive.call("create", kind="concept", name="A")["id"]
    for cursor in (foreign, entity):
        error = hive.refuses("list", kind="note", after=cursor)
        assert (error["code"], error["details"]["param"]) == ("not_found", "after")
    assert hive.call("list", kind="note", namespace="team", after=foreign)["notes"] == []


def test_stats_count_live_rows_the_caller_sees(hive: Hive) -> None:
    """Deleted rows and foreign namespaces do not count; an edge counts whatever its ends are."""
    ids = [hive.call("create", kind="concept", name=name)["id"] for name in "ABC"]
    hive.call("link", source_id=ids[0], target_id=ids[1], relation="extends")
    gone = hive.call("link", source_id=ids[1], target_id=ids[2], relation="extends")
    notes = crowd(hive, 3)
    crowd(hive.as_actor(None, "team"), 2)
    hive.call("delete", id=ids[0])
    hive.call("delete", id=gone["id"])
    hive.call("delete", id=notes[0])
    assert hive.call("stats") == {"entities": 2, "edges": 1, "notes": 2, **COUNT}
    assert hive.as_actor(None, None, ["team"]).call("stats") == {"entities": 2, "edges": 1, "notes": 4, **COUNT}


@pytest.mark.parametrize("value", [None, 3, "", "a b", ["local"]])
def test_a_namespace_that_is_given_is_a_namespace(hive: Hive, value: Any) -> None:
    """Null does not stand for the caller's own one: it is refused like a number, before the policy is asked."""
    object.__setattr__(hive.server.around, "gate", NoLists())
    for verb, fields in (("list", {"kind": "entity"}), ("create", {"kind": "concept", "name": "A"})):
        error = hive.refuses(verb, namespace=value, **fields)
        assert (error["code"], error["domain_disposition"]) == ("invalid_input", "not_committed")
        assert "'namespace" in error["message"]
    assert hive.call("stats")["entities"] == 0


# create


def test_the_name_hint_lists_five_and_blocks_nothing(hive: Hive) -> None:
    """Equal names are told up to five, deleted ones and other kinds left out."""
    made = [hive.call("create", kind="concept", name="LoRA", skip_dedup_check=True)["id"] for _ in range(7)]
    hive.call("create", kind="project", name="LoRA")
    hive.call("delete", id=made[0])
    shown = hive.call("create", kind="concept", name="lora")["possible_duplicates"]
    assert [row["id"] for row in shown] == made[1:6]
    assert {(row["name"], row["kind"]) for row in shown} == {("LoRA", "concept")}


class NoLists:
    """A policy that lets everything happen but listing."""

    name = "no_lists"

    def check(self, request: GateRequest) -> Decision:
        """Deny list."""
        return Decision(request.verb != "list", None if request.verb != "list" else "no lists", ())


def test_a_key_tells_its_holder_only_to_those_who_may_list_it(hive: Hive) -> None:
    """Without that permission even an exact repetition is a conflict, and no id is disclosed."""
    holder = hive.call("create", kind="decision", content="x", key="k")
    again = {"kind": "decision", "content": "x", "key": "k"}
    assert hive.call("create", **again) == {"id": holder["id"], "created": False}
    object.__setattr__(hive.server.around, "gate", NoLists())
    error = hive.refuses("create", **again)
    assert (error["code"], error["domain_disposition"]) == ("key_conflict", "not_committed")
    assert error["details"] == {"reason": "key_conflict", "key": "k"}
    assert holder["id"] not in error["message"]


def test_an_exact_replay_changes_nothing(hive: Hive) -> None:
    """No version, no event; properties are equal whatever the order of their keys, tags folded in."""
    first = hive.call("create", kind="note", content="x", key="k", properties={"a": 1, "b": 2}, tags=["t"])
    again = hive.call("create", kind="note", content="x", key="k", properties={"b": 2, "tags": ["t"], "a": 1})
    assert again == {"id": first["id"], "created": False}
    assert (first["created"], first["key"], first["version"]) == (True, "k", 1)
    assert hive.call("get", id=first["id"])["version"] == 1
    assert len(hive.events(observed=[first["id"]])) == 1


# update and delete


def test_the_weight_of_a_hidden_edge_may_change(hive: Hive) -> None:
    """A deleted end hides an edge; what depends on the ends waits until they are back."""
    ids = [hive.call("create", kind="concept", name=name)["id"] for name in "AB"]
    edge = hive.call("link", source_id=ids[0], target_id=ids[1], relation="extends")["id"]
    hive.call("delete", id=ids[1])
    assert hive.call("update", id=edge, weight=0.3)["weight"] == 0.3
    for patch in ({"relation": "variant_of"}, {"properties": {"k": 1}}):
        error = hive.refuses("update", id=edge, **patch)
        assert (error["code"], error["details"]["endpoint_id"]) == ("endpoint_deleted", ids[1])
    hive.call("restore", id=ids[1])
    assert hive.call("update", id=edge, relation="variant_of")["weight"] == 0.3


def test_an_edge_patch_that_says_nothing_new_is_no_write(hive: Hive) -> None:
    """The row comes back, its time does not move, no event is left."""
    ids = [hive.call("create", kind="concept", name=name)["id"] for name in "AB"]
    edge = hive.call("link", source_id=ids[0], target_id=ids[1], relation="extends", metadata={"k": 1})
    stored = {name: value for name, value in edge.items() if name != "mutation"}
    for patch in ({}, {"weight": 1.0}, {"weight": None}, {"relation": "extends", "properties": {"k": 1}}):
        assert hive.call("update", id=edge["id"], **patch) == stored
    assert hive.events(event_kind="edge_updated") == []


@pytest.mark.parametrize(("verb", "fields"), [("update", {"name": "x"}), ("delete", {}), ("delete", {"hard": True})])
def test_events_never_change(hive: Hive, verb: str, fields: dict[str, Any]) -> None:
    """The id of an event is refused with what may be changed, by everyone and in every form."""
    hive.call("create", kind="concept", name="A")
    (event,) = hive.events(event_kind="entity_created")
    error = hive.refuses(verb, id=event["id"], **fields)
    assert error["code"] == "invalid_input"
    assert "is an event, and those never change; accepted: entity, note, edge" in error["message"]
    assert hive.call("get", id=event["id"])["event_kind"] == "entity_created"


def test_a_fenced_update_always_counts(hive: Hive) -> None:
    """An accepted fence writes and mints a version even for an identical patch; a stale one tells both versions."""
    note = hive.call("create", kind="note", content="x", tags=["a"])
    for version in (1, 2):
        shown = hive.call("update", id=note["id"], tags=["a"], expected_version=version)
        assert (shown["version"], "unchanged" in shown) == (version + 1, False)
    error = hive.refuses("update", id=note["id"], content="y", expected_version=2)
    assert error["details"] == {"reason": "version_conflict", "expected_version": "2", "current_version": "3"}
    assert error["domain_disposition"] == "not_committed"
    assert hive.call("get", id=note["id"])["content"] == "x"


# secrets


TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize(
    ("args", "location"),
    [
        ({"kind": "note", "content": "x", "key": f"sync:{TOKEN}"}, "note.key"),
        ({"kind": "note", "content": "x", "namespace": TOKEN}, "note.namespace"),
        ({"kind": "note", "content": "x", "properties": {TOKEN: 1}}, "note.properties"),
        ({"kind": "note", "content": "x", "properties": {"env": [{TOKEN: None}]}}, "note.properties"),
        ({"kind": "concept", "name": "x", "namespace": TOKEN}, "entity.namespace"),
        ({"kind": "concept", "name": "x", "properties": {f"api {TOKEN}": "x"}}, "entity.properties"),
    ],
)
def test_a_credential_that_stands_as_a_name_refuses_the_write(hive: Hive, args: dict[str, Any], location: str) -> None:
    """A key, a namespace and the name of a property are stored like any other text, and shown more often."""
    error = hive.refuses("create", **args)
    assert (error["code"], error["details"]["location"]) == ("secret_detected", location)
    assert TOKEN not in str(error)
    stored = hive.call("stats")
    assert (stored["entities"], stored["notes"]) == (0, 0)
    assert not any(TOKEN in str(event) for event in hive.events())


def test_the_callers_namespace_is_looked_at_too(hive: Hive) -> None:
    """Every record that it writes would carry it."""
    error = hive.as_actor(None, TOKEN).refuses("create", kind="note", content="x")
    assert (error["code"], error["details"]["location"]) == ("secret_detected", "note.namespace")


def test_names_are_looked_at_in_a_patch_and_in_metadata(hive: Hive) -> None:
    """update and link refuse them as create does, and change nothing."""
    note = hive.call("create", kind="note", content="x")
    entity = hive.call("create", kind="concept", name="x")
    for record in (note, entity):
        assert hive.refuses("update", id=record["id"], properties={TOKEN: 1})["code"] == "secret_detected"
        assert hive.call("get", id=record["id"])["properties"] == {}
    link = {"source_id": note["id"], "target_id": entity["id"], "relation": "annotates", "metadata": {TOKEN: 1}}
    assert hive.refuses("link", **link)["details"]["location"] == "edge.metadata"
    assert hive.call("scan", content="x", properties={TOKEN: 1})["location"] == "note.properties"
