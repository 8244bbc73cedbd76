"""Random walks over runs: whatever is asked, in whatever order, the gateway answers what a small model of it does."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.gateway import (
    CATALOG,
    COVERAGE,
    REASONING,
    Client,
    Reply,
    event,
    open_http,
    open_in_process,
    opening,
)
from support.run_model import SORTS, RunModel, Told, conflict, invalid

SEEDS = range(20)
STEPS = 90
LIKELY = {"intake": (8, 1, 1, 1), "active": (1, 8, 10, 1)}
"""How often a run is answered, reported on, checkpointed and closed, by its state."""
QUERIES = {"please help": None, "fix the importer": "debug", "build the prefix tree": "build"}
PROFILES: list[dict[str, Any]] = [
    {},
    {"target": "parser"},
    {"taskType": "review", "expected": "no findings"},
    {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": "no deps"},
]
SHORT = [{"kind": "skill", "name": "another"}, REASONING]
"""A catalog without the skill that everything needs."""
TEXTS = ("the parser", " the parser ", "tests pass", "unknown", " Unknown")
MOMENT = "2026-01-01T00:00:00.000Z"
OUTCOMES = ("passed", "passed", "success", "failed", "skipped", None)
REPORTED = (
    "step.started",
    "step.failed",
    "file.changed",
    "test.completed",
    "test.completed",
    "verification.recorded",
    "command.completed",
    "tool.outcome_unknown",
    "error.recorded",
    "decision.recorded",
    "task_profile.revised",
    "intake.answered",
)
TAKEN_BY_CHECKPOINTS = ("step.started", "step.failed", "file.changed", "error.recorded", "task_profile.revised")
ACKNOWLEDGED = {
    "agent.open": ("runId", "runStatus", "intakeStatus", "question", "missingFields", "taskProfile", "profileHash"),
    "agent.answer": ("runId", "runStatus", "intakeStatus", "question", "missingFields", "taskProfile", "profileHash"),
    "agent.events": None,
    "agent.checkpoint": ("acceptedThrough", "localSequences", "eventIds", "runStatus", "projection", "taskProfile"),
    "agent.close": None,
}
"""The fields of an answer that a replay repeats; None: all of them."""


class Accepted(NamedTuple):
    """A write that was acknowledged."""

    operation: str
    run_id: str | None
    body: dict[str, Any]
    key: str
    data: Any


class Walk:
    """A gateway beside the models of its runs."""

    def __init__(self, gateway: Client, rng: random.Random) -> None:
        self.gateway = gateway
        self.rng = rng
        self.runs: dict[str, RunModel] = {}
        self.accepted: list[Accepted] = []
        self.count = 0

    def go(self, steps: int) -> None:
        """So many requests; then what is stored is looked at."""
        for _ in range(steps):
            self.step()
        self.check_stored()

    def step(self) -> None:
        """One request: a new run, something again, or what mostly fits the state of a run."""
        chance = self.rng.random()
        if not self.runs or chance < 0.06:
            self.open()
        elif chance < 0.25:
            self.rng.choice([self.replay, self.replay, self.reuse, self.resend])()
        else:
            run_id, model = self.pick()
            answer, report, checkpoint, close = LIKELY.get(model.status, (1, 1, 1, 1))
            requests = [self.answer] * answer + [self.report] * report + [self.checkpoint] * checkpoint
            self.rng.choice(requests + [self.close] * close)(run_id, model)

    # requests

    def open(self) -> None:
        """A new run with some of its profile known."""
        query = self.rng.choice(list(QUERIES))
        hints = self.rng.choice(PROFILES)
        soul = self.rng.random() < 0.8
        body = opening(task={"title": "a task", "query": query, "profileHints": hints}, capabilities=_catalog(soul))
        slots = {"taskType": QUERIES[query], "target": None, "expected": None, "constraints": None}
        model = RunModel({**slots, **hints}, soul)
        model.begin()
        data = self.write("agent.open", None, body, None)
        self.runs[data["runId"]] = model
        self.check_intake(model, data)

    def answer(self, run_id: str, model: RunModel) -> None:
        """An answer, mostly to the question that waits."""
        slot = self.rng.choice([model.asked or "target", model.asked or "expected", *model.answers, "constraints"])
        value = self.rng.choice([*SORTS, "nonsense"] if slot == "taskType" else TEXTS)
        catalog, refusal = self.catalog(model)
        refusal = refusal or model.answer(slot, value)
        body = {"apiVersion": "1", "questionId": slot, "value": value, "capabilities": catalog}
        data = self.write("agent.answer", run_id, body, refusal)
        if data is not None:
            self.check_intake(model, data)

    def report(self, run_id: str, model: RunModel) -> None:
        """A batch of events."""
        batch = [self.event(model, REPORTED) for _ in range(self.rng.randint(1, 3))]
        refusal = model.refusal([one["eventType"] for one in batch])
        data = self.write("agent.events", run_id, {"apiVersion": "1", "events": batch}, refusal)
        if data is not None:
            self.append(model, batch, data)

    def checkpoint(self, run_id: str, model: RunModel) -> None:
        """A checkpoint with some of its fields."""
        catalog, differs = self.catalog(model)
        fields, events = self.fields(model)
        refusal = model.inactive() or differs or (None if events else invalid("empty"))
        key = self.fresh("key")
        body = {"apiVersion": "1", "capabilities": catalog, **fields}
        data = self.write("agent.checkpoint", run_id, body, refusal, key)
        if data is not None:
            self.append(model, events, data)
            self.check_checkpoint(model, data)
            self.check_advice(model, key, data)

    def close(self, run_id: str, model: RunModel) -> None:
        """The end of a run, with last events."""
        status = self.rng.choice(["completed", "failed", "cancelled", "interrupted"])
        batch = [self.event(model, REPORTED) for _ in range(self.rng.randint(0, 2))]
        body = {"apiVersion": "1", "status": status, **({"events": batch} if batch else {})}
        data = self.write("agent.close", run_id, body, model.inactive())
        if data is not None:
            self.append(model, [*batch, event("run.closed")], data, record_last=False)
            model.close(status)
            assert (data["status"], data["runStatus"]) == (status, status)

    def replay(self) -> None:
        """The same request under the same key: acknowledged as before, whatever has become of the run."""
        before = self.rng.choice(self.accepted)
        reply = self.gateway.ask(before.operation, before.run_id, before.body, key=before.key)
        fields = ACKNOWLEDGED[before.operation] or tuple(before.data)
        assert {name: reply.data[name] for name in fields} == {name: before.data[name] for name in fields}
        model = self.runs[before.data["runId"]]
        if before.operation == "agent.checkpoint":
            if model.status == "active":
                self.check_advice(model, before.key, reply.data)
            else:
                assert (reply.data["context"], reply.data["nudge"]) == (None, None)

    def reuse(self) -> None:
        """Another request under a key that was used."""
        before = self.rng.choice(self.accepted)
        body = dict(before.body)
        if before.operation == "agent.open":
            body["workspace"] = "another"
        elif before.operation == "agent.answer":
            body["value"] = "something else" if body["questionId"] != "taskType" else "research"
        elif before.operation == "agent.close":
            body["status"] = "failed" if body["status"] == "completed" else "completed"
        else:
            body["events"] = [event("step.started", payload={"step": "another"})]
        assert self.gateway.ask(before.operation, before.run_id, body, key=before.key).told == conflict("key_reused")

    def resend(self) -> None:
        """Events that are stored already, under a new key: acknowledged with their old numbers if the run is open."""
        known = [
            one
            for one in self.accepted
            if one.operation == "agent.events" and all("eventId" in given for given in one.body["events"])
        ]
        if not known:
            return
        before = self.rng.choice(known)
        assert before.run_id is not None
        model = self.runs[before.run_id]
        refusal = model.refusal([one["eventType"] for one in before.body["events"]])
        data = self.write("agent.events", before.run_id, before.body, refusal)
        assert data is None or data["localSequences"] == before.data["localSequences"]

    # their parts

    def pick(self) -> tuple[str, RunModel]:
        """A run, mostly one that is not over."""
        open_runs = [run_id for run_id, model in self.runs.items() if model.status in ("intake", "active")]
        run_id = self.rng.choice(open_runs if open_runs and self.rng.random() < 0.9 else list(self.runs))
        return run_id, self.runs[run_id]

    def fresh(self, sort: str) -> str:
        """A key or an id that this walk did not use before."""
        self.count += 1
        return f"{sort}-{self.count}"

    def catalog(self, model: RunModel) -> tuple[list[Any], Told | None]:
        """The catalog of the run, and rarely another one with the refusal that it gets."""
        if self.rng.random() < 0.95:
            return _catalog(model.soul), None
        return _catalog(not model.soul), conflict("catalog_differs")

    def event(self, model: RunModel, types: tuple[str, ...]) -> dict[str, Any]:
        """An event that may resolve earlier ones; half of them have an id and a moment of their own."""
        event_type = self.rng.choice(types)
        payload: dict[str, Any] = {"mutated": self.rng.random() < 0.5}
        known = [one.event_id for one in model.events if one.event_id]
        if event_type == "task_profile.revised":
            payload = {"profile": self.rng.choice([{"target": "lexer"}, {"taskType": "debug", "constraints": None}])}
        elif known and self.rng.random() < 0.3:
            payload["resolvesEventIds"] = self.rng.sample(known, min(len(known), 3))
        fields: dict[str, Any] = {"outcome": self.rng.choice(OUTCOMES)}
        if self.rng.random() < 0.5:
            fields |= {"eventId": self.fresh("event"), "occurredAt": MOMENT}
        return event(event_type, payload=payload, **fields)

    def fields(self, model: RunModel) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Some fields of a checkpoint, and the events that they stand for, in the order of the rules."""
        fields: dict[str, Any] = {}
        events: list[dict[str, Any]] = []
        if self.rng.random() < 0.4:
            fields["events"] = [self.event(model, TAKEN_BY_CHECKPOINTS)]
            events += fields["events"]
        for name, event_type, key in (
            ("currentGoal", "step.started", "goal"),
            ("currentStep", "step.started", "step"),
        ):
            if self.rng.random() < 0.3:
                fields[name] = "go on"
                events.append(event(event_type, payload={key: "go on"}))
        for name, event_type, key in (
            ("changedPaths", "file.changed", "path"),
            ("errorSignatures", "error.recorded", "signature"),
            ("unresolvedItems", "correction.recorded", "unresolved"),
        ):
            if self.rng.random() < 0.25:
                fields[name] = ["src/a.py", "src/b.py"][: self.rng.randint(0, 2)]
                events += [event(event_type, payload={key: text}) for text in fields[name]]
        if self.rng.random() < 0.15:
            fields["taskProfileRevision"] = {"expected": "all tests pass"}
            events.append(event("task_profile.revised", payload={"profile": fields["taskProfileRevision"]}))
        return fields, events

    def write(
        self, operation: str, run_id: str | None, body: dict[str, Any], refusal: Told | None, key: str | None = None
    ) -> Any:
        """The data of a write, or None when it is refused as it must be."""
        key = key or self.fresh("key")
        reply: Reply = self.gateway.ask(operation, run_id, body, key=key)
        if refusal is not None:
            assert reply.told == refusal
            return None
        self.accepted.append(Accepted(operation, run_id, body, key, reply.data))
        return reply.data

    def append(self, model: RunModel, batch: list[dict[str, Any]], data: Any, *, record_last: bool = True) -> None:
        """Events that were acknowledged: the next numbers, the given ids."""
        first = len(model.events) + 1
        assert data["localSequences"] == list(range(first, first + len(batch)))
        assert data["acceptedThrough"] == data["localSequences"][-1]
        assert [data["eventIds"][at] for at, one in enumerate(batch) if "eventId" in one] == [
            one["eventId"] for one in batch if "eventId" in one
        ]
        for one, event_id in list(zip(batch, data["eventIds"], strict=True))[: None if record_last else -1]:
            model.record(one["eventType"], event_id, one.get("outcome"), one["payload"])

    # what must hold

    def check_intake(self, model: RunModel, data: Any) -> None:
        """The intake of an answer is that of the model, and nothing is handed out while a question waits."""
        question = data["question"]
        assert (None if question is None else question["id"]) == model.asked
        assert data["currentQuestion"] == data["intake"]["question"] == question
        assert (data["runStatus"], data["intakeStatus"]) == (model.status, model.intake_status)
        assert (data["missingFields"], data["taskProfile"]) == (model.missing, model.profile)
        assert (data["profileHash"] is None) == (model.status == "intake")
        assert data["nextAction"] == model.next_action
        assert (data["context"] is None) == (model.status == "intake" or not model.soul)
        assert [one["code"] for one in data["recommendations"]] == model.advice()

    def check_checkpoint(self, model: RunModel, data: Any) -> None:
        """The projection of a checkpoint is that of the model."""
        expected = model.projection()
        assert {name: data["projection"][name] for name in expected} == expected
        assert (data["projection"]["coverage"], data["projection"]["declaredCoverage"]) == ("partial", COVERAGE)
        assert data["taskProfile"] == {**model.profile, "source": "akinator+ledger-revisions"}
        assert (data["runStatus"], data["intakeStatus"]) == ("active", model.intake_status)

    def check_advice(self, model: RunModel, key: str, data: Any) -> None:
        """Context, advice and nudge are those of the run as it stands, also for a replay."""
        assert data["nextAction"] == model.next_action
        assert (data["context"] is None) == (not model.soul)
        assert [one["code"] for one in data["recommendations"]] == model.advice()
        assert (data["nudge"] or {"code": None})["code"] == model.nudge(key)

    def check_stored(self) -> None:
        """The ledger of each run is that of the model, from 1 without gaps, and each event names the one before."""
        for run_id, model in self.runs.items():
            view = self.gateway.run(run_id)
            assert (view["status"], view["lastSequence"]) == (model.status, len(model.events))
            assert (view["endedAt"] is None) == (model.status in ("intake", "active"))
            stored = self.timeline(run_id)
            assert [(one["sequence"], one["eventType"]) for one in stored] == [
                (one.sequence, one.event_type) for one in model.events
            ]
            hashes = ["0" * 64, *(one["eventHash"] for one in stored)]
            assert [one["previousHash"] for one in stored] == hashes[:-1]

    def timeline(self, run_id: str) -> list[dict[str, Any]]:
        """All events of a run, page by page."""
        found: list[dict[str, Any]] = []
        cursor: int | None = 0
        while cursor is not None:
            page = self.gateway.ask("agent.events.list", run_id, query={"after": cursor, "limit": 7}).data
            found += page["items"]
            cursor = page["nextCursor"]
        return found


def _catalog(soul: bool) -> list[Any]:
    return list(CATALOG if soul else SHORT)


@pytest.mark.parametrize("seed", SEEDS)
def test_any_walk_over_runs_is_answered_as_the_rules_say(seed: int) -> None:
    """Opens, answers, events, checkpoints, closes, replays, keys used twice, events sent twice, over several runs."""
    with open_in_process() as gateway:
        Walk(gateway, random.Random(seed)).go(STEPS)


@pytest.mark.parametrize("seed", range(100, 104))
def test_a_walk_goes_on_after_a_restart(seed: int, tmp_path: Path) -> None:
    """What was acknowledged before is replayed, and what was told before is not told again."""
    walk: Walk | None = None
    for _ in range(3):
        with open_in_process(tmp_path / "hive.db") as gateway:
            walk = walk or Walk(gateway, random.Random(seed))
            walk.gateway = gateway
            walk.go(STEPS // 3)


@pytest.mark.parametrize("seed", range(200, 202))
def test_a_walk_over_http_is_answered_alike(seed: int, tmp_path: Path) -> None:
    """Behind the application of a door, with the writer's thread and its queue."""
    with open_http(tmp_path / "hive.db") as gateway:
        Walk(gateway, random.Random(seed)).go(STEPS)
