"""Notes: what was observed, decided, asked; also the records of the packs that build on notes.

Functions on a `Tx`. Tags of a note live in `properties.tags`. A natural key is unique among the live notes of
a namespace and kind; a deleted holder frees it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage import edges
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import EMPTY_OBJECT
from hivekeep.storage.message_fields import MessageTraits
from hivekeep.storage.rows import CursorPage, IndexedText, RecordTable, RecordText
from hivekeep.storage.statements import Where, sql
from hivekeep_contract import limits


class NoteRow(NamedTuple):
    """One note. A new one needs id, namespace, kind, content and its times; `seq` is set by `insert`."""

    id: str
    namespace: str
    kind: str
    content: str
    created_at: int
    updated_at: int
    name: str | None = None
    status: str = "active"
    salience: float | None = None
    decay_factor: float | None = None
    expires_at: int | None = None
    properties: str = EMPTY_OBJECT
    key: str | None = None
    deleted_at: int | None = None
    merged_into: str | None = None
    merge_event_id: str | None = None
    version: int = 1
    seq: int = 0


class NoteFilter(NamedTuple):
    """Conditions on a list of notes; `tags` matches any of `properties.tags`, ASCII letters without case.

    `message`: only messages, and only such ones.
    """

    kind: str | None = None
    tags: tuple[str, ...] = ()
    message: MessageTraits | None = None


NO_FILTER: Final = NoteFilter()

_TABLE: Final = RecordTable(
    "notes",
    NoteRow,
    text=RecordText("note", lambda row: IndexedText(row.namespace, row.kind, row.name or "", row.content)),
)

get = _TABLE.get
get_many = _TABLE.get_many
insert = _TABLE.insert
insert_many = _TABLE.insert_many
update = _TABLE.update
soft_delete = _TABLE.soft_delete
restore = _TABLE.restore

_BY_KEY: Final = _TABLE.select + " WHERE namespace = ? AND kind = ? AND key = ? AND deleted_at IS NULL"

_ANNOTATING: Final = sql(
    "SELECT edge.id, {columns} FROM edges AS edge JOIN notes AS note ON note.id = edge.source_id"
    " WHERE edge.target_id = ? AND edge.relation = 'annotates' AND edge.deleted_at IS NULL"
    " AND note.deleted_at IS NULL ORDER BY edge.seq",
    columns=", ".join("note." + column for column in NoteRow._fields),
)


def hard_delete(tx: Tx, row: NoteRow) -> list[edges.EdgeRow]:
    """Remove a note with every edge on it, annotations of edges included; answers the removed edges."""
    removed = edges.remove_incident(tx, row.id)
    _TABLE.erase(tx, row)
    return removed


def find_by_key(tx: Tx, namespace: str, kind: str, key: str) -> NoteRow | None:
    """The live holder of a natural key."""
    row = tx.one(_BY_KEY, (namespace, kind, key))
    return None if row is None else NoteRow._make(row)


def annotating(tx: Tx, record_id: str) -> list[tuple[str, NoteRow]]:
    """(id of the annotates edge, note) of every live note that annotates a record, in any namespace."""
    return [(row[0], NoteRow._make(row[1:])) for row in tx.all(_ANNOTATING, (record_id,))]


def list_page(tx: Tx, namespaces: Sequence[str], filters: NoteFilter, *, limit: int, offset: int = 0) -> list[NoteRow]:
    """Live notes, newest first."""
    return _TABLE.page(tx, namespaces, _conditions(filters), limit=limit, offset=offset)


def list_after(
    tx: Tx, namespaces: Sequence[str], filters: NoteFilter, *, limit: int, after_seq: int
) -> CursorPage[NoteRow]:
    """Live notes in the order they were added, behind a cursor's sequence.

    A filtered walk looks at no more than `limits.NOTE_SCAN_CEILING` notes and says so with `scan_incomplete`.
    """
    ceiling = None if filters == NO_FILTER else limits.NOTE_SCAN_CEILING
    return _TABLE.walk(tx, namespaces, _conditions(filters), limit=limit, after_seq=after_seq, ceiling=ceiling)


def count(tx: Tx, namespaces: Sequence[str], filters: NoteFilter = NO_FILTER) -> int:
    """How many live notes a list with these filters walks over."""
    return _TABLE.count(tx, namespaces, _conditions(filters))


def _conditions(filters: NoteFilter) -> Where:
    where = Where()
    where.equal("kind", filters.kind)
    if filters.tags:
        where.any_tag("properties", "$.tags", filters.tags)
    if filters.message is not None:
        where.extend(filters.message.conditions())
    return where
