"""propose, review, withdraw: what is proposed, who may decide, and what an approval writes."""

import json
from typing import Any

import pytest

from hivekeep.gate.policy import Policy, PolicyGate
from hivekeep.storage import proposals
from hivekeep_contract.limits import LIST_CAP, PROPOSAL_STEPS_MAX
from support.client import Hive

MISSING = "00000000-0000-4000-8000-000000000000"
SECRET = "AKIA" + "Q7RX2MPLD9ZWK4TV"
YEAR_3000 = 32_503_680_000_000_000


def add(name: str = "GQE", **fields: Any) -> dict[str, Any]:
    """A step that adds a concept."""
    return {"kind": "add_entity", "entity": {"kind": "concept", "name": name, **fields}}


def compound(*steps: dict[str, Any]) -> dict[str, Any]:
    """Several steps."""
    return {"kind": "compound", "steps": list(steps)}


def propose(hive: Hive, changeset: dict[str, Any] | None = None, **fields: Any) -> str:
    """The id of a fresh proposal."""
    made = hive.call("propose", **{"title": "T", "description": "D", "changeset": changeset or add(), **fields})
    return str(made["full_id"])


def applied(hive: Hive, changeset: dict[str, Any]) -> list[str]:
    """The records that a change wrote, proposed and approved by nobody in particular."""
    answer = hive.call("review", id=propose(hive, changeset), decision="approve")
    assert answer["status"] == "applied", answer
    return list(answer["records"])


def failed(hive: Hive, changeset: dict[str, Any]) -> dict[str, Any]:
    """Why an approved change was not applied; nothing but the proposal may have changed."""
    before = snapshot(hive)
    answer = hive.call("review", id=propose(hive, changeset), decision="approve")
    assert (answer["status"], "records" in answer) == ("approved", False)
    assert snapshot(hive) == before
    return dict(answer["apply_error"])


def snapshot(hive: Hive) -> dict[str, Any]:
    """Everything that is live, and every domain event but those of proposals."""
    found: dict[str, Any] = {
        kind: hive.call("list", kind=kind, limit=200)["items"] for kind in ("entity", "note", "edge")
    }
    events = hive.events()
    found["events"] = [e["id"] for e in events if e["kind"] != "audit" and not e["kind"].startswith("proposal_")]
    return found


def history(hive: Hive, proposal_id: str) -> list[tuple[str, str, str]]:
    """(kind, actor, outcome) of the events of a proposal, oldest first."""
    found = [e for e in hive.events(target_id=proposal_id) if e["kind"] != "audit"]
    assert all((e["aggregate_kind"], e["aggregate_id"]) == ("proposal", proposal_id) for e in found)
    return [(e["kind"], e["actor"], e["outcome"]) for e in reversed(found)]


# propose


def test_a_proposal_is_stored_and_changes_nothing_else(hive: Hive) -> None:
    """get shows what was proposed and by whom; the change itself is not there."""
    ada = hive.as_actor("ada")
    change = compound(add("A"), compound(add("B"), {"kind": "add_note", "note": {"kind": "insight", "content": "x"}}))
    made = ada.call(
        "propose",
        title="  Two more ",
        description="Because.",
        changeset=change,
        reviewers=["bob"],
        expiry=YEAR_3000,
    )
    assert made == {
        "id": made["full_id"],
        "full_id": made["full_id"],
        "parent_id": None,
        "status": "open",
        "proposer": "ada",
        "title": "Two more",
    }
    record = ada.call("get", id=made["id"])
    assert {**record, "created_at": "", "updated_at": ""} == {
        "id": made["full_id"],
        "kind": "proposal",
        "namespace": "local",
        "proposer": "ada",
        "title": "Two more",
        "description": "Because.",
        "changeset": change,
        "reviewers": ["bob"],
        "parent_id": None,
        "status": "open",
        "expiry": "3000-01-01T00:00:00.000000Z",
        "last_decision": None,
        "review_count": 0,
        "approve_count": 0,
        "reject_count": 0,
        "apply_error": None,
        "created_at": "",
        "updated_at": "",
    }
    assert hive.ok("stats()")["entities"] == 0
    assert history(hive, made["id"]) == [("proposal_created", "actor:ada", "success")]


