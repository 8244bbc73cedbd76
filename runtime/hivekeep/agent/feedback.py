"""Feedback on deliveries, recommendations, runs and intakes, however it comes in.

Invariant: feedback is written down and nothing else changes: no entry, no trust, no status, no profile, no policy. What
it is about exists and belongs to the run; its id is used once within its category (gateway rules, feedback).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

from hivekeep.agent import sanitising
from hivekeep.agent.canonical import ts, ts_us
from hivekeep.storage import agent_deliveries, agent_feedback, agent_intakes
from hivekeep.storage.agent_feedback import FeedbackRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import FEEDBACK_FIELDS
from hivekeep_contract.gateway_errors import Conflict, NotFound, ValidationError
from hivekeep_contract.limits import CHECKPOINT_FEEDBACK_MARK, FEEDBACK_ACTOR, GATEWAY_COMMENT_MAX_BYTES
from hivekeep_contract.models import gateway as models
from hivekeep_contract.vocabulary import ENUMS

_COMMON: Final = frozenset(("apiVersion", "category", "feedbackId", "actor", "createdAt", "comment"))
_CONTEXT: Final = "context"
_JUDGEMENTS: Final = "/contextFeedback"


class Judgement(NamedTuple):
    """Feedback whose fields fit its category; nothing says yet that what it is about exists.

    `fields` are those of the category, None where one was not given. `created_at` is in microseconds, None for the
    moment of the request.
    """

    category: models.FeedbackCategory
    feedback_id: str
    actor: str
    comment: str | None
    created_at: int | None
    fields: Mapping[str, Any]


def read(category: models.FeedbackCategory, given: Mapping[str, Any], *, at: str = "") -> Judgement:
    """The judgement of sanitised fields; `at` is the pointer to them. Raises ValidationError."""
    accepted = FEEDBACK_FIELDS[category]
    for name in given:
        if name not in accepted and name not in _COMMON:
            raise ValidationError("unknown_field", field=f"{at}/{name}")
    fields = {name: given.get(name) for name in accepted}
    _RULES[category](fields, at)
    return Judgement(
        category=category,
        feedback_id=given["feedbackId"],
        actor=given.get("actor", FEEDBACK_ACTOR),
        comment=_comment(given.get("comment"), at),
        created_at=ts_us(given["createdAt"]) if "createdAt" in given else None,
        fields=fields,
    )


def record(tx: Tx, run: RunRow, judgement: Judgement, *, key_hash: str, now_us: int) -> models.RecordedFeedback:
    """Store a judgement of a run and answer it.

    Raises NotFound when what it is about is not part of the run, and Conflict for an id or a key that was used before.
    """
    row = _with_target(tx, run, judgement, _row(run, judgement, key_hash, now_us))
    if agent_feedback.is_used(tx, row.category, row.feedback_id):
        raise Conflict("feedback_id_reused")
    if agent_feedback.is_keyed(tx, run.seq, row.actor, key_hash):
        raise Conflict("key_reused")
    agent_feedback.insert(tx, row)
    return {"category": judgement.category, "record": _view(run, row), "untrusted": True}


def context_feedback(
    tx: Tx, run: RunRow, judgements: Sequence[models.ContextFeedbackInput], *, key: str, now_us: int
) -> list[models.RecordedFeedback]:
    """Store the judgements of a checkpoint, each under a key that follows from that of the checkpoint."""
    recorded = []
    for place, given in enumerate(judgements):
        clean = sanitising.clean(run.workspace, given)
        judgement = read(_CONTEXT, cast("Mapping[str, Any]", clean), at=f"{_JUDGEMENTS}/{place}")
        key_hash = hashlib.sha256(f"{key}{CHECKPOINT_FEEDBACK_MARK}{place}".encode()).hexdigest()
        recorded.append(record(tx, run, judgement, key_hash=key_hash, now_us=now_us))
    return recorded


# what the categories ask for


def _check_context(fields: Mapping[str, Any], at: str) -> None:
    _need(fields, FEEDBACK_FIELDS[_CONTEXT], at)
    _check_word(fields["verdict"], "gateway.context_verdict", f"{at}/verdict")


def _check_recommendation(fields: Mapping[str, Any], at: str) -> None:
    _need(fields, ("recommendationCode", "recommendationVerdict"), at)


def _check_run(fields: Mapping[str, Any], at: str) -> None:
    """A code and its verdict come together; something must be said."""
    for name, other in (
        ("recommendationCode", "recommendationVerdict"),
        ("recommendationVerdict", "recommendationCode"),
    ):
        if fields[name] is not None and fields[other] is None:
            raise ValidationError("field_missing_for", field=f"{at}/{other}")
    if all(value is None for value in fields.values()):
        raise ValidationError("empty")


def _check_intake(fields: Mapping[str, Any], at: str) -> None:
    """It is about a question or about a slot, not about both."""
    if fields["questionId"] is not None and fields["profileField"] is not None:
        raise ValidationError("fields_exclusive", field=f"{at}/profileField")
    if fields["questionId"] is None and fields["profileField"] is None:
        raise ValidationError("missing_field", field=f"{at}/questionId")
    _need(fields, ("verdict",), at)
    _check_word(fields["verdict"], "gateway.intake_verdict", f"{at}/verdict")


_RULES: Final = {
    "context": _check_context,
    "recommendation": _check_recommendation,
    "run": _check_run,
    "intake": _check_intake,
}


def _need(fields: Mapping[str, Any], names: Sequence[str], at: str) -> None:
    for name in names:
        if fields[name] is None:
            raise ValidationError("missing_field", field=f"{at}/{name}")


def _check_word(word: str, enum: str, field: str) -> None:
    if word not in ENUMS[enum]:
        raise ValidationError("wrong_value", field=field)


def _comment(comment: str | None, at: str) -> str | None:
    """A comment as it is kept: a blank one says nothing."""
    if comment is None or not comment.strip():
        return None
    if len(comment.encode()) > GATEWAY_COMMENT_MAX_BYTES:
        raise ValidationError("too_long", field=f"{at}/comment")
    return comment


# what is stored


def _row(run: RunRow, judgement: Judgement, key_hash: str, now_us: int) -> FeedbackRow:
    fields = judgement.fields
    return FeedbackRow(
        category=judgement.category,
        feedback_id=judgement.feedback_id,
        run_seq=run.seq,
        actor=judgement.actor,
        key_hash=key_hash,
        created_at=now_us if judgement.created_at is None else judgement.created_at,
        delivery_id=fields.get("deliveryId"),
        entry_id=fields.get("entryId"),
        verdict=fields.get("verdict"),
        recommendation_code=fields.get("recommendationCode"),
        recommendation_verdict=fields.get("recommendationVerdict"),
        outcome=fields.get("outcome"),
        rating=fields.get("rating"),
        question_id=fields.get("questionId"),
        profile_field=fields.get("profileField"),
        session_id=fields.get("sessionId"),
        comment=judgement.comment,
    )


def _with_target(tx: Tx, run: RunRow, judgement: Judgement, row: FeedbackRow) -> FeedbackRow:
    """The row with what is known of its target. Raises NotFound for one that is not part of the run."""
    if judgement.category == "context":
        return row._replace(entry_revision=_delivered_revision(tx, run, row))
    if judgement.category == "intake":
        return row._replace(session_id=_session(tx, run, row))
    return row


def _delivered_revision(tx: Tx, run: RunRow, row: FeedbackRow) -> int:
    delivery = agent_deliveries.get(tx, cast(str, row.delivery_id))
    if delivery is None or delivery.run_seq != run.seq:
        raise NotFound("no_record")
    revision = agent_deliveries.held_revision(tx, delivery.seq, cast(str, row.entry_id))
    if revision is None:
        raise NotFound("no_record")
    return revision


def _session(tx: Tx, run: RunRow, row: FeedbackRow) -> str:
    """The intake session of the run, in which the question must have been answered."""
    intake = agent_intakes.get(tx, run.seq)
    if row.session_id not in (None, intake.session_id):
        raise NotFound("no_record")
    answered = {answer.question_id for answer in agent_intakes.answers(tx, run.seq)}
    if row.question_id is not None and row.question_id not in answered:
        raise NotFound("no_record")
    return intake.session_id


def _view(run: RunRow, row: FeedbackRow) -> models.FeedbackRecord:
    """A judgement as it is shown: the fields of its category, and where it belongs."""
    stored = {
        "deliveryId": row.delivery_id,
        "entryId": row.entry_id,
        "verdict": row.verdict,
        "recommendationCode": row.recommendation_code,
        "recommendationVerdict": row.recommendation_verdict,
        "outcome": row.outcome,
        "rating": row.rating,
        "questionId": row.question_id,
        "profileField": row.profile_field,
        "sessionId": row.session_id,
    }
    view: dict[str, Any] = {
        "feedbackId": row.feedback_id,
        "workspace": run.workspace,
        "runId": run.id,
        "actor": row.actor,
        "idempotencyKeyHash": row.key_hash,
        "createdAt": ts(row.created_at),
        "comment": row.comment,
        **{name: stored[name] for name in FEEDBACK_FIELDS[row.category]},
    }
    if row.entry_revision is not None:
        view["entryRevision"] = row.entry_revision
    return cast(models.FeedbackRecord, view)
