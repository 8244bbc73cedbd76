"""Events: what happened, and to which records. They are only ever added; the schema refuses the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import EventRow, Row, Tx
from hivekeep.storage.statements import Where, marks, members, newest_first, sql
from hivekeep_contract import limits

_COLUMNS: Final = ", ".join(EventRow._fields)
_SELECT: Final = sql("SELECT {columns} FROM events", columns=_COLUMNS)
_PLACE: Final = "SELECT created_at, id FROM events"
_BY_ID: Final = _SELECT + " WHERE id = ?"

INSERT: Final = sql(
    "INSERT INTO events ({columns}) VALUES ({marks})", columns=_COLUMNS, marks=marks(len(EventRow._fields))
)
_OBSERVE: Final = "INSERT INTO event_observations (event_id, role, position, referent_id) VALUES (?, ?, ?, ?)"
_OBSERVATIONS: Final = (
    "SELECT role, position, referent_id FROM event_observations WHERE event_id = ? ORDER BY role, position"
)
_OBSERVED: Final = "id IN (SELECT event_id FROM event_observations WHERE referent_id IN ({wanted}))"
_OBSERVED_AS: Final = "id IN (SELECT event_id FROM event_observations WHERE referent_id IN ({wanted}) AND role = ?)"


class Observation(NamedTuple):
    """A record that an event is about, in the place it had in its role."""

    role: str
    position: int
    referent_id: str


class EventPage(NamedTuple):
    """A page of events; `scan_incomplete` says that the scan ceiling ended it before it was full."""

    rows: list[EventRow]
    scan_incomplete: bool


class EventFilter(NamedTuple):
    """Conditions on a list of events; a tuple matches any of its members.

    `since` and `until` are microseconds, both exclusive. `observed` looks at every role, `selected` at that
    one.
    """

    kinds: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    outcome: str | None = None
    actors: tuple[str, ...] = ()
    substrate: str | None = None
    target_id: str | None = None
    session_id: str | None = None
    since: int | None = None
    until: int | None = None
    observed: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()


NO_FILTER: Final = EventFilter()


def insert(tx: Tx, row: EventRow) -> None:
    """Store one event."""
    tx.run(INSERT, row)


def insert_many(tx: Tx, rows: Iterable[EventRow]) -> None:
    """Store events in their order."""
    tx.many(INSERT, rows)


def observe(tx: Tx, event_id: str, role: str, referent_ids: Sequence[str]) -> None:
    """Note which records a stored event is about; once for each role of an event."""
    tx.many(_OBSERVE, [(event_id, role, position, referent) for position, referent in enumerate(referent_ids)])


def observe_target(tx: Tx, event_id: str, referent_id: str) -> None:
    """Note the one record that a stored event is about, as `observe` does of its target."""
    tx.run(_OBSERVE, (event_id, "target", 0, referent_id))


def observe_targets(tx: Tx, rows: Sequence[EventRow]) -> None:
    """Note of stored events that each is about its target, as `observe` does of one."""
    tx.many(_OBSERVE, [(row.id, "target", 0, row.target_id) for row in rows if row.target_id is not None])


def observations(tx: Tx, event_id: str) -> list[Observation]:
    """The records an event is about, by role and place."""
    return [Observation._make(row) for row in tx.all(_OBSERVATIONS, (event_id,))]


def get(tx: Tx, event_id: str) -> EventRow | None:
    """The event of a full id, in any namespace."""
    row = tx.one(_BY_ID, (event_id,))
    return None if row is None else EventRow._make(row)


def list_page(tx: Tx, namespaces: Sequence[str], filters: EventFilter, *, limit: int, offset: int = 0) -> EventPage:
    """Events, newest first.

    Conditions that no index serves (verbs, actors, substrate, session) are tried on no more than
    `limits.EVENT_SCAN_CEILING` events; a page that this ends early says so.
    """
    where = _served_conditions(filters)
    scanned = _scanned_conditions(filters)
    # A few records were asked for: start from their events, not from the newest ones.
    source = " INDEXED BY events_id" if filters.observed or filters.selected else ""
    ceiling = _ceiling(tx, source, namespaces, where) if scanned.text else None
    if ceiling is not None:
        where.add("(created_at, id) >= (?, ?)", *ceiling)
    where.extend(scanned)
    statement = newest_first(_SELECT + source, where, namespaces, limit, offset)
    rows = [EventRow._make(row) for row in tx.all(statement.sql, statement.args)]
    return EventPage(rows, ceiling is not None and len(rows) < limit)


def _ceiling(tx: Tx, source: str, namespaces: Sequence[str], where: Where) -> Row | None:
    """(created_at, id) of the oldest event that may be looked at, when there are older ones."""
    statement = newest_first(_PLACE + source, where, namespaces, 2, limits.EVENT_SCAN_CEILING - 1)
    rows = tx.all(statement.sql, statement.args)
    return rows[0] if len(rows) == 2 else None


def _served_conditions(filters: EventFilter) -> Where:
    """Conditions on columns with an index; the literal ones let SQLite use the indexes of the rare events."""
    where = Where()
    if filters.kinds:
        where.among("kind", filters.kinds)
        if "audit" not in filters.kinds:
            where.add("kind <> 'audit'")
    where.equal("outcome", filters.outcome)
    if filters.outcome is not None and filters.outcome != "success":
        where.add("outcome <> 'success'")
    where.equal("target_id", filters.target_id)
    if filters.since is not None:
        where.add("created_at > ?", filters.since)
    if filters.until is not None:
        where.add("created_at < ?", filters.until)
    if filters.observed:
        wanted = members(filters.observed)
        where.add(sql(_OBSERVED, wanted=wanted.sql), *wanted.args)
    if filters.selected:
        wanted = members(filters.selected)
        where.add(sql(_OBSERVED_AS, wanted=wanted.sql), *wanted.args, "selected")
    return where


def _scanned_conditions(filters: EventFilter) -> Where:
    where = Where()
    for column, values in (("verb", filters.verbs), ("actor", filters.actors)):
        if values:
            where.among(column, values)
    where.equal("substrate", filters.substrate)
    where.equal("session_id", filters.session_id)
    return where
