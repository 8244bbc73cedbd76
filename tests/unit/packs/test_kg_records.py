"""create, get, update, delete, restore and list: what the kg pack promises about single records."""

import itertools
from typing import Any

import pytest

from hivekeep.storage import entities
from hivekeep_contract import vocabulary
from support.client import Hive

MISSING = "00000000-0000-4000-8000-000000000000"


def entity(hive: Hive, name: str = "A", **fields: Any) -> dict[str, Any]:
    """A fresh concept, or what `fields` say."""
    record: dict[str, Any] = hive.call("create", **{"kind": "concept", "name": name, **fields})
    return record


def note(hive: Hive, content: str = "text", **fields: Any) -> dict[str, Any]:
    """A fresh observation, or what `fields` say."""
    record: dict[str, Any] = hive.call("create", **{"kind": "observation", "content": content, **fields})
    return record


# create


@pytest.mark.parametrize(("alias", "kind"), list(vocabulary.ENTITY_KIND_ALIASES.items()))
def test_every_kind_alias_makes_its_kind(hive: Hive, alias: str, kind: str) -> None:
    """Aliases are accepted in any case; one that is a governed subtype also sets it."""
    record = hive.call("create", kind=f" {alias.upper()} ", name="x")
    assert record["kind"] == kind
    subtypes = vocabulary.ENTITY_SUBTYPES[kind]
    implied = next((name for name, aliases in subtypes.items() if alias in (name, *aliases)), None)
    assert record["entity_type"] == implied


def test_a_given_type_beats_the_implied_one(hive: Hive) -> None:
    """kind=paper with another entity_type keeps the given one."""
    assert hive.call("create", kind="paper", name="x", entity_type="Blog Post")["entity_type"] == "blog_post"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "edge"}, "link"),
        ({"kind": "event"}, "server"),
        ({"kind": "entity", "name": "x"}, "entity_kind is one of concept"),
        ({"kind": "nosuch", "name": "x"}, "accepted: entity, note"),
        ({"kind": "concept", "entity_kind": "person", "name": "x"}, "contradicts"),
        ({"kind": "concept", "name": "x", "content": "y"}, "'content' is for note only"),
        ({"kind": "concept", "name": "x", "salience": None}, "'salience' is for note only"),
        ({"kind": "observation", "content": "x", "description": "y"}, "'description' is for entity only"),
        ({"kind": "observation"}, "'content' is required"),
        ({"kind": "concept", "name": "x", "entity_type": "paper"}, "it is a type of document"),
        ({"kind": "person", "name": "x", "entity_type": "author"}, "accepted: none"),
        ({"kind": "concept", "name": "x", "edges": [{"target_id": MISSING, "relation": "likes"}]}, "edges[0].relation"),
        ({"kind": "concept", "name": "x", "edges": [{"relation": "extends"}]}, "edges[0]"),
    ],
)
def test_a_create_that_makes_no_sense_writes_nothing(hive: Hive, fields: dict[str, Any], says: str) -> None:
    """Each refusal names the argument and what would be accepted."""
    error = hive.refuses("create", **fields)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]
    counts = hive.ok("stats()")
    assert (counts["entities"], counts["notes"], counts["edges"]) == (0, 0, 0)


def test_a_create_commits_its_edges_or_nothing(hive: Hive) -> None:
    """A bad edge takes the entity, its index rows and its event along."""
    good = entity(hive, "B")
    error = hive.refuses(
        "create",
        kind="concept",
        name="A",
        edges=[{"target_id": good["id"], "relation": "extends"}, {"target_id": MISSING, "relation": "extends"}],
    )
    assert error["kind"] == "not_found"
    assert hive.ok("stats()")["entities"] == 1
    assert hive.call("search", kind="entity", query="A") == []
    assert len(hive.events(event_kind="entity_created")) == 1


def test_a_note_annotates_records_of_every_substrate(hive: Hive) -> None:
    """Entities, notes and edges may be annotated; the edges carry full weight; repeats count once."""
    a, b = entity(hive, "A"), entity(hive, "B")
    other = note(hive)
    edge = hive.call("link", source_id=a["id"], target_id=b["id"], relation="extends")
    made = note(hive, "about", annotates=[a["id"], other["id"], edge["id"], a["id"]])
    hits = hive.call("neighbors", node_id=made["id"], direction="out")
    assert {(hit["id"], hit["relation"], hit["weight"]) for hit in hits} == {
        (a["id"], "annotates", 1.0),
        (other["id"], "annotates", 1.0),
        (edge["id"], "annotates", 1.0),
    }
    assert [shown["id"] for shown in hive.call("get", id=edge["id"])["annotations"]] == [made["id"]]


