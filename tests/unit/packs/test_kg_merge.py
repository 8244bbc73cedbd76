"""merge: what the kg pack promises about two records that become one."""

from typing import Any

import pytest

from hivekeep.packs.kg import merge as merging
from hivekeep.packs.kg.merge_guards import alike, disjoint
from hivekeep.storage import edges
from hivekeep.storage.edges import EdgeRow
from support.client import Hive

MISSING = "00000000-0000-4000-8000-000000000000"
REPORT = {
    "edges_rewired": 0,
    "edges_contract_skipped": 0,
    "contract_skipped_edge_preimages": [],
    "edges_self_loop_dropped": 0,
    "self_loop_edge_preimages": [],
    "edge_conflict_preimages": [],
    "properties_merged": 0,
    "tags_unioned": 0,
    "content_appended": False,
    "dry_run": False,
}
"""The answer of a merge of two empty records, without their ids."""


def concept(hive: Hive, name: str = "LoRA", **fields: Any) -> str:
    """The id of a fresh concept, or of what `fields` say."""
    record: str = hive.call("create", **{"kind": "concept", "name": name, "skip_dedup_check": True, **fields})["id"]
    return record


def note(hive: Hive, content: str = "text", **fields: Any) -> str:
    """The id of a fresh observation, or of what `fields` say."""
    record: str = hive.call("create", **{"kind": "observation", "content": content, **fields})["id"]
    return record


def link(hive: Hive, source: str, target: str, relation: str = "extends", **fields: Any) -> str:
    """The id of a fresh edge."""
    edge: str = hive.call("link", source_id=source, target_id=target, relation=relation, **fields)["id"]
    return edge


def merged(hive: Hive, into: str, gone: str, **fields: Any) -> Any:
    """The answer of a merge, which must be what its dry run said."""
    planned = hive.call("merge", into_id=into, from_id=gone, dry_run=True, **fields)
    report = hive.call("merge", into_id=into, from_id=gone, **fields)
    assert planned == {**report, "dry_run": True, "would_merge": True}
    return report


def edge_row(hive: Hive, edge_id: str) -> dict[str, Any]:
    """An edge as the preimages show it."""
    shown: dict[str, Any] = hive.call("get", id=edge_id, include_deleted=True)
    return {key: value for key, value in shown.items() if key not in ("kind", "annotations")}


def store(hive: Hive) -> list[Any]:
    """Every row that a merge could change, the text indexes included; without events."""
    tables = ("entities", "notes", "edges")
    with hive.server.engine.read() as tx:
        rows: list[Any] = [tx.all(f"SELECT * FROM {table} ORDER BY seq") for table in tables]
        for index in ("entity_words", "entity_trigrams", "note_words", "note_trigrams"):
            rows.append(tx.all(f"SELECT rowid FROM {index} ORDER BY rowid"))
    return rows


# the safety floor


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ("LoRA", "lora ", True),
        ("LoRA", "LoRA adapters", True),
        ("LoRA", "Low-Rank Adaptation", False),
        ("FlashAttention", "Flash Attention", True),
        ("GPT", "BERT", False),
        ("a  b", "A B", True),
        ("ÄRGER", "ärger", True),
        ("ab", "abc", False),
        ("ab", "cd", False),
        ("ab", "AB", True),
        ("abc", "abcd", True),
        ("", "", False),
        (" ", "x", False),
        # 2 of 3 and 3 trigrams are shared: 4 * 2 >= 6; then 1 of 3 and 3: 4 * 1 < 6
        ("abcde", "xbcde", True),
        ("abcde", "xycde", False),
        # exactly half: 1 of 2 and 2
        ("abcd", "xbcd", True),
        ("设备管理", "设备管理系统", True),
        ("设备", "设备管理", False),
    ],
)
def test_names_are_alike_by_text_prefix_or_half_of_their_trigrams(one: str, other: str, verdict: bool) -> None:
    """The order of the two does not matter."""
    assert (alike(one, other), alike(other, one)) == (verdict, verdict)


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        (["a"], ["b"], True),
        (["a"], [" A "], False),
        (["Ä"], ["ä"], True),
        (["a", "b"], ["c", "b"], False),
        ([1], [1.0], True),
        ([1], [1], False),
        ([True], [1], True),
        (["1"], [1], True),
        ([{"x": 1, "y": 2}], [{"y": 2, "x": 1}], False),
        ([], ["a"], False),
        (["a"], [], False),
        (None, ["a"], False),
        ("a", "b", False),
        (["a"], "b", False),
    ],
)
def test_owners_are_disjoint_only_when_both_sides_name_some(one: Any, other: Any, verdict: bool) -> None:
    """Texts compare without outer white space and ASCII case, other values by equality."""
    assert (disjoint(one, other), disjoint(other, one)) == (verdict, verdict)


