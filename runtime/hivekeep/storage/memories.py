"""Memories: notes of the kind `memory`, as recall and prune look at them.

Functions on a `Tx`. Where a memory does not say its type, weight or decay, the statements answer the default of the
type.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.engine import Tx
from hivekeep.storage.memory_filter import MemoryFilter, or_default, type_of
from hivekeep.storage.statements import Where, sql
from hivekeep_contract.limits import MEMORY_DECAY, MEMORY_SALIENCE

KIND: Final = "memory"


class MemoryRow(NamedTuple):
    """A memory as recall sees it; `source_id` and `supersedes` are the properties as JSON text, None when not there.

    Anybody may have written anything into a property, so what they hold is for the reader to judge.
    """

    seq: int
    id: str
    content: str
    created_at: int
    memory_type: str
    salience: float
    decay_factor: float
    source_id: str | None
    supersedes: str | None


class FadingRow(NamedTuple):
    """A memory as prune sees it; one without a salience weighs nothing here."""

    id: str
    created_at: int
    salience: float
    decay_factor: float
    expires_at: int | None


_DECAY: Final = or_default("decay_factor", "properties", MEMORY_DECAY)
_HYDRATE: Final = sql(
    "SELECT seq, id, content, created_at, {type}, {salience}, {decay},"
    " properties -> '$.source_id', properties -> '$.supersedes'"
    " FROM notes WHERE seq IN (SELECT value FROM json_each(?)) AND kind = 'memory' AND deleted_at IS NULL",
    type=type_of("properties"),
    salience=or_default("salience", "properties", MEMORY_SALIENCE),
    decay=_DECAY,
)
_FADING: Final = sql(
    "SELECT id, created_at, coalesce(salience, 0.0), {decay}, expires_at"
    " FROM notes WHERE namespace = ? AND kind = 'memory' AND deleted_at IS NULL ORDER BY seq",
    decay=_DECAY,
)
# A deleted replacement replaces nothing, and one that the caller may not see hides nothing from it.
_SUPERSEDED: Final = (
    "SELECT DISTINCT x.target_id FROM edges x JOIN notes s ON s.id = x.source_id AND s.deleted_at IS NULL"
    " WHERE x.target_id IN (SELECT value FROM json_each(?)) AND x.relation = 'supersedes' AND x.deleted_at IS NULL"
    " AND x.namespace IN (SELECT value FROM json_each(?))"
)
_ANNOTATED: Final = (
    "SELECT id, relation FROM edges WHERE source_id = ? AND relation IN ('annotates', 'supersedes')"
    " AND deleted_at IS NULL ORDER BY seq"
)

_OUTSIDE: Final = "SELECT count(*) FROM notes r WHERE r.seq IN (SELECT value FROM json_each(?)) AND NOT ({allowed})"


def hydrate(tx: Tx, seqs: Sequence[int]) -> dict[int, MemoryRow]:
    """Live memories by `seq`; what is none is left out."""
    return {row[0]: MemoryRow._make(row) for row in tx.all(_HYDRATE, (json_text.dump(list(seqs)),))}


def superseded(tx: Tx, ids: Sequence[str], namespaces: Sequence[str]) -> set[str]:
    """Those of the memories that a live note replaces by an edge of these namespaces."""
    rows = tx.all(_SUPERSEDED, (json_text.dump(list(ids)), json_text.dump(list(namespaces))))
    return {row[0] for row in rows}


def fading(tx: Tx, namespace: str) -> Iterator[FadingRow]:
    """Every live memory of a namespace, oldest first."""
    return map(FadingRow._make, tx.all(_FADING, (namespace,)))


def edges_from(tx: Tx, memory_id: str) -> dict[str, str]:
    """The ids of the first annotates and the first supersedes edge of a memory, by relation."""
    found: dict[str, str] = {}
    for edge_id, relation in tx.all(_ANNOTATED, (memory_id,)):
        found.setdefault(relation, edge_id)
    return found


def outside(tx: Tx, seqs: Sequence[int], namespaces: Sequence[str], filters: MemoryFilter) -> int:
    """How many of the live memories are in another namespace, or do not meet the filters."""
    allowed = Where()
    allowed.among("r.namespace", namespaces)
    allowed.extend(filters.conditions())
    statement = sql(_OUTSIDE, allowed=allowed.text)
    row = tx.one(statement, (json_text.dump(list(seqs)), *allowed.args))
    assert row is not None
    return int(row[0])
