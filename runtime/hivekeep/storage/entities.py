"""Entities: the nodes of the graph.

Functions on a `Tx`. Rows are the stored columns; `properties` and `tags` stay JSON text until somebody looks
(`json_text.load_object`, `json_text.load_tags`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.normal_form import normal_form
from hivekeep.storage import edges
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import EMPTY_LIST, EMPTY_OBJECT, dump
from hivekeep.storage.rows import CursorPage, IndexedText, RecordTable, RecordText
from hivekeep.storage.statements import Where


class EntityRow(NamedTuple):
    """One entity. A new one needs id, namespace, kind, name and its times; `seq` is set by `insert`."""

    id: str
    namespace: str
    kind: str
    name: str
    created_at: int
    updated_at: int
    entity_type: str | None = None
    description: str | None = None
    properties: str = EMPTY_OBJECT
    tags: str = EMPTY_LIST
    deleted_at: int | None = None
    merged_into: str | None = None
    merge_event_id: str | None = None
    version: int = 1
    seq: int = 0


class EntityFilter(NamedTuple):
    """Conditions on a list of entities.

    `entity_type` is compared with the column, or with a string `properties.type` where the column is empty;
    `tags` matches any of them, ASCII letters without case.
    """

    kind: str | None = None
    entity_type: str | None = None
    tags: tuple[str, ...] = ()


NO_FILTER: Final = EntityFilter()


def name_key(name: str) -> str:
    """The form in which two names that differ only in case or composition are equal."""
    if name.isascii():
        return name.lower()
    return normal_form("NFC", normal_form("NFC", name).casefold())


_TABLE: Final = RecordTable(
    "entities",
    EntityRow,
    text=RecordText("entity", lambda row: IndexedText(row.namespace, row.kind, row.name, row.description or "")),
    derived={"name_key": lambda row: name_key(row.name)},
)

get = _TABLE.get
get_many = _TABLE.get_many
insert = _TABLE.insert
insert_many = _TABLE.insert_many
update = _TABLE.update
soft_delete = _TABLE.soft_delete
restore = _TABLE.restore

_BY_NAME: Final = _TABLE.select + " WHERE namespace = ? AND name_key = ? AND deleted_at IS NULL ORDER BY seq LIMIT ?"
_COUNT_BY_NAME: Final = "SELECT count(*) FROM entities WHERE namespace = ? AND name_key = ? AND deleted_at IS NULL"
_BY_EXACT_NAME: Final = _BY_NAME.replace("ORDER BY", "AND name = ? ORDER BY")
_BY_NAME_AND_KIND: Final = _BY_NAME.replace("ORDER BY", "AND kind = ? ORDER BY")
# SQLite plans a sorted statement again whenever a value is bound; this one keeps its plan, and mostly finds nothing.
_IS_TAKEN: Final = (
    "SELECT 1 FROM entities WHERE namespace = ? AND name_key = ? AND deleted_at IS NULL AND kind = ? LIMIT 1"
)

_KNOWN_NAMES: Final = (
    "SELECT name_key FROM entities WHERE namespace IN (SELECT value FROM json_each(?))"
    " AND name_key IN (SELECT value FROM json_each(?)) AND deleted_at IS NULL"
)


def hard_delete(tx: Tx, row: EntityRow) -> list[edges.EdgeRow]:
    """Remove an entity with every edge on it, annotations of edges included; answers the removed edges."""
    removed = edges.remove_incident(tx, row.id)
    _TABLE.erase(tx, row)
    return removed


def count_by_name(tx: Tx, namespace: str, name: str) -> int:
    """How many live entities have this name, case and composition ignored."""
    row = tx.one(_COUNT_BY_NAME, (namespace, name_key(name)))
    assert row is not None
    return int(row[0])


def find_by_name(tx: Tx, namespace: str, name: str, kind: str | None = None, *, limit: int = 100) -> list[EntityRow]:
    """The first live entities of this name, case and composition ignored, oldest first."""
    key = name_key(name)
    if kind is None:
        return [EntityRow._make(row) for row in tx.all(_BY_NAME, (namespace, key, limit))]
    if tx.one(_IS_TAKEN, (namespace, key, kind)) is None:
        return []
    return [EntityRow._make(row) for row in tx.all(_BY_NAME_AND_KIND, (namespace, key, kind, limit))]


def find_by_exact_name(tx: Tx, namespace: str, name: str) -> list[EntityRow]:
    """Every live entity that is called just so, oldest first."""
    return [EntityRow._make(row) for row in tx.all(_BY_EXACT_NAME, (namespace, name_key(name), name, -1))]


def known_names(tx: Tx, namespaces: Sequence[str], names: Sequence[str]) -> list[str]:
    """Those of the names that a live entity of the namespaces has, case and composition ignored, as they are given."""
    keys = {name: name_key(name) for name in names}
    rows = tx.all(_KNOWN_NAMES, (dump(list(namespaces)), dump(list(keys.values()))))
    known = {row[0] for row in rows}
    return [name for name, key in keys.items() if key in known]


def list_page(
    tx: Tx, namespaces: Sequence[str], filters: EntityFilter, *, limit: int, offset: int = 0
) -> list[EntityRow]:
    """Live entities, newest first."""
    return _TABLE.page(tx, namespaces, _conditions(filters), limit=limit, offset=offset)


def list_after(
    tx: Tx, namespaces: Sequence[str], filters: EntityFilter, *, limit: int, after_seq: int
) -> CursorPage[EntityRow]:
    """Live entities in the order they were added, behind a cursor's sequence."""
    return _TABLE.walk(tx, namespaces, _conditions(filters), limit=limit, after_seq=after_seq)


def count(tx: Tx, namespaces: Sequence[str], filters: EntityFilter = NO_FILTER) -> int:
    """How many live entities a list with these filters walks over."""
    return _TABLE.count(tx, namespaces, _conditions(filters))


def _conditions(filters: EntityFilter) -> Where:
    where = Where()
    where.equal("kind", filters.kind)
    if filters.entity_type is not None:
        where.add(
            "CASE WHEN entity_type IS NOT NULL THEN entity_type = ?"
            " ELSE json_type(properties, '$.type') = 'text' AND json_extract(properties, '$.type') = ? END",
            filters.entity_type,
            filters.entity_type,
        )
    if filters.tags:
        where.any_tag("tags", "$", filters.tags)
    return where
