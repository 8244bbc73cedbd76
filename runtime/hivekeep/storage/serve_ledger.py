"""What was served to answer which query, so that a scorer can grade it later; each grade counts once.

Keeps true: a claim lives no longer than the row it is on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql


class ServeRow(NamedTuple):
    """One hit of one answer. `query_class` groups equal queries; times are microseconds."""

    id: str
    namespace: str
    consumer_kind: str
    served_by_profile_id: str | None
    resolved_profile_id: str | None
    resolved_at: int | None
    target_id: str
    query_class: str
    query_raw: str
    served_at: int


class Served(NamedTuple):
    """What a grade needs to know of a row; without an accounting profile the grade teaches nobody."""

    namespace: str
    target_id: str
    accounting_profile_id: str | None


_INSERT: Final = sql(
    "INSERT INTO brain_serve_ledger ({columns}) VALUES ({marks})",
    columns=", ".join(ServeRow._fields),
    marks=marks(len(ServeRow._fields)),
)
_SWEEP: Final = (
    "DELETE FROM brain_serve_ledger WHERE seq IN (SELECT seq FROM brain_serve_ledger"
    " WHERE namespace = ? AND served_at < ? ORDER BY served_at LIMIT ?) RETURNING id"
)
_FORGET_CLAIMS: Final = "DELETE FROM brain_scored WHERE serve_ledger_id IN (SELECT value FROM json_each(?))"
_BY_ID: Final = "SELECT namespace, target_id, accounting_profile_id FROM brain_serve_ledger WHERE id = ?"
_CLAIM: Final = (
    "INSERT INTO brain_scored (scorer_run_id, serve_ledger_id, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
)
_GRADE: Final = "UPDATE brain_serve_ledger SET grade = ?, graded_at = ?, scorer_run_id = ? WHERE id = ?"


def append(tx: Tx, rows: Sequence[ServeRow]) -> None:
    """Store what one answer served."""
    tx.many(_INSERT, rows)


def sweep(tx: Tx, namespace: str, before: int, limit: int) -> None:
    """Remove the oldest rows of a namespace, at most `limit` served before a moment, and the claims on them."""
    gone = [row[0] for row in tx.all(_SWEEP, (namespace, before, limit))]
    if gone:
        tx.run(_FORGET_CLAIMS, (json_text.dump(gone),))


def get(tx: Tx, row_id: str) -> Served | None:
    """What was served under an id, in any namespace."""
    row = tx.one(_BY_ID, (row_id,))
    return None if row is None else Served._make(row)


def claim(tx: Tx, scorer_run_id: str, row_id: str, now_us: int) -> bool:
    """Take the one grade that a pass of a scorer may give a row; False when it was given already."""
    tx.run(_CLAIM, (scorer_run_id, row_id, now_us))
    return tx.changes() == 1


def grade(tx: Tx, row_id: str, signal: str, scorer_run_id: str, now_us: int) -> None:
    """Note the grade on the row."""
    tx.run(_GRADE, (signal, now_us, scorer_run_id, row_id))
