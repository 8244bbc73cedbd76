"""Which operation a run takes in which state, and what moves it on."""

from __future__ import annotations

from typing import Any

import pytest

from support.gateway import Gateway, Reply, asking, event, opening

ENDS = ("completed", "failed", "cancelled", "interrupted")
REFUSED_AFTER_THE_END = (409, "CONFLICT", "run_closed")


def attempt(gateway: Gateway, run_id: str, name: str) -> Reply:
    """One write of each sort that is right in itself."""
    attempts: dict[str, Any] = {
        "answer": lambda: gateway.answer(run_id, "taskType", "build"),
        "events": lambda: gateway.events(run_id, event()),
        "intake events": lambda: gateway.events(run_id, event("intake.answered", payload={})),
        "mixed events": lambda: gateway.events(run_id, event("intake.ready", payload={}), event()),
        "checkpoint": lambda: gateway.checkpoint(run_id, currentGoal="x"),
        "close": lambda: gateway.close(run_id),
        "feedback": lambda: gateway.feedback(run_id, category="run", feedbackId=f"of-{run_id}", rating=1),
    }
    return attempts[name]()  # type: ignore[no-any-return]


def told(reply: Reply) -> str | None:
    return None if reply.status == 200 else reply.told[2]


@pytest.mark.parametrize(
    ("name", "in_intake", "while_active", "after_the_end"),
    [
        ("answer", None, "intake_final", "run_closed"),
        ("events", "run_in_intake", None, "run_closed"),
        ("intake events", None, None, "run_closed"),
        ("mixed events", "run_in_intake", None, "run_closed"),
        ("checkpoint", "run_in_intake", None, "run_closed"),
        ("close", "run_in_intake", None, "run_closed"),
        ("feedback", None, None, None),
    ],
)
def test_the_table_of_states(
    gateway: Gateway, name: str, in_intake: str | None, while_active: str | None, after_the_end: str | None
) -> None:
    """What each write is answered in intake, while the run is active, and after its end; None is a success."""
    assert told(attempt(gateway, gateway.opened(asking()), name)) == in_intake
    assert told(attempt(gateway, gateway.opened(), name)) == while_active
    ended = gateway.opened()
    gateway.close(ended)
    assert told(attempt(gateway, ended, name)) == after_the_end


@pytest.mark.parametrize("status", ENDS)
def test_every_end_is_final(gateway: Gateway, status: str) -> None:
    """The run keeps that status, its end does not move, and reads still answer."""
    run_id = gateway.opened()
    gateway.close(run_id, status)
    view = gateway.run(run_id)
    assert (view["status"], gateway.timeline(run_id)[-1]["payload"]) == (status, {"status": status})
    for other in ENDS:
        assert gateway.close(run_id, other).told == REFUSED_AFTER_THE_END
    assert gateway.run(run_id) == view
    assert gateway.intake(run_id)["runStatus"] == status


def test_a_refused_write_leaves_nothing(gateway: Gateway) -> None:
    """No event, no key, and the run as it was."""
    run_id = gateway.opened(asking())
    before = gateway.run(run_id)
    assert gateway.close(run_id, key="k").told == (409, "CONFLICT", "run_in_intake")
    assert gateway.run(run_id) == before
    assert gateway.types(run_id) == ["intake.started"]
    with gateway.gateway.engine.read() as tx:
        assert tx.all("SELECT count(*) FROM agent_idempotency") == [(1,)]


