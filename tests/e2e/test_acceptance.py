"""The behaviours the whole product is judged by, each on a running server."""

import json
from collections import Counter
from pathlib import Path

import pytest

from hivekeep.storage import entities
from hivekeep.storage.entities import EntityRow
from hivekeep_contract.errors import ParseError
from support.client import Hive, open_hive


def refused(hive: Hive, ops: str) -> str:
    """The named fault of a request that is refused as a whole; nothing may have run."""
    before = hive.ok("stats()")
    with pytest.raises(ParseError) as caught:
        hive.run(ops)
    assert hive.ok("stats()") == before
    fault: str = caught.value.fields["dsl_error"]  # type: ignore[assignment]
    return fault


def test_one_operation_has_one_result(hive: Hive) -> None:
    """A single call answers one entry and a summary of one."""
    envelope = hive.run("stats()")
    assert envelope["summary"] == {"total": 1, "succeeded": 1, "failed": 0, "aborted": 0}
    assert envelope["status"] == "success"
    assert len(envelope["results"]) == 1


@pytest.mark.parametrize(
    ("ops", "fault"),
    [
        ("", "Empty"),
        ("   \n", "Empty"),
        ("[]", "EmptyBatch"),
        ("[" + ",".join(['create(kind="concept", name="a")'] * 101) + "]", "TooManyOps"),
        ("a.b.c()", "UnsupportedVerbNesting"),
        ("[a(), b() | c()]", "MixedSeparators"),
        ('create(kind="concept", name=X)', "InvalidValue"),
        ('[{"tool": "get", "args": {"id": ["$prev.id"]}}]', "PrevRefInJsonForm"),
        ('list(kind="entity", presentation="verbose")', "ReservedEnvelopeArg"),
    ],
)
def test_a_malformed_request_runs_nothing_and_names_its_fault(hive: Hive, ops: str, fault: str) -> None:
    """A request outside the language is refused whole, by name."""
    assert refused(hive, ops) == fault


def test_a_bare_word_shows_the_quoted_spelling(hive: Hive) -> None:
    """A value without quotes is answered with the spelling that works, argument included."""
    with pytest.raises(ParseError, match='name="X"'):
        hive.run('create(kind="concept", name=X)')


def test_a_raw_newline_in_a_string_is_stored(hive: Hive) -> None:
    """A line break may stand as it is between the quotes of the call form."""
    note = hive.ok('create(kind="observation", content="line1\nline2")')
    assert hive.call("get", id=note["id"])["content"] == "line1\nline2"


def test_a_chain_hands_results_on(hive: Hive) -> None:
    """`$prev.id` is the full id of the operation before."""
    target = hive.call("create", kind="concept", name="B")
    envelope = hive.run(
        f'create(kind="concept", name="A") | link(source_id=$prev.id, target_id="{target["id"]}", relation="extends")'
    )
    assert envelope["summary"]["succeeded"] == 2
    assert envelope["results"][1]["result"]["source_id"] == envelope["results"][0]["result"]["id"]


def test_a_failed_link_of_a_chain_aborts_the_rest(hive: Hive) -> None:
    """What follows a failure does not run, is not an error, and is known not to have written."""
    envelope = hive.run(
        'create(kind="concept", name="A") | get(id="00000000-0000-4000-8000-000000000000")'
        ' | create(kind="concept", name="C")'
    )
    assert envelope["summary"] == {"total": 3, "succeeded": 1, "failed": 1, "aborted": 1}
    last = envelope["results"][2]
    assert (last["aborted"], last["domain_disposition"], "error" in last) == (True, "not_committed", False)
    assert hive.ok("stats()")["entities"] == 1


def test_two_writes_of_one_record_in_a_batch_are_refused(hive: Hive) -> None:
    """A batch that would race with itself changes nothing."""
    record = hive.call("create", kind="concept", name="before")
    assert refused(hive, f'[update(id="{record["id"]}", name="a"), delete(id="{record["id"]}")]') == "WriteKeyConflict"
    assert hive.call("get", id=record["id"])["name"] == "before"


def test_an_escaped_reference_is_text(hive: Hive) -> None:
    """A backslash before `$prev` keeps it as the text it is."""
    note = hive.ok(r'create(kind="observation", content="\\$prev")')
    assert note["content"] == "$prev"


def test_an_empty_page_keeps_its_shape_for_agents(hive: Hive) -> None:
    """An agent sees items and the three limit fields even when there is nothing."""
    page = hive.ok('list(kind="concept")', presentation="agent")
    assert page == {"items": [], "requested_limit": 20, "effective_limit": 20, "limit_clamped": False}


