"""Runs and curated entries in a store, and questions about them, for tests of the context broker."""

from __future__ import annotations

from typing import Any

from hivekeep.agent import broker
from hivekeep.agent.broker import Query
from hivekeep.agent.curated import content, lifecycle
from hivekeep.agent.curated.lifecycle import Author, NewEntry, Source
from hivekeep.storage import agent_intakes, agent_runs
from hivekeep.storage.agent_entries import EntryRow
from hivekeep.storage.agent_intakes import IntakeRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from support.runs import run_row
from support.stores import record_id

DAY_US = 24 * 60 * 60 * 1_000_000
BY = Author("ada", 1_000_000)
NOTHING: Any = {"taskType": None, "target": None, "expected": None, "constraints": None}
"""A profile of which nothing is known."""


def profile(**slots: Any) -> Any:
    """A profile of which only these slots are known."""
    return {**NOTHING, **slots}


def add_run(tx: Tx, number: int = 1, **fields: Any) -> RunRow:
    """An active run with three events and a final intake; its intake session is called like the run."""
    run = agent_runs.insert(tx, run_row(id=record_id(number), **{"last_sequence": 3, **fields}))
    agent_intakes.insert(
        tx,
        IntakeRow(
            run_seq=run.seq,
            session_id=run.id,
            policy_version="v2",
            profile_version=1,
            status="ready",
            question_count=0,
            profile="{}",
            sources="{}",
            declined="[]",
            tags="[]",
            profile_hash="0" * 64,
            created_at=1000,
            updated_at=1000,
            finalised_at=1000,
        ),
    )
    return run


def add_entry(
    tx: Tx,
    title: str,
    body: str = "",
    *,
    workspace: str = "demo",
    status: str = "candidate",
    trust_level: str = "untrusted",
    confidence: float = 0.0,
    source: Source | None = None,
    at: int = 1_000_000,
    **said: Any,
) -> EntryRow:
    """A stored entry; one that nobody vouches for and that is a fact, unless told otherwise."""
    says = content.read({"kind": "fact", "title": title, "body": body, **said})
    new = NewEntry(workspace, says, status, trust_level, confidence, source)
    return lifecycle.record(tx, new, Author("ada", at)).entry


def revised(tx: Tx, entry: EntryRow, title: str, body: str = "") -> EntryRow:
    """The entry with another text, as its next revision."""
    now = lifecycle.get(tx, entry.id)
    says = content.read({"kind": "fact", "title": title, "body": body})
    return lifecycle.revise(tx, entry.id, now.revision, says, BY).entry


def query(run: RunRow, title: str | None = None, **fields: Any) -> Query:
    """What a run asks for; with a title, as if that were its task."""
    asked = {"profile": NOTHING, "tags": (), **fields}
    return Query(run=run if title is None else run._replace(title=title), session_id=run.id, **asked)


def titles(tx: Tx, run: RunRow, title: str | None = None, **fields: Any) -> list[str]:
    """The titles of what a question finds, best first."""
    return [item.content["title"] for item in broker.rank(tx, query(run, title, **fields)).items]


def reasons(tx: Tx, run: RunRow, title: str | None = None, **fields: Any) -> dict[str, tuple[str, ...]]:
    """Why each entry is found, by its title."""
    found = broker.rank(tx, query(run, title, **fields)).items
    return {item.content["title"]: item.reasons for item in found}
