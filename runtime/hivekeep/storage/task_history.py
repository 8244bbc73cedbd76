"""The history of tasks: a row for each change of a status, and for each repair. Rows are only ever added."""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql


class Step(NamedTuple):
    """One change of a task; `at` in microseconds. A repair of timestamps leaves the status as it is."""

    note_id: str
    namespace: str
    from_state: str
    to_state: str
    note: str | None
    at: int


_ADD: Final = sql(
    "INSERT INTO gtd_lifecycle_audit ({columns}) VALUES ({marks})",
    columns=", ".join(Step._fields),
    marks=marks(len(Step._fields)),
)
_FIRST: Final = "SELECT from_state FROM gtd_lifecycle_audit WHERE note_id = ? ORDER BY at, seq LIMIT 1"


def add(tx: Tx, step: Step) -> None:
    """Store one step, in the transaction that changes the task."""
    tx.run(_ADD, step)


def first_state(tx: Tx, note_id: str) -> str | None:
    """The status from which a task was moved for the first time; None when it never was."""
    row = tx.one(_FIRST, (note_id,))
    return None if row is None else str(row[0])
