"""Sequences of verbs, passes and waiting against a model of a few lines, on a clock that the test moves."""

import random
from collections import Counter
from typing import Any, NamedTuple

import pytest

from hivekeep.jobs.dispatching import Summary
from support.schedules import SECOND_US, Timed, timed

SEQUENCES = 200
VERBS = 30
GRACE_S = 3600
NOBODY = "00000000-0000-4000-8000-000000000000"
ACTIONS = {
    "note": 'create(kind="observation", content="{name}")',
    "fails": 'delete(id="' + NOBODY + '")',
    "apart": 'brain.mark_turn(label="{name}")',
}
REPEATS = {None: 0, "daily": 86_400, "weekly": 604_800, "every:7m": 420, "every:2h": 7200}
WAITS = (1, 59, 600, 3599, 3601, 90_000, 700_000)


class Place(NamedTuple):
    """Where the walk over due events stands."""

    due: int
    id: str


class Event:
    """What the model knows of one scheduled event."""

    def __init__(self, event_id: str, name: str, what: str, due: int, step_s: int) -> None:
        self.id = event_id
        self.name = name
        self.what = what
        self.due = due
        self.step = step_s * SECOND_US
        self.status = "pending"
        self.live = True
        self.runs = 0
        self.outcomes: list[str] = []

    @property
    def place(self) -> Place:
        """Its place in the walk."""
        return Place(self.due, self.id)

    @property
    def listed(self) -> bool:
        """Whether it is to come."""
        return self.live and self.status == "pending"


class World:
    """The program and the model, which must answer the same."""

    def __init__(self, at: Timed, chance: random.Random) -> None:
        self.at = at
        self.chance = chance
        self.events: dict[str, Event] = {}

    def schedule(self) -> None:
        """A new event; one in the past is refused."""
        what = self.chance.choice(list(ACTIONS))
        repeat = self.chance.choice(list(REPEATS))
        seconds = self.chance.choice([-5, 0, 1, 60, 60, 4000, 100_000])
        name = f"event {len(self.events)}"
        args: dict[str, Any] = {
            "action": ACTIONS[what].format(name=name),
            "at": self.at.clock.text(seconds),
            **({} if repeat is None else {"repeat": repeat}),
        }
        if seconds <= 0:
            assert self.at.hive.refuses("schedule.schedule", **args)["kind"] == "invalid_input"
            return
        made = self.at.hive.call("schedule.schedule", **args)
        due = self.at.clock.us + seconds * SECOND_US
        self.events[made["full_id"]] = Event(made["full_id"], name, what, due, REPEATS[repeat])

    def cancel(self) -> None:
        """A pending event goes; any other status is named, and a deleted one is not found."""
        event = self._any()
        if event is None:
            return
        if event.listed:
            assert self.at.hive.call("schedule.cancel", id=event.id)["status"] == "cancelled"
            event.status = "cancelled"
            return
        error = self.at.hive.refuses("schedule.cancel", id=event.id)
        assert error["kind"] == ("invalid_input" if event.live else "not_found")
        assert not event.live or f"is {event.status};" in error["message"]

    def delete(self) -> None:
        """Deleting and restoring changes nothing else."""
        event = self._any()
        if event is None:
            return
        self.at.hive.call("delete" if event.live else "restore", id=event.id)
        event.live = not event.live

    def update(self) -> None:
        """A generic patch changes nothing."""
        event = self._any()
        if event is not None and event.live:
            assert self.at.hive.refuses("update", id=event.id, content="x")["kind"] == "invalid_input"

    def wait(self) -> None:
        """Time goes by."""
        self.at.clock.wait(self.chance.choice(WAITS))

    def drain(self) -> None:
        """A pass, with every counter."""
        wanted = self._pass()
        assert self.at.drain() == wanted

    def look(self) -> None:
        """The agenda of a window."""
        since, until = sorted(self.at.clock.us + self.chance.randint(-10, 10) * 3600 * SECOND_US for _ in range(2))
        limit = self.chance.randint(1, 5)
        window = {"from": _text(self.at, since), "to": _text(self.at, until)}
        found = self.at.hive.call("schedule.agenda", limit=limit, **window)
        listed = sorted(event.place for event in self.events.values() if event.listed)
        assert [event["id"] for event in found["events"]] == [
            place.id for place in listed if since <= place.due <= until
        ][:limit]

    def check(self) -> None:
        """Agenda, states, outcomes, and what the calls left in the store."""
        found = self.at.hive.call("schedule.agenda", limit=200)["events"]
        shown = [Place(event["properties"]["trigger_us"], event["id"]) for event in found]
        assert shown == sorted(event.place for event in self.events.values() if event.listed)
        for event in self.events.values():
            if event.live:
                assert self.at.status(event.id) == event.status
            assert self.at.outcomes(event.id) == event.outcomes
        marks = (one["payload"]["phase"] for one in self.at.hive.events(event_kind="phase_started"))
        wanted = {event.name: event.runs for event in self.events.values() if event.runs}
        assert Counter([*self.at.contents(), *marks]) == wanted

    def _any(self) -> Event | None:
        return self.chance.choice(list(self.events.values())) if self.events else None

    def _pass(self) -> Summary:
        now = self.at.clock.us
        told = Summary(skipped_not_due=sum(event.listed and event.due > now for event in self.events.values()))
        place = Place(0, "")
        while due := [event for event in self.events.values() if event.listed and place < event.place <= (now, "g")]:
            event = min(due, key=lambda one: one.place)
            place = event.place
            told.scanned += 1
            told.outcomes_persisted += 1
            self._carry_out(event, now, told)
        return told

    def _carry_out(self, event: Event, now: int, told: Summary) -> None:
        if now - event.due > GRACE_S * SECOND_US:
            told.missed.append(event.id)
            event.outcomes.append("missed")
            event.status = "pending" if event.step else "missed"
            while event.step and event.due <= now:
                event.due += event.step
        elif event.what == "fails":
            told.failed += 1
            told.retry_pending += not event.step
            event.outcomes.append("failed")
            event.due += event.step
        else:
            told.fired += 1
            event.runs += 1
            event.outcomes.append("fired")
            event.status = "pending" if event.step else "fired"
            event.due += event.step
        told.advanced += event.step > 0


def _text(at: Timed, us: int) -> str:
    return at.clock.text((us - at.clock.us) // SECOND_US)


@pytest.mark.slow
def test_any_sequence_answers_as_the_model_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """200 sequences of 30 verbs: every answer, counter, state and effect is the model's. About 12 seconds."""
    names = ["schedule", "schedule", "wait", "wait", "drain", "drain", "cancel", "delete", "update", "look"]
    for seed in range(SEQUENCES):
        chance = random.Random(seed)
        with timed(monkeypatch, runtime_packs=("kg", "brain", "schedule")) as at:
            world = World(at, chance)
            for _ in range(VERBS):
                getattr(world, chance.choice(names))()
            world.check()
            world.drain()
            world.check()
