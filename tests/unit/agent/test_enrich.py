"""What follows an acknowledgement: who gets context, advice and a nudge, and that all others leave no trace."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hivekeep.agent import projection
from hivekeep.agent.capabilities import Catalog, read_catalog
from hivekeep.agent.context import AgentContext
from hivekeep.agent.curated import content, lifecycle
from hivekeep.agent.curated.lifecycle import Author, NewEntry
from hivekeep.agent.enrich import Enriched, gated
from hivekeep.agent.intake import Intake
from hivekeep.agent.intaking import first_row
from hivekeep.agent.work import Read, Slow, Work, Write
from hivekeep.identity.caller import make_caller
from hivekeep.storage import agent_intakes, agent_projections, agent_runs
from hivekeep.storage.agent_projections import StoredProjection
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract.gateway_errors import Conflict, GatewayError, NotFound
from hivekeep_contract.limits import MEMORY_SKILL, SOUL_SKILL
from hivekeep_contract.settings import Settings
from support.runs import COMPLETE, run_row
from support.stores import OPTIONS, record_id

SOUL = {"kind": "skill", "name": SOUL_SKILL}
MEMORY = {"kind": "skill", "name": MEMORY_SKILL}
BAD = {"kind": "skill", "name": ""}
TASK = {"title": "Build the parser", "query": "Implement the parser for settings", "profileHints": {}}
PROFILE: Any = {"taskType": "build", "target": "parser", "expected": "tests pass", "constraints": None}
CHECKPOINT = "c" * 64
ADVICE: Any = {"code": "COVERAGE_INCOMPLETE"}
BY = Author("ada", 2000)
LESSON = {"kind": "lesson", "title": "Parser tables", "body": "The parser keeps its tables sorted.", "tags": ["parser"]}
UNRELATED = {"kind": "fact", "title": "Coffee", "body": "The kitchen is on the second floor."}


def catalog(*items: Any) -> Catalog:
    """The catalog of a request that sends these items."""
    return read_catalog(list(items), supplied=True)


BOTH = catalog(SOUL, MEMORY)
OMITTED = read_catalog(None, supplied=False)


class World(NamedTuple):
    """A store, and an active run in it whose profile is complete."""

    engine: SqliteEngine
    run: RunRow

    def rows(self) -> tuple[int, int, int]:
        """Deliveries, their items, and nudges."""
        with self.engine.read() as tx:
            counted = [tx.one(f"SELECT count(*) FROM {table}") for table in WRITTEN]
        first, second, third = (int(row[0]) for row in counted if row is not None)
        return first, second, third

    def change(self, fn: Callable[[Tx], Any]) -> Any:
        """Carry out one transaction."""
        return self.engine.run_write(fn)

    def remember(self, entry: dict[str, Any], **other: Any) -> str:
        """Record an entry in the workspace of the run; answers its id."""
        new = NewEntry(self.run.workspace, content.read(entry), **other)
        entry_id: str = self.change(lambda tx: lifecycle.record(tx, new, BY)).entry.id
        return entry_id

    def with_intake(self, **profile: Any) -> None:
        """Give the intake another profile, with gaps of which nobody could fill any."""
        known: Any = PROFILE | profile
        row = first_row(self.run.seq, record_id(7), Intake(known, {}, 3), 1000)
        self.change(lambda tx: tx.run("DELETE FROM agent_intakes"))
        self.change(lambda tx: agent_intakes.insert(tx, row))

    def reported(self, **state: Any) -> RunRow:
        """The run with one event of which the folded state is known."""
        run = self.run._replace(last_sequence=1)
        folded: dict[str, Any] = dict(projection.initial(PROFILE)) | {"throughSequence": 1} | state
        self.change(lambda tx: tx.run("UPDATE agent_runs SET last_sequence = 1"))
        self.change(lambda tx: agent_projections.save(tx, run.seq, StoredProjection(1, folded)))
        return run


WRITTEN = ("agent_deliveries", "agent_delivery_items", "agent_nudges")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An active run without events, in a workspace without memory."""
    engine = open_store(str(tmp_path / "hive.db"), OPTIONS)
    row = run_row(coverage=json.dumps(COMPLETE), task=dump(TASK), title=TASK["title"])
    run = engine.run_write(lambda tx: agent_runs.insert(tx, row))
    made = World(engine, run)
    made.with_intake()
    yield made
    engine.close()


def context(world: World) -> AgentContext:
    """The surroundings of an operation, of which only the store and the clock are used."""

    def unused(*_: Any) -> Any:
        raise AssertionError("the gate neither checks a body nor writes an audit row")

    return AgentContext(world.engine, Settings(), make_caller(None, None, ()), "agent.checkpoint", unused, unused)


