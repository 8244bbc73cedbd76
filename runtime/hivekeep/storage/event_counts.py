"""Counts of events, grouped where they lie: SQLite adds up, only the sums travel.

Keeps true: whatever the window holds, an answer has as many rows as there are different groups, and a walk over a whole
window reads it in steps of bounded size, each on a snapshot of its own.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Statement, Where, newest_first, sql

AUDIT: Final = "audit"
FEEDBACK: Final = "feedback_explicit"

Place = tuple[int, str]
"""(created_at, id): where a walk stands."""


class Window(NamedTuple):
    """Which events are meant: from `since` on, before `until` (microseconds); no actors means all of them."""

    namespaces: tuple[str, ...]
    since: int
    until: int
    kind: str | None
    actors: tuple[str, ...]


class Feedback(NamedTuple):
    """What events of feedback are counted by; `unspecified` stands for what an event does not say."""

    profile: str
    signal: str
    origin: str


class Group(NamedTuple):
    """Equal events; `work_class` is None where there is none, `feedback` for events of other kinds.

    `costed` of the events carry a cost; the sum of it is `cost_high * 2**32 + cost_low`, which no sum can overflow.
    """

    kind: str
    verb: str
    actor: str
    work_class: str | None
    feedback: Feedback | None
    events: int
    costed: int
    cost_high: int
    cost_low: int

    @property
    def cost(self) -> int:
        """The sum of the costs, exactly."""
        return (self.cost_high << 32) + self.cost_low


def _text(path: str) -> str:
    """The text at a path of the payload, else NULL."""
    return sql("CASE WHEN json_type(payload, '{path}') = 'text' THEN payload ->> '{path}' END", path=path)


_COLUMNS: Final = "SELECT created_at, id, kind, verb, actor, payload FROM events INDEXED BY "
# One text is the key, because sorting by it costs half of what sorting by seven columns does.
_KEY: Final = sql(
    "json_array(kind, verb, actor, coalesce({work}, {resource_work}), CASE WHEN kind = '{feedback}' THEN"
    " json_array(coalesce({profile}, 'unspecified'), coalesce({signal}, 'unspecified'), coalesce({origin}, verb)) END)",
    work=_text("$.work_class"),
    resource_work=_text("$.resource.work_class"),
    feedback=FEEDBACK,
    profile=_text("$.served_by_profile_id"),
    signal=_text("$.signal"),
    origin=_text("$.originating_verb"),
)
_COST: Final = (
    "CASE json_type(payload, '$.resource.cost_unit') WHEN 'integer' THEN payload ->> '$.resource.cost_unit' END"
)
_GROUPED: Final = sql(
    "SELECT key, count(*), count(cost), coalesce(sum(cost >> 32), 0), coalesce(sum(cost & 4294967295), 0)"
    " FROM (SELECT {key} AS key, {cost} AS cost FROM ({events})) GROUP BY key",
    key=_KEY,
    cost=_COST,
)


def total(tx: Tx, window: Window) -> int:
    """How many events the window holds."""
    where = _conditions(window)
    where.among("namespace", window.namespaces)
    statement = "SELECT count(*) FROM events INDEXED BY {index} WHERE {where}"
    row = tx.one(sql(statement, index=_index(window.kind), where=where.text), where.args)
    assert row is not None
    return int(row[0])


def newest(tx: Tx, window: Window, limit: int) -> list[Group]:
    """The groups of the newest events of the window."""
    return _grouped(tx, newest_first(_COLUMNS + _index(window.kind), _conditions(window), window.namespaces, limit, 0))


def newest_by_share(tx: Tx, window: Window, share: int) -> list[Group]:
    """The groups of the newest audit events and the newest others, as many of each at most; for all kinds."""
    audits = _conditions(window)
    audits.add("kind = 'audit'")
    others = _conditions(window)
    others.add("kind <> 'audit'")
    return [
        *_grouped(tx, newest_first(_COLUMNS + "events_listed", audits, window.namespaces, share, 0)),
        *_grouped(tx, newest_first(_COLUMNS + "events_told", others, window.namespaces, share, 0)),
    ]


def step(tx: Tx, window: Window, namespace: str, after: Place | None, size: int) -> tuple[list[Group], Place | None]:
    """The groups of the next events of a namespace, oldest first, and where to go on; None at the end."""
    where = _conditions(window)
    where.equal("namespace", namespace)
    if after is not None:
        where.add("(created_at, id) > (?, ?)", *after)
    source = _COLUMNS + _index(window.kind) + " WHERE "
    statement = "SELECT created_at, id FROM ({events} ORDER BY created_at, id LIMIT 1 OFFSET ?)"
    last = tx.one(sql(statement, events=source + where.text), [*where.args, size - 1])
    if last is not None:
        where.add("(created_at, id) <= (?, ?)", *last)
    return _grouped(tx, Statement(source + where.text, where.args)), None if last is None else (last[0], last[1])


def _grouped(tx: Tx, picked: Statement) -> list[Group]:
    return [_group(*row) for row in tx.all(sql(_GROUPED, events=picked.sql), picked.args)]


def _group(key: str, events: int, costed: int, cost_high: int, cost_low: int) -> Group:
    kind, verb, actor, work_class, feedback = json_text.load(key)
    said = None if feedback is None else Feedback(*feedback)
    return Group(kind, verb, actor, work_class, said, events, costed, cost_high, cost_low)


def _conditions(window: Window) -> Where:
    where = Where()
    where.add("created_at >= ? AND created_at < ?", window.since, window.until)
    where.equal("kind", window.kind)
    if window.kind not in (None, AUDIT):
        where.add("kind <> 'audit'")
    if window.actors:
        where.among("actor", window.actors)
    return where


def _index(kind: str | None) -> str:
    return "events_listed" if kind in (None, AUDIT) else "events_by_kind"
