"""The intake of each run, and the answers it was given.

Invariant: there is one row for one run, made with it. An answer is only ever added, and a final profile never changes
again.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql


class IntakeRow(NamedTuple):
    """An intake as it is stored. `profile`, `sources`, `declined` and `tags` are JSON text, moments microseconds.

    `profile_hash` and `finalised_at` are None until the profile is final.
    """

    run_seq: int
    session_id: str
    policy_version: str
    profile_version: int
    status: str
    question_count: int
    profile: str
    sources: str
    declined: str
    tags: str
    profile_hash: str | None
    created_at: int
    updated_at: int
    finalised_at: int | None


class AnswerRow(NamedTuple):
    """An answer; `position` counts from 1."""

    run_seq: int
    position: int
    question_id: str
    value: str
    answered_at: int


_CHANGED: Final = (
    "status",
    "question_count",
    "profile",
    "sources",
    "declined",
    "tags",
    "profile_hash",
    "updated_at",
    "finalised_at",
)
_COLUMNS: Final = ", ".join(IntakeRow._fields)
_GET: Final = sql("SELECT {columns} FROM agent_intakes WHERE run_seq = ?", columns=_COLUMNS)
_INSERT: Final = sql(
    "INSERT INTO agent_intakes ({columns}) VALUES ({marks})", columns=_COLUMNS, marks=marks(len(IntakeRow._fields))
)
_UPDATE: Final = sql(
    "UPDATE agent_intakes SET {columns} WHERE run_seq = ? AND finalised_at IS NULL",
    columns=", ".join(column + " = ?" for column in _CHANGED),
)
_ANSWER_COLUMNS: Final = ", ".join(AnswerRow._fields)
_ADD: Final = sql(
    "INSERT INTO agent_answers ({columns}) VALUES ({marks})",
    columns=_ANSWER_COLUMNS,
    marks=marks(len(AnswerRow._fields)),
)
_ANSWERS: Final = sql(
    "SELECT {columns} FROM agent_answers WHERE run_seq = ? ORDER BY position", columns=_ANSWER_COLUMNS
)


def insert(tx: Tx, row: IntakeRow) -> None:
    """Store the intake of a new run."""
    tx.run(_INSERT, row)


def find(tx: Tx, run_seq: int) -> IntakeRow | None:
    """The intake of a run, None when the run was purged meanwhile."""
    row = tx.one(_GET, (run_seq,))
    return None if row is None else IntakeRow._make(row)


def get(tx: Tx, run_seq: int) -> IntakeRow:
    """The intake of a run that exists."""
    row = find(tx, run_seq)
    assert row is not None
    return row


def update(tx: Tx, row: IntakeRow) -> None:
    """Store what became of an intake that was not final."""
    tx.run(_UPDATE, [*(getattr(row, column) for column in _CHANGED), row.run_seq])
    assert tx.changes() == 1


def add_answer(tx: Tx, row: AnswerRow) -> None:
    """Store one more answer."""
    tx.run(_ADD, row)


def answers(tx: Tx, run_seq: int) -> list[AnswerRow]:
    """The answers of a run in their order; there are no more than questions."""
    return [AnswerRow._make(row) for row in tx.all(_ANSWERS, (run_seq,))]
