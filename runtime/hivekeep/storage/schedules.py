"""Scheduled events: notes of the kind `scheduled_event`, as their agenda and their dispatcher look at them.

Functions on a `Tx`. Everything here walks an index over the moment at which an event is due; an event that does not
say it as a number is counted by `unreadable` and found by nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import EventRow, Tx
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.statements import Where, sql

_STATUS: Final = "json_extract(properties, '$.status')"
_DUE: Final = "json_extract(properties, '$.trigger_us')"
_LIVE: Final = "kind = 'scheduled_event' AND deleted_at IS NULL"
_PENDING: Final = _LIVE + " AND " + _STATUS + " = 'pending'"
_FIRING: Final = _LIVE + " AND " + _STATUS + " = 'firing'"

INDEXES: Final = tuple(
    sql(text, due=_DUE, pending=_PENDING, firing=_FIRING)
    for text in (
        "CREATE INDEX notes_scheduled ON notes (namespace, {due}, id) WHERE {pending}",
        "CREATE INDEX notes_due ON notes ({due}, id) WHERE {pending}",
        "CREATE INDEX notes_firing ON notes (id) WHERE {firing}",
    )
)
"""The indexes as the schema must have them."""

_COLUMNS: Final = ", ".join(NoteRow._fields)
_SELECT: Final = sql("SELECT {columns} FROM notes", columns=_COLUMNS)
_ARM: Final = sql("SELECT {columns}, {due} AS due FROM notes INDEXED BY notes_scheduled", columns=_COLUMNS, due=_DUE)
_DUE_PAGE: Final = sql(
    "{select} INDEXED BY notes_due WHERE {pending} AND {due} <= ? AND ({due}, id) > (?, ?) ORDER BY {due}, id LIMIT ?",
    select=_SELECT,
    pending=_PENDING,
    due=_DUE,
)
_FIRING_NOW: Final = sql("{select} INDEXED BY notes_firing WHERE {firing} ORDER BY id", select=_SELECT, firing=_FIRING)
_ANY_DUE: Final = sql(
    "SELECT EXISTS (SELECT 1 FROM notes INDEXED BY notes_due WHERE {pending} AND {due} <= ? AND {due} > ?)"
    " OR EXISTS (SELECT 1 FROM notes INDEXED BY notes_firing WHERE {firing})",
    pending=_PENDING,
    firing=_FIRING,
    due=_DUE,
)
_WAITING: Final = sql(
    "SELECT count(*) FROM notes INDEXED BY notes_due WHERE {pending} AND {due} > ? AND {due} < ?",
    pending=_PENDING,
    due=_DUE,
)
# NULL sorts before every number, and a text behind; the bounds of a page let neither in.
_UNREADABLE: Final = sql(
    "SELECT (SELECT count(*) FROM notes INDEXED BY notes_due WHERE {pending} AND {due} IS NULL)"
    " + (SELECT count(*) FROM notes INDEXED BY notes_due WHERE {pending} AND {due} >= '')",
    pending=_PENDING,
    due=_DUE,
)
_FIRST_EVENT: Final = sql(
    "SELECT {columns} FROM events INDEXED BY events_by_target WHERE namespace = ? AND target_id = ? AND kind = ?"
    " AND verb = ? AND outcome = 'success' ORDER BY created_at, id LIMIT 1",
    columns=", ".join(EventRow._fields),
)

_BEFORE_ALL: Final = -(1 << 63)
_AFTER_ALL: Final = (1 << 63) - 1


class Place(NamedTuple):
    """A place in the walk over due events: behind the one of this moment and id."""

    due_us: int
    id: str


START: Final = Place(_BEFORE_ALL, "")


def agenda(tx: Tx, namespaces: Sequence[str], *, since: int | None, until: int | None, limit: int) -> list[NoteRow]:
    """Pending events by the moment they are due and id, `since` and `until` (microseconds) included."""
    arms: list[str] = []
    args: list[object] = []
    for namespace in namespaces:
        arm = Where(_PENDING)
        arm.add("namespace = ?", namespace)
        arm.add(_DUE + " >= ?", _BEFORE_ALL if since is None else since)
        arm.add(_DUE + " <= ?", _AFTER_ALL if until is None else until)
        arms.append(_ARM + " WHERE " + arm.text)
        args += arm.args
    statement = " UNION ALL ".join(arms) + " ORDER BY due, id LIMIT ?"
    return [NoteRow._make(row[:-1]) for row in tx.all(statement, [*args, limit])]


def has_work(tx: Tx, now_us: int) -> bool:
    """Whether something is due by a moment, or was taken up and not finished."""
    row = tx.one(_ANY_DUE, (now_us, _BEFORE_ALL))
    return bool(row and row[0])


def due(tx: Tx, now_us: int, after: Place, limit: int) -> list[NoteRow]:
    """Pending events of all namespaces that are due by a moment, the first due first, behind a place of the walk."""
    return [NoteRow._make(row) for row in tx.all(_DUE_PAGE, (now_us, after.due_us, after.id, limit))]


def firing(tx: Tx) -> list[NoteRow]:
    """Events of all namespaces that a dispatcher took up and did not finish."""
    return [NoteRow._make(row) for row in tx.all(_FIRING_NOW)]


def waiting(tx: Tx, now_us: int) -> int:
    """How many pending events are due later than a moment."""
    return _count(tx, _WAITING, (now_us, _AFTER_ALL))


def unreadable(tx: Tx) -> int:
    """How many pending events do not say as a number when they are due."""
    return _count(tx, _UNREADABLE, ())


def first_event(tx: Tx, namespace: str, target_id: str, kind: str, verb: str) -> EventRow | None:
    """The oldest successful event of a kind and verb about a record."""
    row = tx.one(_FIRST_EVENT, (namespace, target_id, kind, verb))
    return None if row is None else EventRow._make(row)


def _count(tx: Tx, statement: str, args: Sequence[object]) -> int:
    row = tx.one(statement, args)
    assert row is not None
    return int(row[0])
