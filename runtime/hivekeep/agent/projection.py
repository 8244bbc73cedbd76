"""What the events of a run add up to: its profile, its evidence, and what is still open.

Invariant: the state is a pure function of the first profile and of the events up to `throughSequence`. However the
events are cut into pieces, folding the pieces one after another gives the state of folding them at once, so a stored
state is as good as the whole ledger before it (gateway rules, projection).

A state is JSON and is never changed; each step answers a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypedDict, cast

from hivekeep.agent import intake
from hivekeep.storage.agent_projections import Reported
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.json_text import load, load_object
from hivekeep_contract.gateway import (
    EVIDENCE_TYPES,
    FAILING_OUTCOMES,
    FAILURE_TYPES,
    MUTATING_TYPES,
    MUTATION_TYPES,
    PASSING_OUTCOMES,
    REVISION_TYPES,
    UNKNOWN_OUTCOME_TYPES,
)
from hivekeep_contract.gateway_errors import IntegrityError
from hivekeep_contract.limits import PROJECTION_OPEN_MAX, PROJECTION_VERSION
from hivekeep_contract.models import gateway as models

RESOLVES: Final = "resolvesEventIds"
MUTATED: Final = "mutated"
REVISED: Final = "profile"

_RESOLVES_KEY: Final = f'"{RESOLVES}"'
"""How the key stands in stored JSON, which never escapes such letters: what lacks it needs no parsing."""


class Mark(TypedDict):
    """One event that counts as the latest of its sort."""

    sequence: int
    eventId: str


class State(TypedDict):
    """The folded events. `failures` and `unknown` map the ids of open events to their sequences; `passed` is what
    the last evidence said, null before the first; `missing` are the gaps of the first profile."""

    version: int
    throughSequence: int
    profile: models.TaskProfile
    missing: list[models.ProfileField]
    failures: dict[str, int]
    unknown: dict[str, int]
    passed: bool | None
    mutation: Mark | None
    passing: Mark | None


def initial(profile: models.TaskProfile) -> State:
    """The state before the first event; `profile` is the final one of the intake."""
    return {
        "version": PROJECTION_VERSION,
        "throughSequence": 0,
        "profile": profile,
        "missing": intake.gaps(profile),
        "failures": {},
        "unknown": {},
        "passed": None,
        "mutation": None,
        "passing": None,
    }


def advance(state: State, events: Iterable[Reported]) -> State:
    """The state after the events that follow it, in their order.

    Raises IntegrityError when an event does not follow the one before it, or holds what no append lets in.
    """
    after = state.copy()
    after["failures"] = state["failures"].copy()
    after["unknown"] = state["unknown"].copy()
    for event in events:
        if event.sequence != after["throughSequence"] + 1:
            raise IntegrityError("broken_record")
        after["throughSequence"] = event.sequence
        if _RESOLVES_KEY in event.payload:
            _resolve(after, event)
        for step in _STEPS.get(event.event_type, ()):
            step(after, event)
    return after


def view(state: State, run: RunRow) -> models.Projection:
    """The projection as a checkpoint shows it; lists of events are in the order of the ledger."""
    declared = cast(models.Coverage, load_object(run.coverage))
    mutation, passing = state["mutation"], state["passing"]
    return {
        "throughSequence": state["throughSequence"],
        "taskProfile": state["profile"],
        "profileHash": intake.profile_hash(state["profile"]),
        "evidenceState": _evidence(state),
        "unresolvedFailureEventIds": _in_order(state["failures"]),
        "unknownOutcomeEventIds": _in_order(state["unknown"]),
        "latestMutationSequence": _sequence(mutation),
        "latestPassingVerificationSequence": _sequence(passing),
        "latestMutationEventIds": _event_ids(mutation),
        "latestPassingVerificationEventIds": _event_ids(passing),
        "coverage": "partial" if incomplete_categories(declared) else "complete",
        "declaredCoverage": declared,
        "intakeIncomplete": bool(state["missing"]),
        "missingProfileFields": list(state["missing"]),
    }


def incomplete_categories(declared: models.Coverage) -> list[models.CoverageCategory]:
    """The categories that were not declared complete, sorted (gateway rules, coverage)."""
    levels = cast(Mapping[models.CoverageCategory, models.CoverageLevel], declared)
    return sorted(category for category, level in levels.items() if level != "complete")


# What an event does to a state that is this function's own.


def _resolve(state: State, event: Reported) -> None:
    """Take what an event resolves from what is open. It cannot resolve what comes after it, nor itself."""
    payload = load(event.payload)
    for event_id in payload.get(RESOLVES, ()) if isinstance(payload, dict) else ():
        state["failures"].pop(event_id, None)
        state["unknown"].pop(event_id, None)


def _fail(state: State, event: Reported) -> None:
    state["failures"][event.event_id] = event.sequence


def _lose_sight(state: State, event: Reported) -> None:
    state["unknown"][event.event_id] = event.sequence


def _mutate(state: State, event: Reported) -> None:
    state["mutation"] = _mark(event)


def _mutate_if_said(state: State, event: Reported) -> None:
    payload = load(event.payload)
    if isinstance(payload, dict) and payload.get(MUTATED) is True:
        _mutate(state, event)


def _judge(state: State, event: Reported) -> None:
    """Evidence is a test or a verification that says how it ended; a failed one stays open until it is resolved."""
    if event.outcome in FAILING_OUTCOMES:
        state["passed"] = False
        _fail(state, event)
    elif event.outcome in PASSING_OUTCOMES:
        state["passed"] = True
        state["passing"] = _mark(event)


def _revise(state: State, event: Reported) -> None:
    """Put the slots that a revision names in place of those before. Append has checked it."""
    payload = load(event.payload)
    slots = payload.get(REVISED) if isinstance(payload, dict) else None
    if not isinstance(slots, dict) or not slots.keys() <= state["profile"].keys():
        raise IntegrityError("broken_record")
    state["profile"] = cast(models.TaskProfile, {**state["profile"], **slots})


_Step = Callable[[State, Reported], None]


def _by_type(steps: Iterable[tuple[tuple[str, ...], _Step]]) -> dict[str, tuple[_Step, ...]]:
    found: dict[str, tuple[_Step, ...]] = {}
    for types, step in steps:
        for event_type in types:
            found[event_type] = (*found.get(event_type, ()), step)
    return found


_STEPS: Final = _by_type(
    [
        (FAILURE_TYPES, _fail),
        (UNKNOWN_OUTCOME_TYPES, _lose_sight),
        (EVIDENCE_TYPES, _judge),
        (MUTATION_TYPES, _mutate),
        (MUTATING_TYPES, _mutate_if_said),
        (REVISION_TYPES, _revise),
    ]
)


# What a state shows


def _evidence(state: State) -> models.EvidenceState:
    """What the last evidence says, and whether something was changed after the last that passed."""
    if state["passed"] is None:
        return "none"
    if not state["passed"]:
        return "failed"
    changed, verified = _sequence(state["mutation"]), _sequence(state["passing"])
    return "stale" if changed is not None and verified is not None and changed > verified else "fresh"


def _in_order(open_events: Mapping[str, int]) -> list[str]:
    """The newest of the open events, oldest first: an answer has a largest size, and every one of them stays open."""
    return sorted(open_events, key=open_events.__getitem__)[-PROJECTION_OPEN_MAX:]


def _mark(event: Reported) -> Mark:
    return {"sequence": event.sequence, "eventId": event.event_id}


def _sequence(mark: Mark | None) -> int | None:
    return None if mark is None else mark["sequence"]


def _event_ids(mark: Mark | None) -> list[str]:
    return [] if mark is None else [mark["eventId"]]


def is_current(stored: Mapping[str, Any]) -> bool:
    """Whether a stored state has the form that this module folds; another one is made again from the ledger."""
    return stored.get("version") == PROJECTION_VERSION
