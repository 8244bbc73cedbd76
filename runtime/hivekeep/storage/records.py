"""Looking a record up when only its id, or the beginning of it, is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Where, batches, beginning_with, marks, sql

TABLES: Final = {"entity": "entities", "note": "notes", "edge": "edges", "event": "events", "proposal": "proposals"}
"""The table of each substrate, in the order in which an id is looked for."""

_LOCATE_ARMS: Final = {
    "entity": "SELECT 'entity', id, namespace, kind, deleted_at FROM entities WHERE id = ?1",
    "note": "SELECT 'note', id, namespace, kind, deleted_at FROM notes WHERE id = ?1",
    "edge": "SELECT 'edge', id, namespace, relation, deleted_at FROM edges WHERE id = ?1",
    "event": "SELECT 'event', id, namespace, kind, NULL FROM events WHERE id = ?1",
    "proposal": "SELECT 'proposal', id, namespace, 'proposal', NULL FROM proposals WHERE id = ?1",
}
_LOCATE: Final = " UNION ALL ".join(_LOCATE_ARMS.values()) + " LIMIT 1"
_NO_DELETED_ROWS: Final = ("event", "proposal")


class Located(NamedTuple):
    """What is known of a record by its id alone; `kind` is the relation for an edge."""

    substrate: str
    id: str
    namespace: str
    kind: str
    deleted_at: int | None


def locate(tx: Tx, record_id: str) -> Located | None:
    """The entity, note, edge, event or proposal of a full id in any namespace, deleted ones included."""
    row = tx.one(_LOCATE, (record_id,))
    return None if row is None else Located._make(row)


def locate_many(tx: Tx, ids: Sequence[str]) -> dict[str, Located]:
    """The same of many ids at once, keyed by id; what does not exist is left out."""
    found: dict[str, Located] = {}
    for batch in batches(ids):
        for arm in _LOCATE_ARMS.values():
            among = arm.replace("= ?1", "IN (" + marks(len(batch)) + ")")
            for row in tx.all(among, batch):
                found.setdefault(row[1], Located._make(row))
    return found


def find_prefix(
    tx: Tx,
    prefix: str,
    substrates: Iterable[str],
    include_deleted: bool = False,
    *,
    namespaces: Sequence[str] | None = None,
) -> list[tuple[str, str]]:
    """(substrate, id) of each record whose id begins with `prefix`, in the order of `substrates`.

    `prefix` is lower-case with hyphens in their places; `namespaces=None` looks into all of them. An id is
    listed once.
    """
    found: dict[str, str] = {}
    for substrate in substrates:
        where = Where()
        where.add("id >= ? AND id < ?", *beginning_with(prefix))
        if not include_deleted and substrate not in _NO_DELETED_ROWS:
            where.add("deleted_at IS NULL")
        if namespaces is not None:
            where.among("namespace", namespaces)
        statement = sql("SELECT id FROM {table} WHERE {where} ORDER BY id", table=TABLES[substrate], where=where.text)
        for (record_id,) in tx.all(statement, where.args):
            found.setdefault(record_id, substrate)
    return [(substrate, record_id) for record_id, substrate in found.items()]