@pytest.mark.parametrize(
    ("ours", "theirs", "refusal"),
    [
        (
            {"kind": "project"},
            {"name": "BERT", "properties": {"projects": ["b"]}},
            ("entity_kind", "kind", "project", "concept"),
        ),
        (
            {"properties": {"projects": ["a"]}},
            {"name": "BERT", "properties": {"projects": ["b"]}},
            ("name_similarity", "name", "LoRA", "BERT"),
        ),
        (
            {"properties": {"projects": ["a", "x"]}},
            {"name": "lora", "properties": {"projects": ["b"]}},
            ("project_compatibility", "properties.projects", ["a", "x"], ["b"]),
        ),
    ],
)
def test_the_floor_checks_kind_then_names_then_owners(
    hive: Hive, ours: dict[str, Any], theirs: dict[str, Any], refusal: tuple[Any, ...]
) -> None:
    """The first check that fails is named; nothing changes; a dry run answers the same as a success."""
    into, gone = concept(hive, **ours), concept(hive, **theirs)
    before = store(hive)
    entry = hive.entry(f'merge(into_id="{into}", from_id="{gone}")')
    guard, compared, into_value, from_value = refusal
    assert entry["error"]["kind"] == "conflict"
    assert entry["error"]["details"] == {"guard": guard, "compared": compared}
    assert entry["domain_disposition"] == "not_committed"
    assert "force" not in entry["error"]["message"]
    planned = hive.call("merge", into_id=into, from_id=gone, dry_run=True)
    detail = planned.pop("detail")
    assert entry["error"]["message"] == f"merge: {detail}"
    assert planned == {
        "dry_run": True,
        "would_merge": False,
        "refused_by": guard,
        "compared": compared,
        "into_value": into_value,
        "from_value": from_value,
    }
    assert store(hive) == before


def test_force_skips_names_and_owners_but_not_the_kind(hive: Hive) -> None:
    """Two concepts with nothing in common become one; a concept and a project never do."""
    into = concept(hive, "Low-Rank Adaptation", properties={"projects": ["a"]})
    gone = concept(hive, "LoRA", properties={"projects": ["b"]})
    other = concept(hive, "LoRA", kind="project")
    error = hive.refuses("merge", into_id=into, from_id=other, force=True)
    assert error["details"]["guard"] == "entity_kind"
    planned = hive.call("merge", into_id=into, from_id=other, force=True, dry_run=True)
    assert (planned["would_merge"], planned["refused_by"]) == (False, "entity_kind")
    assert merged(hive, into, gone, force=True)["removed_id"] == gone


def test_notes_need_one_kind_and_no_likeness(hive: Hive) -> None:
    """Two kinds of notes are refused, also with force; two texts without a common word are not."""
    into, gone = note(hive, "alpha"), note(hive, "omega")
    other = note(hive, "alpha", kind="insight")
    error = hive.refuses("merge", into_id=into, from_id=other, force=True)
    assert (error["code"], error["details"]["guard"]) == ("merge_guard", "note_kind")
    assert hive.call("merge", into_id=into, from_id=other, dry_run=True)["refused_by"] == "note_kind"
    assert merged(hive, into, gone)["kept_id"] == into


# which records


