"""How SQLite carries out a purge: by indexes alone, however many other runs there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hivekeep.storage import agent_integrity, agent_purges, agent_runs
from hivekeep.storage.agent_purges import REMOVALS, PurgeRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.connections import MEMORY, SqliteTx, open_connection
from hivekeep.storage.engine import Tx
from hivekeep.storage.migrations import migrate, packaged
from support.ledgers import Ids, Work, append, event, open_run, work_of
from support.stores import OPTIONS, Explained, record_id

ONE = record_id(1)

READS: list[tuple[str, Callable[[Any], object], str]] = [
    ("runs by prefix", lambda tx: agent_runs.with_prefix(tx, "00000000"), "agent_runs_id (id>? AND id<?)"),
    (
        "idle runs",
        lambda tx: agent_runs.idle(tx, "demo", "intake", 1, 2),
        "agent_runs_by_status (workspace=? AND status=? AND created_at<?)",
    ),
    ("purges by prefix", lambda tx: agent_purges.with_prefix(tx, "0"), "agent_run_purges_run (run_id>? AND run_id<?)"),
    ("a spent key", lambda tx: agent_purges.is_spent(tx, "x"), "agent_run_purges_open_key (open_key_hash=?)"),
    ("the key of an open", lambda tx: agent_purges.open_key(tx, 1, "x"), "agent_idempotency_of_run (run_seq=?)"),
    ("kept entries", lambda tx: agent_purges.kept_entries(tx, 1), "agent_memory_links_by_run (run_seq=?)"),
    ("what is left", lambda tx: agent_purges.last_unerased(tx), "agent_run_purges_unerased"),
]


@pytest.mark.parametrize(("read", "index"), [row[1:] for row in READS], ids=[row[0] for row in READS])
def test_each_read_follows_its_index(tx: Tx, read: Callable[[Any], object], index: str) -> None:
    """The index that was made for it is used, and no table is scanned."""
    explained = Explained(tx)
    read(explained)
    assert [step for step in explained.steps if index in step]
    assert [step for step in explained.steps if step.startswith("SCAN") and "INDEX" not in step] == []


@pytest.mark.parametrize("statement", REMOVALS)
def test_each_removal_follows_an_index(tx: Tx, statement: str) -> None:
    """No table is scanned for the rows of one run."""
    steps = [str(row[3]) for row in tx.all("EXPLAIN QUERY PLAN " + statement, (1,))]
    assert [step for step in steps if step.startswith("SCAN")] == []


def test_contradictions_of_one_run_are_looked_up(tx: Tx) -> None:
    """Inspecting a run walks over nothing of the others."""
    explained = Explained(tx)
    list(agent_integrity.strays_of(explained, 1))
    assert [step for step in explained.steps if step.startswith("SCAN") and "CONSTANT ROW" not in step] == []


def test_a_purge_among_many_runs_is_as_much_work_as_among_few() -> None:
    """Foreign keys are checked by indexes as well: nothing is walked past, and the instructions are the same."""
    few, many = _work_among(2), _work_among(200)
    assert few.walked == many.walked == 0
    assert many.instructions <= few.instructions * 1.1


def _work_among(runs: int) -> Work:
    connection = open_connection(MEMORY, "writer", OPTIONS)
    migrate(MEMORY, connection, OPTIONS, packaged())
    tx = SqliteTx(connection)
    opened = [open_run(tx, number) for number in range(1, runs + 1)]
    for number, run in enumerate(opened):
        append(tx, run, *(event(one) for one in range(3)), ids=Ids(1000 * (number + 1)))
    work = work_of(connection, lambda: agent_purges.remove(tx, opened[0], tombstone(opened[0])))
    assert agent_runs.get(tx, opened[0].id) is None
    connection.close()
    return work


def tombstone(run: RunRow) -> PurgeRow:
    """What is left of a run."""
    return PurgeRow(run.id, 3, run.last_event_hash, "key", "ada", 1000)


def test_a_removal_names_every_table_of_a_run(tx: Tx) -> None:
    """A table that refers to runs and is not emptied by a purge would refuse it."""
    named = {statement.split()[2] for statement in REMOVALS}
    tables = [str(row[0]) for row in tx.all("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    parents = {"agent_runs", "agent_deliveries"}
    referring = {
        table
        for table in tables
        for row in tx.all('SELECT "table" FROM pragma_foreign_key_list(?)', (table,))
        if row[0] in parents
    }
    assert named == referring | {"agent_runs"}


def test_only_what_was_purged_before_the_rewriting_is_noted(tx: Tx) -> None:
    """A run that was purged meanwhile keeps its mark."""
    runs = [open_run(tx, number) for number in (1, 2)]
    agent_purges.remove(tx, runs[0], tombstone(runs[0]))
    last = agent_purges.last_unerased(tx)
    assert last is not None
    agent_purges.remove(tx, runs[1], tombstone(runs[1])._replace(open_key_hash=None))
    agent_purges.note_erased(tx, last, 2000)
    found = [agent_purges.with_prefix(tx, run.id)[0].erased_at for run in runs]
    assert found == [2000, None]