class TestIntake:
    def test_a_question_that_does_not_wait(self, gateway: Gateway) -> None:
        """409, also for the slot that is never asked for."""
        run_id = gateway.opened(asking())
        for question in ("target", "expected", "constraints"):
            assert gateway.answer(run_id, question, "x").told == (409, "CONFLICT", "not_outstanding")
        assert gateway.intake(run_id)["question"]["id"] == "taskType"

    def test_the_same_answer_again(self, gateway: Gateway) -> None:
        """With a fresh key: acknowledged, nothing appended; another value is a conflict."""
        run_id = gateway.opened(asking())
        first = gateway.answer(run_id, "taskType", "build").data
        assert gateway.answer(run_id, "taskType", " implement ").data == first
        assert gateway.types(run_id) == ["intake.started", "intake.answered"]
        assert gateway.answer(run_id, "taskType", "debug").told == (409, "CONFLICT", "answered_otherwise")

    def test_a_final_profile_never_changes(self, gateway: Gateway) -> None:
        """No answer is taken any more, not even the same one."""
        run_id = gateway.opened()
        assert gateway.answer(run_id, "target", "parser").told == (409, "CONFLICT", "intake_final")

    def test_a_text_that_names_no_sort_of_task(self, gateway: Gateway) -> None:
        """400, and the question still waits; so is a text that had to be masked."""
        run_id = gateway.opened(asking())
        for value in ("cooking", "password=hunter2hunter2"):
            assert gateway.answer(run_id, "taskType", value).told == (400, "VALIDATION_ERROR", "wrong_value")
        assert gateway.intake(run_id)["question"]["id"] == "taskType"

    def test_what_nobody_knows_exhausts_the_intake(self, gateway: Gateway) -> None:
        """`unknown` spends the question and leaves the slot open; the run becomes active with gaps, and says so."""
        run_id = gateway.opened(asking("fix it"))
        assert gateway.answer(run_id, "target", "Unknown").data["question"]["id"] == "expected"
        done = gateway.answer(run_id, "expected", "unknown").data
        assert (done["intakeStatus"], done["runStatus"]) == ("exhausted", "active")
        assert done["missingFields"] == ["target", "expected"]
        assert gateway.types(run_id)[-2:] == ["intake.exhausted", "run.started"]
        projection = gateway.checkpoint(run_id, currentGoal="x").data["projection"]
        assert (projection["intakeIncomplete"], projection["missingProfileFields"]) == (True, ["target", "expected"])

    def test_answers_are_kept_as_sent_and_used_trimmed(self, gateway: Gateway) -> None:
        """The event has the value with its blanks, the profile without."""
        run_id = gateway.opened(asking("fix it"))
        gateway.answer(run_id, "target", " the\tparser ")
        assert gateway.timeline(run_id)[1]["payload"] == {"questionId": "target", "value": " the\tparser "}
        assert gateway.intake(run_id)["taskProfile"]["target"] == "the\tparser"

    def test_a_secret_answer_is_masked_everywhere(self, gateway: Gateway) -> None:
        """The mark stands in profile, event and store."""
        run_id = gateway.opened(asking("fix it"))
        gateway.answer(run_id, "target", "the one with password=hunter2hunter2")
        assert gateway.intake(run_id)["taskProfile"]["target"] == "[REDACTED:credential_assignment]"
        with gateway.gateway.engine.read() as tx:
            stored = tx.all("SELECT value FROM agent_answers UNION ALL SELECT payload FROM agent_events")
        assert "hunter2" not in str(stored)