def test_a_merge_that_cannot_be_meant_is_refused_and_changes_nothing(hive: Hive) -> None:
    """One record, other substrates, wrong hints, deleted and missing records: each message says what is wrong."""
    a, b = concept(hive), concept(hive, "LoRA two")
    text, gone = note(hive), concept(hive, "gone")
    edge = link(hive, a, b)
    hive.call("delete", id=gone)
    before = store(hive)
    for into, other, fields, kind, says in [
        (a, a, {}, "invalid_input", "same record"),
        (a, text, {}, "invalid_input", "into_id is an entity and from_id is a note"),
        (edge, a, {}, "invalid_input", "into_id is an edge"),
        (a, edge, {}, "invalid_input", "from_id is an edge"),
        (a, b, {"kind": "edge"}, "invalid_input", "kind='edge' cannot be merged"),
        (a, b, {"kind": "event"}, "invalid_input", "kind='event' cannot be merged"),
        (a, b, {"kind": "nosuch"}, "invalid_input", "unknown kind 'nosuch'"),
        (a, b, {"kind": "note"}, "invalid_input", f"kind mismatch: {a} is a concept, not a note"),
        (a, b, {"kind": "person"}, "invalid_input", "not a person"),
        (text, a, {"kind": "observation"}, "invalid_input", f"kind mismatch: {a} is a concept"),
        (a, gone, {}, "not_found", f"from_id: not found: {gone}"),
        (gone, a, {}, "not_found", f"into_id: not found: {gone}"),
        (a, MISSING, {}, "not_found", MISSING),
        (a, b, {"strategy": "newest"}, "invalid_input", "prefer_into"),
        (a, b, {"winner_id": a}, "invalid_input", "given twice"),
    ]:
        for dry_run in (False, True):
            error = hive.refuses("merge", into_id=into, from_id=other, dry_run=dry_run, **fields)
            assert (error["kind"], says in error["message"]) == (kind, True), error
    assert store(hive) == before


@pytest.mark.parametrize("names", [("winner_id", "loser_id"), ("target_id", "source_id")])
def test_the_two_records_have_other_argument_names(hive: Hive, names: tuple[str, str]) -> None:
    """Older spellings, prefixes and names lead to the same merge."""
    into, gone = concept(hive, "FlashAttention"), concept(hive, "Flash Attention")
    report = hive.call("merge", **{names[0]: into[:13], names[1]: "flash attention", "kind": "Concept"})
    assert report == {"kept_id": into, "removed_id": gone, **REPORT}


def test_both_records_are_in_one_namespace(hive: Hive) -> None:
    """Two namespaces are a conflict that names them."""
    into, gone = concept(hive), concept(hive, namespace="team")
    before = store(hive)
    error = hive.refuses("merge", into_id=into, from_id=gone)
    assert error["details"] == {"reason": "merge_namespaces", "into_namespace": "local", "from_namespace": "team"}
    assert hive.refuses("merge", into_id=into, from_id=gone, force=True, dry_run=True)["code"] == "merge_namespaces"
    assert store(hive) == before
    both = concept(hive, namespace="team")
    assert merged(hive, both, gone)["kept_id"] == both


def test_a_batch_may_not_merge_a_record_twice(hive: Hive) -> None:
    """Both ids are write keys, under every name; a dry run writes nothing and has none."""
    a, b, c = concept(hive), concept(hive), concept(hive)
    with pytest.raises(Exception, match="both write"):
        hive.run(f'[merge(into_id="{a}", from_id="{b}"), merge(winner_id="{c}", loser_id="{b}")]')
    with pytest.raises(Exception, match="both write"):
        hive.run(f'[merge(target_id="{a}", source_id="{b}"), update(id="{a}", name="x")]')
    envelope = hive.run(
        f'[merge(into_id="{a}", from_id="{b}", dry_run=true), merge(into_id="{c}", from_id="{b}", dry_run=true)]'
    )
    assert envelope["summary"]["succeeded"] == 2


def test_a_reason_with_a_credential_is_refused(hive: Hive) -> None:
    """The reason is stored, so it is looked at like any other text."""
    a, b = concept(hive), concept(hive)
    before = store(hive)
    error = hive.refuses("merge", into_id=a, from_id=b, reason="see https://me:" + "hunter22@example.org")
    assert (error["kind"], error["details"]["location"]) == ("secret_detected", "merge.reason")
    assert store(hive) == before


# fields


OURS = {
    "name": "LoRA",
    "description": "ours",
    "tags": ["A", "b"],
    "properties": {"x": 1, "deep": {"a": 1, "b": [1]}, "list": [1]},
}
THEIRS = {
    "name": "LoRA 2",
    "description": "theirs",
    "entity_type": "algorithm",
    "tags": ["B", "c", "C"],
    "properties": {"x": 2, "deep": {"a": 2, "c": {"d": 1, "e": 2}}, "list": [2], "new": None},
}


