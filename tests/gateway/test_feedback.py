"""Feedback of the four categories: what each takes, what it is about, and that it changes nothing but the ranking."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from hivekeep.storage import agent_entries
from support.entries import add_entry
from support.gateway import ABSENT, Gateway, asking, event, open_in_process, opening

LEAKING = "token: ghp_0123456789012345678901234567890123456789"
"""A comment with a credential."""


class Delivered(NamedTuple):
    """A gateway with a run that was given one entry when it opened."""

    gateway: Gateway
    run_id: str
    delivery_id: str
    entry_id: str

    def context(self, feedback_id: str = "f1", **fields: Any) -> dict[str, Any]:
        """Feedback on the entry."""
        about = {"category": "context", "deliveryId": self.delivery_id, "entryId": self.entry_id, "verdict": "helpful"}
        return {"feedbackId": feedback_id, **about, **fields}


@pytest.fixture
def delivered() -> Iterator[Delivered]:
    """See `Delivered`."""
    with open_in_process() as gateway:
        entry = gateway.server.engine.run_write(lambda tx: add_entry(tx, "parser tables", "sorted"))
        opened = gateway.open().data
        yield Delivered(gateway, opened["runId"], opened["context"]["deliveryId"], entry.id)


def stored(gateway: Gateway) -> int:
    """How much feedback is stored."""
    with gateway.server.engine.read() as tx:
        return len(tx.all("SELECT 1 FROM agent_feedback"))


def test_feedback_on_an_entry_is_recorded(delivered: Delivered) -> None:
    """The record repeats the fields with workspace, run, the revision delivered and the hash of the key."""
    gateway, run_id, delivery_id, entry_id = delivered
    at = "2026-01-02T03:04:05.678Z"
    reply = gateway.feedback(run_id, key="k1", **delivered.context(actor="ada", comment="It helped.", createdAt=at))
    assert reply.data == {
        "category": "context",
        "record": {
            "feedbackId": "f1",
            "workspace": "demo",
            "runId": run_id,
            "actor": "ada",
            "idempotencyKeyHash": hashlib.sha256(b"k1").hexdigest(),
            "createdAt": at,
            "comment": "It helped.",
            "deliveryId": delivery_id,
            "entryId": entry_id,
            "entryRevision": 1,
            "verdict": "helpful",
        },
        "untrusted": True,
    }


@pytest.mark.parametrize(
    ("given", "record"),
    [
        (
            {"category": "recommendation", "recommendationCode": "CODE", "recommendationVerdict": "accepted"},
            {"recommendationCode": "CODE", "recommendationVerdict": "accepted", "outcome": None, "rating": None},
        ),
        (
            {"category": "run", "rating": 5},
            {"rating": 5, "outcome": None, "recommendationCode": None, "recommendationVerdict": None},
        ),
        (
            {"category": "run", "outcome": "done", "recommendationCode": "A", "recommendationVerdict": "resolved"},
            {"outcome": "done", "rating": None, "recommendationCode": "A", "recommendationVerdict": "resolved"},
        ),
        (
            {"category": "intake", "profileField": "target", "verdict": "corrected"},
            {"profileField": "target", "questionId": None, "verdict": "corrected"},
        ),
    ],
)
def test_the_other_categories_are_recorded(gateway: Gateway, given: dict[str, Any], record: dict[str, Any]) -> None:
    """A recommendation, the run and the intake are judged; nobody named is the gateway's own word for that."""
    opened = gateway.open().data
    told = gateway.feedback(opened["runId"], feedbackId="f1", **given).data["record"]
    expected = record | ({"sessionId": opened["intakeSessionId"]} if given["category"] == "intake" else {})
    common = {"feedbackId", "workspace", "runId", "actor", "idempotencyKeyHash", "createdAt", "comment"}
    assert {name: value for name, value in told.items() if name not in common} == expected
    assert (told["actor"], told["comment"]) == ("hivekeep-feedback", None)


def test_an_answered_question_is_judged_while_the_intake_is_open(gateway: Gateway) -> None:
    """A question of the run's own session is judged after its answer and not before, in any state of the run."""
    opened = gateway.open(asking()).data
    run_id, session = opened["runId"], opened["intakeSessionId"]
    about = {"category": "intake", "questionId": "taskType", "verdict": "unnecessary"}
    assert gateway.feedback(run_id, feedbackId="f1", **about).told == (404, "NOT_FOUND", "no_record")
    gateway.answer(run_id, "taskType", "build")
    assert gateway.feedback(run_id, feedbackId="f1", sessionId=ABSENT, **about).told[0] == 404
    told = gateway.feedback(run_id, feedbackId="f1", sessionId=session, **about).data["record"]
    assert (told["questionId"], told["profileField"], told["sessionId"]) == ("taskType", None, session)