def test_ancestry_is_shown_in_full_to_agents(hive: Hive) -> None:
    """full_id and parent_id of an agent's answer can be submitted again as they are; id is short."""
    first = propose(hive)
    args = {"title": "T", "description": "D", "changeset": add(), "parent_id": first.upper()}
    shown = _agent(hive, "propose", args)
    assert shown["parent_id"] == first
    assert (len(shown["full_id"]), shown["id"]) == (36, shown["full_id"][:8])
    assert "parent_id" in _agent(hive, "propose", {**args, "parent_id": None})


def _agent(hive: Hive, verb: str, args: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = hive.ok(json.dumps([{"tool": verb, "args": args}]), presentation="agent")
    return shown


@pytest.mark.parametrize(
    ("changeset", "says"),
    [
        ({"kind": "drop"}, "'changeset.kind' must be one of add_entity, update_entity, add_edge"),
        ({}, "'changeset' needs 'kind'"),
        ([], "'changeset' must be an object"),
        (None, "'changeset' must be an object"),
        ({"kind": "add_entity"}, '"entity" is a required property'),
        (
            add(colour="red"),
            "'colour' was unexpected); accepted: kind, name, entity_type, description, properties, tags",
        ),
        (add(name=" "), "'changeset.entity.name'"),
        (add(tags=["a", 1]), "'changeset.entity.tags[1]'"),
        (add(kind="observation"), "changeset.entity.kind must be an entity kind"),
        (add(kind="entity"), "changeset.entity.kind must be an entity kind"),
        (add(kind="nosuch"), "changeset.entity.kind: unknown kind 'nosuch'"),
        (add(entity_type="paper"), "it is a type of document"),
        ({"kind": "add_note", "note": {"kind": "concept", "content": "x"}}, "changeset.note.kind must be a note kind"),
        ({"kind": "add_note", "note": {"kind": "insight"}}, '"content" is a required property'),
        ({"kind": "add_note", "note": {"kind": "insight", "content": "x", "salience": 2}}, "'changeset.note.salience'"),
        (
            {"kind": "add_note", "note": {"kind": "insight", "content": "x", "annotates": ["abcd1234"]}},
            "'changeset.note.annotates[0]'",
        ),
        ({"kind": "update_entity", "id": "3f2a9c1e", "patch": {"name": "x"}}, "by its full UUID"),
        ({"kind": "update_entity", "id": MISSING, "patch": {"name": None}}, "'changeset.patch.name'"),
        ({"kind": "update_entity", "id": "-" * 36, "patch": {"name": "x"}}, "changeset.id must be a full UUID"),
        ({"kind": "add_edge", "source": MISSING, "target": "LoRA", "relation": "extends"}, "'changeset.target'"),
        ({"kind": "add_edge", "source": MISSING, "target": MISSING, "relation": "likes"}, "changeset.relation must be"),
        (
            {"kind": "add_edge", "source": MISSING, "target": MISSING, "relation": "extends", "weight": 2},
            "maximum of 1",
        ),
        ({"kind": "merge_entities", "into": MISSING}, '"from" is a required property'),
        ({"kind": "supersede_entity", "old": MISSING, "new": "ab"}, "'changeset.new'"),
        (compound(), "'changeset.steps'"),
        (compound(add(), compound(add(), {"kind": "drop"})), "'changeset.steps[1].steps[1].kind' must be one of"),
        (compound(add(), compound(add(kind="nosuch"))), "changeset.steps[1].steps[0].entity.kind"),
        (compound(*[add()] * (PROPOSAL_STEPS_MAX + 1)), f"at most {PROPOSAL_STEPS_MAX} steps, got 1001"),
    ],
)
def test_a_changeset_is_closed(hive: Hive, changeset: Any, says: str) -> None:
    """An unknown kind or field, a wrong value or a short id is refused by its place, and nothing is stored."""
    error = hive.refuses("propose", title="T", description="D", changeset=changeset)
    assert error["kind"] == "invalid_input"
    assert says in error["message"]
    assert hive.call("list", kind="proposal")["items"] == []
    assert [e["kind"] for e in hive.events() if e["kind"] != "audit"] == []


@pytest.mark.parametrize(
    ("fields", "kind", "says"),
    [
        ({"title": " "}, "invalid_input", "'title' must be a string that is not blank"),
        ({"description": ""}, "invalid_input", "'description' must be a string that is not blank"),
        ({"parent_id": "3f2a9c1e"}, "invalid_input", "'parent_id' must be a full UUID"),
        ({"parent_id": MISSING}, "not_found", f"parent_id: not found: {MISSING}"),
        ({"expiry": -1}, "invalid_input", "'expiry' must be"),
        ({"title": f"use {SECRET}"}, "secret_detected", "proposal.title"),
        ({"description": f"use {SECRET}"}, "secret_detected", "proposal.description"),
        ({"reviewers": ["bob", SECRET]}, "secret_detected", "proposal.reviewers"),
        ({"changeset": compound(add(properties={"a": [SECRET]}))}, "secret_detected", "proposal.changeset"),
    ],
)
def test_a_proposal_that_may_not_be_stored(hive: Hive, fields: dict[str, Any], kind: str, says: str) -> None:
    """Blank texts, a parent that is not there and credentials are refused; nothing is stored, nothing repeated."""
    error = hive.refuses("propose", **{"title": "T", "description": "D", "changeset": add(), **fields})
    assert (error["kind"], says in error["message"], SECRET in error["message"]) == (kind, True, False)
    assert hive.call("list", kind="proposal")["items"] == []


def test_targets_need_not_exist_when_proposed(hive: Hive) -> None:
    """A change of a record that is not there is a proposal all the same; its approval says what was missing."""
    error = failed(hive, {"kind": "update_entity", "id": MISSING, "patch": {"name": "x"}})
    assert error == {"step": 0, "kind": "not_found", "code": "not_found", "message": f"id: not found: {MISSING}"}


# what an approval writes


def test_a_new_entity_and_note_are_what_create_makes(hive: Hive) -> None:
    """An alias sets the type, null is a field not given, names lose outer space, annotations are made."""
    (paper,) = applied(hive, add(" RoFormer ", kind="paper", description=None, tags=["rope"], properties={"a": None}))
    record = hive.call("get", id=paper)
    assert (record["kind"], record["entity_type"], record["name"]) == ("document", "paper", "RoFormer")
    assert (record["description"], record["tags"], record["properties"]) == (None, ["rope"], {"a": None})
    note = {"kind": "note", "content": "x", "tags": ["t"], "salience": 0.5, "annotates": [paper.upper()]}
    (note_id,) = applied(hive, {"kind": "add_note", "note": note})
    record = hive.call("get", id=note_id)
    assert (record["kind"], record["salience"], record["properties"]) == ("observation", 0.5, {"tags": ["t"]})
    assert [hit["id"] for hit in hive.call("neighbors", node_id=note_id)] == [paper]
    assert [hit["id"] for hit in hive.call("search", kind="entity", query="RoFormer")] == [paper]


def test_a_patch_changes_what_it_names(hive: Hive) -> None:
    """Null clears, properties merge at the top level, and what is not named stays."""
    made = hive.call("create", kind="concept", name="A", description="d", properties={"x": 1, "y": 2}, tags=["t"])
    patch = {"description": None, "properties": {"y": 3}, "name": " B "}
    assert applied(hive, {"kind": "update_entity", "id": made["id"], "patch": patch}) == [made["id"]]
    record = hive.call("get", id=made["id"])
    assert (record["name"], record["description"], record["tags"]) == ("B", None, ["t"])
    assert record["properties"] == {"x": 1, "y": 3}


def test_edges_merges_and_supersessions(hive: Hive) -> None:
    """Each is what link and merge make of it; supersede_entity points from the new entity to the old one."""
    a, b, c = (hive.call("create", kind="concept", name=name)["id"] for name in ("LoRA", "lora", "DoRA"))
    change = {"kind": "add_edge", "source": c, "target": b, "relation": "Extends", "weight": 0.5}
    (edge,) = applied(hive, change)
    assert (hive.call("get", id=edge)["relation"], hive.call("get", id=edge)["weight"]) == ("extends", 0.5)
    assert applied(hive, {"kind": "merge_entities", "into": a, "from": b}) == [a]
    assert hive.call("get", id=b)["redirected_from"] == [b]
    (edge,) = applied(hive, {"kind": "supersede_entity", "old": a, "new": c})
    record = hive.call("get", id=edge)
    assert (record["source_id"], record["target_id"], record["relation"]) == (c, a, "supersedes")
    assert hive.call("get", id=edge)["weight"] == 1.0


def test_steps_are_carried_out_in_order_as_the_system(hive: Hive) -> None:
    """Nested compounds count as their steps; every event of the change names the program as actor."""
    a = hive.call("create", kind="concept", name="A")["id"]
    reviewer = hive.as_actor("bob")
    proposal = propose(
        hive.as_actor("ada"),
        compound(
            {"kind": "update_entity", "id": a, "patch": {"tags": ["one"]}},
            compound({"kind": "update_entity", "id": a, "patch": {"tags": ["two"]}}, compound(add("B"))),
        ),
    )
    answer = reviewer.call("review", id=proposal, decision="APPROVE", comment="Good.")
    made = hive.call("get", id="B")["id"]
    assert answer == {
        "id": proposal,
        "reviewer": "bob",
        "decision": "approve",
        "status": "applied",
        "records": [a, a, made],
    }
    assert hive.call("get", id=a)["tags"] == ["two"]
    changes = hive.events(event_kinds=["entity_updated", "entity_created"], verb="review")
    # events of one moment have no order among them
    assert sorted((e["target_id"], e["actor"]) for e in changes) == [
        (record, "system:propose-apply") for record in sorted((a, a, made))
    ]
    assert history(hive, proposal) == [
        ("proposal_created", "actor:ada", "success"),
        ("proposal_reviewed", "actor:bob", "success"),
        ("proposal_applied", "system:propose-apply", "success"),
    ]
    assert [e["kind"] for e in hive.events(observed=[made], event_kind="proposal_applied")] == ["proposal_applied"]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_a_step_that_fails_undoes_the_whole_change(hive: Hive, position: int) -> None:
    """Wherever the bad step stands: no record, no edge, no event, no index entry; the failure is remembered."""
    a = hive.call("create", kind="concept", name="A")["id"]
    b = hive.call("create", kind="concept", name="a", skip_dedup_check=True)["id"]
    steps: list[dict[str, Any]] = [
        {"kind": "merge_entities", "into": a, "from": b},
        add("Undone"),
    ]
    steps.insert(position, {"kind": "add_edge", "source": a, "target": a, "relation": "extends"})
    before = snapshot(hive)
    proposal = propose(hive, compound(*steps))
    answer = hive.call("review", id=proposal, decision="approve")
    assert (answer["status"], answer["apply_error"]["step"]) == ("approved", position)
    assert answer["apply_error"]["kind"] == "invalid_input"
    assert "an edge joins two" in answer["apply_error"]["message"]
    assert snapshot(hive) == before
    assert hive.call("search", kind="entity", query="Undone") == []
    assert hive.call("get", id=proposal)["apply_error"] == answer["apply_error"]
    assert history(hive, proposal)[2:] == [("proposal_applied", "system:propose-apply", "error")]
    assert hive.refuses("review", id=proposal, decision="approve")["code"] == "proposal_closed"
    assert hive.call("withdraw", id=proposal)["status"] == "withdrawn"


def test_a_change_of_an_entity_reaches_no_other_record(hive: Hive) -> None:
    """A note's id is no entity for a patch, a merge or a supersession."""
    note = hive.call("create", kind="observation", content="x")["id"]
    other = hive.call("create", kind="observation", content="y")["id"]
    entity = hive.call("create", kind="concept", name="A")["id"]
    patch = {"kind": "update_entity", "id": note, "patch": {"name": "x"}}
    assert "kind mismatch" in failed(hive, patch)["message"]
    assert "kind mismatch" in failed(hive, {"kind": "merge_entities", "into": note, "from": other})["message"]
    old = failed(hive, {"kind": "supersede_entity", "old": note, "new": other})
    assert (old["code"], old["message"]) == ("not_found", f"changeset.old: not found: {note}")
    new = failed(hive, compound(add(), {"kind": "supersede_entity", "old": entity, "new": other}))
    assert (new["step"], new["message"]) == (1, f"changeset.steps[1].new: not found: {other}")


def test_the_policy_is_asked_for_every_step(hive: Hive) -> None:
    """The program itself needs no grant, but a pattern that denies it writes makes the application fail."""
    policy = Policy(frozenset({"ada", "bob"}), False, ())
    object.__setattr__(hive.server.around, "gate", PolicyGate(policy))
    ada, bob = hive.as_actor("ada"), hive.as_actor("bob")
    assert bob.call("review", id=propose(ada, add("A")), decision="approve")["status"] == "applied"
    object.__setattr__(hive.server.around, "gate", PolicyGate(policy._replace(deny_writes_for=("system:*",))))
    answer = bob.call("review", id=propose(ada, add("B")), decision="approve")
    assert (answer["status"], answer["apply_error"]["code"]) == ("approved", "permission_denied")
    assert "create: system 'propose-apply' may only read" in answer["apply_error"]["message"]
    assert ada.ok("stats()")["entities"] == 1


# who may decide, and when


def test_nobody_approves_a_proposal_of_their_own(hive: Hive) -> None:
    """An actor is kind and id: a principal may not, though it may comment and reject; nobody named may."""
    agent = hive.as_actor("agent:x")
    proposal = propose(agent)
    error = agent.refuses("review", id=proposal, decision="approve")
    assert (error["kind"], error["code"]) == ("permission_denied", "self_approval")
    assert hive.call("get", id=proposal)["review_count"] == 0
    assert agent.call("review", id=proposal, decision="comment")["status"] == "open"
    assert agent.call("review", id=proposal, decision="reject")["status"] == "rejected"
    namesake = hive.as_actor("anonymous:local")
    assert hive.call("review", id=propose(namesake), decision="approve")["status"] == "applied"
    assert hive.call("review", id=propose(hive), decision="approve")["status"] == "applied"
    assert namesake.refuses("review", id=propose(namesake), decision="approve")["code"] == "self_approval"


def test_only_the_proposer_withdraws(hive: Hive) -> None:
    """Another actor, also one that is shown alike, is refused and no event is written."""
    proposal = propose(hive)
    for actor in ("ada", "anonymous:local"):
        error = hive.as_actor(actor).refuses("withdraw", id=proposal)
        assert (error["kind"], error["code"]) == ("permission_denied", "not_proposer")
    assert len(history(hive, proposal)) == 1
    assert hive.call("withdraw", id=proposal[:8], rationale="Enough.") == {
        "id": proposal,
        "status": "withdrawn",
        "by": "anonymous:local",
    }
    event = hive.events(event_kind="proposal_withdrawn")[0]
    assert event["payload"] == {
        "proposal_id": proposal,
        "by": "anonymous:local",
        "rationale": "Enough.",
        "status": "withdrawn",
    }


def test_an_expired_proposal_cannot_be_approved(hive: Hive) -> None:
    """It stays in the list, takes comments and can be rejected."""
    proposal = propose(hive, expiry=1)
    error = hive.refuses("review", id=proposal, decision="approve")
    assert (error["kind"], error["code"]) == ("conflict", "proposal_expired")
    assert error["details"] == {"reason": "proposal_expired", "expiry": "1970-01-01T00:00:00.000001Z"}
    assert hive.call("review", id=proposal, decision="request changes")["status"] == "changes_requested"
    assert hive.call("review", id=proposal, decision="reject")["status"] == "rejected"
    assert [row["id"] for row in hive.call("list", kind="proposal")["items"]] == [proposal]


@pytest.mark.parametrize("spelling", ["requestchanges", "Request_Changes", "REQUEST-CHANGES"])
def test_decisions_are_read_in_any_spelling(hive: Hive, spelling: str) -> None:
    """The letters count; an unknown decision names the four."""
    assert hive.call("review", id=propose(hive), decision=spelling)["decision"] == "request_changes"
    error = hive.refuses("review", id=propose(hive), decision="maybe")
    assert "'decision' must be one of approve, reject, comment, request_changes" in error["message"]


def test_reviews_are_counted(hive: Hive) -> None:
    """Comments count as reviews; the last decision is the last review, whatever it was."""
    proposal = propose(hive)
    for decision in ("comment", "request_changes", "comment", "approve"):
        hive.call("review", id=proposal, decision=decision, comment=decision)
    (row,) = hive.call("list", kind="proposal")["items"]
    assert (row["review_count"], row["approve_count"], row["reject_count"]) == (4, 1, 0)
    assert (row["last_decision"], row["status"]) == ("approve", "applied")
    said = [e["payload"]["comment"] for e in hive.events(event_kind="proposal_reviewed")]
    assert said == ["approve", "comment", "request_changes", "comment"]


def test_what_reviewers_say_is_searched_for_credentials(hive: Hive) -> None:
    """A comment or rationale that holds one is refused, and the proposal stays as it was."""
    proposal = propose(hive)
    assert "review.comment" in hive.refuses("review", id=proposal, decision="reject", comment=SECRET)["message"]
    assert "withdraw.rationale" in hive.refuses("withdraw", id=proposal, rationale=SECRET)["message"]
    assert hive.call("get", id=proposal)["status"] == "open"


def test_a_lost_race_is_refused_without_an_event(hive: Hive, monkeypatch: pytest.MonkeyPatch) -> None:
    """A review or withdrawal of a proposal that has moved since it was read changes nothing."""
    proposal = propose(hive)
    with hive.server.engine.read() as tx:
        stale = proposals.get(tx, proposal)
    hive.call("review", id=proposal, decision="comment")
    monkeypatch.setattr(proposals, "get", lambda tx, proposal_id: stale)
    for verb, args in (("review", {"decision": "approve"}), ("review", {"decision": "comment"}), ("withdraw", {})):
        error = hive.refuses(verb, id=proposal, **args)
        assert (error["kind"], error["code"], error["retryable"]) == ("conflict", "concurrent_change", True)
        assert "changed concurrently" in error["message"]
    monkeypatch.undo()
    assert len(history(hive, proposal)) == 2
    assert hive.ok("stats()")["entities"] == 0


# looking proposals up


def test_proposals_are_those_of_the_primary_namespace(hive: Hive) -> None:
    """get, review, withdraw, parents and lists do not reach into another one; a named one can be listed."""
    team = hive.as_actor("ada", namespace="team")
    proposal = propose(team)
    assert hive.refuses("get", id=proposal)["code"] == "not_found"
    assert hive.refuses("get", id=proposal[:8])["code"] == "not_found"
    assert hive.refuses("review", id=proposal, decision="reject")["code"] == "not_found"
    assert hive.refuses("review", id=proposal[:8], decision="reject")["code"] == "not_found"
    assert hive.as_actor("ada").refuses("withdraw", id=proposal)["code"] == "not_found"
    assert (
        hive.refuses("propose", title="T", description="D", changeset=add(), parent_id=proposal)["kind"] == "not_found"
    )
    assert team.call("get", id=proposal[:8])["id"] == proposal
    assert hive.call("list", kind="proposal")["items"] == []
    assert [row["id"] for row in hive.call("list", kind="proposal", namespace="team")["items"]] == [proposal]
    hive.as_actor("bob", namespace="team").call("review", id=proposal, decision="approve")
    assert team.call("get", id="GQE")["namespace"] == "team"


def test_other_records_are_no_proposals(hive: Hive) -> None:
    """An entity's id or name is not found by review; a proposal is found by no verb that changes records."""
    entity = hive.call("create", kind="concept", name="A")["id"]
    for reference in (entity, "A", MISSING):
        assert hive.refuses("review", id=reference, decision="reject")["code"] == "not_found"
    proposal = propose(hive)
    for verb, code in (("update", "invalid_input"), ("delete", "invalid_input"), ("restore", "not_found")):
        assert hive.refuses(verb, id=proposal)["code"] == code
    assert hive.call("get", id=proposal)["status"] == "open"
    assert "propose" in hive.refuses("create", kind="proposal", name="x")["message"]
    assert "list(kind='proposal')" in hive.refuses("search", kind="proposal", query="x")["message"]


def test_lists_are_filtered_by_status_and_by_who_took_part(hive: Hive) -> None:
    """proposer and actor take what rows show, or the full label; they are refused for other kinds."""
    ada, bob = hive.as_actor("agent:ada"), hive.as_actor("bob")
    first, second, third = propose(ada), propose(bob), propose(hive)
    bob.call("review", id=first, decision="comment")
    hive.call("withdraw", id=third)

    def listed(**filters: Any) -> list[str]:
        return [row["id"] for row in hive.call("list", kind="proposal", **filters)["items"]]

    assert listed() == [third, second, first]
    assert listed(limit=1, offset=1) == [second]
    assert listed(status="open") == [second, first]
    assert listed(status="withdrawn") == [third]
    assert listed(proposer="agent:ada") == listed(proposer="actor:agent:ada") == [first]
    assert listed(proposer="anonymous:local") == [third]
    assert listed(proposer="ada") == []
    assert listed(actor="bob") == listed(actor="actor:bob") == [second, first]
    assert listed(actor="agent:ada", status="open") == [first]
    assert listed(actor="anonymous:local") == [third]
    assert [row["proposer"] for row in hive.call("list", kind="proposal")["items"]] == [
        "anonymous:local",
        "bob",
        "agent:ada",
    ]
    assert "'proposer' is for proposal only" in hive.refuses("list", kind="event", proposer="bob")["message"]
    assert "'status'" in hive.refuses("list", kind="proposal", status="gone")["message"]
    assert "'after'" in hive.refuses("list", kind="proposal", after="")["message"]
    page = hive.call("list", kind="proposal", limit=501)
    assert (page["effective_limit"], page["limit_clamped"]) == (LIST_CAP["proposal"], True)