@pytest.mark.parametrize(
    ("policy", "expected", "counts"),
    [
        (
            {},
            {
                "name": "LoRA",
                "description": "ours\n\n---\n\ntheirs",
                "properties": {"x": 1, "deep": {"a": 1, "b": [1]}, "list": [1], "new": None},
            },
            (1, True),
        ),
        (
            {"strategy": "prefer_from", "content_strategy": "prefer_from"},
            {
                "name": "LoRA 2",
                "description": "theirs",
                "properties": {"x": 2, "deep": {"a": 2, "c": {"d": 1, "e": 2}}, "list": [2], "new": None},
            },
            (1, False),
        ),
        (
            {"strategy": "union", "content_strategy": "prefer_into"},
            {
                "name": "LoRA",
                "description": "ours",
                "properties": {
                    "x": 1,
                    "deep": {"a": 1, "b": [1], "c": {"d": 1, "e": 2}},
                    "list": [1],
                    "new": None,
                },
            },
            (2, False),
        ),
    ],
)
def test_strategies_choose_between_two_values(
    hive: Hive, policy: dict[str, str], expected: dict[str, Any], counts: tuple[int, bool]
) -> None:
    """Names, texts and properties follow the strategy; tags are joined; what one side lacks comes from the other."""
    into, gone = concept(hive, **OURS), concept(hive, **THEIRS)
    report = merged(hive, into, gone, **policy)
    assert (report["properties_merged"], report["content_appended"]) == counts
    assert report["tags_unioned"] == 1
    kept = hive.call("get", id=into)
    assert {key: kept[key] for key in expected} == expected
    assert (kept["tags"], kept["entity_type"]) == (["A", "b", "c"], "algorithm")


@pytest.mark.parametrize("content_strategy", ["append", "prefer_into", "prefer_from"])
def test_an_empty_text_makes_way_for_the_other(hive: Hive, content_strategy: str) -> None:
    """No separator is written, and nothing is lost, whichever side is empty."""
    for ours, theirs, kept, appended in [
        (None, "b", "b", content_strategy == "append"),
        ("a", None, "a", False),
        ("a", "", "a", False),
        (None, None, None, False),
    ]:
        into, gone = concept(hive, description=ours), concept(hive, description=theirs)
        report = merged(hive, into, gone, content_strategy=content_strategy)
        assert (hive.call("get", id=into)["description"], report["content_appended"]) == (kept, appended)


def test_verbose_shows_the_kept_record_as_get_does(hive: Hive) -> None:
    """The dry run shows it with the same fields; only its time of change is its own."""
    for into, gone in [(concept(hive, **OURS), concept(hive, **THEIRS)), (note(hive, "a"), note(hive, "b"))]:
        planned = hive.call("merge", into_id=into, from_id=gone, verbose=True, dry_run=True)["record"]
        shown = hive.call("merge", into_id=into, from_id=gone, verbose=True)["record"]
        assert shown == hive.call("get", id=into)
        assert {**planned, "updated_at": shown["updated_at"]} == shown


def test_a_merged_note_keeps_its_own_key_salience_and_version_goes_on(hive: Hive) -> None:
    """Content is joined, tags live in the properties, the other note's key becomes free."""
    into = note(hive, "one", key="k1", salience=0.9, tags=["a"], properties={"p": 1})
    gone = note(hive, "two", key="k2", salience=0.1, name="title", tags=["A", "b"], properties={"p": 2, "q": 3})
    report = merged(hive, into, gone)
    assert (report["properties_merged"], report["tags_unioned"], report["content_appended"]) == (1, 1, True)
    kept = hive.call("get", id=into)
    assert (kept["content"], kept["name"], kept["key"]) == ("one\n\n---\n\ntwo", "title", "k1")
    assert (kept["salience"], kept["version"], kept["status"]) == (0.9, 2, "active")
    assert kept["properties"] == {"p": 1, "q": 3, "tags": ["a", "b"]}
    tombstone = hive.call("get", id=gone, include_deleted=True)
    assert tombstone["status"] == "deleted"
    assert tombstone["properties"] == {"p": 2, "q": 3, "tags": ["A", "b"], "_merged_into": into}
    assert tombstone["deleted_at"] == tombstone["updated_at"] == kept["updated_at"]
    assert hive.call("create", kind="observation", content="new holder", key="k2")["created"] is True
    assert hive.refuses("get", id=gone)["code"] == "not_found"
    error = hive.refuses("restore", id=gone)
    assert (error["code"], error["details"]["kept_id"]) == ("merge_tombstone", into)