class TestBinding:
    """A run keeps the capabilities that it was opened with."""

    def test_another_catalog_changes_nothing(self, gateway: Gateway) -> None:
        """Answer and checkpoint: 409 before any mutation; none at all is another one too."""
        waiting, active = gateway.opened(asking()), gateway.opened()
        for catalog in ([], [{"kind": "skill", "name": "other"}], "nonsense"):
            assert gateway.answer(waiting, "taskType", "build", capabilities=catalog).told[2] == "catalog_differs"
            assert gateway.checkpoint(active, currentGoal="x", capabilities=catalog).told[2] == "catalog_differs"
        assert gateway.types(waiting) == ["intake.started"]
        assert gateway.run(active)["lastSequence"] == 3

    def test_a_run_without_a_catalog_stays_without(self, gateway: Gateway) -> None:
        """Opened without, a checkpoint without one matches, and one with a catalog does not."""
        body = opening()
        del body["capabilities"]
        run_id = gateway.opened(body)
        bare = {"apiVersion": "1", "currentGoal": "x"}
        assert gateway.ask("agent.checkpoint", run_id, bare).data["nextAction"] == "required_capability_unavailable"
        assert gateway.checkpoint(run_id, currentGoal="x").told == (409, "CONFLICT", "catalog_differs")

    def test_the_catalog_is_never_stored(self, gateway: Gateway) -> None:
        """Only its digest is."""
        gateway.open(opening(capabilities=[{"kind": "skill", "name": "a-very-special-skill"}]))
        with gateway.gateway.engine.read() as tx:
            stored = [
                row
                for table in ("agent_runs", "agent_events", "agent_idempotency", "agent_intakes", "events")
                for row in tx.all("SELECT * FROM " + table)
            ]
        assert "a-very-special-skill" not in str(stored)

    def test_a_run_that_lost_its_binding(self, gateway: Gateway) -> None:
        """An integrity error, not a match with `no catalog`."""
        run_id = gateway.opened()
        gateway.gateway.engine.run_write(lambda tx: tx.run("UPDATE agent_runs SET binding_digest = NULL"))
        assert gateway.checkpoint(run_id, currentGoal="x").told == (500, "INTEGRITY_ERROR", "broken_record")


class TestCheckpoint:
    def test_the_order_of_its_events(self, gateway: Gateway) -> None:
        """Given events, goal, step, paths, signatures, open items, revision: the types and payloads in that order."""
        run_id = gateway.opened()
        gateway.checkpoint(
            run_id,
            unresolvedItems=["u"],
            taskProfileRevision={"target": "lexer"},
            errorSignatures=["e1", "e2"],
            changedPaths=["p"],
            currentStep="s",
            currentGoal="g",
            events=[event("request.received", payload=None)],
        )
        told = [(item["eventType"], item["payload"], item["actor"]) for item in gateway.timeline(run_id, after=3)]
        by = "hivekeep-checkpoint"
        assert told == [
            ("request.received", None, "agent"),
            ("step.started", {"goal": "g"}, by),
            ("step.started", {"step": "s"}, by),
            ("file.changed", {"path": "p"}, by),
            ("error.recorded", {"signature": "e1"}, by),
            ("error.recorded", {"signature": "e2"}, by),
            ("correction.recorded", {"unresolved": "u"}, by),
            ("task_profile.revised", {"profile": {"target": "lexer"}}, by),
        ]

    def test_a_revision_is_in_the_profile_at_once(self, gateway: Gateway) -> None:
        """The projection has it, the intake keeps the profile that it ended with."""
        run_id = gateway.opened()
        told = gateway.checkpoint(run_id, taskProfileRevision={"target": "lexer", "expected": None}).data
        assert told["taskProfile"] == {
            "taskType": "build",
            "target": "lexer",
            "expected": None,
            "constraints": None,
            "source": "akinator+ledger-revisions",
        }
        assert gateway.intake(run_id)["taskProfile"]["target"] == "parser"

    @pytest.mark.parametrize(
        ("fields", "reason", "field"),
        [
            ({}, "empty", None),
            ({"characterBudget": 10}, "empty", None),
            ({"changedPaths": []}, "empty", None),
            ({"taskProfileRevision": {}}, "empty", "/taskProfileRevision"),
            ({"changedPaths": ["p"] * 201}, "too_long", "/changedPaths"),
            ({"changedPaths": ["p"] * 101, "errorSignatures": ["e"] * 100}, "too_long", None),
            ({"currentGoal": ""}, "wrong_value", "/currentGoal"),
            ({"currentGoal": "a\nb"}, "wrong_value", "/currentGoal"),
            ({"currentGoal": "x" * 4097}, "too_long", "/currentGoal"),
            ({"characterBudget": 0, "currentGoal": "x"}, "wrong_value", "/characterBudget"),
            ({"characterBudget": 100001, "currentGoal": "x"}, "wrong_value", "/characterBudget"),
            ({"events": [event("tool.started")]}, "wrong_value", "/events/0/eventType"),
            ({"taskProfileRevision": {"taskType": "cook"}}, "wrong_value", "/taskProfileRevision/taskType"),
        ],
    )
    def test_what_it_does_not_take(
        self, gateway: Gateway, fields: dict[str, Any], reason: str, field: str | None
    ) -> None:
        """400 with the field; nothing is appended."""
        run_id = gateway.opened()
        reply = gateway.checkpoint(run_id, **fields)
        assert (reply.status, reply.error["details"]) == (400, {"reason": reason} | ({"field": field} if field else {}))
        assert gateway.run(run_id)["lastSequence"] == 3

    def test_a_fault_is_told_where_the_client_put_it(self, gateway: Gateway) -> None:
        """A field that was too large was told as the payload of the event that it stands for, in a list `events` that
        the request did not have or that has another event there."""
        run_id = gateway.opened()
        large = {"target": "\u6f22" * 16_384, "expected": "\u6f22" * 16_384}
        judgement = {"feedbackId": "f", "deliveryId": "d", "entryId": "e", "verdict": "helpful"}
        told = gateway.checkpoint(run_id, events=[event()], changedPaths=["a"], taskProfileRevision=large)
        assert told.error["details"] == {"reason": "too_large", "field": "/taskProfileRevision"}
        judgements = [judgement, judgement | {"comment": "x" * 70_000}]
        told = gateway.checkpoint(run_id, contextFeedback=judgements)
        assert told.error["details"] == {"reason": "too_large", "field": "/contextFeedback/1"}
        told = gateway.checkpoint(run_id, events=[event(), event(payload="x" * 70_000)], currentGoal="g")
        assert told.error["details"] == {"reason": "too_large", "field": "/events/1/payload"}

    def test_as_many_events_as_a_batch_has(self, gateway: Gateway) -> None:
        """200 over all fields."""
        run_id = gateway.opened()
        told = gateway.checkpoint(run_id, changedPaths=["p"] * 100, errorSignatures=["e"] * 99, currentGoal="x").data
        assert told["acceptedThrough"] == 203


