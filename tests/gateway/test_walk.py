"""One run from its opening to its end over HTTP, every endpoint on the way, each answer whole."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from hivekeep_contract.gateway import OPERATIONS
from support.gateway import ABSENT, COVERAGE, HttpGateway, asking, event, opening

HASH = re.compile(r"[0-9a-f]{64}")
BUILD_PROFILE_HASH = "cf81988c611f6c3b87302fcde42c93371ebd8632e8d8aab3932c8b49f98dbbf3"
TASK_HASH = "c1db9860d5b3d64b422f891d9adcce53d5bdb0406364fb030962a8d6e5b5e2c1"
ROOT = "0" * 64


def proposal(**fields: Any) -> dict[str, Any]:
    payload = {"kind": "lesson", "title": "Parsers need fixtures", "body": "Keep one file a case."}
    return event("memory.proposed", payload=payload | fields)


def test_a_run_with_questions_from_open_to_close(http: HttpGateway) -> None:
    """Open, three answers, events, checkpoint, close: statuses, sequences and the events that each leaves."""
    opened = http.open(asking()).data
    run_id = opened["runId"]
    assert (opened["runStatus"], opened["intakeStatus"], opened["profileHash"]) == ("intake", "needs_answer", None)
    assert (opened["context"], opened["recommendations"]) == (None, [])
    assert opened["nextAction"] == "answer_from_evidence_or_ask_user"
    assert opened["question"] == opened["currentQuestion"] == opened["intake"]["question"]
    assert (opened["question"]["id"], opened["missingFields"]) == ("taskType", ["taskType", "target", "expected"])

    after_type = http.answer(run_id, "taskType", " Build ").data
    assert (after_type["taskProfile"]["taskType"], after_type["question"]["id"]) == ("build", "target")
    assert http.answer(run_id, "target", " parser ").data["missingFields"] == ["expected"]
    ready = http.answer(run_id, "expected", "tests pass").data
    assert (ready["runStatus"], ready["intakeStatus"], ready["question"]) == ("active", "ready", None)
    assert ready["profileHash"] == BUILD_PROFILE_HASH
    assert ready["context"]["items"] == []

    batch = [event("step.started", sourceSequence=7), event("file.changed", payload={"path": "a.py"})]
    appended = http.events(run_id, *batch).data
    assert (appended["localSequences"], appended["acceptedThrough"]) == ([7, 8], 8)
    assert appended["sourceSequences"] == [7, None]

    told = http.checkpoint(run_id, currentGoal="parse", errorSignatures=["E1"], unresolvedItems=["docs"]).data
    assert (told["localSequences"], told["runStatus"], told["intakeStatus"]) == ([9, 10, 11], "active", "ready")
    assert told["projection"]["throughSequence"] == 11
    assert told["projection"]["unresolvedFailureEventIds"] == [told["eventIds"][1]]
    assert told["taskProfile"] == ready["taskProfile"] | {"source": "akinator+ledger-revisions"}

    closed = http.close(run_id, "completed", events=[event("test.completed", outcome="passed")]).data
    assert (closed["status"], closed["runStatus"], closed["localSequences"]) == ("completed", "completed", [12, 13])
    assert http.types(run_id) == [
        "intake.started",
        "intake.answered",
        "intake.answered",
        "intake.answered",
        "intake.ready",
        "run.started",
        "step.started",
        "file.changed",
        "step.started",
        "error.recorded",
        "correction.recorded",
        "test.completed",
        "run.closed",
    ]


def test_the_whole_view_of_a_run(http: HttpGateway) -> None:
    """Every field of a run, before and after its end."""
    body = opening(
        client={"kind": "codex", "version": "2", "sessionId": "s-1"},
        metadata={"team": "core"},
        startedAt="2026-02-28T23:59:59.999Z",
    )
    run_id = http.opened(body)
    view = http.run(run_id)
    assert view == {
        "runId": run_id,
        "workspace": "demo",
        "client": {"kind": "codex", "version": "2", "sessionId": "s-1"},
        "protocolVersion": "1",
        "captureProfile": "standard",
        "coverage": COVERAGE,
        "status": "active",
        "title": "build the parser",
        "taskHash": view["taskHash"],
        "metadata": {"team": "core"},
        "parentRunId": None,
        "lastSequence": 3,
        "lastSourceSequence": None,
        "startedAt": "2026-02-28T23:59:59.999Z",
        "endedAt": None,
        "createdAt": view["createdAt"],
        "updatedAt": view["createdAt"],
        "untrusted": True,
    }
    assert view["taskHash"] == TASK_HASH
    http.events(run_id, event(sourceSequence=9), event(sourceSequence=4))
    http.close(run_id, "failed")
    ended = http.run(run_id)
    assert (ended["status"], ended["lastSequence"], ended["lastSourceSequence"]) == ("failed", 6, 9)
    assert ended["endedAt"] >= view["createdAt"]


def test_the_whole_view_of_events(http: HttpGateway) -> None:
    """Every field of a client's event and of the gateway's own; the chain begins with zeros and has no gap."""
    run_id = http.opened()
    given = event(
        "source.event",
        eventId="e-1",
        sourceEventId="s 1",
        sourceSequence=3,
        sourceType="their.type",
        outcome="passed",
        occurredAt="2026-01-02T03:04:05.678Z",
        payload={"headers": {"Authorization": "Bearer abcdefghijklmnop"}, "n": 1.0},
    )
    http.events(run_id, given)
    events = http.timeline(run_id)
    assert events[3] == {
        "eventId": "e-1",
        "runId": run_id,
        "sequence": 4,
        "sourceEventId": "s 1",
        "sourceSequence": 3,
        "eventType": "source.event",
        "sourceType": "their.type",
        "actor": "agent",
        "outcome": "passed",
        "occurredAt": "2026-01-02T03:04:05.678Z",
        "ingestedAt": events[3]["ingestedAt"],
        "payload": {"headers": {"Authorization": "[REDACTED]"}, "n": 1},
        "redaction": [{"path": '$["payload"]["headers"]["Authorization"]', "kind": "sensitive_key"}],
        "previousHash": events[2]["eventHash"],
        "eventHash": events[3]["eventHash"],
        "untrusted": True,
    }
    assert [item["sequence"] for item in events] == [1, 2, 3, 4]
    assert events[0]["previousHash"] == ROOT
    assert all(later["previousHash"] == earlier["eventHash"] for earlier, later in pairwise(events))
    assert all(HASH.fullmatch(item["eventHash"]) for item in events)
    assert {item["actor"] for item in events[:3]} == {"hivekeep-gateway"}
    assert events[0]["payload"] == {
        "intakeSessionId": http.intake(run_id)["intakeSessionId"],
        "status": "ready",
        "missingFields": [],
    }
    assert events[1]["payload"] == {
        "profile": {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": None},
        "profileHash": BUILD_PROFILE_HASH,
        "recommendedTags": ["bot:builder", "skill:tdd"],
        "missingFields": [],
    }
    assert events[2]["payload"] == {
        "intakeStatus": "ready",
        "profileHash": BUILD_PROFILE_HASH,
        "recommendedTags": ["bot:builder", "skill:tdd"],
    }


def test_the_whole_view_of_an_intake(http: HttpGateway) -> None:
    """The open response without the fields of the gate; the question while one waits, the hash when none does."""
    opened = http.open(asking()).data
    run_id = opened["runId"]
    gate = {"capabilities", "memoryPolicy", "warnings", "nextAction"}
    assert http.intake(run_id) == {name: value for name, value in opened.items() if name not in gate}
    for question, value in (("taskType", "build"), ("target", "parser"), ("expected", "tests pass")):
        http.answer(run_id, question, value)
    read = http.intake(run_id)
    assert (read["runStatus"], read["profileHash"], read["question"]) == ("active", BUILD_PROFILE_HASH, None)
    assert (read["context"], read["recommendations"]) == (None, [])


def test_feedback_and_promotion(http: HttpGateway) -> None:
    """A proposal becomes a candidate that nobody vouches for; feedback on the run is stored with its key's hash."""
    run_id = http.opened()
    proposed = http.events(run_id, proposal()).data["eventIds"][0]
    promoted = http.promote(
        run_id, proposalEventId=proposed, actor="agent", createdAt="2026-01-02T03:04:05.678Z", confirmed=True
    ).data
    entry, link = promoted["entry"], promoted["link"]
    assert (entry["status"], entry["trustLevel"], entry["confidence"]) == ("candidate", "untrusted", 0.25)
    assert (link["eventId"], link["entryId"], link["runId"]) == (proposed, entry["entryId"], run_id)
    told = http.feedback(run_id, category="run", feedbackId="f-1", outcome="done", rating=5).data
    assert (told["category"], told["record"]["rating"], told["record"]["runId"]) == ("run", 5, run_id)
    assert HASH.fullmatch(told["record"]["idempotencyKeyHash"])