def test_equal_names_are_pointed_out_and_never_block(hive: Hive) -> None:
    """A same-name hint lists live entities of the kind, unless it is switched off."""
    first = entity(hive, "LoRA")
    second = entity(hive, "lora")
    assert second["possible_duplicates"] == [{"id": first["id"], "name": "LoRA", "kind": "concept"}]
    assert "possible_duplicates" not in entity(hive, "LORA", skip_dedup_check=True)
    assert "possible_duplicates" not in entity(hive, "LoRA", kind="project")


def test_tags_of_a_note_live_in_its_properties(hive: Hive) -> None:
    """Top-level tags win over properties.tags."""
    made = note(hive, properties={"tags": ["old"], "x": 1}, tags=["new"])
    assert made["properties"] == {"tags": ["new"], "x": 1}
    assert "tags" not in made


def test_a_keyed_note_is_its_namespace_kind_and_key(hive: Hive) -> None:
    """The same key is free in another namespace, for another kind, and after its holder is deleted."""
    first = note(hive, key="k")
    assert note(hive, key="k", namespace="other")["created"] is True
    assert note(hive, kind="insight", key="k")["created"] is True
    hive.call("delete", id=first["id"])
    assert note(hive, "another", key="k")["created"] is True


def test_an_exact_replay_checks_nothing_else(hive: Hive) -> None:
    """A repeated keyed create succeeds although what it annotated is gone, and leaves no event."""
    target = entity(hive)
    first = note(hive, key="k", annotates=[target["id"]], properties={"a": 1, "b": 2})
    hive.call("delete", id=target["id"], hard=True)
    events = len(hive.events(event_kind="note_created"))
    again = note(hive, key="k", annotates=[target["id"]], properties={"b": 2, "a": 1})
    assert again == {"id": first["id"], "created": False}
    assert len(hive.events(event_kind="note_created")) == events


def test_text_status_in_properties_is_shown_as_the_status(hive: Hive) -> None:
    """The row's own state is then shown as lifecycle."""
    made = note(hive, properties={"status": "waiting"})
    assert (made["status"], made["lifecycle"]) == ("waiting", "active")
    assert "lifecycle" not in note(hive, properties={"status": 3})


# get


def test_get_tells_what_was_not_found(hive: Hive) -> None:
    """A missing id is a runtime_error of code not_found with the id in its message."""
    entry = hive.entry(f'get(id="{MISSING}")')
    assert entry["error"]["kind"] == "runtime_error"
    assert entry["error"]["code"] == "not_found"
    assert entry["error"]["message"] == f"not found: {MISSING}"
    assert entry["domain_disposition"] == "unknown"


def test_a_deleted_record_shows_only_to_its_owners_who_ask(hive: Hive) -> None:
    """include_deleted answers records of visible namespaces; others are not found."""
    record = entity(hive, namespace="private")
    hive.call("delete", id=record["id"])
    assert hive.refuses("get", id=record["id"])["code"] == "not_found"
    assert hive.refuses("get", id=record["id"], include_deleted=True)["code"] == "not_found"
    owner = hive.as_actor(None, "private")
    assert owner.call("get", id=record["id"], include_deleted=True)["deleted_at"] is not None
    assert owner.call("get", id=record["id"][:13], include_deleted=True)["id"] == record["id"]


def test_get_by_id_looks_into_every_namespace(hive: Hive) -> None:
    """An id is identity; a name belongs to the caller's namespace."""
    record = entity(hive, "secret plan", namespace="private")
    assert hive.call("get", id=record["id"])["namespace"] == "private"
    assert hive.refuses("get", id="secret plan")["code"] == "not_found"
    assert hive.as_actor(None, "private").call("get", id="SECRET PLAN")["id"] == record["id"]


