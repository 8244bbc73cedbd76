"""Nudges: which recommendation a checkpoint points at, and what a run is told once."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import nudges, projection
from hivekeep.agent.canonical import digest
from hivekeep.agent.recommendations import recommend
from hivekeep.storage.agent_nudges import NudgeRow
from hivekeep_contract.gateway import RECOMMENDATION_MESSAGES
from support.runs import COMPLETE, run_row

PROFILE: Any = {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": None}
UNKNOWN, FAILURE, VERIFY = "SIDE_EFFECT_OUTCOME_UNKNOWN", "UNRESOLVED_FAILURE", "VERIFY_AFTER_MUTATION"


def projected(through: int = 10, **fields: Any) -> Any:
    """The projection of a complete run through an event, with these fields."""
    view = projection.view(projection.initial(PROFILE), run_row(coverage=json.dumps(COMPLETE)))
    return {**view, "throughSequence": through, **fields}


def stale(sequence: int = 5, event_id: str = "m") -> dict[str, Any]:
    """Fields of a projection whose evidence is stale."""
    return {
        "evidenceState": "stale",
        "latestMutationSequence": sequence,
        "latestMutationEventIds": [event_id],
        "latestPassingVerificationSequence": 1,
        "latestPassingVerificationEventIds": ["v"],
    }


ALL: dict[str, Any] = {"unknownOutcomeEventIds": ["u"], "unresolvedFailureEventIds": ["f"], **stale()}


def told(nudge: Any, through: int) -> NudgeRow:
    """The nudge as a run got it earlier."""
    return NudgeRow(
        run_seq=1,
        policy_version=nudge["policyVersion"],
        code=nudge["code"],
        occurrence_id=nudge["occurrenceId"],
        checkpoint_id=f"checkpoint {through}",
        through_sequence=through,
        priority=nudge["priority"],
        evidence_event_ids=nudge["evidenceEventIds"],
        reference_ids=nudge["referenceIds"],
        created_at=1,
    )


def chosen(view: Any, *history: NudgeRow) -> Any:
    """The nudge for all recommendations of a projection."""
    return nudges.select(recommend(view), view, history)


def code(view: Any, *history: NudgeRow) -> str | None:
    """Its code."""
    nudge = chosen(view, *history)
    return None if nudge is None else nudge["code"]


# what a nudge is


def test_a_nudge_is_a_recommendation_with_what_it_is_about() -> None:
    """The whole object; the occurrence is the hash of the rules, the code and the events."""
    identity = {"count": 2, "eventsHash": digest(["a", "b"])}
    assert chosen(projected(unknownOutcomeEventIds=["b", "a"])) == {
        "occurrenceId": digest(["nudges.v1", UNKNOWN, identity]),
        "code": UNKNOWN,
        "message": RECOMMENDATION_MESSAGES[UNKNOWN],
        "evidenceEventIds": ["a", "b"],
        "referenceIds": [],
        "priority": 2,
        "policyVersion": "nudges.v1",
    }


def test_the_occurrence_of_stale_evidence_is_the_change() -> None:
    """Its sequence and its id."""
    nudge = chosen(projected(**stale(7, "m7")))
    identity = {"mutationSequence": 7, "eventIds": ["m7"]}
    assert nudge["occurrenceId"] == digest(["nudges.v1", VERIFY, identity])
    assert (nudge["priority"], nudge["evidenceEventIds"]) == (4, ["m7", "v"])


def test_the_order_of_events_does_not_make_another_occurrence_and_other_events_do() -> None:
    """One that was resolved, or one more, is another occurrence, also beyond the ids that are shown."""
    many = [f"e{number:02d}" for number in range(20)]
    one = chosen(projected(unresolvedFailureEventIds=many))
    assert chosen(projected(unresolvedFailureEventIds=many[::-1])) == one
    for other in (many[:-1], [*many, "e99"], [*many[:-1], "e99"]):
        assert chosen(projected(unresolvedFailureEventIds=other))["occurrenceId"] != one["occurrenceId"]


# which one


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (ALL, UNKNOWN),
        ({**ALL, "unknownOutcomeEventIds": []}, FAILURE),
        (stale(), VERIFY),
        ({"intakeIncomplete": True, "coverage": "partial"}, None),
        ({}, None),
    ],
)
def test_the_most_urgent_one_is_chosen(fields: dict[str, Any], expected: str | None) -> None:
    """Unknown outcomes, then failures, then stale evidence; other recommendations never become a nudge."""
    assert code(projected(**fields)) == expected


def test_without_recommendations_there_is_no_nudge() -> None:
    """A gate that is closed, or memory that is withheld, leaves none, whatever the projection says."""
    assert nudges.select([], projected(**ALL), []) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"unknownOutcomeEventIds": []},
        {"unresolvedFailureEventIds": []},
        {"latestMutationSequence": None},
        {"evidenceState": "fresh"},
    ],
)
def test_a_recommendation_without_its_cause_in_the_projection_is_no_nudge(fields: dict[str, Any]) -> None:
    """The recommendation and the events behind it are both needed."""
    view = projected(**ALL)
    kept = {one["code"] for one in nudges.occurring(recommend(view), {**view, **fields})}
    assert len(kept) == 2


# what a run is told


def test_an_occurrence_is_told_once_a_run() -> None:
    """The next in line takes its place, however long ago it was."""
    first = chosen(projected(3, **ALL))
    later = projected(1000, **ALL)
    assert code(later, told(first, 3)) == FAILURE


@pytest.mark.parametrize(("through", "expected"), [(11, VERIFY), (12, VERIFY), (13, FAILURE)])
def test_the_same_code_comes_three_events_later_at_the_earliest(through: int, expected: str) -> None:
    """Another failure counts as another occurrence of the same code."""
    first = chosen(projected(10, unresolvedFailureEventIds=["f"]))
    view = projected(through, unresolvedFailureEventIds=["f", "g"], **stale())
    assert code(view, told(first, 10)) == expected


def test_a_run_gets_three_nudges() -> None:
    """Two leave room for one more."""
    history = [
        told(chosen(projected(number, unresolvedFailureEventIds=[f"f{number}"])), number) for number in (10, 20, 30)
    ]
    view = projected(100, **ALL)
    assert code(view, *history[:2]) == UNKNOWN
    assert code(view, *history) is None


# replays


def test_a_replay_tells_the_stored_nudge_while_its_occurrence_holds() -> None:
    """Not another one that is open now."""
    view = projected(**ALL)
    stored = told(chosen(view), 10)
    assert nudges.still_occurring(stored, recommend(view), view) == chosen(view)
    resolved = projected(unresolvedFailureEventIds=["f"])
    assert nudges.still_occurring(stored, recommend(resolved), resolved) is None
    assert nudges.still_occurring(stored, [], view) is None


def test_a_checkpoint_is_named_by_its_run_and_its_key() -> None:
    """Both count, and so does where one ends and the other begins."""
    names = {nudges.checkpoint_id(*pair) for pair in (("r", "k"), ("r", "l"), ("s", "k"), ("rk", ""), ("", "rk"))}
    assert len(names) == 5
    assert all(len(name) == 64 for name in names)


event_ids = st.lists(st.sampled_from(["a", "b", "c"]), unique=True)
views = st.builds(
    lambda unknown, failed, state: {"unknownOutcomeEventIds": unknown, "unresolvedFailureEventIds": failed, **state},
    event_ids,
    event_ids,
    st.one_of(st.just({}), st.builds(stale, st.integers(1, 3))),
)


@given(st.lists(st.tuples(st.integers(1, 3), views), max_size=12))
@settings(derandomize=True, max_examples=150, deadline=None)
def test_no_run_is_nagged(checkpoints: list[tuple[int, dict[str, Any]]]) -> None:
    """Over any checkpoints: at most three nudges, no occurrence twice, three events between two of the same code."""
    history: list[NudgeRow] = []
    through = 0
    for events, fields in checkpoints:
        through += events
        nudge = chosen(projected(through, **fields), *history)
        if nudge is not None:
            history.append(told(nudge, through))
    assert len(history) <= 3
    assert len({row.occurrence_id for row in history}) == len(history)
    for code_ in (UNKNOWN, FAILURE, VERIFY):
        places = [row.through_sequence for row in history if row.code == code_]
        assert all(later - earlier >= 3 for earlier, later in pairwise(places))