@pytest.mark.parametrize(
    ("ours", "theirs", "kept", "counts"),
    [
        ({}, {"tags": ["a"]}, {"tags": ["a"]}, (0, 1)),
        ({"tags": ["a"]}, {}, {"tags": ["a"]}, (0, 0)),
        ({"tags": "a"}, {"tags": ["b"]}, {"tags": "a"}, (0, 0)),
        ({}, {"tags": "b"}, {"tags": "b"}, (1, 0)),
        ({"tags": [1, "x"]}, {"tags": ["X", True, 1]}, {"tags": [1, "x", True]}, (0, 1)),
    ],
)
def test_tags_of_notes_are_joined_where_they_are_lists(
    hive: Hive, ours: dict[str, Any], theirs: dict[str, Any], kept: dict[str, Any], counts: tuple[int, int]
) -> None:
    """A `tags` that is no list is a property like any other; values that are no texts count by equality."""
    into, gone = note(hive, "x", properties=ours), note(hive, "y", properties=theirs)
    report = merged(hive, into, gone)
    assert hive.call("get", id=into)["properties"] == kept
    assert (report["properties_merged"], report["tags_unioned"]) == counts


# edges


def test_edges_move_over_in_place(hive: Hive) -> None:
    """Both directions, any namespace, live and deleted: id, weight and creation stay; the time of change moves."""
    into, gone, a, b = (concept(hive, name) for name in ("LoRA", "lora", "A", "B"))
    moved = [
        link(hive, gone, a, weight=0.3, metadata={"k": 1}),
        link(hive, b, gone, "enables"),
        link(hive.as_actor(None, "team"), gone, b, "variant_of"),
        link(hive, gone, b, "part_of"),
    ]
    hive.call("delete", id=moved[3])
    before = [edge_row(hive.as_actor(None, "team"), edge) for edge in moved]
    report = merged(hive, into, gone)
    assert report == {"kept_id": into, "removed_id": gone, **REPORT, "edges_rewired": 4}
    kept = hive.call("get", id=into)
    for old, edge in zip(before, moved, strict=True):
        ends = {end: into if old[end] == gone else old[end] for end in ("source_id", "target_id")}
        shown = edge_row(hive.as_actor(None, "team"), edge)
        assert shown == {**old, **ends, "updated_at": kept["updated_at"]}
    assert {hit["id"] for hit in hive.call("neighbors", node_id=into)} == {a, b}


def test_a_taken_place_keeps_its_edge_and_the_other_is_told(hive: Hive) -> None:
    """The surviving row is untouched, also when it is deleted; the answer and the event hold the dropped one whole."""
    into, gone, a, b = (concept(hive, name) for name in ("LoRA", "lora", "A", "B"))
    ours, theirs = link(hive, a, into, weight=0.9), link(hive, a, gone, weight=0.4, metadata={"why": "x"})
    dead, alive = link(hive, into, b), link(hive, gone, b)
    hive.call("delete", id=dead)
    before = {edge: edge_row(hive, edge) for edge in (ours, theirs, dead, alive)}
    report = merged(hive, into, gone, reason="duplicate")
    assert report["edge_conflict_preimages"] == [
        {"surviving_edge_id": ours, "dropped_edge": before[theirs]},
        {"surviving_edge_id": dead, "dropped_edge": before[alive]},
    ]
    assert report["edges_rewired"] == 0
    assert [edge_row(hive, edge) for edge in (ours, dead)] == [before[ours], before[dead]]
    for edge in (theirs, alive):
        assert hive.refuses("get", id=edge, include_deleted=True)["code"] == "not_found"
    (event,) = hive.events(event_kind="entity_merged")
    told = {key: value for key, value in report.items() if key not in ("kept_id", "removed_id", "dry_run")}
    assert event["payload"] == {
        "into_id": into,
        "from_id": gone,
        "policy": "prefer_into",
        "content_strategy": "append",
        "reason": "duplicate",
        **told,
    }


