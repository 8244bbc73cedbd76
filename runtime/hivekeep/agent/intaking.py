"""Where the pure intake meets the store: rows and states, the view of a run in intake, the events of its steps.

Invariant: the row of an intake is the state that its answers add up to, and the profile hash is set exactly when that
state is final.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from hivekeep.agent import intake
from hivekeep.agent.intake import Intake
from hivekeep.storage.agent_intakes import IntakeRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.json_text import dump, load, load_object, load_tags
from hivekeep_contract.gateway import LIFECYCLE_EVENTS
from hivekeep_contract.limits import INTAKE_POLICY_VERSION, INTAKE_PROFILE_VERSION
from hivekeep_contract.models import gateway as models
from hivekeep_contract.vocabulary import ENUMS

WAITING = ENUMS["gateway.intake_status"][0]
Step = tuple[str, dict[str, Any]]
"""The type of a lifecycle event and its payload."""


def first_row(run_seq: int, session_id: str, state: Intake, now_us: int) -> IntakeRow:
    """The row of a new intake, which may be final already."""
    row = IntakeRow(
        run_seq=run_seq,
        session_id=session_id,
        policy_version=INTAKE_POLICY_VERSION,
        profile_version=INTAKE_PROFILE_VERSION,
        status=WAITING,
        question_count=0,
        profile="",
        sources="",
        declined="",
        tags="",
        profile_hash=None,
        created_at=now_us,
        updated_at=now_us,
        finalised_at=None,
    )
    return with_state(row, state, now_us)


def with_state(row: IntakeRow, state: Intake, now_us: int) -> IntakeRow:
    """The row when its intake has reached a state."""
    final = is_final(state)
    return row._replace(
        status=intake.status(state),
        question_count=state.question_count,
        profile=dump(state.profile),
        sources=dump(dict(state.sources)),
        declined=dump(list(state.declined)),
        tags=dump(intake.recommended_tags(state.profile)),
        profile_hash=intake.profile_hash(state.profile) if final else None,
        updated_at=now_us,
        finalised_at=now_us if final else None,
    )


def state_of(row: IntakeRow) -> Intake:
    """The state that a row holds."""
    return Intake(
        profile=cast(models.TaskProfile, load_object(row.profile)),
        sources=cast("dict[models.ProfileField, str]", load_object(row.sources)),
        question_count=row.question_count,
        declined=tuple(load(row.declined)),
    )


def is_final(state: Intake) -> bool:
    """Whether the profile will not change any more."""
    return intake.status(state) != WAITING


def view(run: RunRow, row: IntakeRow) -> models.IntakeState:
    """The intake of a run, with the one question that waits and without context (gateway rules, open)."""
    state = state_of(row)
    question = intake.question(state) if row.profile_hash is None else None
    status = cast(models.IntakeStatus, row.status)
    return {
        "runId": run.id,
        "runStatus": cast(models.RunStatus, run.status),
        "intakeSessionId": row.session_id,
        "intakeStatus": status,
        "intake": {"status": status, "sessionId": row.session_id, "question": question},
        "question": question,
        "currentQuestion": question,
        "missingFields": intake.missing(state),
        "recommendedTags": load_tags(row.tags),
        "taskProfile": state.profile,
        "profileHash": row.profile_hash,
        "context": None,
        "recommendations": [],
        "untrusted": True,
    }


# lifecycle events (gateway rules, open: effects)


def begun(row: IntakeRow) -> Step:
    """The intake was made."""
    missing = intake.missing(state_of(row))
    return LIFECYCLE_EVENTS["begun"], {
        "intakeSessionId": row.session_id,
        "status": row.status,
        "missingFields": missing,
    }


def answered(question_id: str, value: str) -> Step:
    """A question was answered; `value` as it was sent."""
    return LIFECYCLE_EVENTS["answered"], {"questionId": question_id, "value": value}


def finished(row: IntakeRow) -> Iterable[Step]:
    """The profile is final and the run begins; nothing while a question waits."""
    if row.profile_hash is None:
        return
    known = {"profileHash": row.profile_hash, "recommendedTags": load_tags(row.tags)}
    state = state_of(row)
    missing = intake.missing(state)
    yield LIFECYCLE_EVENTS[row.status], {"profile": state.profile, **known, "missingFields": missing}
    yield LIFECYCLE_EVENTS["started"], {"intakeStatus": row.status, **known}
