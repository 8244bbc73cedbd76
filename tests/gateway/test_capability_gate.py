"""Open, answer and checkpoint behind the capability gate: who gets context, what a run is bound to, what is stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hivekeep.agent.curated import content, lifecycle
from hivekeep.agent.curated.lifecycle import Author, NewEntry
from hivekeep_contract.gateway_errors import Backpressure
from hivekeep_contract.limits import CATALOG_BINDING_KEY
from support.gateway import CATALOG, REASONING, SOUL, Gateway, Reply, asking, open_in_process, opening

BAD = {"kind": "skill", "name": "x", "version": 1}
LESSON = {"kind": "lesson", "title": "Parser tables", "body": "The parser keeps its tables sorted.", "tags": ["parser"]}
TABLES = ("agent_deliveries", "agent_delivery_items", "agent_nudges")
OMITTED: Any = object()


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """A gateway with one lesson in the workspace of its runs."""
    with open_in_process() as opened:
        entry = NewEntry("demo", content.read(LESSON))
        opened.server.engine.run_write(lambda tx: lifecycle.record(tx, entry, Author("ada", 1000)))
        yield opened


def rows(gateway: Gateway) -> tuple[int, ...]:
    """How many deliveries, items of them and nudges are stored."""
    with gateway.server.engine.read() as tx:
        counted = [tx.one(f"SELECT count(*) FROM {table}") for table in TABLES]
    return tuple(int(row[0]) for row in counted if row is not None)


def with_catalog(body: dict[str, Any], catalog: Any) -> dict[str, Any]:
    """The body with these capabilities, or with none."""
    rest = {name: value for name, value in body.items() if name != "capabilities"}
    return rest if catalog is OMITTED else rest | {"capabilities": catalog}


def checkpoint(gateway: Gateway, run_id: str, catalog: Any, *, key: str | None = None, **fields: Any) -> Reply:
    """A checkpoint with these capabilities."""
    body = with_catalog({"apiVersion": "1", "currentStep": "look"} | fields, catalog)
    return gateway.ask("agent.checkpoint", run_id, body, key=key)


BLOCKED = [OMITTED, [], [REASONING], [BAD], [REASONING, BAD], None, {"skills": CATALOG}]
BLOCKED_IDS = ["omitted", "empty", "missing", "unknown", "unknown without it", "null", "no list"]


# the Skill that every answer needs


@pytest.mark.parametrize("catalog", BLOCKED, ids=BLOCKED_IDS)
def test_without_the_first_skill_a_run_goes_on_without_memory(gateway: Gateway, catalog: Any) -> None:
    """Open and checkpoint are acknowledged; there is no context, no advice, no nudge, and nothing of them is stored."""
    opened = gateway.open(with_catalog(opening(), catalog)).data
    assert (opened["runStatus"], opened["intakeStatus"]) == ("active", "ready")
    done = checkpoint(gateway, opened["runId"], catalog, errorSignatures=["E1"]).data
    assert done["intakeStatus"] == "ready"
    assert done["projection"]["unresolvedFailureEventIds"] != []
    for data in (opened, done):
        assert (data["nextAction"], data["context"]) == ("required_capability_unavailable", None)
        assert data["recommendations"] == []
    assert done["nudge"] is None
    assert rows(gateway) == (0, 0, 0)


@pytest.mark.parametrize("catalog", BLOCKED, ids=BLOCKED_IDS)
def test_an_open_question_does_not_hide_that_it_is_missing(gateway: Gateway, catalog: Any) -> None:
    """The question is shown, and the Skill is asked for first; so it is on each answer."""
    opened = gateway.open(with_catalog(asking(), catalog)).data
    assert (opened["nextAction"], opened["question"]["id"]) == ("required_capability_unavailable", "taskType")
    body = {"apiVersion": "1", "questionId": "taskType", "value": "build"}
    answered = gateway.ask("agent.answer", opened["runId"], with_catalog(body, catalog)).data
    assert (answered["nextAction"], answered["context"]) == ("required_capability_unavailable", None)
    assert rows(gateway) == (0, 0, 0)


def test_with_it_a_question_is_asked_first(gateway: Gateway) -> None:
    """While the intake is open there is neither context nor advice."""
    opened = gateway.open(asking()).data
    assert opened["nextAction"] == "answer_from_evidence_or_ask_user"
    assert (opened["context"], opened["recommendations"]) == (None, [])
    assert rows(gateway) == (0, 0, 0)


# the Skill that memory needs


def test_with_both_skills_memory_is_delivered_once(gateway: Gateway) -> None:
    """At the opening; the checkpoint after it has nothing new to deliver and says that there is memory."""
    opened = gateway.open().data
    assert [item["content"]["title"] for item in opened["context"]["items"]] == ["Parser tables"]
    assert opened["nextAction"] == "proceed"
    assert opened["memoryPolicy"]["memoryReasoningRequired"] is True
    assert rows(gateway) == (1, 1, 0)
    done = checkpoint(gateway, opened["runId"], CATALOG).data
    assert done["context"]["items"] == []
    assert done["memoryPolicy"] == {
        "memoryReasoningRequired": False,
        "contextWithheld": False,
        "withheldReason": None,
        "deliveryEmpty": True,
        "storedEntryCount": 1,
    }
    assert rows(gateway) == (2, 1, 0)


@pytest.mark.parametrize(
    ("catalog", "reason"),
    [
        ([SOUL], "memory_reasoning_missing"),
        ([SOUL, BAD], "memory_reasoning_unknown"),
        ([SOUL, REASONING, BAD], "memory_reasoning_unknown"),
    ],
)
@pytest.mark.parametrize("task_type", ["build", "debug"])
def test_without_the_second_skill_memory_is_withheld(
    gateway: Gateway, catalog: Any, reason: str, task_type: str
) -> None:
    """The run proceeds; context, advice and nudge are withheld alike, and nothing is stored."""
    body = with_catalog(opening(), catalog)
    body["task"]["profileHints"]["taskType"] = task_type
    opened = gateway.open(body).data
    done = checkpoint(gateway, opened["runId"], catalog, errorSignatures=["E1"]).data
    for data in (opened, done):
        assert (data["nextAction"], data["context"], data["recommendations"]) == ("proceed", None, [])
        assert data["memoryPolicy"] == {
            "memoryReasoningRequired": True,
            "contextWithheld": True,
            "withheldReason": reason,
        }
    assert done["nudge"] is None
    assert rows(gateway) == (0, 0, 0)


def test_an_intake_that_ended_with_gaps_needs_one_skill(gateway: Gateway) -> None:
    """Nobody knew what was expected: memory is delivered, and the second Skill is not asked for."""
    body = asking(capabilities=[SOUL])
    body["task"] = {"title": "build the parser", "query": "build it", "profileHints": {"target": "parser"}}
    run_id = gateway.opened(body)
    data = gateway.answer(run_id, "expected", "unknown", capabilities=[SOUL]).data
    assert (data["intakeStatus"], data["runStatus"]) == ("exhausted", "active")
    assert (data["nextAction"], data["memoryPolicy"]["memoryReasoningRequired"]) == ("proceed", False)
    assert [item["content"]["title"] for item in data["context"]["items"]] == ["Parser tables"]
    assert rows(gateway) == (1, 1, 0)


def test_a_checkpoint_gets_at_most_one_nudge(gateway: Gateway) -> None:
    """Chosen after the gate from the advice that is told; its key again gets it again."""
    run_id = gateway.opened()
    first = checkpoint(gateway, run_id, CATALOG, errorSignatures=["E1"], key="k").data
    assert "UNRESOLVED_FAILURE" in [advice["code"] for advice in first["recommendations"]]
    assert first["nudge"]["code"] == "UNRESOLVED_FAILURE"
    assert rows(gateway)[2] == 1
    assert checkpoint(gateway, run_id, CATALOG, errorSignatures=["E1"], key="k").data["nudge"] == first["nudge"]
    assert rows(gateway)[2] == 1


# binding


@pytest.mark.parametrize("bound", [OMITTED, [], CATALOG, [SOUL, BAD]], ids=["omitted", "empty", "whole", "unknown"])
def test_a_run_is_bound_to_its_catalog(gateway: Gateway, bound: Any) -> None:
    """Answer and checkpoint with another one are a conflict before anything is written; with the same they go on."""
    others = [other for other in (OMITTED, [], [*CATALOG, {"kind": "mcp_tool", "name": "y"}], None) if other != bound]
    waiting = gateway.opened(with_catalog(asking(), bound))
    active = gateway.opened(with_catalog(opening(), bound))
    before = rows(gateway)
    answer = {"apiVersion": "1", "questionId": "taskType", "value": "build"}
    for other in others:
        refused = gateway.ask("agent.answer", waiting, with_catalog(answer, other))
        assert refused.told == (409, "CONFLICT", "catalog_differs")
        assert checkpoint(gateway, active, other).told == (409, "CONFLICT", "catalog_differs")
    assert len(gateway.timeline(waiting)) == 1
    assert len(gateway.timeline(active)) == 3
    assert rows(gateway) == before
    assert gateway.ask("agent.answer", waiting, with_catalog(answer, bound)).status == 200
    assert checkpoint(gateway, active, bound).status == 200


def test_order_and_duplicates_are_the_same_catalog(gateway: Gateway) -> None:
    """The binding is of the items, not of the list."""
    run_id = gateway.opened()
    assert checkpoint(gateway, run_id, [REASONING, SOUL, REASONING]).status == 200


def test_an_opening_is_repeated_with_its_catalog_alone(gateway: Gateway) -> None:
    """The binding is part of the request: the same key with another catalog is a conflict."""
    first = gateway.open(opening(), key="k").data
    again = gateway.open(with_catalog(opening(), [REASONING, SOUL]), key="k").data
    assert again["runId"] == first["runId"]
    assert gateway.open(with_catalog(opening(), [SOUL]), key="k").told == (409, "CONFLICT", "key_reused")


def test_the_catalog_itself_is_kept_nowhere(gateway: Gateway) -> None:
    """Neither names nor descriptions are in the store, and no read answers the binding."""
    named = {"kind": "skill", "name": "quokka-whisperer", "description": "Talks to quokkas at dusk."}
    run_id = gateway.opened(with_catalog(opening(metadata={"team": "a"}), [*CATALOG, named]))
    checkpoint(gateway, run_id, [*CATALOG, named])
    with gateway.server.engine.read() as tx:
        tables = [name for (name,) in tx.all("SELECT name FROM sqlite_master WHERE type = 'table'")]
        stored = str([tx.all(f'SELECT * FROM "{name}"') for name in tables])
    assert "Parser tables" in stored
    assert "quokka" not in stored
    assert gateway.run(run_id)["metadata"] == {"team": "a"}
    assert CATALOG_BINDING_KEY not in json.dumps(gateway.run(run_id))


@pytest.mark.parametrize("value", [None, {}, {"version": 3, "digest": "0" * 64}])
def test_metadata_cannot_speak_for_the_gateway(gateway: Gateway, value: Any) -> None:
    """The reserved key is refused at the opening, whatever it holds."""
    refused = gateway.open(opening(metadata={CATALOG_BINDING_KEY: value}))
    assert refused.told == (400, "VALIDATION_ERROR", "reserved_key")
    assert refused.error["details"]["field"] == "/metadata"


# replays


def test_a_replay_is_gated_anew(gateway: Gateway) -> None:
    """The same acknowledgement; context as memory is now. After the end of the run there is none."""
    first = gateway.open(key="k").data
    assert gateway.open(key="k").data == first
    entry_id = first["context"]["items"][0]["entryId"]
    engine = gateway.server.engine
    engine.run_write(lambda tx: lifecycle.disable(tx, entry_id, Author("ada", 2000)))
    again = gateway.open(key="k").data
    assert (again["runId"], again["context"]["items"]) == (first["runId"], [])
    gateway.close(first["runId"])
    over = gateway.open(key="k").data
    assert (over["context"], over["nextAction"]) == (None, "proceed")


def test_a_checkpoint_is_repeated_after_the_end_without_context(gateway: Gateway) -> None:
    """With what it acknowledged; a new one is refused."""
    run_id = gateway.opened()
    first = checkpoint(gateway, run_id, CATALOG, errorSignatures=["E1"], key="k").data
    gateway.close(run_id)
    again = checkpoint(gateway, run_id, CATALOG, errorSignatures=["E1"], key="k").data
    assert (again["context"], again["nudge"]) == (None, None)
    assert again["localSequences"] == first["localSequences"]
    assert checkpoint(gateway, run_id, CATALOG).told == (409, "CONFLICT", "run_closed")


# changes between ranking and delivery


def test_memory_that_changes_meanwhile_is_a_conflict(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The acknowledged mutation stays, nothing is delivered; the same key then gets the answer."""
    from hivekeep.agent import enrich

    look = enrich._look

    def and_change(*asked: Any) -> Any:
        seen = look(*asked)
        entry_id = seen.candidate.items[0].state.id
        gateway.server.engine.run_write(lambda tx: lifecycle.disable(tx, entry_id, Author("ada", 2000)))
        return seen

    monkeypatch.setattr(enrich, "_look", and_change)
    assert gateway.open(key="k").told == (409, "CONFLICT", "context_changed")
    assert rows(gateway) == (0, 0, 0)
    monkeypatch.setattr(enrich, "_look", look)
    assert gateway.open(key="k").data["context"]["items"] == []


def test_a_full_queue_behind_the_gate_delivers_nothing(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The delivery goes through the bounded queue like the mutation; refused there, it is made by the next try."""
    from hivekeep.agent import delivery

    def busy(*_: Any) -> Any:
        raise Backpressure("busy", retry_after_s=1)

    deliver = delivery.deliver
    monkeypatch.setattr(delivery, "deliver", busy)
    assert gateway.open(key="k").status == 429
    assert rows(gateway) == (0, 0, 0)
    monkeypatch.setattr(delivery, "deliver", deliver)
    assert len(gateway.open(key="k").data["context"]["items"]) == 1