def test_merge_redirects_are_followed_to_the_end(hive: Hive) -> None:
    """Two hops are listed in order; a circle is named; too long a chain is refused."""
    ids = [entity(hive, f"n{number}")["id"] for number in range(40)]

    def merge(source: str, target: str) -> None:
        hive.call("merge", into_id=target, from_id=source, force=True)

    def point_back(tx: Any) -> None:
        row = entities.get(tx, ids[2])
        assert row is not None
        entities.update(tx, row, row._replace(deleted_at=1, merged_into=ids[0]))

    merge(ids[0], ids[1])
    merge(ids[1], ids[2])
    found = hive.call("get", id=ids[0])
    assert (found["id"], found["redirected_from"]) == (ids[2], [ids[0], ids[1]])
    hive.server.engine.run_write(point_back)
    assert "redirect cycle detected" in hive.refuses("get", id=ids[0])["message"]
    for source, target in itertools.pairwise(ids[3:]):
        merge(source, target)
    assert "redirect chain too long" in hive.refuses("get", id=ids[3])["message"]
    assert hive.call("get", id=ids[38])["redirected_from"] == [ids[38]]


def test_parse_content_gives_every_json_value(hive: Hive) -> None:
    """Objects, lists, numbers, texts, booleans and null; anything else names note and field."""
    for text, value in (("[1, {}]", [1, {}]), ("3.5", 3.5), ('"x"', "x"), ("false", False), ("null", None)):
        made = note(hive, text)
        assert hive.call("get", id=made["id"], parse_content=True)["content"] == value
    bad = note(hive, "not json")
    error = hive.refuses("get", id=bad["id"], parse_content=True)
    assert error["kind"] == "invalid_input"
    assert bad["id"] in error["message"]
    assert "'content'" in error["message"]
    assert hive.refuses("list", kind="note", parse_content=True)["kind"] == "invalid_input"
    assert hive.call("get", id=entity(hive)["id"], parse_content=True)["name"] == "A"


def test_an_event_shows_its_kind_beside_the_record_kind(hive: Hive) -> None:
    """get of an event says kind event and moves the event kind."""
    record = entity(hive)
    (event,) = hive.events(event_kind="EntityCreated")
    shown = hive.call("get", id=event["id"])
    assert (shown["kind"], shown["event_kind"], shown["target_id"]) == ("event", "entity_created", record["id"])
    assert shown["payload"] == {"id": record["id"], "namespace": "local", "kind": "concept", "name": "A"}


# update


def test_properties_merge_at_the_top_level_only(hive: Hive) -> None:
    """A given key replaces the whole old value; null is stored."""
    record = entity(hive, properties={"a": {"x": 1}, "b": 2})
    shown = hive.call("update", id=record["id"], properties={"a": {"y": 2}, "c": None})
    assert shown["properties"] == {"a": {"y": 2}, "b": 2, "c": None}


def test_null_clears_what_may_be_absent(hive: Hive) -> None:
    """Description, type, title, salience and decay can be cleared; an entity's name cannot."""
    record = entity(hive, description="d", entity_type="algorithm")
    shown = hive.ok(f'update(id="{record["id"]}", description=null, entity_type=null)')
    assert (shown["description"], shown["entity_type"]) == (None, None)
    made = note(hive, name="t", salience=0.5, decay_factor=2)
    shown = hive.ok(f'update(id="{made["id"]}", name=null, salience=null, decay_factor=null)')
    assert (shown["name"], shown["salience"], shown["decay_factor"]) == (None, None, None)
    assert "cannot be cleared" in hive.fails(f'update(id="{record["id"]}", name=null)')["message"]


def test_tags_replace_and_win(hive: Hive) -> None:
    """Top-level tags beat properties.tags, an empty list clears."""
    made = note(hive, tags=["a"])
    shown = hive.call("update", id=made["id"], tags=["b"], properties={"tags": ["c"]})
    assert shown["properties"]["tags"] == ["b"]
    assert hive.call("update", id=made["id"], tags=[])["properties"]["tags"] == []
    record = entity(hive, tags=["a", "b"])
    assert hive.call("update", id=record["id"], name="x")["tags"] == ["a", "b"]
    assert hive.call("update", id=record["id"], tags=[])["tags"] == []


