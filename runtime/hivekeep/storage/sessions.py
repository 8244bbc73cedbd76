"""Sessions: notes of the kind `session`, as their pack lists them.

Invariant: a list and its count walk one index, whose leading columns are the filter.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.notes import NoteRow
from hivekeep.storage.statements import Where, sql

KIND: Final = "session"

PROVIDER: Final = "json_extract(properties, '$.provider')"
AGENT: Final = "json_extract(properties, '$.agent_id')"
LIVE_SESSION: Final = "kind = 'session' AND deleted_at IS NULL"
"""The condition of the indexes over sessions."""

INDEXES: Final = tuple(
    sql(
        "CREATE INDEX {name} ON notes (namespace, {column}, created_at, id) WHERE {live}",
        name=name,
        column=column,
        live=LIVE_SESSION,
    )
    for name, column in (("notes_sessions_provider", PROVIDER), ("notes_sessions_agent", AGENT))
)
"""The indexes as the schema must have them; a list without these filters walks the one of all note kinds."""


class SessionFilter(NamedTuple):
    """Conditions on a list of sessions; None is no condition. `since` is in microseconds and belongs to the list."""

    provider: str | None = None
    agent_id: str | None = None
    since: int | None = None


_COLUMNS: Final = ", ".join(NoteRow._fields)
_PAGE: Final = "SELECT {columns} FROM notes WHERE {where} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?"
_COUNT: Final = "SELECT count(*) FROM notes WHERE {where}"


def page(tx: Tx, namespace: str, filters: SessionFilter, *, limit: int, offset: int) -> list[NoteRow]:
    """Live sessions of a namespace, newest first, ties by id."""
    where = _conditions(namespace, filters)
    rows = tx.all(sql(_PAGE, columns=_COLUMNS, where=where.text), [*where.args, limit, offset])
    return [NoteRow._make(row) for row in rows]


def count(tx: Tx, namespace: str, filters: SessionFilter) -> int:
    """How many sessions the pages hold together."""
    where = _conditions(namespace, filters)
    row = tx.one(sql(_COUNT, where=where.text), where.args)
    assert row is not None
    return int(row[0])


def _conditions(namespace: str, filters: SessionFilter) -> Where:
    where = Where(LIVE_SESSION)
    where.equal("namespace", namespace)
    where.equal(PROVIDER, filters.provider)
    where.equal(AGENT, filters.agent_id)
    if filters.since is not None:
        where.add("created_at >= ?", filters.since)
    return where
