"""Recommendations: when each of the eight is given, with which events and entries, and in which order."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hivekeep.agent import projection
from hivekeep.agent.recommendations import NOTHING_KNOWN, MemoryFacts, recommend
from hivekeep_contract.gateway import NUDGE_PRIORITIES, RECOMMENDATION_MESSAGES, RECOMMENDATION_PRIORITIES
from hivekeep_contract.vocabulary import ENUMS
from support.runs import COMPLETE, run_row

PROFILE: Any = {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": None}


def projected(**fields: Any) -> Any:
    """The projection of a complete run without events, except for these fields."""
    return {**projection.view(projection.initial(PROFILE), run_row(coverage=json.dumps(COMPLETE))), **fields}


def only(view: Any, memory: MemoryFacts = NOTHING_KNOWN) -> Any:
    """The one recommendation that there is."""
    (found,) = recommend(view, memory)
    return found


def advice(code: str, priority: int, events: list[str], references: list[str], **metadata: Any) -> dict[str, Any]:
    """A whole recommendation."""
    return {
        "code": code,
        "message": RECOMMENDATION_MESSAGES[code],
        "evidenceEventIds": events,
        "priority": priority,
        "untrusted": True,
        "actionable": False,
        "metadata": {"truncated": False, "referenceIds": references, **metadata},
    }


def test_a_run_in_order_gets_no_advice() -> None:
    """Nothing is open, everything is declared complete."""
    assert recommend(projected()) == []


def test_gaps_of_the_intake() -> None:
    """Without events."""
    assert only(projected(intakeIncomplete=True)) == advice("INTAKE_INCOMPLETE", 1, [], [])


def test_stale_evidence_names_the_change_and_the_verification() -> None:
    """Sorted; no other state of the evidence is worth a word."""
    view = projected(evidenceState="stale", latestMutationEventIds=["z"], latestPassingVerificationEventIds=["a"])
    assert only(view) == advice("VERIFY_AFTER_MUTATION", 2, ["a", "z"], [])
    for state in ("none", "fresh", "failed"):
        assert recommend({**view, "evidenceState": state}) == []  # type: ignore[typeddict-item]


def test_unknown_outcomes_and_failures_name_their_events() -> None:
    """Sorted by id."""
    assert only(projected(unknownOutcomeEventIds=["b", "a"])) == advice(
        "SIDE_EFFECT_OUTCOME_UNKNOWN", 3, ["a", "b"], []
    )
    assert only(projected(unresolvedFailureEventIds=["b", "a"])) == advice("UNRESOLVED_FAILURE", 4, ["a", "b"], [])


def test_incomplete_coverage_names_the_categories() -> None:
    """Those that are not complete, sorted."""
    declared = {**COMPLETE, "tool": "declared", "approval": "unavailable", "file": "best_effort"}
    view = projection.view(projection.initial(PROFILE), run_row(coverage=json.dumps(declared)))
    assert only(view) == advice(
        "COVERAGE_INCOMPLETE", 5, [], [], incompleteCoverageCategories=["approval", "file", "tool"]
    )


@pytest.mark.parametrize(
    ("memory", "found"),
    [
        (MemoryFacts(outdated=["e2", "e1", "e2"]), advice("CONTEXT_STALE", 6, [], ["e1", "e2"])),
        (
            MemoryFacts(contradictions=[("e3", "e1"), ("e1", "e2")]),
            advice("CONTRADICTORY_MEMORY", 7, [], ["e1", "e2", "e3"]),
        ),
        (MemoryFacts(proposals=["p2", "p1"]), advice("PROMOTION_CANDIDATE", 8, ["p1", "p2"], [])),
    ],
)
def test_advice_about_memory_names_entries_or_proposals(memory: MemoryFacts, found: dict[str, Any]) -> None:
    """Each id once, sorted."""
    assert only(projected(), memory) == found


@pytest.mark.parametrize(("count", "shown", "truncated"), [(15, 15, False), (16, 16, False), (17, 16, True)])
def test_at_most_sixteen_ids_are_shown(count: int, shown: int, truncated: bool) -> None:
    """Of events and of references alike; `truncated` says that there are more."""
    ids = [f"e{number:02d}" for number in reversed(range(count))]
    of_events = only(projected(unresolvedFailureEventIds=ids))
    assert (of_events["evidenceEventIds"], of_events["metadata"]["truncated"]) == (sorted(ids)[:shown], truncated)
    of_entries = only(projected(), MemoryFacts(outdated=ids))["metadata"]
    assert (of_entries["referenceIds"], of_entries["truncated"]) == (sorted(ids)[:shown], truncated)


def test_everything_at_once_comes_by_urgency_and_each_code_once() -> None:
    """All eight, in the order of the contract."""
    view = projected(
        intakeIncomplete=True,
        evidenceState="stale",
        unknownOutcomeEventIds=["a"],
        unresolvedFailureEventIds=["b"],
        coverage="partial",
    )
    found = recommend(view, MemoryFacts(["e"], [("e", "f")], ["p"]))
    assert [one["code"] for one in found] == list(ENUMS["gateway.recommendation_code"])
    assert [one["priority"] for one in found] == list(range(1, 9))


def test_every_code_has_one_message_and_one_priority() -> None:
    """The tables and the enums name the same codes; messages are sentences of their own."""
    codes = set(ENUMS["gateway.recommendation_code"])
    assert set(RECOMMENDATION_MESSAGES) == set(RECOMMENDATION_PRIORITIES) == codes
    assert len(set(RECOMMENDATION_MESSAGES.values())) == 8
    assert set(NUDGE_PRIORITIES) == set(ENUMS["gateway.nudge_code"]) <= codes