def carry_out(world: World, work: Work[Enriched], meanwhile: Callable[[], Any] | None = None) -> tuple[Enriched, str]:
    """The answer, and a letter for each item that was asked for; `meanwhile` happens before the first write."""
    told: Any = None
    letters = ""
    try:
        item = next(work)
        while True:
            letters += type(item).__name__[0]
            if isinstance(item, Write):
                if meanwhile is not None:
                    meanwhile()
                told = world.engine.run_write(item.fn)
            elif isinstance(item, Read):
                with world.engine.read() as tx:
                    told = item.fn(tx)
            else:
                assert isinstance(item, Slow)
                told = item.fn()
            item = work.send(told)
    except StopIteration as end:
        return end.value, letters


def ask(world: World, sent: Catalog = BOTH, **other: Any) -> Enriched:
    """The enriched part of an answer."""
    return carry_out(world, gated(context(world), world.run.id, sent, preliminary=[ADVICE], **other))[0]


# who gets context


def test_a_client_with_both_skills_gets_the_memory(world: World) -> None:
    """Ranked in the pool and handed over in one queued transaction; the delivery names the exact revision."""
    entry_id = world.remember(LESSON)
    work = gated(context(world), world.run.id, BOTH, preliminary=[ADVICE])
    told, letters = carry_out(world, work)
    assert letters == "SW"
    assert told["context"] is not None
    assert [(item["entryId"], item["entryRevision"]) for item in told["context"]["items"]] == [(entry_id, 1)]
    assert told["context"]["untrusted"] is True
    assert told["nextAction"] == "proceed"
    assert told["memoryPolicy"] == {
        "memoryReasoningRequired": True,
        "contextWithheld": False,
        "withheldReason": None,
    }
    assert told["recommendations"] == []
    assert "nudge" not in told
    assert world.rows() == (1, 1, 0)


@pytest.mark.parametrize("checkpoint", [None, CHECKPOINT])
@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (OMITTED, []),
        (catalog(), []),
        (catalog(MEMORY), []),
        (read_catalog("x", supplied=True), ["CAPABILITY_CATALOG_UNAVAILABLE"]),
        (catalog(MEMORY, BAD), ["CAPABILITY_CATALOG_ITEMS_DROPPED", "CAPABILITY_CATALOG_UNAVAILABLE"]),
    ],
    ids=["omitted", "empty", "missing", "malformed", "unknown"],
)
def test_without_the_first_skill_nothing_is_handed_out_or_written(
    world: World, sent: Catalog, said: list[str], checkpoint: str | None
) -> None:
    """No context, no advice, no nudge, no delivery; the answer says what is missing."""
    world.remember(LESSON)
    world.reported(failures={"e1": 1})
    work = gated(context(world), world.run.id, sent, preliminary=[ADVICE], checkpoint_id=checkpoint)
    told, letters = carry_out(world, work)
    assert letters == "S"
    assert (told["context"], told["recommendations"]) == (None, [])
    assert told["nextAction"] == "required_capability_unavailable"
    assert told["capabilities"]["recommendations"][0]["name"] == SOUL_SKILL
    assert [warning["code"] for warning in told["warnings"]] == said
    assert told.get("nudge") is None
    assert ("nudge" in told) is (checkpoint is not None)
    assert world.rows() == (0, 0, 0)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (catalog(SOUL), "memory_reasoning_missing"),
        (catalog(SOUL, BAD), "memory_reasoning_unknown"),
        (catalog(SOUL, MEMORY, BAD), "memory_reasoning_unknown"),
    ],
)
def test_without_the_second_skill_memory_is_withheld(world: World, sent: Catalog, reason: str) -> None:
    """The run goes on without it; nothing is written, neither a delivery nor a nudge."""
    world.remember(LESSON)
    world.reported(failures={"e1": 1})
    work = gated(context(world), world.run.id, sent, preliminary=[ADVICE], checkpoint_id=CHECKPOINT)
    told, letters = carry_out(world, work)
    assert letters == "S"
    assert (told["context"], told["recommendations"], told.get("nudge")) == (None, [], None)
    assert told["nextAction"] == "proceed"
    assert told["memoryPolicy"] == {
        "memoryReasoningRequired": True,
        "contextWithheld": True,
        "withheldReason": reason,
    }
    assert world.rows() == (0, 0, 0)


@pytest.mark.parametrize(
    "profile", [{"taskType": "research"}, {"expected": None}, {"target": None}], ids=["other task", "gap", "other gap"]
)
def test_other_tasks_and_intakes_with_gaps_need_one_skill(world: World, profile: dict[str, Any]) -> None:
    """What is found is delivered, and memory-reasoning is not spoken of."""
    entry_id = world.remember(LESSON)
    world.with_intake(**profile)
    told = ask(world, catalog(SOUL))
    assert told["context"] is not None
    assert [item["entryId"] for item in told["context"]["items"]] == [entry_id]
    assert told["memoryPolicy"]["memoryReasoningRequired"] is False
    assert world.rows() == (1, 1, 0)