@pytest.mark.parametrize(
    ("given", "reason", "field"),
    [
        ({"category": "context", "deliveryId": "d", "entryId": "e"}, "missing_field", "/verdict"),
        ({"category": "context", "deliveryId": "d", "verdict": "helpful"}, "missing_field", "/entryId"),
        ({"category": "context", "entryId": "e", "verdict": "helpful"}, "missing_field", "/deliveryId"),
        ({"category": "context", "deliveryId": "d", "entryId": "e", "verdict": "corrected"}, "wrong_value", "/verdict"),
        (
            {"category": "context", "deliveryId": "d", "entryId": "e", "verdict": "stale", "rating": 1},
            "unknown_field",
            "/rating",
        ),
        ({"category": "recommendation", "recommendationCode": "A"}, "missing_field", "/recommendationVerdict"),
        ({"category": "recommendation", "recommendationVerdict": "accepted"}, "missing_field", "/recommendationCode"),
        ({"category": "run"}, "empty", None),
        ({"category": "run", "rating": 1, "recommendationCode": "A"}, "field_missing_for", "/recommendationVerdict"),
        (
            {"category": "run", "rating": 1, "recommendationVerdict": "accepted"},
            "field_missing_for",
            "/recommendationCode",
        ),
        ({"category": "run", "rating": 6}, "wrong_value", "/rating"),
        ({"category": "run", "rating": 1, "verdict": "helpful"}, "unknown_field", "/verdict"),
        ({"category": "intake", "verdict": "helpful"}, "missing_field", "/questionId"),
        (
            {"category": "intake", "questionId": "target", "profileField": "target", "verdict": "helpful"},
            "fields_exclusive",
            "/profileField",
        ),
        ({"category": "intake", "profileField": "target"}, "missing_field", "/verdict"),
        ({"category": "intake", "profileField": "target", "verdict": "stale"}, "wrong_value", "/verdict"),
        ({"category": "run", "rating": 1, "comment": "x" * 4097}, "too_long", "/comment"),
        ({"category": "other", "rating": 1}, "wrong_value", "/category"),
    ],
)
def test_fields_that_do_not_fit_are_refused(
    gateway: Gateway, given: dict[str, Any], reason: str, field: str | None
) -> None:
    """Each rule of each category is a validation error that names the field; nothing is stored."""
    reply = gateway.feedback(gateway.opened(), feedbackId="f1", **given)
    assert reply.told == (400, "VALIDATION_ERROR", reason)
    assert reply.error["details"].get("field") == field
    assert stored(gateway) == 0


def test_only_what_was_delivered_to_this_run_is_judged(delivered: Delivered) -> None:
    """Another delivery, another entry and a delivery of another run are not found."""
    gateway = delivered.gateway
    other = gateway.opened(
        opening(task={"title": "other", "query": "build it", "profileHints": opening()["task"]["profileHints"]})
    )
    for run_id, fields in (
        (delivered.run_id, {"deliveryId": "context-x"}),
        (delivered.run_id, {"entryId": ABSENT}),
        (other, {}),
    ):
        assert gateway.feedback(run_id, **delivered.context(**fields)).told == (404, "NOT_FOUND", "no_record")
    assert stored(gateway) == 0


def test_an_id_is_used_once_in_a_category_in_all_runs(delivered: Delivered) -> None:
    """The same id again is a conflict, also from another run; in another category it is free."""
    gateway = delivered.gateway
    gateway.feedback(delivered.run_id, feedbackId="f1", category="run", rating=1)
    again = gateway.feedback(gateway.opened(), feedbackId="f1", category="run", rating=1)
    assert again.told == (409, "CONFLICT", "feedback_id_reused")
    assert gateway.feedback(delivered.run_id, **delivered.context()).status == 200


def test_replays_and_conflicts_of_keys(delivered: Delivered) -> None:
    """The same request again is answered with the stored record, another request with that key is a conflict."""
    gateway, run_id = delivered.gateway, delivered.run_id
    first = gateway.feedback(run_id, key="k", **delivered.context())
    gateway.close(run_id)
    assert gateway.feedback(run_id, key="k", **delivered.context()).data == first.data
    other = gateway.feedback(run_id, key="k", **delivered.context(verdict="stale"))
    assert other.told == (409, "CONFLICT", "key_reused")
    assert gateway.feedback(run_id, key="k2", **delivered.context()).told == (409, "CONFLICT", "feedback_id_reused")
    assert stored(gateway) == 1


def test_a_failed_request_leaves_its_key_free(delivered: Delivered) -> None:
    """After a refusal the same key takes the corrected request."""
    gateway, run_id = delivered.gateway, delivered.run_id
    assert gateway.feedback(run_id, key="k", **delivered.context(entryId=ABSENT)).status == 404
    assert gateway.feedback(run_id, key="k", **delivered.context()).status == 200