def test_the_same_edge_of_another_namespace_is_another_edge(hive: Hive) -> None:
    """A place is taken only by an edge of the same namespace."""
    into, gone, a = (concept(hive, name) for name in ("LoRA", "lora", "A"))
    link(hive, into, a)
    link(hive.as_actor(None, "team"), gone, a)
    assert merged(hive, into, gone)["edges_rewired"] == 1


def test_annotations_go_with_a_dropped_edge_and_are_told(hive: Hive) -> None:
    """The annotations on it, and the annotations on those, are listed nearest first, as they were."""
    into, gone, a = (concept(hive, name) for name in ("LoRA", "lora", "A"))
    link(hive, into, a)
    dropped = link(hive, gone, a)
    about, meta = note(hive, "about the edge"), note(hive, "about the annotation")
    first = link(hive, about, dropped, "annotates")
    second = link(hive, meta, first, "annotates", weight=0.5)
    rows = {edge: edge_row(hive, edge) for edge in (dropped, first, second)}
    (told,) = merged(hive, into, gone)["edge_conflict_preimages"]
    assert told["dropped_edge"] == rows[dropped]
    assert told["incident_edge_preimages"] == [rows[first], rows[second]]
    assert hive.ok("stats()")["edges"] == 1
    assert hive.ok("stats()")["notes"] == 2


def test_an_edge_between_the_two_would_be_a_loop(hive: Hive) -> None:
    """Both directions are dropped and told, with what was said about them."""
    into, gone = concept(hive), concept(hive, "lora")
    one, two = link(hive, into, gone), link(hive, gone, into, "variant_of")
    about = note(hive, "about", annotates=[one])
    (annotation,) = (hit["edge_id"] for hit in hive.call("neighbors", node_id=about))
    rows = [edge_row(hive, edge) for edge in (one, two, annotation)]
    report = merged(hive, into, gone)
    assert report["edges_self_loop_dropped"] == 2
    assert report["self_loop_edge_preimages"] == [
        {"dropped_edge": rows[0], "incident_edge_preimages": [rows[2]]},
        {"dropped_edge": rows[1]},
    ]
    assert hive.ok("stats()")["edges"] == 0


def test_an_edge_that_no_rule_allows_is_dropped_and_told(hive: Hive) -> None:
    """A stored edge that the loaded packs do not allow does not move over."""
    into, gone, paper = concept(hive), concept(hive, "lora"), concept(hive, "paper", kind="document")
    illegal = EdgeRow("11111111-0000-4000-8000-000000000001", "local", gone, paper, "extends", 1, 1)
    dangling = EdgeRow("11111111-0000-4000-8000-000000000002", "local", gone, MISSING, "extends", 1, 1)
    for row in (illegal, dangling):
        hive.server.engine.run_write(lambda tx, row=row: edges.insert(tx, row))
    rows = [edge_row(hive, row.id) for row in (illegal, dangling)]
    legal = link(hive, gone, paper, "introduced_by")
    report = merged(hive, into, gone)
    assert (report["edges_rewired"], report["edges_contract_skipped"]) == (1, 2)
    assert report["contract_skipped_edge_preimages"] == [{"dropped_edge": row} for row in rows]
    assert edge_row(hive, legal)["source_id"] == into


def test_a_symmetric_edge_moves_into_stored_order(hive: Hive) -> None:
    """Whatever the ids are, the smaller one is the source afterwards; its double counts as the same place."""
    for _ in range(4):
        into, gone, other, third = (concept(hive, name) for name in ("LoRA", "lora", "A", "B"))
        moved = link(hive, gone, other, "competes_with")
        ours, double = link(hive, third, into, "competes_with"), link(hive, gone, third, "competes_with")
        report = merged(hive, into, gone)
        shown = edge_row(hive, moved)
        assert [shown["source_id"], shown["target_id"]] == sorted([into, other])
        (told,) = report["edge_conflict_preimages"]
        assert (told["surviving_edge_id"], told["dropped_edge"]["id"]) == (ours, double)


