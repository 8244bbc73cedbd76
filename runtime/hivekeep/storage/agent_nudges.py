"""The nudges that were given to runs: one row each, found by the checkpoint that it answered.

Invariant: a run is told of an occurrence once, and a checkpoint has at most one nudge. Both are unique indexes, so a
race ends in an error of the store and never in a second row.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.engine import Row, Tx
from hivekeep.storage.json_text import dump, load_tags
from hivekeep.storage.statements import marks, sql


class NudgeRow(NamedTuple):
    """A nudge as it is stored. `through_sequence` is the last event that it took into account; `created_at` is in
    microseconds; the message is not kept, the code names it."""

    run_seq: int
    policy_version: str
    code: str
    occurrence_id: str
    checkpoint_id: str
    through_sequence: int
    priority: int
    evidence_event_ids: list[str]
    reference_ids: list[str]
    created_at: int


_COLUMNS: Final = ", ".join(NudgeRow._fields)
_SELECT: Final = sql("SELECT {columns} FROM agent_nudges", columns=_COLUMNS)
_OF_RUN: Final = _SELECT + " WHERE run_seq = ? ORDER BY seq"
_OF_CHECKPOINT: Final = _SELECT + " WHERE checkpoint_id = ?"
_INSERT: Final = sql(
    "INSERT INTO agent_nudges ({columns}) VALUES ({marks})", columns=_COLUMNS, marks=marks(len(NudgeRow._fields))
)


def insert(tx: Tx, row: NudgeRow) -> None:
    """Store a nudge of an occurrence and a checkpoint that have none."""
    tx.run(_INSERT, [dump(value) if isinstance(value, list) else value for value in row])


def of_run(tx: Tx, run_seq: int) -> list[NudgeRow]:
    """The nudges of a run, the first one first."""
    return [_row(row) for row in tx.all(_OF_RUN, (run_seq,))]


def of_checkpoint(tx: Tx, checkpoint_id: str) -> NudgeRow | None:
    """The nudge that a checkpoint was answered with, or None."""
    row = tx.one(_OF_CHECKPOINT, (checkpoint_id,))
    return None if row is None else _row(row)


def _row(stored: Row) -> NudgeRow:
    row = NudgeRow._make(stored)
    evidence, references = str(row.evidence_event_ids), str(row.reference_ids)
    return row._replace(evidence_event_ids=load_tags(evidence), reference_ids=load_tags(references))
