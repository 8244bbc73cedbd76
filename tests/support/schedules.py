"""A server whose clock a test moves, with a dispatcher on the same clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hivekeep.dispatch import call as calls
from hivekeep.jobs.dispatching import Dispatcher, Summary
from hivekeep.times import iso, parse_iso
from support.client import Hive, open_hive

BEGIN = "2030-01-31T12:00:00Z"
SECOND_US = 1_000_000


class Clock:
    """A moment in microseconds that only moves when it is told to."""

    def __init__(self, text: str = BEGIN) -> None:
        self.us = parse_iso(text)

    def __call__(self) -> int:
        """The present moment."""
        return self.us

    def wait(self, seconds: float) -> None:
        """Let time go by."""
        self.us += int(seconds * SECOND_US)

    def text(self, seconds: float = 0) -> str:
        """The moment in so many seconds, without a fraction that is zero."""
        return iso(self.us + int(seconds * SECOND_US)).replace(".000000", "")


class Timed:
    """A server in memory and what its tests ask it."""

    def __init__(self, hive: Hive, clock: Clock) -> None:
        self.hive = hive
        self.clock = clock
        self.dispatcher = Dispatcher(hive.server, clock)

    def schedule(self, action: str, seconds: float, **more: Any) -> str:
        """The id of a call that is due in so many seconds."""
        made = self.hive.call("schedule.schedule", action=action, at=self.clock.text(seconds), **more)
        return str(made["full_id"])

    def drain(self) -> Summary:
        """One pass of the dispatcher, which nobody else may be doing."""
        summary = self.dispatcher.run_pass()
        assert summary is not None
        return summary

    def properties(self, event_id: str) -> dict[str, Any]:
        """The state of a scheduled event."""
        found: dict[str, Any] = self.hive.call("get", id=event_id)["properties"]
        return found

    def status(self, event_id: str) -> str:
        """Where a scheduled event stands."""
        return str(self.properties(event_id)["status"])

    def contents(self) -> list[str]:
        """The observations of the store in the order in which they were made."""
        items = self.hive.call("list", kind="observation", limit=200, after="")["notes"]
        return [item["content"] for item in items]

    def outcomes(self, event_id: str) -> list[str]:
        """What became of each occurrence of a scheduled event, in order."""
        found = self.hive.events(event_kind="scheduled_event_ran", target_id=event_id)
        return [event["payload"]["outcome"] for event in reversed(found)]


@contextmanager
def timed(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Iterator[Timed]:
    """A fresh server whose operations and dispatcher look at one clock."""
    clock = Clock()
    monkeypatch.setattr(calls, "now_us", clock)
    with open_hive(**settings) as hive:
        yield Timed(hive, clock)