@pytest.mark.parametrize("name", sorted(name for name, operation in OPERATIONS.items() if operation.has_run))
def test_an_unknown_run_is_not_found(http: HttpGateway, name: str) -> None:
    """404 for every operation on a run, before its fields are looked at."""
    body = {"nothing": "right"} if OPERATIONS[name].writes else None
    assert http.ask(name, ABSENT, body).told == (404, "NOT_FOUND", "no_run")


def test_a_parent_run_is_of_the_same_workspace(http: HttpGateway) -> None:
    """An unknown parent is 404, one of another workspace 409, and neither opens a run."""
    parent = http.opened()
    child = http.open(opening(parentRunId=parent)).data["runId"]
    assert http.run(child)["parentRunId"] == parent
    assert http.open(opening(parentRunId=ABSENT)).told == (404, "NOT_FOUND", "no_parent")
    other = http.open(opening(parentRunId=parent, workspace="other"))
    assert other.told == (409, "CONFLICT", "other_workspace")
    assert http.ask("agent.runs.list", query={"workspace": "other"}).data["items"] == []


def test_the_headers_of_every_answer(http: HttpGateway) -> None:
    """JSON that nobody keeps, its length, and nothing that another origin could use."""
    for reply in (http.open(), http.open({}), http.ask("agent.run.read", ABSENT)):
        assert reply.headers["content-type"] == "application/json; charset=utf-8"
        assert reply.headers["cache-control"] == "no-store"
        assert int(reply.headers["content-length"]) > 0
        assert not [name for name in reply.headers if name.startswith("access-control") or name == "www-authenticate"]
