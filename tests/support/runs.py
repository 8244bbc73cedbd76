"""Runs of the agent gateway for tests that need one without opening it, and what their events add up to.

The projection here is written as questions about a whole list of events, with words of its own: nothing of it
comes from the program or its tables, so that the two can be compared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hivekeep.storage.agent_projections import Reported
from hivekeep.storage.agent_runs import RunRow

COMPLETE = {"run": "complete", "tool": "complete", "command": "complete", "file": "complete", "approval": "complete"}
"""The declaration of a client that reports everything."""

_ROOT = "0" * 64


def run_row(**fields: Any) -> RunRow:
    """An active run of the workspace `demo` whose ledger is empty."""
    row = RunRow(
        seq=1,
        id="00000000-0000-4000-8000-000000000001",
        workspace="demo",
        client_kind="test",
        client_version=None,
        client_session_id=None,
        capture_profile="standard",
        coverage="{}",
        status="active",
        title="Build the parser",
        task="{}",
        task_hash=_ROOT,
        metadata="{}",
        binding_digest=None,
        parent_run_id=None,
        last_sequence=0,
        last_source_sequence=None,
        last_event_hash=_ROOT,
        started_at=1000,
        ended_at=None,
        created_at=1000,
        updated_at=1000,
    )
    return row._replace(**fields)


_FAILURES = ("step.failed", "tool.failed", "error.recorded")
_EVIDENCE = ("test.completed", "verification.recorded")
_PASSED = ("pass", "passed", "success", "succeeded")
_CHANGES = ("file.changed", "task_profile.revised")
_CHANGES_IF_SAID = ("command.completed", "tool.completed")


def defined_projection(events: Sequence[Reported]) -> dict[str, Any]:
    """What a projection says of the events, without the profile and what was declared."""
    payloads = [_object(event) for event in events]
    judged = [event for event in events if event.event_type in _EVIDENCE and event.outcome in ("failed", *_PASSED)]
    passing = [event for event in judged if event.outcome != "failed"]
    changes = [event for event, payload in zip(events, payloads, strict=True) if _changes(event, payload)]
    failures = [
        event for event in events if event.event_type in _FAILURES or (event in judged and event not in passing)
    ]

    def still_open(event: Reported) -> bool:
        later = payloads[event.sequence :]
        return all(event.event_id not in payload.get("resolvesEventIds", []) for payload in later)

    return {
        "throughSequence": len(events),
        "evidenceState": _evidence(judged, passing, changes),
        "latestMutationSequence": _last(changes),
        "latestPassingVerificationSequence": _last(passing),
        "latestMutationEventIds": [event.event_id for event in changes[-1:]],
        "latestPassingVerificationEventIds": [event.event_id for event in passing[-1:]],
        "unresolvedFailureEventIds": [event.event_id for event in failures if still_open(event)],
        "unknownOutcomeEventIds": [
            event.event_id for event in events if event.event_type == "tool.outcome_unknown" and still_open(event)
        ],
    }


def _object(event: Reported) -> dict[str, Any]:
    payload = json.loads(event.payload)
    return payload if isinstance(payload, dict) else {}


def _changes(event: Reported, payload: dict[str, Any]) -> bool:
    said = event.event_type in _CHANGES_IF_SAID and payload.get("mutated") is True
    return event.event_type in _CHANGES or said


def _evidence(judged: list[Reported], passing: list[Reported], changes: list[Reported]) -> str:
    if not judged:
        return "none"
    if judged[-1] not in passing:
        return "failed"
    return "stale" if changes and changes[-1].sequence > judged[-1].sequence else "fresh"


def _last(events: list[Reported]) -> int | None:
    return events[-1].sequence if events else None