def test_two_edges_with_one_place_leave_the_older(hive: Hive) -> None:
    """A symmetric pair that was stored twice, in both orders, becomes one edge."""
    into, gone, other = concept(hive), concept(hive, "lora"), concept(hive, "A")
    ids = [f"11111111-0000-4000-8000-00000000000{number}" for number in (1, 2)]
    for edge_id, ends in zip(ids, ((gone, other), (other, gone)), strict=True):
        row = EdgeRow(edge_id, "local", *ends, "competes_with", 1, 1)
        hive.server.engine.run_write(lambda tx, row=row: edges.insert(tx, row))
    report = merged(hive, into, gone)
    (told,) = report["edge_conflict_preimages"]
    assert (told["surviving_edge_id"], told["dropped_edge"]["id"], report["edges_rewired"]) == (ids[0], ids[1], 1)


def test_the_edges_of_notes_move_and_an_annotation_is_told_once(hive: Hive) -> None:
    """An own edge of the vanishing note that hangs on a dropped edge of it goes with that edge."""
    into, gone, old, topic = (note(hive, text) for text in ("a", "b", "c", "d"))
    link(hive, into, old, "supersedes")
    dropped = link(hive, gone, old, "supersedes")
    hanging = link(hive, gone, dropped, "annotates")
    ours = link(hive, into, dropped, "annotates")
    above = link(hive, gone, ours, "annotates")
    moved = link(hive, gone, topic, "annotates")
    rows = [edge_row(hive, edge) for edge in (hanging, ours, above)]
    report = merged(hive, into, gone)
    (told,) = report["edge_conflict_preimages"]
    assert told["dropped_edge"]["id"] == dropped
    assert told["incident_edge_preimages"] == rows
    assert (report["edges_rewired"], edge_row(hive, moved)["source_id"]) == (1, into)
    assert hive.events(event_kind="note_merged")[0]["payload"]["edges_rewired"] == 1


# afterwards


def test_the_vanished_entity_points_to_the_kept_one_and_to_the_event(hive: Hive) -> None:
    """merged_into, merge_event_id, the redirect of get over two merges, and the refusal of restore."""
    first, second, third = concept(hive, "LoRA"), concept(hive, "lora"), concept(hive, "LoRA 3")
    merged(hive, second, first)
    merged(hive, third, second)
    one, two = hive.events(event_kind="entity_merged")[::-1]
    for gone, kept, event in ((first, second, one), (second, third, two)):
        tombstone = hive.call("get", id=gone, include_deleted=True)
        assert (tombstone["merged_into"], tombstone["merge_event_id"]) == (kept, event["id"])
        assert (event["target_id"], event["payload"]["into_id"], event["payload"]["from_id"]) == (kept, kept, gone)
    found = hive.call("get", id=first)
    assert (found["id"], found["redirected_from"]) == (third, [first, second])
    error = hive.refuses("restore", id=first)
    assert (error["code"], error["details"]["kept_id"]) == ("merge_tombstone", third)
    hive.call("delete", id=third, hard=True)
    assert hive.refuses("get", id=first)["code"] == "not_found"


def test_a_note_that_was_merged_twice_leads_restore_to_the_last_one(hive: Hive) -> None:
    """The refusal names the note that is live, not the one in between."""
    first, second, third = (note(hive, text) for text in ("a", "b", "c"))
    merged(hive, second, first)
    merged(hive, third, second)
    error = hive.refuses("restore", id=first)
    assert (error["code"], error["details"]["kept_id"]) == ("merge_tombstone", third)


def test_restore_of_a_merged_record_tells_what_is_left_to_use(hive: Hive) -> None:
    """The kept record may be deleted itself, or gone: then `use` it would lead nowhere."""
    gone, kept = concept(hive, "LoRA"), concept(hive, "lora")
    merged(hive, kept, gone)
    said = f"restore: {gone} was merged into {kept} and cannot be restored alone; "
    assert hive.refuses("restore", id=gone)["message"] == said + f"use {kept}"
    hive.call("delete", id=kept)
    assert hive.refuses("restore", id=gone)["message"] == said + f"restore {kept}, which is deleted, and use it"
    hive.call("delete", id=kept, hard=True)
    assert hive.refuses("restore", id=gone)["message"] == said + "which is gone for good, so nothing is left to restore"