def test_a_comment_is_sanitised_and_a_blank_one_is_none(gateway: Gateway) -> None:
    """A credential in a comment is masked before it is stored; a comment without content says nothing."""
    run_id = gateway.opened()
    masked = gateway.feedback(run_id, feedbackId="f1", category="run", rating=1, comment=LEAKING).data["record"][
        "comment"
    ]
    assert masked.startswith("[REDACTED")
    blank = gateway.feedback(run_id, feedbackId="f2", category="run", rating=1, comment=" \n ").data["record"][
        "comment"
    ]
    assert blank is None


def test_feedback_never_changes_an_entry_or_the_run(delivered: Delivered) -> None:
    """Entry, profile and run are what they were after every verdict on the entry."""
    gateway, run_id = delivered.gateway, delivered.run_id

    def state() -> Any:
        with gateway.server.engine.read() as tx:
            return agent_entries.get(tx, delivered.entry_id), gateway.run(run_id), gateway.intake(run_id)

    before = state()
    for number, verdict in enumerate(("helpful", "irrelevant", "stale", "conflicting")):
        gateway.feedback(run_id, **delivered.context(f"f{number}", verdict=verdict))
    assert state() == before


def test_feedback_is_a_weak_signal_for_other_runs(delivered: Delivered) -> None:
    """The next run ranks the entry with the points of the verdict and says why."""
    gateway = delivered.gateway
    gateway.feedback(delivered.run_id, **delivered.context(verdict="irrelevant"))
    (item,) = gateway.open().data["context"]["items"]
    assert item["scoreComponents"]["feedback"] == -3
    assert "irrelevant_feedback" in item["selectionReasons"]


class TestCheckpoint:
    """Judgements that come with a checkpoint."""

    def judgement(self, delivered: Delivered, **fields: Any) -> dict[str, Any]:
        """Feedback on the entry as a checkpoint takes it, without a category."""
        return {name: value for name, value in delivered.context(**fields).items() if name != "category"}

    def test_a_checkpoint_stores_its_judgements_once(self, delivered: Delivered) -> None:
        """Each becomes a row and an event; a replay adds neither; a helpful entry comes back."""
        gateway, run_id = delivered.gateway, delivered.run_id
        judgements = [self.judgement(delivered), self.judgement(delivered, feedback_id="f2", actor="bob")]
        first = gateway.checkpoint(run_id, key="k", contextFeedback=judgements)
        assert (
            gateway.checkpoint(run_id, key="k", contextFeedback=judgements).data["eventIds"] == first.data["eventIds"]
        )
        assert stored(gateway) == 2
        assert gateway.types(run_id)[-2:] == ["context.feedback", "context.feedback"]
        assert [item["entryId"] for item in first.data["context"]["items"]] == [delivered.entry_id]

    @pytest.mark.parametrize(
        ("fields", "told", "field"),
        [
            ({"entryId": ABSENT}, (404, "NOT_FOUND", "no_record"), None),
            ({"feedback_id": "used"}, (409, "CONFLICT", "feedback_id_reused"), None),
            ({"comment": "x" * 4097}, (400, "VALIDATION_ERROR", "too_long"), "/contextFeedback/0/comment"),
        ],
    )
    def test_a_judgement_that_cannot_be_stored_refuses_the_checkpoint(
        self, delivered: Delivered, fields: dict[str, Any], told: Any, field: str | None
    ) -> None:
        """No event is appended and no judgement stored; the key stays free."""
        gateway, run_id = delivered.gateway, delivered.run_id
        gateway.feedback(run_id, **delivered.context("used"))
        judgements = [self.judgement(delivered, **fields)]
        reply = gateway.checkpoint(run_id, key="k", currentStep="look", contextFeedback=judgements)
        assert reply.told == told
        assert reply.error["details"].get("field") == field
        assert (stored(gateway), gateway.run(run_id)["lastSequence"]) == (1, 3)
        assert gateway.checkpoint(run_id, key="k", currentStep="look").status == 200

    def test_a_key_made_for_a_judgement_is_no_key_for_feedback(self, delivered: Delivered) -> None:
        """A client that guesses the key of a judgement gets a conflict and no fault."""
        gateway, run_id = delivered.gateway, delivered.run_id
        gateway.checkpoint(run_id, key="k", contextFeedback=[self.judgement(delivered)])
        reply = gateway.feedback(run_id, key="k#0", **delivered.context("f2"))
        assert reply.told == (409, "CONFLICT", "key_reused")


def test_a_closed_run_is_judged(gateway: Gateway) -> None:
    """Feedback is taken after the end of a run as well."""
    run_id = gateway.opened()
    gateway.events(run_id, event())
    gateway.close(run_id, "failed")
    assert gateway.feedback(run_id, feedbackId="f1", category="run", outcome="failed").status == 200
