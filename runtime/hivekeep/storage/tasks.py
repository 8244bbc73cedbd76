"""Tasks: notes of the kind `task`, as their pack lists them and walks over what they wait for.

Invariant: an answer is one statement, so a task and what it depends on are seen at the same moment. Lists and the
choice of what comes next walk an index in the order of the answer; only a filter that no index has looks at more rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product, starmap
from typing import Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Where, sql
from hivekeep.storage.task_fields import (
    DONE,
    FINAL_STATUSES,
    PRIORITIES,
    STATUSES,
    actionable,
    assignee,
    rank,
    status,
)

_MAX_ARMS: Final = 64
"""Beyond this many pairs of namespace and status one sorted arm costs less than preparing the statement."""


class TaskRow(NamedTuple):
    """What a list shows of a task; `entries` is a JSON list with one `Entry` for each dependency, or None."""

    id: str
    namespace: str
    name: str | None
    created_at: int
    updated_at: int
    properties: str
    entries: str | None = None


class Entry(NamedTuple):
    """A member of the list of dependencies: the JSON type of its value, and the note that it names, if there is one."""

    type: str
    namespace: str | None
    kind: str | None
    deleted: bool
    status: str | None


class TaskFilter(NamedTuple):
    """Conditions on a list of tasks; None and empty tuples are no condition. `tags` matches any of them."""

    statuses: tuple[str, ...]
    assignee: str | None = None
    priority: str | None = None
    tags: tuple[str, ...] = ()
    context_entity_id: str | None = None
    duplicate_of: str | None = None


class Excluded(NamedTuple):
    """Whether there are tasks that were done, given up, or have a status that is none."""

    done: bool
    cancelled: bool
    unrecognized_status: bool


_SHOWN: Final = TaskRow._fields[:-1]
_COLUMNS: Final = ", ".join("t." + column for column in _SHOWN)
_ENTRIES: Final = sql(
    "CASE json_type(t.properties, '$.depends_on') WHEN 'array' THEN (SELECT json_group_array(json_array("
    "d.type, b.namespace, b.kind, b.deleted_at IS NOT NULL, {status}) ORDER BY d.key)"
    " FROM json_each(t.properties, '$.depends_on') AS d"
    " LEFT JOIN notes AS b ON d.type = 'text' AND b.id = lower(d.value)) END",
    status=status("b."),
)
_READY: Final = sql(
    "(json_type(t.properties, '$.depends_on') IS NULL OR json_type(t.properties, '$.depends_on') = 'array'"
    " AND NOT EXISTS (SELECT 1 FROM json_each(t.properties, '$.depends_on') AS d WHERE d.type <> 'text'"
    " OR NOT EXISTS (SELECT 1 FROM notes AS b WHERE b.id = lower(d.value) AND b.namespace = t.namespace"
    " AND b.kind = 'task' AND b.deleted_at IS NULL AND {status} = '{done}')))",
    status=status("b."),
    done=DONE,
)
_LIVE: Final = "t.kind = 'task' AND t.deleted_at IS NULL"

_BY_URGENCY: Final = "rank, created_at DESC, id"
_READY_NEXT: Final = sql("SELECT {columns}, {rank} AS rank", columns=_COLUMNS, rank=rank("t."))
_ONLY_READY: Final = sql(
    "SELECT {shown} FROM ({picked} ORDER BY {order} LIMIT ?) ORDER BY {order}",
    shown=", ".join(_SHOWN),
    order=_BY_URGENCY,
)
# With one arm the order of the index is the order of the answer, and nothing is put round it.
_READY_ALONE: Final = "SELECT " + _COLUMNS
_ALONE_BY_URGENCY: Final = sql(" ORDER BY {rank}, t.created_at DESC, t.id LIMIT ?", rank=rank("t."))
_ANY_NEXT: Final = sql(
    "SELECT t.seq AS seq, {ready} AS ready, {rank} AS rank, t.created_at AS created_at, t.id AS id",
    ready=_READY,
    rank=rank("t."),
)
_WITH_ENTRIES: Final = sql(
    "SELECT {columns}, {entries} FROM ({picked} ORDER BY ready DESC, {order} LIMIT ?) AS picked"
    " CROSS JOIN notes AS t ON t.seq = picked.seq"
    " ORDER BY picked.ready DESC, picked.rank, picked.created_at DESC, picked.id",
    columns=_COLUMNS,
    entries=_ENTRIES,
    order=_BY_URGENCY,
)
_ONE_NAMESPACE: Final = "t.namespace = ?"
_MANY_NAMESPACES: Final = "t.namespace IN (SELECT value FROM json_each(?))"

_LIST: Final = sql(
    "SELECT {columns}, {entries} FROM (SELECT * FROM ({arms}) ORDER BY created_at DESC, id LIMIT ? OFFSET ?) AS picked"
    " CROSS JOIN notes AS t ON t.seq = picked.seq ORDER BY picked.created_at DESC, picked.id",
    columns=_COLUMNS,
    entries=_ENTRIES,
)
_LISTED: Final = "SELECT t.seq AS seq, t.created_at AS created_at, t.id AS id"

_LAST: Final = "SELECT seq FROM notes ORDER BY seq DESC LIMIT 1"
_WAITED_FOR: Final = (
    "SELECT t.id, lower(d.value) FROM json_each(?) AS wanted CROSS JOIN notes AS t ON t.id = wanted.value"
    " CROSS JOIN json_each(CASE json_type(t.properties, '$.depends_on') WHEN 'array' THEN t.properties ELSE '{}' END,"
    " '$.depends_on') AS d WHERE t.kind = 'task' AND t.deleted_at IS NULL AND d.type = 'text'"
)
_JOINED: Final = (
    "SELECT e.target_id, e.source_id FROM json_each(?) AS wanted CROSS JOIN edges AS e INDEXED BY edges_by_target"
    " ON e.target_id = wanted.value AND e.relation = 'depends_on' AND e.deleted_at IS NULL"
    " CROSS JOIN notes AS t ON t.id = e.source_id WHERE t.kind = 'task' AND t.deleted_at IS NULL"
)
_TARGETS: Final = "SELECT target_id FROM edges WHERE source_id = ? AND relation = 'depends_on' AND deleted_at IS NULL"


def next_up(
    tx: Tx, namespaces: Sequence[str], assigned_to: str | None, *, with_blocked: bool, limit: int
) -> list[TaskRow]:
    """Tasks that somebody can work on: the ready ones by urgency, then with `with_blocked` the others.

    Without `with_blocked` they have no entries: what they depend on is done.
    """
    groups = _next_groups(namespaces)
    statement = _next_statement(len(groups), len(namespaces) == len(groups), assigned_to is not None, with_blocked)
    rows = tx.all(statement, [*_next_args(groups, assigned_to), limit])
    return list(starmap(TaskRow, rows))


def more_than(tx: Tx, namespaces: Sequence[str], assigned_to: str | None, count: int) -> bool:
    """Whether there are more tasks than `count` that somebody can work on."""
    # Counting walks over all of them; a store that never had so many notes is spared that.
    last = tx.one(_LAST)
    if last is None or last[0] <= count:
        return False
    groups = _next_groups(namespaces)
    arms = _next_arms("SELECT 1", len(groups), len(namespaces) == len(groups), assigned_to is not None)
    return tx.one(arms + " LIMIT 1 OFFSET ?", [*_next_args(groups, assigned_to), count]) is not None


@lru_cache(maxsize=64)
def _next_statement(arms: int, apart: bool, assigned: bool, with_blocked: bool) -> str:
    """Walks the index in the order of the answer and ends with the last ready task; blocked ones need a sorting."""
    if with_blocked:
        return sql(_WITH_ENTRIES, picked=_next_arms(_ANY_NEXT, arms, apart, assigned))
    if arms == 1:
        return _next_arms(_READY_ALONE, 1, apart, assigned, _READY) + _ALONE_BY_URGENCY
    return sql(_ONLY_READY, picked=_next_arms(_READY_NEXT, arms, apart, assigned, _READY))


def _next_arms(select: str, arms: int, apart: bool, assigned: bool, *more: str) -> str:
    """One arm for each namespace, or one for all of them."""
    where = Where(_LIVE, _ONE_NAMESPACE if apart else _MANY_NAMESPACES)
    if assigned:
        where.add(assignee("t.") + " = ?")
    where.add(actionable("t."))
    for condition in more:
        where.add(condition)
    index = "notes_tasks_assigned" if assigned else "notes_tasks_next"
    arm = sql("{select} FROM notes AS t INDEXED BY {index} WHERE {where}", select=select, index=index, where=where.text)
    return " UNION ALL ".join([arm] * arms)


def _next_groups(namespaces: Sequence[str]) -> list[str]:
    """The argument of each arm: a namespace, or very many of them as a JSON list."""
    return list(namespaces) if 0 < len(namespaces) <= _MAX_ARMS else [json_text.dump(list(namespaces))]


def _next_args(groups: Sequence[str], assigned_to: str | None) -> list[object]:
    each = () if assigned_to is None else (assigned_to,)
    return [arg for group in groups for arg in (group, *each)]


def list_page(tx: Tx, namespaces: Sequence[str], filters: TaskFilter, *, limit: int, offset: int) -> list[TaskRow]:
    """Live tasks, newest first, ties by id."""
    pairs = list(product(_groups(namespaces), [[name] for name in filters.statuses]))
    if len(pairs) > _MAX_ARMS:
        pairs = [(namespaces, list(filters.statuses))]
    parts: list[str] = []
    args: list[object] = []
    for group, statuses in pairs:
        where = _listed(group, filters)
        where.among(status("t."), statuses)
        parts.append(_LISTED + _list_source(filters) + where.text)
        args += where.args
    rows = tx.all(sql(_LIST, arms=" UNION ALL ".join(parts)), [*args, limit, offset])
    return [TaskRow._make(row) for row in rows]


def excluded(tx: Tx, namespaces: Sequence[str], filters: TaskFilter) -> Excluded:
    """Which tasks meet the filters except for their status, of those that are not open."""
    conditions: list[Where] = []
    for name in FINAL_STATUSES:
        where = _listed(namespaces, filters)
        where.add(status("t.") + " = ?", name)
        conditions.append(where)
    strange = _listed(namespaces, filters)
    strange.add(status("t.") + " NOT IN (" + ", ".join(f"'{name}'" for name in STATUSES) + ")")
    conditions.append(strange)
    arms = ["EXISTS (SELECT 1" + _list_source(filters) + where.text + ")" for where in conditions]
    row = tx.one("SELECT " + ", ".join(arms), [arg for where in conditions for arg in where.args])
    assert row is not None
    return Excluded(*map(bool, row))


def _list_source(filters: TaskFilter) -> str:
    index = "notes_tasks" if filters.assignee is None else "notes_tasks_assigned"
    return " FROM notes AS t INDEXED BY " + index + " WHERE "


def _listed(namespaces: Sequence[str], filters: TaskFilter) -> Where:
    """The conditions of a list but for the statuses."""
    where = Where(_LIVE)
    where.among("t.namespace", namespaces)
    where.equal(assignee("t."), filters.assignee)
    if filters.priority is not None:
        where.add(rank("t.") + " = ?", PRIORITIES.index(filters.priority))
    if filters.tags:
        where.any_tag("t.properties", "$.tags", filters.tags)
    where.equal("json_extract(t.properties, '$.context_entity_id')", filters.context_entity_id)
    where.equal("json_extract(t.properties, '$.duplicate_of')", filters.duplicate_of)
    return where


def _groups(namespaces: Sequence[str]) -> list[Sequence[str]]:
    """Each namespace by itself, so that its arm walks an index in order; very many of them together."""
    return [[namespace] for namespace in namespaces] if 0 < len(namespaces) <= _MAX_ARMS else [namespaces]


def entries(row: TaskRow) -> list[Entry]:
    """What is known of each member of the list of dependencies, in its order."""
    return [] if row.entries is None else [Entry._make(found) for found in json_text.load(row.entries)]


def waited_for(tx: Tx, ids: Iterable[str]) -> list[tuple[str, str]]:
    """(task, what its property says that it waits for) of live tasks."""
    return [(row[0], row[1]) for row in tx.all(_WAITED_FOR, (json_text.dump(list(ids)),))]


def joined(tx: Tx, ids: Iterable[str]) -> list[tuple[str, str]]:
    """(task, live task that depends on it) of live edges."""
    return [(row[0], row[1]) for row in tx.all(_JOINED, (json_text.dump(list(ids)),))]


def targets(tx: Tx, record_id: str) -> list[str]:
    """The ids at which live `depends_on` edges of a record end."""
    return [row[0] for row in tx.all(_TARGETS, (record_id,))]