def test_search_finds_the_kept_record_by_the_words_of_both(hive: Hive) -> None:
    """The text index follows in the same transaction."""
    into, gone = concept(hive, description="alpha"), concept(hive, "lora", description="omega")
    merged(hive, into, gone)
    for word in ("alpha", "omega", "lora"):
        assert [hit["id"] for hit in hive.call("search", kind="entity", query=word)] == [into]
    one, two = note(hive, "north"), note(hive, "south")
    merged(hive, one, two, content_strategy="prefer_from")
    assert hive.call("search", kind="note", query="north") == []
    assert [hit["id"] for hit in hive.call("search", kind="note", query="south")] == [one]


def test_the_event_is_found_by_everything_that_the_merge_touched(hive: Hive) -> None:
    """Both records, a moved edge, a dropped one and its annotation lead to the one event; the audit row to the kept."""
    into, gone, a, b = (concept(hive, name) for name in ("LoRA", "lora", "A", "B"))
    link(hive, into, a)
    dropped, moved = link(hive, gone, a), link(hive, gone, b)
    about = note(hive, "about", annotates=[dropped])
    (annotation,) = (hit["edge_id"] for hit in hive.call("neighbors", node_id=about))
    merged(hive, into, gone)
    (event,) = hive.events(event_kind="entity_merged")
    for record in (into, gone, dropped, moved, annotation):
        assert [row["id"] for row in hive.events(observed=[record], event_kind="entity_merged")] == [event["id"]]
    audit = hive.events(verb="merge", event_kind="audit")
    assert [(row["target_id"], row["substrate"], row["outcome"]) for row in audit] == [(into, "entity", "success")] * 2


def test_a_dry_run_writes_no_row_and_no_event(hive: Hive) -> None:
    """Only its audit row is left."""
    into, gone, a = (concept(hive, name) for name in ("LoRA", "lora", "A"))
    link(hive, into, a)
    link(hive, gone, a)
    before = store(hive)
    hive.call("merge", into_id=into, from_id=gone, dry_run=True, verbose=True)
    assert store(hive) == before
    assert hive.events(event_kind="entity_merged") == []
    assert len(hive.events(verb="merge", event_kind="audit")) == 1


def test_a_merge_that_would_touch_too_much_is_refused(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two records, the edges and the annotations that go with them count; at the limit it still runs."""
    into, gone, a = (concept(hive, name) for name in ("LoRA", "lora", "A"))
    link(hive, into, a)
    dropped = link(hive, gone, a)
    note(hive, "about", annotates=[dropped])
    before = store(hive)
    for cap, rows in ((2, 3), (3, 4)):
        monkeypatch.setattr(merging, "MERGE_ROWS_CAP", cap)
        error = hive.refuses("merge", into_id=into, from_id=gone)
        assert error["details"] == {"reason": "merge_too_large", "rows": str(rows), "max_rows": str(cap)}
        assert hive.refuses("merge", into_id=into, from_id=gone, dry_run=True)["code"] == "merge_too_large"
    assert store(hive) == before
    monkeypatch.setattr(merging, "MERGE_ROWS_CAP", 4)
    assert len(merged(hive, into, gone)["edge_conflict_preimages"]) == 1


def test_the_kept_entity_is_the_one_that_the_caller_named_last(hive: Hive) -> None:
    """resolve thinks of it by its name in any case, for the caller that merged."""
    into, gone = concept(hive, "FlashAttention"), concept(hive, "Flash Attention")
    other = hive.as_actor("mia", "local")
    other.call("merge", into_id=into, from_id=gone)
    (found,) = other.call("resolve", refs=["flashattention"])["results"]
    assert (found["status"], found["id"], found["confidence"]) == ("resolved", into, 0.95)


def test_a_merge_chains_by_the_kept_id(hive: Hive) -> None:
    """The answer has no id of its own; `$prev.kept_id` is the full id of the kept record."""
    into, gone = concept(hive), concept(hive, "lora")
    entries = hive.run(f'merge(into_id="{into}", from_id="{gone}") | get(id=$prev.kept_id)')["results"]
    assert entries[1]["result"]["id"] == into
    assert "id" not in entries[0]["result"]