class TestClose:
    def test_its_events_and_its_end_are_one_batch(self, gateway: Gateway) -> None:
        """199 events fit beside run.closed, 200 do not; the acknowledgement has them all."""
        run_id = gateway.opened()
        too_many = gateway.close(run_id, events=[event()] * 200)
        assert (too_many.told[2], too_many.error["details"]["field"]) == ("too_long", "/events")
        closed = gateway.close(run_id, events=[event()] * 199).data
        assert closed["localSequences"] == list(range(4, 204))

    def test_known_source_ids_are_no_reason_to_end_twice(self, gateway: Gateway) -> None:
        """Events that are stored already cannot be in the batch of the end."""
        run_id = gateway.opened()
        gateway.events(run_id, event(sourceEventId="a"))
        assert gateway.close(run_id, events=[event(sourceEventId="a")]).told[2] == "batch_partly_stored"
        assert gateway.run(run_id)["status"] == "active"


def test_every_operation_leaves_one_audit_row(gateway: Gateway) -> None:
    """Successes within their transaction, replays, reads and failures beside it; the run is the target."""
    run_id = gateway.open(key="k").data["runId"]
    gateway.open(key="k")
    gateway.run(run_id)
    gateway.close(run_id)
    gateway.close(run_id)
    with gateway.gateway.engine.read() as tx:
        rows = tx.all(
            "SELECT verb, outcome, target_id, namespace, actor FROM events WHERE kind = 'audit' ORDER BY rowid"
        )
    who = ("local", "anonymous:local")
    assert rows == [
        ("agent.open", "success", run_id, *who),
        ("agent.open", "success", run_id, *who),
        ("agent.run.read", "success", run_id, *who),
        ("agent.close", "success", run_id, *who),
        ("agent.close", "error", None, *who),
    ]
