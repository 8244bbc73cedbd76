"""Texts that wait for their vectors: one row for each record and model, written with the record.

Keeps true: a row is what the record was at its last write. `done` and `postpone` change only the very row that was
taken, so a write that came meanwhile keeps its place in the queue; and what is taken stays in the queue until `done`,
so nothing is lost when the process that took it ends.

Times are integer microseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump
from hivekeep.storage.statements import marks, sql
from hivekeep.storage.vector_layout import Scope


class QueueRow(NamedTuple):
    """One text for one model: `input` is exactly what the model gets, `source_hash` is that of the title and body.

    `attempts` is how often the model failed on it, `error` what it said last; it is not taken before `not_before`.
    """

    model_name: str
    substrate: str
    seq: int
    namespace: str
    kind: str
    source_hash: int
    input: str
    enqueued_at: int
    attempts: int = 0
    not_before: int = 0
    error: str | None = None


class QueueCounts(NamedTuple):
    """The rows of one model: how many wait, how many of them failed before, when the oldest came, and one's error."""

    model_name: str
    waiting: int
    failed: int
    oldest_enqueued_at: int
    error: str | None


_COLUMNS: Final = ", ".join(QueueRow._fields)
_KEYS: Final = ("model_name", "substrate", "seq")
_PUT: Final = sql(
    "INSERT INTO embedding_queue ({columns}) VALUES ({marks}) ON CONFLICT (model_name, substrate, seq)"
    " DO UPDATE SET {changes}",
    columns=_COLUMNS,
    marks=marks(len(QueueRow._fields)),
    changes=", ".join(f"{column} = excluded.{column}" for column in QueueRow._fields if column not in _KEYS),
)
_REMOVE: Final = (
    "DELETE FROM embedding_queue WHERE model_name IN (SELECT DISTINCT model_name FROM embedding_queue)"
    " AND substrate = ? AND seq = ?"
)
_PENDING: Final = (
    "SELECT count(*) FROM embedding_queue WHERE namespace IN (SELECT value FROM json_each(?)) AND model_name = ?"
    " AND substrate = ?"
)
_PENDING_OF_KIND: Final = _PENDING + " AND kind = ?"
_TAKE: Final = sql(
    "SELECT {columns} FROM embedding_queue WHERE not_before <= ?1"
    " AND (?2 IS NULL OR model_name IN (SELECT value FROM json_each(?2)))"
    " ORDER BY not_before, enqueued_at, seq LIMIT ?3",
    columns=_COLUMNS,
)
_THE_SAME: Final = (
    "WHERE model_name = ? AND substrate = ? AND seq = ? AND source_hash = ? AND enqueued_at = ? AND input = ?"
)
_DONE: Final = sql("DELETE FROM embedding_queue {same}", same=_THE_SAME)
_POSTPONE: Final = sql(
    "UPDATE embedding_queue SET attempts = attempts + 1, error = ?, not_before = ? {same}", same=_THE_SAME
)
_COUNTS: Final = (
    "SELECT model_name, count(*), count(*) FILTER (WHERE attempts > 0), min(enqueued_at), max(error)"
    " FROM embedding_queue GROUP BY model_name ORDER BY model_name"
)


def put(tx: Tx, row: QueueRow) -> None:
    """Have a text wait, instead of what its record had waiting for this model; former failures are forgotten."""
    tx.run(_PUT, row)


def put_many(tx: Tx, rows: Iterable[QueueRow]) -> None:
    """The same of many texts."""
    tx.many(_PUT, rows)


def remove(tx: Tx, substrate: str, seq: int) -> None:
    """Take a record out of the queue, whatever model it waits for; one that does not wait is no error."""
    tx.run(_REMOVE, (substrate, seq))


def pending(tx: Tx, model_name: str, scope: Scope) -> int:
    """How many texts of a scope wait for a model."""
    args = (dump(list(scope.namespaces)), model_name, scope.substrate)
    row = tx.one(_PENDING, args) if scope.kind is None else tx.one(_PENDING_OF_KIND, (*args, scope.kind))
    assert row is not None
    return int(row[0])


def take(tx: Tx, now_us: int, limit: int, model_names: Sequence[str] | None = None) -> list[QueueRow]:
    """At most `limit` rows whose time has come, those that waited longest first; `model_names` None is every model.

    They stay in the queue: the one lease of the work keeps two workers from taking the same.
    """
    wanted = None if model_names is None else dump(list(model_names))
    return [QueueRow._make(row) for row in tx.all(_TAKE, (now_us, wanted, limit))]


def done(tx: Tx, rows: Iterable[QueueRow]) -> None:
    """Take rows out of the queue, unless they were written anew since they were taken."""
    tx.many(_DONE, [_identity(row) for row in rows])


def postpone(tx: Tx, rows: Iterable[QueueRow], error: str, not_before: int) -> None:
    """Have rows wait until `not_before` after a failure, unless they were written anew since they were taken."""
    tx.many(_POSTPONE, [(error, not_before, *_identity(row)) for row in rows])


def counts(tx: Tx) -> list[QueueCounts]:
    """What waits, model by model."""
    return [QueueCounts._make(row) for row in tx.all(_COUNTS)]


def _identity(row: QueueRow) -> tuple[object, ...]:
    """What tells a row from one that replaced it."""
    return (row.model_name, row.substrate, row.seq, row.source_hash, row.enqueued_at, row.input)
