"""Entries of the curated memory: one row each, where it stands and which revision is its current one.

Invariant: who changes an entry has read it in the same immediate transaction. What it says is in its revisions
(`agent_revisions`); this row and the one of its current revision have the same content hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Where, batches, beginning_with, marks, sql


class EntryRow(NamedTuple):
    """An entry. Moments are microseconds; `content_hash` is that of the current revision.

    `disabled` is 0 or 1. The three fields of the managed source are all set or all None. `seq` is given by `insert` and
    never twice.
    """

    id: str
    workspace: str
    status: str
    trust_level: str
    confidence: float
    revision: int
    content_hash: str
    superseded_by: str | None
    disabled: int
    source_id: str | None
    source_mapping: str | None
    source_state: str | None
    created_by: str
    created_at: int
    updated_at: int
    verified_at: int | None
    seq: int = 0


class EntryFilter(NamedTuple):
    """Conditions on a list of entries; None is no condition. `tag_key` is folded by `agent_retrieval.tag_key`."""

    kind: str | None = None
    status: str | None = None
    tag_key: str | None = None
    superseded: bool = True


class AuditRow(NamedTuple):
    """What was done to an entry, by whom and when; `other_id` is a second entry that had part in it.

    `entry_id` is None for what was done to a whole workspace. `created_at` is in microseconds.
    """

    workspace: str
    operation: str
    entry_id: str | None
    revision: int | None
    other_id: str | None
    actor: str
    created_at: int


COLUMNS: Final = EntryRow._fields
_COLUMNS: Final = ", ".join(COLUMNS)
_SELECT: Final = sql("SELECT {columns} FROM agent_entries", columns=_COLUMNS)
_SEQS: Final = "SELECT seq FROM agent_entries WHERE {where}"
_BY_ID: Final = _SELECT + " WHERE id = ?"
_BY_PREFIX: Final = _SELECT + " WHERE id >= ? AND id < ? ORDER BY id LIMIT 2"
_BY_CONTENT: Final = _SELECT + " WHERE workspace = ? AND content_hash = ?"
_BY_MAPPING: Final = _SELECT + " WHERE workspace = ? AND source_id = ? AND source_mapping = ?"
_OF_SOURCE: Final = _SELECT + " WHERE workspace = ? AND source_id = ? ORDER BY source_mapping"
_LISTED: Final = _SELECT + " WHERE workspace = ? ORDER BY created_at, id"
_BY_NUMBER: Final = _SELECT + " WHERE seq > ? ORDER BY seq LIMIT ?"
_PAGE: Final = 1000
_INSERT: Final = sql(
    "INSERT INTO agent_entries ({columns}) VALUES ({marks})",
    columns=", ".join(COLUMNS[:-1]),
    marks=marks(len(COLUMNS) - 1),
)
_CHANGE: Final = sql(
    "UPDATE agent_entries SET {values} WHERE seq = ?",
    values=", ".join(column + " = ?" for column in COLUMNS[:-1]),
)
_KIND: Final = (
    "EXISTS (SELECT 1 FROM agent_entry_revisions AS r WHERE r.entry_seq = agent_entries.seq"
    " AND r.revision = agent_entries.revision AND r.kind = ?)"
)
_TAGGED: Final = (
    "seq IN (SELECT entry_seq FROM agent_entry_tags AS t WHERE t.workspace = agent_entries.workspace AND t.tag_key = ?)"
)
_AUDIT_COLUMNS: Final = ", ".join(AuditRow._fields)
_INSERT_AUDIT: Final = sql(
    "INSERT INTO agent_entry_audit ({columns}) VALUES ({marks})",
    columns=_AUDIT_COLUMNS,
    marks=marks(len(AuditRow._fields)),
)
_AUDIT: Final = sql(
    "SELECT {columns} FROM agent_entry_audit WHERE workspace = ? AND entry_id IS NOT NULL ORDER BY seq",
    columns=_AUDIT_COLUMNS,
)
_AUDIT_OF: Final = sql(
    "SELECT {columns} FROM agent_entry_audit WHERE entry_id = ? ORDER BY seq", columns=_AUDIT_COLUMNS
)
_PURGED: Final = "SELECT 1 FROM agent_entry_audit WHERE entry_id = ? AND operation = ? LIMIT 1"


def insert(tx: Tx, row: EntryRow) -> EntryRow:
    """Store a new entry; answers it with its number."""
    return row._replace(seq=tx.insert(_INSERT, row[:-1]))


def get(tx: Tx, entry_id: str) -> EntryRow | None:
    """The entry of a full id, in any workspace."""
    return _one(tx, _BY_ID, entry_id)


def with_prefix(tx: Tx, prefix: str) -> list[EntryRow]:
    """The first two entries whose ids begin so; `prefix` is lower-case hex with hyphens at their places."""
    return [EntryRow._make(row) for row in tx.all(_BY_PREFIX, beginning_with(prefix))]


def with_content(tx: Tx, workspace: str, content_hash: str) -> EntryRow | None:
    """The entry of a workspace that says this at its current revision."""
    return _one(tx, _BY_CONTENT, workspace, content_hash)


def with_mapping(tx: Tx, workspace: str, source_id: str, mapping: str) -> EntryRow | None:
    """The entry that a managed source calls so."""
    return _one(tx, _BY_MAPPING, workspace, source_id, mapping)


def of_source(tx: Tx, workspace: str, source_id: str) -> list[EntryRow]:
    """Every entry of a managed source, by mapping."""
    return [EntryRow._make(row) for row in tx.all(_OF_SOURCE, (workspace, source_id))]


def get_many(tx: Tx, entry_ids: Sequence[str]) -> dict[str, EntryRow]:
    """The entries of full ids that exist, by id."""
    found = {}
    for some in batches(entry_ids):
        for row in tx.all(sql(_SELECT + " WHERE id IN ({marks})", marks=marks(len(some))), some):
            entry = EntryRow._make(row)
            found[entry.id] = entry
    return found


def in_order(tx: Tx, workspace: str) -> Iterator[EntryRow]:
    """Every entry of a workspace, oldest first."""
    return map(EntryRow._make, tx.all(_LISTED, (workspace,)))


def everywhere(tx: Tx) -> Iterator[EntryRow]:
    """Every entry of every workspace, a page at a time."""
    after = 0
    while rows := tx.all(_BY_NUMBER, (after, _PAGE)):
        yield from map(EntryRow._make, rows)
        after = rows[-1][-1]


def newest(tx: Tx, workspace: str, filters: EntryFilter, limit: int) -> list[EntryRow]:
    """The newest entries of a workspace that meet every condition."""
    where = _conditions(workspace, filters)
    listed = _SELECT + " WHERE " + where.text + " ORDER BY created_at DESC, id DESC LIMIT ?"
    return [EntryRow._make(row) for row in tx.all(listed, (*where.args, limit))]


def meeting(tx: Tx, workspace: str, filters: EntryFilter, seqs: Sequence[int]) -> set[int]:
    """Those of the entries that meet every condition, by their numbers."""
    where = _conditions(workspace, filters)
    where.among("seq", seqs)
    return {row[0] for row in tx.all(sql(_SEQS, where=where.text), where.args)}


def change(tx: Tx, old: EntryRow, **changes: Any) -> EntryRow:
    """Change an entry that was read in this very transaction; answers what is stored."""
    new = old._replace(**changes)
    tx.run(_CHANGE, (*new[:-1], old.seq))
    return new


def erase(tx: Tx, row: EntryRow) -> None:
    """Remove an entry and its audit rows; what refers to it must be gone. Those of others keep its id."""
    tx.run("DELETE FROM agent_entries WHERE seq = ?", (row.seq,))
    tx.run("DELETE FROM agent_entry_audit WHERE entry_id = ?", (row.id,))


def audit(tx: Tx, row: AuditRow) -> None:
    """Note what was done."""
    tx.run(_INSERT_AUDIT, row)


def audit_many(tx: Tx, rows: Sequence[AuditRow]) -> None:
    """Note several things in their order."""
    tx.many(_INSERT_AUDIT, rows)


def audit_in_order(tx: Tx, workspace: str) -> list[AuditRow]:
    """What was done to the entries of a workspace, oldest first."""
    return [AuditRow._make(row) for row in tx.all(_AUDIT, (workspace,))]


def audit_of(tx: Tx, entry_id: str) -> list[AuditRow]:
    """What was done to one entry, oldest first."""
    return [AuditRow._make(row) for row in tx.all(_AUDIT_OF, (entry_id,))]


def is_purged(tx: Tx, entry_id: str, operation: str) -> bool:
    """Whether an entry of this id was purged; `operation` is the audit word for that."""
    return tx.one(_PURGED, (entry_id, operation)) is not None


def _one(tx: Tx, statement: str, *args: object) -> EntryRow | None:
    row = tx.one(statement, args)
    return None if row is None else EntryRow._make(row)


def _conditions(workspace: str, filters: EntryFilter) -> Where:
    where = Where()
    where.equal("workspace", workspace)
    where.equal("status", filters.status)
    if not filters.superseded:
        where.add("status <> 'superseded'")
    if filters.kind is not None:
        where.add(_KIND, filters.kind)
    if filters.tag_key is not None:
        where.add(_TAGGED, filters.tag_key)
    return where