def test_memory_that_cannot_be_acted_upon_needs_one_skill(world: World) -> None:
    """An entry that only stands there is no reason to withhold anything."""
    world.remember(UNRELATED)
    told = ask(world, catalog(SOUL))
    assert told["context"] is not None
    assert told["memoryPolicy"]["contextWithheld"] is False


def test_a_revised_profile_is_what_the_gate_looks_at(world: World) -> None:
    """A task that became one of debugging needs the second Skill, one that became research needs it no longer."""
    world.remember(LESSON)
    world.with_intake(taskType="writing")
    world.reported(profile={**PROFILE, "taskType": "debug"})
    assert ask(world, catalog(SOUL))["memoryPolicy"]["withheldReason"] == "memory_reasoning_missing"
    assert world.rows() == (0, 0, 0)
    world.reported(profile={**PROFILE, "taskType": "research"})
    assert ask(world, catalog(SOUL))["context"] is not None
    assert world.rows() == (1, 1, 0)


# while a question waits, and after the end


@pytest.mark.parametrize(
    ("sent", "action"),
    [(BOTH, "answer_from_evidence_or_ask_user"), (catalog(), "required_capability_unavailable")],
)
def test_a_question_closes_the_gate(world: World, sent: Catalog, action: str) -> None:
    """Nothing is ranked or written while it waits; a missing Skill is told first."""
    world.remember(LESSON)
    world.change(lambda tx: tx.run("UPDATE agent_runs SET status = 'intake'"))
    world.change(lambda tx: tx.run("UPDATE agent_intakes SET status = 'needs_answer', profile_hash = NULL"))
    told, letters = carry_out(world, gated(context(world), world.run.id, sent, preliminary=[], asking=True))
    assert letters == "S"
    assert (told["context"], told["recommendations"], told["nextAction"]) == (None, [], action)
    assert world.rows() == (0, 0, 0)


def test_an_old_question_is_told_without_context(world: World) -> None:
    """An acknowledgement that shows a question is never joined by memory, though the run went on meanwhile."""
    world.remember(LESSON)
    told = ask(world, asking=True)
    assert (told["context"], told["nextAction"]) == (None, "answer_from_evidence_or_ask_user")
    assert world.rows() == (0, 0, 0)


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled", "interrupted"])
def test_a_run_that_is_over_gets_no_context(world: World, status: str) -> None:
    """Its acknowledgement is told again with the advice that it had; what to do next is worked out."""
    world.remember(LESSON)
    world.reported(failures={"e1": 1})
    world.change(lambda tx: tx.run("UPDATE agent_runs SET status = ?", (status,)))
    told = ask(world, checkpoint_id=CHECKPOINT)
    assert (told["context"], told["recommendations"], told.get("nudge")) == (None, [ADVICE], None)
    assert told["nextAction"] == "proceed"
    assert ask(world, catalog(), checkpoint_id=CHECKPOINT)["recommendations"] == []
    assert world.rows() == (0, 0, 0)


def test_a_run_that_was_purged_is_not_found(world: World) -> None:
    """Between its mutation and the ranking."""
    with pytest.raises(NotFound) as refusal:
        carry_out(world, gated(context(world), record_id(99), BOTH, preliminary=[]))
    assert refusal.value.reason == "no_run"


# nothing was found


def test_an_empty_delivery_says_that_there_is_memory(world: World) -> None:
    """With the number of entries that could have been delivered, and only where the profile is complete."""
    assert "deliveryEmpty" not in ask(world)["memoryPolicy"]
    world.remember(LESSON)
    gone = world.remember(UNRELATED)
    world.change(lambda tx: lifecycle.disable(tx, gone, BY))
    first = ask(world)
    assert first["context"] is not None
    assert len(first["context"]["items"]) == 1
    assert "deliveryEmpty" not in first["memoryPolicy"]
    world.reported()
    again = ask(world)
    assert again["context"] is not None
    assert again["context"]["items"] == []
    assert again["memoryPolicy"]["deliveryEmpty"] is True
    assert again["memoryPolicy"]["storedEntryCount"] == 1


def test_an_intake_with_gaps_says_nothing_of_it(world: World) -> None:
    """Though there are entries and none was found."""
    world.with_intake(expected=None)
    world.remember(LESSON)
    ask(world, catalog(SOUL))
    world.reported()
    again = ask(world, catalog(SOUL))
    assert again["context"] is not None
    assert again["context"]["items"] == []
    assert "deliveryEmpty" not in again["memoryPolicy"]


