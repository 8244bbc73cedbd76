"""Advice that follows from what a run reported and from what was delivered to it.

Invariant: the same inputs give the same recommendations, each code at most once, the most urgent first. They state
facts with the events or entries behind them and are marked as no command (gateway rules, recommendations).

Pure: whoever asks has read the inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from hivekeep.agent.projection import incomplete_categories
from hivekeep_contract.gateway import RECOMMENDATION_MESSAGES, RECOMMENDATION_PRIORITIES
from hivekeep_contract.limits import RECOMMENDATION_IDS_MAX
from hivekeep_contract.models import gateway as models

_PRIORITY: Final = RECOMMENDATION_PRIORITIES


class MemoryFacts(NamedTuple):
    """What is known of the memory that a run met.

    `outdated` are delivered entries with a newer revision, `contradictions` pairs of verified entries of which both
    were delivered, `proposals` the events that propose an entry and have none yet.
    """

    outdated: Collection[str] = ()
    contradictions: Collection[tuple[str, str]] = ()
    proposals: Collection[str] = ()


NOTHING_KNOWN: Final = MemoryFacts()


def recommend(projection: models.Projection, memory: MemoryFacts = NOTHING_KNOWN) -> list[models.Recommendation]:
    """All recommendations for a run that stands where the projection says, the most urgent first."""
    found = [*_of_the_run(projection), *_of_memory(memory)]
    return sorted(found, key=lambda one: one["priority"])


def _of_the_run(projection: models.Projection) -> Iterable[models.Recommendation]:
    if projection["intakeIncomplete"]:
        yield _advice("INTAKE_INCOMPLETE")
    if projection["evidenceState"] == "stale":
        behind = projection["latestMutationEventIds"] + projection["latestPassingVerificationEventIds"]
        yield _advice("VERIFY_AFTER_MUTATION", events=behind)
    if projection["unknownOutcomeEventIds"]:
        yield _advice("SIDE_EFFECT_OUTCOME_UNKNOWN", events=projection["unknownOutcomeEventIds"])
    if projection["unresolvedFailureEventIds"]:
        yield _advice("UNRESOLVED_FAILURE", events=projection["unresolvedFailureEventIds"])
    if projection["coverage"] == "partial":
        advice = _advice("COVERAGE_INCOMPLETE")
        advice["metadata"]["incompleteCoverageCategories"] = incomplete_categories(projection["declaredCoverage"])
        yield advice


def _of_memory(memory: MemoryFacts) -> Iterable[models.Recommendation]:
    if memory.outdated:
        yield _advice("CONTEXT_STALE", references=memory.outdated)
    if memory.contradictions:
        yield _advice("CONTRADICTORY_MEMORY", references=[entry for pair in memory.contradictions for entry in pair])
    if memory.proposals:
        yield _advice("PROMOTION_CANDIDATE", events=memory.proposals)


def _advice(
    code: models.RecommendationCode, *, events: Iterable[str] = (), references: Iterable[str] = ()
) -> models.Recommendation:
    event_ids, more_events = _shown(events)
    reference_ids, more_references = _shown(references)
    return {
        "code": code,
        "message": RECOMMENDATION_MESSAGES[code],
        "evidenceEventIds": event_ids,
        "priority": _PRIORITY[code],
        "untrusted": True,
        "actionable": False,
        "metadata": {"truncated": more_events or more_references, "referenceIds": reference_ids},
    }


def _shown(ids: Iterable[str]) -> tuple[list[str], bool]:
    """As many ids as are shown, sorted, and whether there are more."""
    each = sorted(set(ids))
    return each[:RECOMMENDATION_IDS_MAX], len(each) > RECOMMENDATION_IDS_MAX
