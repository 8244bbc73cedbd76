"""A run of the agent gateway as its rules describe it, small enough to be read: what each request must answer.

Nothing here comes from the program or its tables. `tests/gateway/test_property_runs.py` compares the two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from hivekeep.storage.agent_projections import Reported
from support.runs import defined_projection

Told = tuple[int, str, str]
"""Status, code and reason of a refusal."""
Occurrence = tuple[str, Any]

SLOTS = ("taskType", "target", "expected")
SORTS = {"build": "build", " Fix ": "debug", "DOCS": "writing"}
"""Answers that name a sort of task; every other text is refused."""
_OPEN = ("intake", "active")


def conflict(reason: str) -> Told:
    """A refusal because of what is stored."""
    return 409, "CONFLICT", reason


def invalid(reason: str) -> Told:
    """A refusal because of the request."""
    return 400, "VALIDATION_ERROR", reason


@dataclass
class RunModel:
    """One run. `soul` says whether its client has the skill without which nothing is handed out."""

    profile: dict[str, str | None]
    soul: bool
    status: str = "intake"
    events: list[Reported] = field(default_factory=list)
    answers: dict[str, str | None] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)
    told: list[tuple[Occurrence, int]] = field(default_factory=list)
    nudges: dict[str, Occurrence] = field(default_factory=dict)

    def begin(self) -> None:
        """The run was opened."""
        self.record("intake.started")
        self._finish()

    def record(self, event_type: str, event_id: str = "", outcome: str | None = None, payload: Any = None) -> None:
        """One more event of the ledger."""
        self.events.append(Reported(len(self.events) + 1, event_id, event_type, outcome, json.dumps(payload)))
        if event_type == "task_profile.revised":
            self.profile = {**self.profile, **payload["profile"]}

    # intake

    @property
    def missing(self) -> list[str]:
        """Required slots without a value, before any revision."""
        return [slot for slot in SLOTS if self.profile[slot] is None]

    @property
    def asked(self) -> str | None:
        """The slot that waits for an answer."""
        left = [slot for slot in self.missing if slot not in self.answers] if self.status == "intake" else []
        return left[0] if left else None

    @property
    def intake_status(self) -> str:
        """Where the intake stands."""
        return "needs_answer" if self.status == "intake" else "exhausted" if self.gaps else "ready"

    def answer(self, slot: str, value: str) -> Told | None:
        """How an answer is refused, or None when it is taken, or was taken before."""
        if self.status != "intake":
            return conflict("intake_final" if self.status == "active" else "run_closed")
        if slot == "taskType" and value not in SORTS:
            return invalid("wrong_value")
        accepted = SORTS[value] if slot == "taskType" else value.strip()
        if slot in ("target", "expected") and accepted.lower() == "unknown":
            accepted = None  # type: ignore[assignment]
        if slot != self.asked:
            if slot not in self.answers:
                return conflict("not_outstanding")
            return None if self.answers[slot] == accepted else conflict("answered_otherwise")
        self.answers[slot] = self.profile[slot] = accepted
        self.record("intake.answered")
        self._finish()
        return None

    def _finish(self) -> None:
        if self.asked is None:
            self.gaps = self.missing
            self.status = "active"
            self.record(f"intake.{self.intake_status}")
            self.record("run.started")

    # ledger

    def refusal(self, event_types: list[str]) -> Told | None:
        """How a batch of events is refused for the state of the run."""
        if self.status not in _OPEN:
            return conflict("run_closed")
        if self.status == "intake" and not all(event_type.startswith("intake.") for event_type in event_types):
            return conflict("run_in_intake")
        return None

    def inactive(self) -> Told | None:
        """How what needs an active run is refused."""
        return {"intake": conflict("run_in_intake"), "active": None}.get(self.status, conflict("run_closed"))

    def close(self, status: str) -> None:
        """The run was ended."""
        self.record("run.closed")
        self.status = status

    # what follows

    @property
    def next_action(self) -> str:
        """What the client is told to do."""
        if not self.soul:
            return "required_capability_unavailable"
        return "answer_from_evidence_or_ask_user" if self.status == "intake" else "proceed"

    def projection(self) -> dict[str, Any]:
        """What the events add up to, without hash and coverage."""
        return {
            **defined_projection(self.events),
            "taskProfile": self.profile,
            "intakeIncomplete": bool(self.gaps),
            "missingProfileFields": self.gaps,
        }

    def advice(self) -> list[str]:
        """The codes of all recommendations; coverage is never complete here."""
        seen = defined_projection(self.events)
        causes = {
            "INTAKE_INCOMPLETE": self.gaps,
            "VERIFY_AFTER_MUTATION": seen["evidenceState"] == "stale",
            "SIDE_EFFECT_OUTCOME_UNKNOWN": seen["unknownOutcomeEventIds"],
            "UNRESOLVED_FAILURE": seen["unresolvedFailureEventIds"],
            "COVERAGE_INCOMPLETE": True,
        }
        return [code for code, cause in causes.items() if cause and self.soul and self.status == "active"]

    def nudge(self, key: str) -> str | None:
        """The code that a checkpoint of this key points at; told once for good, or again to a replay."""
        occurring = self._occurrences()
        if key in self.nudges:
            return self.nudges[key][0] if self.nudges[key] in occurring else None
        through = len(self.events)
        for occurrence in occurring if len(self.told) < 3 else []:
            close_by = any(code == occurrence[0] and through - place < 3 for (code, _), place in self.told)
            if not close_by and occurrence not in [one for one, _ in self.told]:
                self.told.append((occurrence, through))
                self.nudges[key] = occurrence
                return occurrence[0]
        return None

    def _occurrences(self) -> list[Occurrence]:
        seen = defined_projection(self.events)
        found = [
            ("SIDE_EFFECT_OUTCOME_UNKNOWN", seen["unknownOutcomeEventIds"]),
            ("UNRESOLVED_FAILURE", seen["unresolvedFailureEventIds"]),
            ("VERIFY_AFTER_MUTATION", seen["latestMutationSequence"]),
        ]
        return [one for one in found if one[1] and one[0] in self.advice()]
