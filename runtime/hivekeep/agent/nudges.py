"""The one piece of advice that a checkpoint points at: chosen from its final recommendations, told once.

Invariant: a nudge is only ever one of the recommendations that the caller sees, a run gets at most three, and the same
occurrence is told once. What an occurrence is follows from the events behind it alone, so the same state of a run
names the same occurrence at every checkpoint (gateway rules, nudges).

Pure: `advising.py` reads the history and stores what was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from hivekeep.agent.canonical import digest
from hivekeep.storage.agent_nudges import NudgeRow
from hivekeep_contract.gateway import NUDGE_PRIORITIES
from hivekeep_contract.limits import NUDGE_DISTANCE, NUDGE_POLICY_VERSION, NUDGES_PER_RUN
from hivekeep_contract.models import gateway as models

_Identity = Callable[[models.Projection], Any]


def select(
    recommendations: Iterable[models.Recommendation], projection: models.Projection, history: Sequence[NudgeRow]
) -> models.Nudge | None:
    """The nudge of a checkpoint, or None: the first in the order of priorities that the run may still be told.

    `history` are the nudges that the run got before.
    """
    if len(history) >= NUDGES_PER_RUN:
        return None
    through = projection["throughSequence"]
    allowed = [nudge for nudge in occurring(recommendations, projection) if _may_be_told(nudge, through, history)]
    return min(allowed, key=lambda nudge: (nudge["priority"], nudge["code"], nudge["occurrenceId"]), default=None)


def still_occurring(
    stored: NudgeRow, recommendations: Iterable[models.Recommendation], projection: models.Projection
) -> models.Nudge | None:
    """The nudge that a checkpoint was answered with, for a replay; None when its occurrence is gone or another."""
    for nudge in occurring(recommendations, projection):
        if nudge["occurrenceId"] == stored.occurrence_id:
            return nudge
    return None


def occurring(
    recommendations: Iterable[models.Recommendation], projection: models.Projection
) -> Iterable[models.Nudge]:
    """A nudge for each recommendation that can be one and has an occurrence behind it."""
    for recommendation in recommendations:
        rule = _RULES.get(recommendation["code"])
        identity = None if rule is None else rule.identity(projection)
        if rule is not None and identity is not None:
            yield {
                "occurrenceId": digest([NUDGE_POLICY_VERSION, rule.code, identity]),
                "code": rule.code,
                "message": recommendation["message"],
                "evidenceEventIds": recommendation["evidenceEventIds"],
                "referenceIds": recommendation["metadata"]["referenceIds"],
                "priority": NUDGE_PRIORITIES[rule.code],
                "policyVersion": NUDGE_POLICY_VERSION,
            }


def checkpoint_id(run_id: str, idempotency_key: str) -> str:
    """What names a checkpoint for its nudge, 64 hex digits; it does not tell the key."""
    return digest([run_id, idempotency_key])


def _may_be_told(nudge: models.Nudge, through: int, history: Iterable[NudgeRow]) -> bool:
    """Not the same occurrence again, and the same code only some events later."""
    return not any(
        told.occurrence_id == nudge["occurrenceId"]
        or (told.code == nudge["code"] and through - told.through_sequence < NUDGE_DISTANCE)
        for told in history
    )


def _of_events(event_ids: Sequence[str]) -> Any:
    """The occurrence of open events: which ones, in any number."""
    return {"count": len(event_ids), "eventsHash": digest(sorted(event_ids))} if event_ids else None


def _of_mutation(projection: models.Projection) -> Any:
    """The occurrence of evidence that is stale: which change made it so."""
    sequence = projection["latestMutationSequence"]
    if projection["evidenceState"] != "stale" or sequence is None:
        return None
    return {"mutationSequence": sequence, "eventIds": sorted(projection["latestMutationEventIds"])}


class _Rule(NamedTuple):
    """`identity` answers what tells one occurrence from another, None when there is none."""

    code: models.NudgeCode
    identity: _Identity


_RULES: Final[dict[str, _Rule]] = {
    rule.code: rule
    for rule in (
        _Rule("SIDE_EFFECT_OUTCOME_UNKNOWN", lambda state: _of_events(state["unknownOutcomeEventIds"])),
        _Rule("UNRESOLVED_FAILURE", lambda state: _of_events(state["unresolvedFailureEventIds"])),
        _Rule("VERIFY_AFTER_MUTATION", _of_mutation),
    )
}
