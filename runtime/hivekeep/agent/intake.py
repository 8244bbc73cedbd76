"""The intake of a run: a task profile of four slots, of which three are asked for, one question at a time.

Invariant: a slot is only ever filled by a hint, by what the query says of the sort of task, or by an answer, and an
accepted answer is never replaced. Nothing is guessed: a slot that nobody can fill stays null, and the intake ends as
`exhausted` instead of `ready` (gateway rules, intake).

Pure: a state is never changed, each step answers a new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, cast

from hivekeep.agent.canonical import digest
from hivekeep.normal_form import normal_form
from hivekeep_contract.gateway import (
    INTAKE_ALIASES,
    INTAKE_DECLINABLE,
    INTAKE_PROMPTS,
    INTAKE_QUESTIONS,
    INTAKE_SUBSTRINGS,
    INTAKE_TAGS,
    INTAKE_UNTYPED_TAGS,
    INTAKE_WORDS,
)
from hivekeep_contract.gateway_errors import Conflict, ValidationError
from hivekeep_contract.limits import INTAKE_QUESTION_BUDGET, INTAKE_UNKNOWN_ANSWER
from hivekeep_contract.models import gateway as models
from hivekeep_contract.vocabulary import ENUMS

_ASKED: Final = cast(tuple[models.ProfileField, ...], INTAKE_QUESTIONS)
_TASK_TYPE: Final = "taskType"
_TASK_TYPES: Final = cast(tuple[models.TaskType, ...], ENUMS["gateway.task_type"])
_NAMES: Final = {name: name for name in _TASK_TYPES} | {
    alias: name for name in _TASK_TYPES for alias in INTAKE_ALIASES[name]
}
_VALUE: Final = "/value"
CLIENT_SUPPLIED, INFERRED, USER_ANSWER = ENUMS["gateway.field_source"]
"""Where the value of a slot comes from: a hint, the query, an answer."""

_LATIN_WORD: Final = re.compile(r"[0-9a-z_\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]+")
"""A run of Latin letters, digits and underscores of a folded text: an identifier such as `error_code` is one word."""


class Intake(NamedTuple):
    """The state of an intake.

    `profile` has all four slots, null where nothing is known; `sources` says for each filled slot where it comes
    from; `question_count` counts the accepted answers; `declined` names the slots that nobody could fill.
    """

    profile: models.TaskProfile
    sources: Mapping[models.ProfileField, str]
    question_count: int = 0
    declined: tuple[models.ProfileField, ...] = ()


def begin(query: str, hints: models.ProfileHints | None) -> Intake:
    """The intake of a new run; a hint beats what the query says, and the query tells the sort of task alone."""
    given = hints or models.ProfileHints()
    profile = models.TaskProfile(
        taskType=given.get("taskType"),
        target=given.get("target"),
        expected=given.get("expected"),
        constraints=given.get("constraints"),
    )
    sources = {slot: CLIENT_SUPPLIED for slot in _slots(profile) if profile[slot] is not None}
    if profile["taskType"] is None:
        profile["taskType"] = inferred(query)
        if profile["taskType"] is not None:
            sources["taskType"] = INFERRED
    return Intake(profile, sources)


def inferred(query: str) -> models.TaskType | None:
    """The sort of task that a query tells of, the first in the order of the table; None when it tells nothing.

    A Latin word counts as a whole only, so that "prefix" is no fix; a Japanese one counts anywhere.
    """
    text = _folded(query)
    words = set(_LATIN_WORD.findall(text))
    for name in INTAKE_WORDS:
        if not words.isdisjoint(INTAKE_WORDS[name]) or any(part in text for part in INTAKE_SUBSTRINGS[name]):
            return cast(models.TaskType, name)
    return None


def missing(intake: Intake) -> list[models.ProfileField]:
    """The required slots without a value, in the order of their questions."""
    return gaps(intake.profile)


def gaps(profile: models.TaskProfile) -> list[models.ProfileField]:
    """The required slots of a profile that have no value, in the order of their questions."""
    return [slot for slot in _ASKED if profile[slot] is None]


def question(intake: Intake) -> models.Question | None:
    """The question that waits for an answer: of the first slot that is missing and was not declined.

    None when no such slot is left or the budget of questions is spent.
    """
    if intake.question_count >= INTAKE_QUESTION_BUDGET:
        return None
    for slot in missing(intake):
        if slot not in intake.declined:
            return _question(slot)
    return None


def status(intake: Intake) -> models.IntakeStatus:
    """Where an intake stands; `ready` and `exhausted` are final."""
    if not missing(intake):
        return "ready"
    return "exhausted" if question(intake) is None else "needs_answer"


def answer(intake: Intake, question_id: models.ProfileField, value: str) -> Intake:
    """The intake after an answer; the very same state when this answer was accepted before.

    The value counts without the white space round it, that of a sort of task by its names and aliases. Raises
    ValidationError for a text that names no sort of task, and Conflict for an intake that is final, a slot that was
    answered otherwise, or a question that is not the outstanding one.
    """
    accepted = _read(question_id, value)
    asked = question(intake)
    if asked is None:
        raise Conflict("intake_final")
    if question_id == asked["id"]:
        return _filled(intake, question_id, accepted)
    if not _was_answered(intake, question_id):
        raise Conflict("not_outstanding")
    if intake.profile[question_id] != accepted:
        raise Conflict("answered_otherwise")
    return intake


def recommended_tags(profile: models.TaskProfile) -> list[str]:
    """The tags that fit the sort of task."""
    task_type = profile["taskType"]
    return list(INTAKE_UNTYPED_TAGS if task_type is None else INTAKE_TAGS[task_type])


def profile_hash(profile: models.TaskProfile) -> str:
    """The hash that names a profile, 64 hex digits."""
    return digest(profile)


def _slots(profile: models.TaskProfile) -> Iterable[models.ProfileField]:
    return cast(Iterable[models.ProfileField], profile)


def _folded(text: str) -> str:
    """Lower case with compatible characters joined: full-width Latin letters and half-width kana as the usual ones."""
    return normal_form("NFKC", text).lower()


def _question(slot: models.ProfileField) -> models.Question:
    options = list(_TASK_TYPES) if slot == _TASK_TYPE else None
    return {"id": slot, "prompt": INTAKE_PROMPTS[slot], "options": options, "required": True}


def _read(slot: models.ProfileField, value: str) -> str | None:
    """What an answer puts into a slot; None for the one that leaves it open."""
    text = value.strip()
    if slot == _TASK_TYPE:
        name = _NAMES.get(_folded(text))
        if name is None:
            raise ValidationError("wrong_value", field=_VALUE)
        return name
    if slot in INTAKE_DECLINABLE and _folded(text) == INTAKE_UNKNOWN_ANSWER:
        return None
    return text


def _filled(intake: Intake, slot: models.ProfileField, accepted: str | None) -> Intake:
    count = intake.question_count + 1
    if accepted is None:
        return intake._replace(question_count=count, declined=(*intake.declined, slot))
    profile = cast(models.TaskProfile, {**intake.profile, slot: accepted})
    return Intake(profile, {**intake.sources, slot: USER_ANSWER}, count, intake.declined)


def _was_answered(intake: Intake, slot: models.ProfileField) -> bool:
    return intake.sources.get(slot) == USER_ANSWER or slot in intake.declined
