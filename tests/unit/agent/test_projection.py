"""The projection: what the events of a run add up to, and that it does not matter how they are cut."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.agent import projection
from hivekeep.agent.projection import State
from hivekeep.storage.agent_projections import Reported
from hivekeep_contract.gateway_errors import IntegrityError
from hivekeep_contract.limits import PROJECTION_OPEN_MAX
from hivekeep_contract.vocabulary import ENUMS
from support.runs import COMPLETE, defined_projection, run_row

PROFILE: Any = {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": None}
FIXED = settings(derandomize=True, max_examples=200, deadline=None)
RUN = run_row(coverage=json.dumps(COMPLETE))

CHANGE = ("file.changed", None, {"path": "a.py"})
PASS = ("test.completed", "passed", {})
FAIL = ("test.completed", "failed", {})


def ledger(*events: tuple[str, str | None, Any]) -> list[Reported]:
    """Events as (type, outcome, payload); the n-th is called e<n>."""
    return [
        Reported(number, f"e{number}", event_type, outcome, json.dumps(payload, separators=(",", ":")))
        for number, (event_type, outcome, payload) in enumerate(events, 1)
    ]


def folded(events: Sequence[Reported], profile: Any = PROFILE) -> State:
    """The state after all events."""
    return projection.advance(projection.initial(profile), events)


def shown(*events: tuple[str, str | None, Any]) -> dict[str, Any]:
    """The projection after these events."""
    view: Any = projection.view(folded(ledger(*events)), RUN)
    return view  # type: ignore[no-any-return]


# the whole object


def test_a_run_without_events_has_its_profile_and_nothing_else() -> None:
    """Every field, with the golden hash of the profile."""
    assert shown() == {
        "throughSequence": 0,
        "taskProfile": PROFILE,
        "profileHash": "cf81988c611f6c3b87302fcde42c93371ebd8632e8d8aab3932c8b49f98dbbf3",
        "evidenceState": "none",
        "unresolvedFailureEventIds": [],
        "unknownOutcomeEventIds": [],
        "latestMutationSequence": None,
        "latestPassingVerificationSequence": None,
        "latestMutationEventIds": [],
        "latestPassingVerificationEventIds": [],
        "coverage": "complete",
        "declaredCoverage": COMPLETE,
        "intakeIncomplete": False,
        "missingProfileFields": [],
    }


def test_a_projection_says_through_which_event_it_goes_and_which_were_the_latest() -> None:
    """Sequences and ids of the last change and of the last verification that passed."""
    view = shown(CHANGE, PASS, ("verification.recorded", "success", {}), CHANGE, ("step.started", None, {}))
    assert view["throughSequence"] == 5
    assert (view["latestMutationSequence"], view["latestMutationEventIds"]) == (4, ["e4"])
    assert (view["latestPassingVerificationSequence"], view["latestPassingVerificationEventIds"]) == (3, ["e3"])


# evidence


@pytest.mark.parametrize(
    ("events", "evidence"),
    [
        ([], "none"),
        ([CHANGE], "none"),
        ([PASS], "fresh"),
        ([FAIL], "failed"),
        ([CHANGE, PASS], "fresh"),
        ([PASS, CHANGE], "stale"),
        ([PASS, CHANGE, PASS], "fresh"),
        ([PASS, FAIL], "failed"),
        ([PASS, CHANGE, FAIL], "failed"),
        ([FAIL, CHANGE], "failed"),
        ([FAIL, PASS], "fresh"),
        ([FAIL, PASS, CHANGE], "stale"),
        ([PASS, ("task_profile.revised", None, {"profile": {"target": "lexer"}})], "stale"),
        ([PASS, ("command.completed", None, {"mutated": True})], "stale"),
        ([PASS, ("tool.completed", None, {"mutated": True})], "stale"),
        ([PASS, ("command.completed", None, {"mutated": False})], "fresh"),
        ([PASS, ("command.completed", None, {"mutated": 1})], "fresh"),
        ([PASS, ("command.completed", None, {})], "fresh"),
        ([PASS, ("command.completed", None, None)], "fresh"),
        ([PASS, ("command.completed", None, [True])], "fresh"),
        ([PASS, ("command.started", None, {"mutated": True})], "fresh"),
        ([PASS, ("file.observed", None, {})], "fresh"),
        ([FAIL, ("correction.recorded", None, {"resolvesEventIds": ["e1"]})], "failed"),
        ([("test.started", "passed", {})], "none"),
        ([("step.failed", None, {})], "none"),
    ],
)
def test_evidence_is_what_the_last_test_said_unless_something_was_changed_since(events: Any, evidence: str) -> None:
    """A failure is evidence until a later test or verification passes, whatever is changed or resolved in between."""
    assert shown(*events)["evidenceState"] == evidence


@pytest.mark.parametrize("event_type", ["test.completed", "verification.recorded"])
@pytest.mark.parametrize(
    ("outcome", "evidence"),
    [
        ("pass", "fresh"),
        ("passed", "fresh"),
        ("success", "fresh"),
        ("succeeded", "fresh"),
        ("failed", "failed"),
        ("fail", "none"),
        ("Passed", "none"),
        ("skipped", "none"),
        (None, "none"),
    ],
)
def test_the_outcome_says_how_a_test_ended(event_type: str, outcome: str | None, evidence: str) -> None:
    """Four words for passed, one for failed; any other is no evidence."""
    view = shown((event_type, outcome, {}))
    assert view["evidenceState"] == evidence
    assert view["unresolvedFailureEventIds"] == (["e1"] if evidence == "failed" else [])


# what is open


@pytest.mark.parametrize("event_type", ENUMS["gateway.event_type"])
def test_only_these_events_are_failures_or_unknown(event_type: str) -> None:
    """Failed steps and tools and recorded errors; tools whose outcome is unknown."""
    payload = {"profile": {}} if event_type == "task_profile.revised" else {}
    view = shown((event_type, None, payload))
    failures = ["e1"] if event_type in ("step.failed", "tool.failed", "error.recorded") else []
    assert view["unresolvedFailureEventIds"] == failures
    assert view["unknownOutcomeEventIds"] == (["e1"] if event_type == "tool.outcome_unknown" else [])


def test_open_events_are_shown_in_the_order_of_the_ledger() -> None:
    """Not in that of their ids."""
    view = shown(*[("step.failed", None, {})] * 11)
    assert view["unresolvedFailureEventIds"] == [f"e{number}" for number in range(1, 12)]


def test_very_many_open_events_are_not_all_shown() -> None:
    """A failure stays open until something resolves it, and every one was named in every checkpoint: behind some 50,000
    the answer was larger than an answer may be, and the run could not be checkpointed any more. The newest 2,000 are
    named, and the others come up when those are resolved."""
    count = PROJECTION_OPEN_MAX + 3
    events = [("error.recorded", None, {})] * count
    newest = [f"e{number}" for number in range(4, count + 1)]
    assert shown(*events)["unresolvedFailureEventIds"] == newest
    resolving = ("step.completed", None, {"resolvesEventIds": newest[1:]})
    assert shown(*events, resolving)["unresolvedFailureEventIds"] == ["e1", "e2", "e3", "e4"]


def test_any_later_event_resolves_failures_and_unknown_outcomes() -> None:
    """It names their ids; ids that are not open do not matter."""
    open_events = [("step.failed", None, {}), ("tool.outcome_unknown", None, {}), FAIL, ("error.recorded", None, {})]
    resolving = ("step.completed", None, {"resolvesEventIds": ["e1", "e2", "e3", "e99"]})
    view = shown(*open_events, resolving)
    assert (view["unresolvedFailureEventIds"], view["unknownOutcomeEventIds"]) == (["e4"], [])


def test_an_event_resolves_nothing_that_comes_after_it_nor_itself() -> None:
    """A second attempt that fails as well takes the place of the first."""
    view = shown(
        ("step.started", None, {"resolvesEventIds": ["e2", "e3"]}),
        ("step.failed", None, {}),
        ("step.failed", None, {"resolvesEventIds": ["e2", "e3"]}),
    )
    assert view["unresolvedFailureEventIds"] == ["e3"]


@pytest.mark.parametrize(
    "payload",
    [
        {"note": {"resolvesEventIds": ["e1"]}},
        [{"resolvesEventIds": ["e1"]}],
        {"text": '"resolvesEventIds"'},
        '"resolvesEventIds":["e1"]',
    ],
)
def test_only_the_field_of_the_payload_itself_resolves(payload: Any) -> None:
    """Not one inside another value, and not a text that looks like it."""
    assert shown(("step.failed", None, {}), ("step.completed", None, payload))["unresolvedFailureEventIds"] == ["e1"]


# profile


def test_revisions_replace_slots_in_their_order() -> None:
    """A slot that a revision does not name stays; null clears one; each is a change."""
    view = shown(
        ("task_profile.revised", None, {"profile": {"target": "lexer", "constraints": "no deps"}}),
        ("task_profile.revised", None, {"profile": {"taskType": "debug", "target": None}}),
    )
    profile = {"taskType": "debug", "target": None, "expected": "tests pass", "constraints": "no deps"}
    assert view["taskProfile"] == profile
    assert view["latestMutationSequence"] == 2
    assert (view["intakeIncomplete"], view["missingProfileFields"]) == (False, [])


def test_gaps_are_those_of_the_first_profile() -> None:
    """A revision that fills them later does not make the intake complete."""
    state = folded(
        ledger(("task_profile.revised", None, {"profile": {"target": "parser"}})), {**PROFILE, "target": None}
    )
    view = projection.view(state, RUN)
    assert (view["intakeIncomplete"], view["missingProfileFields"]) == (True, ["target"])
    assert view["taskProfile"] == PROFILE


@pytest.mark.parametrize("payload", [None, [], {}, {"profile": None}, {"profile": {"colour": "red"}}])
def test_a_revision_that_append_would_have_refused_is_a_broken_record(payload: Any) -> None:
    """It is never folded in silently."""
    with pytest.raises(IntegrityError) as caught:
        shown(("task_profile.revised", None, payload))
    assert caught.value.reason == "broken_record"


# coverage


def test_coverage_is_complete_when_all_five_categories_are() -> None:
    """It is shown as declared, and one category that is not complete makes it partial."""
    for category in COMPLETE:
        for level in ("best_effort", "declared", "unavailable"):
            declared = {**COMPLETE, category: level}
            view = projection.view(folded([]), run_row(coverage=json.dumps(declared)))
            assert (view["coverage"], view["declaredCoverage"]) == ("partial", declared)
            assert projection.incomplete_categories(view["declaredCoverage"]) == [category]


# folding

ids = st.integers(1, 14).map(lambda number: f"e{number}")
payloads: Any = st.one_of(
    st.just({}),
    st.none(),
    st.lists(ids, min_size=1, max_size=4).map(lambda resolved: {"resolvesEventIds": resolved}),
    st.booleans().map(lambda mutated: {"mutated": mutated}),
)
revisions = st.fixed_dictionaries(
    {}, optional={"taskType": st.sampled_from(["debug", None]), "target": st.sampled_from(["a", "b", None])}
).map(lambda slots: {"profile": slots})
anything = st.one_of(
    st.tuples(
        st.sampled_from([name for name in ENUMS["gateway.event_type"] if name != "task_profile.revised"]),
        st.sampled_from([None, "passed", "failed"]),
        payloads,
    ),
    st.tuples(st.just("task_profile.revised"), st.none(), revisions),
    st.tuples(
        st.sampled_from(["test.completed", "verification.recorded"]), st.sampled_from(["passed", "failed"]), payloads
    ),
    st.tuples(st.sampled_from(["command.completed", "step.failed", "tool.outcome_unknown"]), st.none(), payloads),
)
ledgers = st.lists(anything, max_size=14).map(lambda events: ledger(*events))


@given(ledgers, st.data())
@FIXED
def test_any_cut_gives_the_state_of_the_whole(events: list[Reported], data: st.DataObject) -> None:
    """Folding pieces through stored JSON is the same as folding at once, and no state is changed by the next."""
    cuts = sorted(data.draw(st.lists(st.integers(0, len(events)), max_size=4)))
    state: Any = projection.initial(PROFILE)
    for start, end in zip([0, *cuts], [*cuts, len(events)], strict=True):
        before, kept = state, copy.deepcopy(state)
        state = json.loads(json.dumps(projection.advance(state, events[start:end])))
        assert before == kept
    assert state == folded(events)


@given(ledgers)
@FIXED
def test_the_projection_of_a_prefix_is_the_prefix_of_the_projection(events: list[Reported]) -> None:
    """Each state on the way is what folding only the events up to it gives: later events do not reach back. Each agrees
    with a definition over the whole list."""
    state = projection.initial(PROFILE)
    for end, event in enumerate(events, 1):
        state = projection.advance(state, [event])
        assert state == folded(events[:end])
        view: Any = projection.view(state, RUN)
        assert view["throughSequence"] == end
        expected = defined_projection(events[:end])
        assert {name: view[name] for name in expected} == expected


@pytest.mark.parametrize("sequences", [[2], [1, 3], [1, 1], [0]])
def test_a_gap_in_the_ledger_is_a_broken_record(sequences: list[int]) -> None:
    """Events follow each other by one; a state never claims to go through what it did not read."""
    events = [Reported(number, f"e{number}", "step.started", None, "{}") for number in sequences]
    with pytest.raises(IntegrityError) as caught:
        folded(events)
    assert caught.value.reason == "broken_record"