def test_an_empty_property_survives_agent_mode(hive: Hive) -> None:
    """Inside properties an empty text is a value."""
    record = hive.call("create", kind="concept", name="A")
    shown = hive.ok(f'update(id="{record["id"]}", properties={{"k": ""}})', presentation="agent")
    assert shown["properties"]["k"] == ""


def test_a_refused_pair_names_the_relations_that_fit(hive: Hive) -> None:
    """concept -> document may not extend; the message offers introduced_by."""
    source = hive.call("create", kind="concept", name="LoRA")["id"]
    target = hive.call("create", kind="document", name="paper")["id"]
    error = hive.refuses("link", source_id=source, target_id=target, relation="extends")
    assert error["kind"] == "invalid_input"
    assert "introduced_by" in error["message"]


def test_a_symmetric_relation_is_one_edge_either_way(hive: Hive) -> None:
    """B competes_with A finds the edge that A competes_with B made."""
    a = hive.call("create", kind="concept", name="A")["id"]
    b = hive.call("create", kind="concept", name="B")["id"]
    first = hive.call("link", source_id=a, target_id=b, relation="competes_with")
    second = hive.call("link", source_id=b, target_id=a, relation="competes_with")
    assert (second["id"], second["mutation"]) == (first["id"], "updated")
    assert (second["source_id"], second["target_id"]) == (b, a)


def test_a_deleted_edge_comes_back_only_when_asked(hive: Hive) -> None:
    """Without resurrect a tombstone is a conflict; with it id and creation time stay."""
    a = hive.call("create", kind="concept", name="A")["id"]
    b = hive.call("create", kind="concept", name="B")["id"]
    edge = hive.call("link", source_id=a, target_id=b, relation="extends")
    hive.call("delete", id=edge["id"])
    error = hive.refuses("link", source_id=a, target_id=b, relation="extends")
    assert (error["kind"], error["code"], error["details"]["edge_id"]) == ("conflict", "edge_tombstoned", edge["id"])
    back = hive.call("link", source_id=a, target_id=b, relation="extends", resurrect=True)
    assert (back["id"], back["created_at"], back["mutation"]) == (edge["id"], edge["created_at"], "resurrected")


def insert_entity(hive: Hive, record_id: str, name: str, created_at: int = 1) -> None:
    """An entity with a chosen id, below the verbs."""
    row = EntityRow(
        id=record_id, namespace="local", kind="concept", name=name, created_at=created_at, updated_at=created_at
    )
    hive.server.engine.run_write(lambda tx: entities.insert(tx, row))


def test_a_short_prefix_that_fits_two_records_lists_both(hive: Hive) -> None:
    """Eight shared digits are ambiguous; twelve, and thirty-two without hyphens, are not."""
    one, two = "abcd1234-0000-4000-8000-000000000001", "abcd1234-1111-4000-8000-000000000002"
    insert_entity(hive, one, "one")
    insert_entity(hive, two, "two")
    error = hive.refuses("update", id="abcd1234", name="x")
    assert error["kind"] == "ambiguous"
    assert one in error["message"]
    assert two in error["message"]
    assert hive.refuses("get", id="abcd1234")["kind"] == "ambiguous"
    assert hive.call("get", id="abcd12341111")["name"] == "two"
    assert hive.call("get", id="abcd1234-1111")["name"] == "two"
    assert hive.call("get", id=two.replace("-", "").upper())["name"] == "two"


def test_a_cursor_walk_survives_equal_timestamps(hive: Hive) -> None:
    """1,200 entities of one instant are walked by 500 without a gap or a repeat."""
    for number in range(1200):
        insert_entity(hive, f"00000000-0000-4000-8000-{number * 7919 % 1200:012d}", f"n{number}")
    seen: list[str] = []
    sizes, after = [], ""
    while after is not None:
        page = hive.call("list", kind="entity", limit=500, after=after)
        sizes.append(len(page["entities"]))
        seen += [entity["id"] for entity in page["entities"]]
        after = page["next_after"]
    assert sizes == [500, 500, 200]
    assert len(set(seen)) == 1200


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ("throughput of 5 GB/s on disk", "GB/s"),
        ("written in C++ and Rust", "C++"),
        ("the foo-bar option", "foo-bar"),
        ("don't panic", "don't"),
        ("这台设备很好", "设备"),
        ("Herr Müller kam", "Müller"),
        ("Herr Müller kam", "muller"),
        ("cache of KV pairs", "KV"),
        ("use $prev.id there", "$prev.id"),
        ('call NEAR( "x" )', "NEAR("),
        ('say "quoted" words', '"quoted"'),
    ],
)
def test_text_is_found_with_any_punctuation_and_script(hive: Hive, stored: str, query: str) -> None:
    """What was stored is found by a part of it, however it is written."""
    hive.call("create", kind="observation", content="nothing of the kind")
    note = hive.call("create", kind="observation", content=stored)
    assert [hit["id"] for hit in hive.call("search", kind="note", query=query)] == [note["id"]]


