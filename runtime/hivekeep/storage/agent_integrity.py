"""What `agent.integrity` reads of the gateway's tables: runs one after the other, and references that lead nowhere.

Invariant: nothing is changed, and no statement answers a text that a client wrote.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import sql


class Stray(NamedTuple):
    """A row that contradicts its run: the id of the run, and what is wrong."""

    run_id: str
    trouble: str


class IntakeHash(NamedTuple):
    """The profile of an intake as JSON text, and its hash once it is final."""

    profile: str
    profile_hash: str | None


class Totals(NamedTuple):
    """How many runs, events of all of them, and runs that were purged there are."""

    runs: int
    events: int
    purged: int


_NEXT_RUN: Final = sql("SELECT {columns} FROM agent_runs WHERE seq > ? LIMIT 1", columns=", ".join(RunRow._fields))
_TOTALS: Final = (
    "SELECT (SELECT count(*) FROM agent_runs), (SELECT count(*) FROM agent_events), (SELECT count(*) FROM"
    " agent_run_purges)"
)
_INTAKE: Final = "SELECT profile, profile_hash FROM agent_intakes WHERE run_seq = ?"
_STRAYS: Final = (
    (
        "it was purged and is here again",
        "SELECT r.id FROM agent_runs AS r WHERE EXISTS (SELECT 1 FROM agent_run_purges AS g WHERE g.run_id = r.id)",
    ),
    (
        "its parent run does not exist",
        "SELECT r.id FROM agent_runs AS r WHERE r.parent_run_id IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM agent_runs AS p WHERE p.id = r.parent_run_id)"
        " AND NOT EXISTS (SELECT 1 FROM agent_run_purges AS g WHERE g.run_id = r.parent_run_id)",
    ),
    (
        "its folded state goes beyond its ledger",
        "SELECT r.id FROM agent_projections AS x JOIN agent_runs AS r ON r.seq = x.run_seq"
        " WHERE x.through_sequence > r.last_sequence",
    ),
    (
        "a delivery goes beyond its ledger",
        "SELECT r.id FROM agent_deliveries AS x JOIN agent_runs AS r ON r.seq = x.run_seq"
        " WHERE x.through_sequence > r.last_sequence",
    ),
    (
        "a nudge goes beyond its ledger",
        "SELECT r.id FROM agent_nudges AS x JOIN agent_runs AS r ON r.seq = x.run_seq"
        " WHERE x.through_sequence > r.last_sequence",
    ),
    (
        "a promotion names an event that is not in its ledger",
        "SELECT r.id FROM agent_memory_links AS x JOIN agent_runs AS r ON r.seq = x.run_seq"
        " WHERE NOT EXISTS (SELECT 1 FROM agent_events AS e WHERE e.event_id = x.event_id AND e.run_seq = x.run_seq)",
    ),
    (
        "a promotion names a delivery that it never had",
        "SELECT r.id FROM agent_memory_links AS x JOIN agent_runs AS r ON r.seq = x.run_seq"
        " WHERE x.delivery_id IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM agent_deliveries AS d WHERE d.id = x.delivery_id AND d.run_seq = x.run_seq)",
    ),
    (
        "feedback names a delivery that it never had",
        "SELECT r.id FROM agent_feedback AS x JOIN agent_runs AS r ON r.seq = x.run_seq"
        " WHERE x.delivery_id IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM agent_deliveries AS d WHERE d.id = x.delivery_id AND d.run_seq = x.run_seq)",
    ),
)


def runs(tx: Tx) -> Iterator[RunRow]:
    """Every run in the order of opening, one at a time."""
    seq = 0
    while (row := tx.one(_NEXT_RUN, (seq,))) is not None:
        run = RunRow._make(row)
        yield run
        seq = run.seq


def totals(tx: Tx) -> Totals:
    """What there is to examine."""
    row = tx.one(_TOTALS)
    assert row is not None
    return Totals._make(row)


def intake(tx: Tx, run_seq: int) -> IntakeHash | None:
    """The intake of a run, None when it has none."""
    row = tx.one(_INTAKE, (run_seq,))
    return None if row is None else IntakeHash._make(row)


def strays(tx: Tx, most: int) -> Iterator[Stray]:
    """Rows that contradict their run; at most `most` of each sort."""
    for trouble, statement in _STRAYS:
        for (run_id,) in tx.all(statement + " LIMIT ?", (most,)):
            yield Stray(run_id, trouble)


def strays_of(tx: Tx, run_seq: int) -> Iterator[Stray]:
    """Which sorts of rows contradict one run."""
    for trouble, statement in _STRAYS:
        row = tx.one(statement + " AND r.seq = ? LIMIT 1", (run_seq,))
        if row is not None:
            yield Stray(row[0], trouble)
