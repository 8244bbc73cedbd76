"""Ledgers for tests: runs in a store, batches as a client reports them, and what SQLite does for a piece of work."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

import apsw

from hivekeep.agent import appending, events
from hivekeep.agent.appending import Appended
from hivekeep.agent.canonical import digest
from hivekeep.agent.events import NewEvent
from hivekeep.storage import agent_events, agent_intakes, agent_runs
from hivekeep.storage.agent_intakes import IntakeRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.models.gateway import EventInput
from support.runs import run_row
from support.stores import record_id

NOW = 1_780_000_000_000_000
"""2026-05-28T20:26:40.000Z."""
PROFILE = '{"taskType":"build","target":"parser","expected":"tests pass","constraints":null}'


class Ids:
    """Ids that count up."""

    def __init__(self, first: int = 1) -> None:
        self._next = first

    def __call__(self) -> str:
        self._next += 1
        return record_id(self._next - 1)


def open_run(tx: Tx, number: int = 1, **fields: Any) -> RunRow:
    """An active run with its intake and an empty ledger, stored."""
    task = {"title": "t", "query": "build the parser", "profileHints": {}}
    hashed = {"task": '{"title":"t","query":"build the parser","profileHints":{}}', "task_hash": digest(task)}
    run = agent_runs.insert(tx, run_row(id=record_id(0xA0000 + number), **{**hashed, **fields}))
    agent_intakes.insert(
        tx,
        IntakeRow(
            run_seq=run.seq,
            session_id=record_id(0xB0000 + number),
            policy_version="v2",
            profile_version=1,
            status="ready",
            question_count=0,
            profile=PROFILE,
            sources="{}",
            declined="[]",
            tags="[]",
            profile_hash="cf81988c611f6c3b87302fcde42c93371ebd8632e8d8aab3932c8b49f98dbbf3",
            created_at=NOW,
            updated_at=NOW,
            finalised_at=NOW,
        ),
    )
    return run


def event(number: int = 1, **fields: Any) -> EventInput:
    """What a client says of one event."""
    said = {"eventType": "step.completed", "actor": "agent:1", "payload": {"step": number}}
    return cast(EventInput, {**said, **fields})


def batch(inputs: Iterable[EventInput], *, now_us: int = NOW, ids: Callable[[], str] | None = None) -> list[NewEvent]:
    """The events of a request, as an operation reads them."""
    return events.read_batch(list(inputs), workspace="demo", now_us=now_us, new_id=ids or Ids())


def append(
    tx: Tx, run: RunRow, *inputs: EventInput, now_us: int = NOW, ids: Callable[[], str] | None = None
) -> Appended:
    """Append what a client says to the ledger of a run as it is now."""
    now = agent_runs.get(tx, run.id)
    assert now is not None
    return appending.append(tx, now, batch(inputs, now_us=now_us, ids=ids))


def stored(tx: Tx, run: RunRow) -> list[agent_events.LedgerRow]:
    """The whole ledger of a run."""
    return agent_events.page(tx, run.seq, after=0, limit=100_000, max_bytes=1 << 40).rows


class Work(NamedTuple):
    """What SQLite did: statements, instructions of its virtual machine, and rows that were walked past without an
    index."""

    statements: int
    instructions: int
    walked: int


def work_of(connection: apsw.Connection, piece: Callable[[], object]) -> Work:
    """What SQLite does on a connection for a piece of work."""
    carried_out: list[dict[str, int]] = []
    connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, lambda told: carried_out.append(told["stmt_status"]))
    try:
        piece()
    finally:
        connection.trace_v2(0, None)
    return Work(
        len(carried_out),
        sum(status["SQLITE_STMTSTATUS_VM_STEP"] for status in carried_out),
        sum(status["SQLITE_STMTSTATUS_FULLSCAN_STEP"] for status in carried_out),
    )