def test_an_entity_named_as_the_query_scores_by_rank_and_name(hive: Hive) -> None:
    """One arm at rank one gives 1/11, the exact name adds one half."""
    hive.call("create", kind="concept", name="LoRA", description="low rank adaptation")
    (hit,) = hive.call("search", kind="entity", query="lora")
    assert hit["score"] == pytest.approx(1 / 11 + 0.5)
    assert hit["rank_score"] == hit["score"]


def test_salience_scales_the_score_of_a_note(hive: Hive) -> None:
    """Rank and salience give (0.5 + 0.5 s) / (60 + rank)."""
    low = hive.call("create", kind="observation", content="same text here", salience=0.0)["id"]
    high = hive.call("create", kind="observation", content="same text here", salience=1.0)["id"]
    scores = {hit["id"]: hit["score"] for hit in hive.call("search", kind="note", query="same text")}
    ranks = sorted([low, high])
    for record, factor in ((low, 0.5), (high, 1.0)):
        assert scores[record] == pytest.approx(factor / (61 + ranks.index(record)))


def test_a_filter_reaches_the_fortieth_hit(hive: Hive) -> None:
    """A property filter works on a window of fifty candidates for each hit asked for."""
    for number in range(60):
        hive.call(
            "create",
            kind="observation",
            content="needle " * (60 - number),
            properties={"wanted": number == 39},
        )
    hits = hive.call("search", kind="note", query="needle", properties={"wanted": True}, limit=1)
    assert len(hits) == 1


def test_scan_tells_what_a_write_would_refuse(hive: Hive) -> None:
    """A random assignment value is refused, masked, and stored by nobody."""
    token = "Zk3" + "q9Xw7LmB2vTr8NcY5hJd" + "4GfPs6QaEuK1oWiMx"
    report = hive.call("scan", content=f"api_key={token}")
    assert report["would_refuse"] is True
    assert report["detector"] == "high-entropy-token"
    assert report["masked"] == f"{token[:6]}...{len(token)}"
    assert token not in json.dumps(report)
    error = hive.refuses("create", kind="observation", content=f"api_key={token}")
    assert (error["kind"], error["message"]) == ("secret_detected", report["message"])
    assert hive.ok("stats()")["notes"] == 0


def test_a_keyed_create_is_safe_to_repeat(hive: Hive) -> None:
    """The same key and content answer the same note; other content is a conflict that wrote nothing."""
    first = hive.call("create", kind="decision", content="SQLite", key="db", tags=["a"])
    assert first["created"] is True
    again = hive.call("create", kind="decision", content="SQLite", key="db", tags=["a"])
    assert again == {"id": first["id"], "created": False}
    entry = hive.entry('create(kind="decision", content="other", key="db")')
    assert (entry["error"]["code"], entry["domain_disposition"]) == ("key_conflict", "not_committed")
    assert entry["error"]["details"]["existing_id"] == first["id"]


def test_a_fenced_update_always_advances_the_version(hive: Hive) -> None:
    """With expected_version an identical patch writes; a stale version refuses."""
    note = hive.call("create", kind="observation", content="x")
    fenced = hive.call("update", id=note["id"], content="x", expected_version=note["version"])
    assert fenced["version"] == note["version"] + 1
    assert "unchanged" not in fenced
    error = hive.refuses("update", id=note["id"], content="y", expected_version=note["version"])
    assert error["code"] == "version_conflict"
    assert error["details"]["current_version"] == str(fenced["version"])


def test_whoami_of_nobody(hive: Hive) -> None:
    """The anonymous caller is told so, and nothing secret."""
    answer = hive.ok("whoami()")
    assert set(answer) == {
        "actor_id",
        "actor_kind",
        "unattributed",
        "namespace",
        "visible_namespaces",
        "build",
    }
    assert (answer["actor_id"], answer["actor_kind"], answer["unattributed"]) == ("local", "anonymous", True)
    assert set(answer["build"]) == {"version", "revision"}