def test_a_patch_that_says_nothing_new_is_no_write(hive: Hive) -> None:
    """Version and time stay, no event is left; the order of tags does not matter, their number does."""
    made = note(hive, "x", tags=["a", "b", "a"], properties={"k": 1})
    shown = hive.call("update", id=made["id"], content="x", tags=["b", "a", "a"], properties={"k": 1})
    assert (shown["unchanged"], shown["version"], shown["updated_at"]) == (True, 1, made["updated_at"])
    assert hive.events(event_kind="note_updated") == []
    assert "unchanged" not in hive.call("update", id=made["id"], tags=["a", "b"])
    assert hive.call("update", id=made["id"])["unchanged"] is True
    record = entity(hive)
    assert hive.call("update", id=record["id"], name="A")["updated_at"] == record["updated_at"]


def test_true_and_one_are_different_values(hive: Hive) -> None:
    """JSON equality decides whether a patch changes anything."""
    made = note(hive, properties={"flag": True})
    shown = hive.call("update", id=made["id"], properties={"flag": 1})
    assert (shown["properties"]["flag"], shown["version"]) == (1, 2)
    assert shown["properties"]["flag"] is not True


@pytest.mark.parametrize(
    ("kind", "patch", "says"),
    [
        ("concept", {"content": "x"}, "'content' is for note only"),
        ("concept", {"expected_version": 1}, "'expected_version' is for note only"),
        ("observation", {"relation": "extends"}, "'relation' is for edge only"),
        ("concept", {"entity_kind": "person"}, "cannot be changed"),
        ("concept", {"kind": "note", "name": "x"}, "kind mismatch"),
        ("concept", {"kind": "person", "name": "x"}, "kind mismatch"),
        ("concept", {"entity_type": "paper"}, "it is a type of document"),
    ],
)
def test_an_update_that_does_not_fit_is_refused(hive: Hive, kind: str, patch: dict[str, Any], says: str) -> None:
    """The message says what the record is and what it takes."""
    record = entity(hive) if kind == "concept" else note(hive)
    error = hive.refuses("update", id=record["id"], **patch)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]


def test_changed_text_is_found_and_the_old_is_not(hive: Hive) -> None:
    """The text index follows an update in the same transaction."""
    record = entity(hive, "alpha", description="first words")
    hive.call("update", id=record["id"], name="omega", description="second words")
    assert hive.call("search", kind="entity", query="first") == []
    assert [hit["id"] for hit in hive.call("search", kind="entity", query="omega second")] == [record["id"]]


def test_an_edge_may_change_its_relation_where_it_fits(hive: Hive) -> None:
    """Endpoints are checked again, a taken natural key is a conflict, the event holds the previous row."""
    a, b = entity(hive, "A")["id"], entity(hive, "B")["id"]
    edge = hive.call("link", source_id=a, target_id=b, relation="extends", metadata={"x": 1})
    shown = hive.call("update", id=edge["id"], relation="variant-of", weight=0.4, properties={"y": 2})
    assert (shown["relation"], shown["weight"], shown["metadata"]) == ("variant_of", 0.4, {"x": 1, "y": 2})
    (event,) = hive.events(event_kind="edge_updated")
    assert event["payload"]["previous"]["relation"] == "extends"
    assert hive.refuses("update", id=edge["id"], relation="depends_on")["kind"] == "invalid_input"
    other = hive.call("link", source_id=a, target_id=b, relation="enables")
    error = hive.refuses("update", id=edge["id"], relation="enables")
    assert (error["code"], error["details"]["edge_id"]) == ("natural_key_conflict", other["id"])


# delete and restore


def test_a_soft_delete_hides_and_restore_brings_back(hive: Hive) -> None:
    """The record, its text and its edges go and come together."""
    a, b = entity(hive, "alpha"), entity(hive, "beta")
    hive.call("link", source_id=a["id"], target_id=b["id"], relation="extends")
    assert hive.call("delete", id=a["id"], kind="concept") == {"deleted": True, "id": a["id"], "kind": "concept"}
    assert hive.call("search", kind="entity", query="alpha") == []
    assert hive.call("neighbors", node_id=b["id"]) == []
    assert hive.call("list", kind="edge")["items"] == []
    assert hive.ok("stats()")["edges"] == 1
    assert hive.refuses("delete", id=a["id"])["kind"] == "not_found"
    back = hive.call("restore", id=a["id"])
    assert (back["restored"], back["deleted_at"]) == (True, None)
    assert [hit["id"] for hit in hive.call("search", kind="entity", query="alpha")] == [a["id"]]
    assert [hit["id"] for hit in hive.call("neighbors", node_id=b["id"])] == [a["id"]]