# what changes between ranking and delivery


def moved(world: World, _: str) -> None:
    """The run gets an event."""
    world.reported()


def closed(world: World, _: str) -> None:
    """The run ends."""
    world.change(lambda tx: tx.run("UPDATE agent_runs SET status = 'completed'"))


def revised(world: World, entry_id: str) -> None:
    """The entry gets another revision."""
    other = content.read({**LESSON, "body": "The parser keeps no tables."})
    world.change(lambda tx: lifecycle.revise(tx, entry_id, 1, other, BY))


def disabled(world: World, entry_id: str) -> None:
    """The entry is switched off."""
    world.change(lambda tx: lifecycle.disable(tx, entry_id, BY))


@pytest.mark.parametrize("change", [moved, closed, revised, disabled])
def test_a_change_after_ranking_is_a_conflict(world: World, change: Callable[[World, str], None]) -> None:
    """Nothing is stored and nothing is ranked again; the next request gets what holds then."""
    entry_id = world.remember(LESSON)
    work = gated(context(world), world.run.id, BOTH, preliminary=[], checkpoint_id=CHECKPOINT)
    with pytest.raises(Conflict) as refusal:
        carry_out(world, work, lambda: change(world, entry_id))
    assert refusal.value.reason in ("context_changed", "run_moved_on", "run_closed")
    assert world.rows() == (0, 0, 0)


# advice and nudges


def test_a_checkpoint_gets_one_nudge_from_its_final_advice(world: World) -> None:
    """Stored with the delivery; the same checkpoint again is told the same, and nothing further is stored."""
    world.reported(failures={"e1": 1}, unknown={"e2": 1})
    told = ask(world, checkpoint_id=CHECKPOINT)
    assert [advice["code"] for advice in told["recommendations"]] == [
        "SIDE_EFFECT_OUTCOME_UNKNOWN",
        "UNRESOLVED_FAILURE",
    ]
    nudge = told.get("nudge")
    assert nudge is not None
    assert (nudge["code"], nudge["evidenceEventIds"]) == ("SIDE_EFFECT_OUTCOME_UNKNOWN", ["e2"])
    assert world.rows()[2] == 1
    assert ask(world, checkpoint_id=CHECKPOINT) == told
    assert world.rows()[2] == 1


def test_without_a_checkpoint_there_is_no_nudge(world: World) -> None:
    """Open and answer give advice alone."""
    world.reported(failures={"e1": 1})
    told = ask(world)
    assert [advice["code"] for advice in told["recommendations"]] == ["UNRESOLVED_FAILURE"]
    assert "nudge" not in told
    assert world.rows()[2] == 0


def test_an_equal_request_gets_the_stored_delivery(world: World) -> None:
    """The same context with the same id; one delivery is stored."""
    world.remember(LESSON)
    first, again = ask(world), ask(world)
    assert first == again
    assert world.rows() == (1, 1, 0)


def test_what_the_request_names_is_searched_for(world: World) -> None:
    """Budget, paths and signatures reach the ranking: another question is another delivery."""
    world.remember({**LESSON, "body": "x" * 500})
    usual = ask(world)
    assert usual["context"] is not None
    small = ask(world, budget=100)
    assert small["context"] is not None
    assert small["context"]["queryHash"] != usual["context"]["queryHash"]
    hashes = {usual["context"]["queryHash"], small["context"]["queryHash"]}
    others: list[dict[str, Any]] = [{"changed_paths": ["src/parser.py"]}, {"error_signatures": ["E42: no table"]}]
    for other in others:
        told = ask(world, **other)
        assert told["context"] is not None
        hashes.add(told["context"]["queryHash"])
    assert len(hashes) == 4


def test_a_secret_that_a_request_names_is_not_searched_for(world: World) -> None:
    """Paths and signatures are asked for as the ledger keeps them: masked, and never hashed as they came."""
    hashes = set()
    for tail in ("a1B2", "c3D4"):
        token = "ghp_" + tail * 9
        told = ask(world, changed_paths=[f"src/{token}.py"], error_signatures=[f"bad token {token}"])
        assert told["context"] is not None
        hashes.add(told["context"]["queryHash"])
    assert len(hashes) == 1


def test_a_failure_of_the_transaction_leaves_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A nudge that cannot be stored takes its delivery along: both are one transaction."""
    world.remember(LESSON)
    world.reported(failures={"e1": 1})

    def refuse(*_: Any) -> Any:
        raise Conflict("run_moved_on")

    monkeypatch.setattr("hivekeep.agent.advising.nudge", refuse)
    with pytest.raises(GatewayError):
        ask(world, checkpoint_id=CHECKPOINT)
    assert world.rows() == (0, 0, 0)