def test_a_merge_of_names_that_are_not_alike_is_refused(hive: Hive) -> None:
    """The check is named; a dry run of the same merge is an answer, not an error."""
    into = hive.call("create", kind="concept", name="Low-Rank Adaptation")["id"]
    gone = hive.call("create", kind="concept", name="LoRA")["id"]
    error = hive.refuses("merge", into_id=into, from_id=gone)
    assert (error["kind"], error["details"]["guard"]) == ("conflict", "name_similarity")
    planned = hive.call("merge", into_id=into, from_id=gone, dry_run=True)
    assert (planned["would_merge"], planned["refused_by"]) == (False, "name_similarity")


def test_a_merge_leaves_one_edge_of_two_that_say_the_same(hive: Hive) -> None:
    """The edge of the kept record stays as it was; the answer holds the other one."""
    a, b, c = (hive.call("create", kind="concept", name=name)["id"] for name in ("LoRA", "lora", "C"))
    dropped = hive.call("link", source_id=a, target_id=c, relation="extends", weight=0.4)
    kept = hive.call("link", source_id=b, target_id=c, relation="extends", weight=0.9)
    report = hive.call("merge", into_id=b, from_id=a)
    (edge,) = hive.call("list", kind="edge")["items"]
    del kept["mutation"], dropped["mutation"]
    assert edge == kept
    assert report["edge_conflict_preimages"] == [{"surviving_edge_id": kept["id"], "dropped_edge": dropped}]


def test_a_merge_tombstone_leads_on_and_cannot_be_restored(hive: Hive) -> None:
    """get follows merged_into to the live record; restore names it and refuses."""
    kept = hive.call("create", kind="concept", name="LoRA")["id"]
    gone = hive.call("create", kind="concept", name="lora")["id"]
    hive.call("merge", into_id=kept, from_id=gone)
    found = hive.call("get", id=gone)
    assert (found["id"], found["redirected_from"]) == (kept, [gone])
    assert hive.call("get", id=gone, include_deleted=True)["merged_into"] == kept
    error = hive.refuses("restore", id=gone)
    assert (error["code"], error["details"]["kept_id"]) == ("merge_tombstone", kept)


def proposed(hive: Hive) -> str:
    """The id of a proposal to add a concept."""
    change = {"kind": "add_entity", "entity": {"kind": "concept", "name": "GQE"}}
    made = hive.call("propose", title="Add GQE", description="Register it.", changeset=change)
    proposal_id: str = made["full_id"]
    return proposal_id


def test_a_principal_does_not_approve_its_own_proposal(hive: Hive) -> None:
    """The configured principal `agent:x` is refused; somebody else, and the anonymous caller for its own, may."""
    agent = hive.as_actor("agent:x")
    own = proposed(agent)
    assert agent.refuses("review", id=own, decision="approve")["code"] == "self_approval"
    assert hive.call("list", kind="entity")["items"] == []
    assert hive.as_actor("ocean").call("review", id=own, decision="approve")["status"] == "applied"
    assert hive.call("review", id=proposed(hive), decision="approve")["status"] == "applied"
    assert [row["name"] for row in hive.call("list", kind="entity")["items"]] == ["GQE", "GQE"]


def test_only_the_proposer_withdraws_a_proposal(hive: Hive) -> None:
    """Another actor is refused; the proposal stays open until its proposer takes it back."""
    ada = hive.as_actor("ada")
    own = proposed(ada)
    assert hive.as_actor("eve").refuses("withdraw", id=own)["code"] == "not_proposer"
    assert hive.call("get", id=own)["status"] == "open"
    assert ada.call("withdraw", id=own)["status"] == "withdrawn"


def test_every_operation_leaves_one_audit_row(tmp_path: Path) -> None:
    """Successes, refusals, failures and unknown verbs are all on record, each once."""
    with open_hive(tmp_path / "hive.db") as hive:
        hive.run('[create(kind="concept", name="A"), nosuch(), get(id="ffffffff"), stats(), create(kind="concept")]')
        rows = hive.events(event_kind="audit")
        assert Counter((row["verb"], row["outcome"]) for row in rows) == {
            ("create", "success"): 1,
            ("create", "error"): 1,
            ("nosuch", "error"): 1,
            ("get", "error"): 1,
            ("stats", "success"): 1,
        }
        request_ids = {row["payload"]["request_id"] for row in rows}
        assert len(request_ids) == 1
        costs = {(row["verb"], row["outcome"]): row["payload"]["resource"].get("cost_unit") for row in rows}
        assert costs[("create", "success")] == 1
        assert costs[("create", "error")] is None
