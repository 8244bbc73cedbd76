"""The raw values of live tasks, as they are stored: counted by their size, and shown as JSON source.

Invariant: a value is never converted. What is shown of it is the text that a later comparison must find again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import Where, sql

NULL: Final = "null"
NONNUMERIC: Final = "nonnumeric"
ZERO: Final = "epoch_zero"
EXPECTED: Final = "magnitude_16_digits"
OTHER: Final = "other"
MAGNITUDES: Final = {"magnitude_10_digits": 10**9, "magnitude_13_digits": 10**12, EXPECTED: 10**15}
"""For each bucket of one number of digits the smallest such number."""
BUCKETS: Final = (NULL, NONNUMERIC, ZERO, *MAGNITUDES, OTHER)


class Counted(NamedTuple):
    """How many tasks have values of these two sorts; `later`: of how many the first is above the second, as numbers."""

    created_at: str
    archived_at: str
    tasks: int
    later: int


class CandidateRow(NamedTuple):
    """A task with a created_at or updated_at of an unexpected sort; texts are JSON source, None for what is absent."""

    namespace: str
    id: str
    status: str | None
    created_at: int
    updated_at: int
    archived_at: str | None
    created_bucket: str
    updated_bucket: str
    archived_bucket: str


class Stored(NamedTuple):
    """What a repair compares; `properties_type` and `status_type` are JSON types, None when there is no status."""

    status: str | None
    status_type: str | None
    properties_type: str


def _bucket(json_type: str, value: str) -> str:
    """The sort of a value as an SQL expression. Written without abs(), which fails for the smallest integer."""
    sized = " ".join(
        f"WHEN {value} >= {low} AND {value} < {low * 10} OR {value} <= -{low} AND {value} > -{low * 10} THEN '{name}'"
        for name, low in MAGNITUDES.items()
    )
    return sql(
        "CASE WHEN coalesce({type}, 'null') = 'null' THEN '{null}'"
        " WHEN {type} NOT IN ('integer', 'real') THEN '{nonnumeric}' WHEN {value} = 0 THEN '{zero}' {sized}"
        " ELSE '{other}' END",
        type=json_type,
        value=value,
        sized=sized,
        null=NULL,
        nonnumeric=NONNUMERIC,
        zero=ZERO,
        other=OTHER,
    )


_ARCHIVED_TYPE: Final = "json_type(properties, '$.archived_at')"
_ARCHIVED: Final = "json_extract(properties, '$.archived_at')"
_CREATED_BUCKET: Final = _bucket("'integer'", "created_at")
_UPDATED_BUCKET: Final = _bucket("'integer'", "updated_at")
_ARCHIVED_BUCKET: Final = _bucket(_ARCHIVED_TYPE, _ARCHIVED)

_COUNT: Final = sql(
    "SELECT {created}, {archived}, count(*),"
    " sum({archived_type} IN ('integer', 'real') AND created_at > {archived_at})"
    " FROM notes INDEXED BY notes_tasks WHERE {where} GROUP BY 1, 2",
    created=_CREATED_BUCKET,
    archived=_ARCHIVED_BUCKET,
    archived_type=_ARCHIVED_TYPE,
    archived_at=_ARCHIVED,
)
_CANDIDATES: Final = sql(
    "SELECT namespace, id, properties -> '$.status', created_at, updated_at, properties -> '$.archived_at',"
    " {created} AS created, {updated} AS updated, {archived}"
    " FROM notes INDEXED BY notes_tasks WHERE {where} AND (created <> '{expected}' OR updated <> '{expected}')"
    " ORDER BY namespace, id LIMIT ?",
    created=_CREATED_BUCKET,
    updated=_UPDATED_BUCKET,
    archived=_ARCHIVED_BUCKET,
    expected=EXPECTED,
)
_STORED: Final = (
    "SELECT properties -> '$.status', json_type(properties, '$.status'), json_type(properties) FROM notes WHERE id = ?"
)


def count(tx: Tx, namespaces: Sequence[str]) -> list[Counted]:
    """The live tasks of the namespaces by the sorts of their two values."""
    where = _tasks(namespaces)
    rows = tx.all(sql(_COUNT, where=where.text), where.args)
    return [Counted(row[0], row[1], row[2], row[3] or 0) for row in rows]


def candidates(tx: Tx, namespaces: Sequence[str], after: tuple[str, str] | None, limit: int) -> list[CandidateRow]:
    """Tasks for a repair by namespace and id, behind a pair of these."""
    where = _tasks(namespaces)
    if after is not None:
        where.add("(namespace, id) > (?, ?)", *after)
    rows = tx.all(sql(_CANDIDATES, where=where.text), [*where.args, limit])
    return [CandidateRow._make(row) for row in rows]


def stored(tx: Tx, note_id: str) -> Stored:
    """What a note that exists has, as JSON source."""
    row = tx.one(_STORED, (note_id,))
    assert row is not None
    return Stored._make(row)


def _tasks(namespaces: Sequence[str]) -> Where:
    where = Where("kind = 'task' AND deleted_at IS NULL")
    where.among("namespace", namespaces)
    return where