def test_a_hard_delete_takes_edges_and_their_annotations(hive: Hive) -> None:
    """Everything that hangs on the record is gone for good, also when it was softly deleted before."""
    a, b = entity(hive, "A")["id"], entity(hive, "B")["id"]
    edge = hive.call("link", source_id=a, target_id=b, relation="extends")["id"]
    about = note(hive, "about the edge", annotates=[edge])["id"]
    hive.call("delete", id=a)
    hive.call("delete", id=a[:13], hard=True)
    counts = hive.ok("stats()")
    assert (counts["entities"], counts["notes"], counts["edges"]) == (1, 1, 0)
    assert hive.refuses("restore", id=a)["kind"] == "not_found"
    assert hive.call("neighbors", node_id=about) == []
    deleted = {(row["kind"], row["target_id"]) for row in hive.events(event_kinds=["entity_deleted", "edge_deleted"])}
    assert ("edge_deleted", edge) in deleted
    assert ("entity_deleted", a) in deleted


def test_restore_keeps_to_what_the_caller_sees(hive: Hive) -> None:
    """A foreign tombstone is not found, with or without a hint; an own one is checked against the hint."""
    record = entity(hive, namespace="private")
    hive.call("delete", id=record["id"])
    assert hive.refuses("restore", id=record["id"])["kind"] == "not_found"
    assert hive.refuses("restore", id=record["id"], kind="note")["kind"] == "not_found"
    owner = hive.as_actor(None, "private")
    assert "kind mismatch" in owner.refuses("restore", id=record["id"], kind="note")["message"]
    assert owner.call("restore", id=record["id"], kind="concept")["restored"] is True
    assert owner.call("restore", id=record["id"])["restored"] is False


def test_an_edge_comes_back_only_between_live_ends(hive: Hive) -> None:
    """Restoring an edge whose end is deleted names the end."""
    a, b = entity(hive, "A")["id"], entity(hive, "B")["id"]
    edge = hive.call("link", source_id=a, target_id=b, relation="extends")["id"]
    hive.call("delete", id=edge)
    hive.call("delete", id=b)
    error = hive.refuses("restore", id=edge)
    assert (error["code"], error["details"]["endpoint_id"]) == ("endpoint_deleted", b)
    hive.call("restore", id=b)
    assert hive.call("restore", id=edge)["restored"] is True


# list


def test_filters_of_entities(hive: Hive) -> None:
    """Kind, alias, type with its fallback, tags without case; counts and pages agree."""
    paper = hive.call("create", kind="paper", name="P", tags=["NLP"])
    legacy = hive.call("create", kind="document", name="L", properties={"type": "memo"})
    entity(hive, "C", tags=["nlp", "x"])
    names = lambda **filters: [row["name"] for row in hive.call("list", **filters)["items"]]  # noqa: E731
    assert names(kind="document") == ["L", "P"]
    assert names(kind="paper") == ["P"]
    assert names(kind="entity", entity_type="memo") == ["L"]
    assert names(kind="entity", tags=["nLp", "other"]) == ["C", "P"]
    assert names(kind="entity", entity_kind="concept") == ["C"]
    assert names(kind="entity", limit=1, offset=1) == ["L"]
    assert paper["entity_type"] == "paper"
    assert legacy["entity_type"] is None


def test_a_page_tells_the_limit_asked_for_and_used(hive: Hive) -> None:
    """The cap of each kind is reported, zero is an empty page, a walk needs at least one."""
    for kind, cap in (("entity", 500), ("note", 200), ("edge", 1000), ("event", 1000)):
        page = hive.call("list", kind=kind, limit=100_000)
        assert (page["requested_limit"], page["effective_limit"], page["limit_clamped"]) == (100_000, cap, True)
    assert hive.call("list", kind="entity", limit=0)["items"] == []
    assert hive.refuses("list", kind="entity", limit=0, after="")["kind"] == "invalid_input"


@pytest.mark.parametrize(
    ("filters", "kind", "says"),
    [
        ({"kind": "edge", "tags": None}, "invalid_input", "'tags'"),
        ({"kind": "note", "entity_kind": None}, "invalid_input", "'entity_kind'"),
        ({"kind": "entity", "event_kind": "audit"}, "invalid_input", "'event_kind'"),
        ({"kind": "event", "after": ""}, "invalid_input", "'after'"),
        ({"kind": "entity", "after": "abcd1234"}, "invalid_input", "prefix"),
        ({"kind": "entity", "after": MISSING}, "not_found", "cursor"),
        ({"kind": "note", "note_kind": "insight", "tags": ["a"], "include_deleted": True}, "invalid_input", "unknown"),
        ({"kind": "edge", "relations": ["likes"]}, "invalid_input", "contains, part_of"),
        ({"kind": "proposal", "verb": "get"}, "invalid_input", "'verb'"),
        ({"kind": "entity", "status": "open"}, "invalid_input", "'status'"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused(hive: Hive, filters: dict[str, Any], kind: str, says: str) -> None:
    """Filters of another kind, prefixes as cursors and unknown words are errors, never ignored."""
    error = hive.refuses("list", **filters)
    assert error["kind"] == kind
    assert says in error["message"]


def test_a_cursor_goes_on_behind_a_deleted_row_and_sees_inserts(hive: Hive) -> None:
    """A softly deleted cursor row is still a boundary; rows added meanwhile are walked; a removed one is an error."""
    ids = [note(hive, f"n{number}")["id"] for number in range(5)]
    page = hive.call("list", kind="note", after="", limit=2)
    assert [row["id"] for row in page["notes"]] == ids[:2]
    hive.call("delete", id=ids[1])
    ids.append(note(hive, "late")["id"])
    page = hive.call("list", kind="note", after=page["next_after"], limit=10)
    assert ([row["id"] for row in page["notes"]], page["next_after"]) == (ids[2:], None)
    hive.call("delete", id=ids[1], hard=True)
    assert hive.refuses("list", kind="note", after=ids[1])["kind"] == "not_found"


def test_edges_are_listed_by_ends_relation_and_weight(hive: Hive) -> None:
    """Filters combine; bounds are inclusive; ends may be named."""
    a, b, c = (entity(hive, name)["id"] for name in "ABC")
    hive.call("link", source_id=a, target_id=b, relation="extends", weight=0.5)
    hive.call("link", source_id=a, target_id=c, relation="enables", weight=0.9)
    ends = lambda **filters: [row["target_id"] for row in hive.call("list", kind="edge", **filters)["items"]]  # noqa: E731
    assert ends() == [c, b]
    assert ends(relations=["Extends"]) == [b]
    assert ends(min_weight=0.5, max_weight=0.5) == [b]
    assert ends(source_id="A", target_id=c) == [c]
    assert ends(target_id=a) == []


def test_events_are_found_by_what_they_concern(hive: Hive) -> None:
    """The history of an edge, oldest last, without the audit rows; time bounds are exclusive."""
    a, b = entity(hive, "A")["id"], entity(hive, "B")["id"]
    edge = hive.call("link", source_id=a, target_id=b, relation="extends")
    hive.call("link", source_id=a, target_id=b, relation="extends", weight=0.5)
    history = hive.events(observed=[edge["id"]])
    assert [row["kind"] for row in history] == ["edge_updated", "link_created"]
    assert history[0]["payload"]["previous"]["weight"] == 1.0
    assert {row["kind"] for row in hive.events(target_id=edge["id"])} == {"edge_updated", "link_created", "audit"}
    assert hive.events(event_kinds=["link_created"], event_kind="EdgeUpdated")[0]["kind"] == "edge_updated"
    (audit,) = hive.events(verb="link", event_kind="audit", since=0, until=2**53)[:1]
    assert audit["payload_schema_version"] == 2
    assert audit["payload"]["edge"]["id"] == edge["id"]
    assert hive.events(actor="actor:nobody") == []


def test_reads_see_the_visible_namespaces(hive: Hive) -> None:
    """local, the configured ones and the actor's own; an explicit one is never widened."""
    entity(hive, "shared")
    entity(hive, "team", namespace="team")
    entity(hive, "own", namespace="mia")
    caller = hive.as_actor("mia", None, ["team"])
    names = lambda who, **filters: {row["name"] for row in who.call("list", kind="entity", **filters)["items"]}  # noqa: E731
    assert names(hive) == {"shared"}
    assert names(caller) == {"shared", "team", "own"}
    assert names(caller, namespace="team") == {"team"}
    assert caller.ok("stats()")["entities"] == 3
    hits = caller.call("search", kind="entity", query="team shared", text_mode="any_term")
    assert {hit["title"] for hit in hits} == {"team", "shared"}
