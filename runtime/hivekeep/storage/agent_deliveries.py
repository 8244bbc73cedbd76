"""Deliveries of curated entries to runs: which exact revisions, and no copy of their texts.

Invariant: a delivery is stored whole in one transaction and never changes; it goes with its run. Its id holds the
history that it was made on, so the newest id of a run attests to all before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql
from hivekeep_contract.limits import DELIVERY_REFERENCES_MAX


class DeliveryRow(NamedTuple):
    """One delivery. `query_hash` names the question, `history_hash` the deliveries before it; time in microseconds."""

    id: str
    run_seq: int
    through_sequence: int
    session_id: str
    profile_hash: str
    query_hash: str
    history_hash: str
    policy_version: str
    character_budget: int
    character_count: int
    truncated: int
    created_at: int
    seq: int = 0


class ItemRow(NamedTuple):
    """One entry of a delivery; `score_components` and `selection_reasons` are JSON text."""

    delivery_seq: int
    rank: int
    entry_id: str
    revision: int
    origin: str
    score_components: str
    selection_reasons: str
    character_count: int
    truncated: int


_COLUMNS: Final = ", ".join(DeliveryRow._fields)
_INSERT: Final = sql(
    "INSERT INTO agent_deliveries ({columns}) VALUES ({marks})",
    columns=", ".join(DeliveryRow._fields[:-1]),
    marks=marks(len(DeliveryRow._fields) - 1),
)
_INSERT_ITEM: Final = sql(
    "INSERT INTO agent_delivery_items ({columns}) VALUES ({marks})",
    columns=", ".join(ItemRow._fields),
    marks=marks(len(ItemRow._fields)),
)
_BY_ID: Final = sql("SELECT {columns} FROM agent_deliveries WHERE id = ?", columns=_COLUMNS)
_NEWEST: Final = sql(
    "SELECT {columns} FROM agent_deliveries WHERE run_seq = ? AND query_hash = ? ORDER BY seq DESC LIMIT 1",
    columns=_COLUMNS,
)
_NEWEST_ID: Final = "SELECT id FROM agent_deliveries WHERE run_seq = ? ORDER BY seq DESC LIMIT 1"
_ITEMS: Final = sql(
    "SELECT {columns} FROM agent_delivery_items WHERE delivery_seq = ? ORDER BY rank",
    columns=", ".join(ItemRow._fields),
)
_HOLDS: Final = "SELECT revision FROM agent_delivery_items WHERE delivery_seq = ? AND entry_id = ?"
_OF_RUN: Final = (
    "FROM agent_deliveries d CROSS JOIN agent_delivery_items i ON i.delivery_seq = d.seq WHERE d.run_seq = ?"
)
_DELIVERED: Final = sql(
    "SELECT i.entry_id, max(i.revision) {of_run} AND d.through_sequence < ? GROUP BY i.entry_id", of_run=_OF_RUN
)
_OUTDATED: Final = sql(
    "SELECT id FROM (SELECT i.entry_id AS id, max(i.revision) AS revision {of_run} GROUP BY i.entry_id) AS had"
    " WHERE revision < (SELECT e.revision FROM agent_entries e WHERE e.id = had.id) ORDER BY id LIMIT ?",
    of_run=_OF_RUN,
)
_USE: Final = (
    "SELECT count(*), count(DISTINCT d.run_seq) FROM agent_delivery_items i"
    " CROSS JOIN agent_deliveries d ON d.seq = i.delivery_seq WHERE i.entry_id = ?"
)
_CONTRADICTING: Final = sql(
    "WITH had AS MATERIALIZED (SELECT e.seq, e.id FROM agent_entries e WHERE e.status = 'verified' AND e.retrievable"
    " AND e.id IN (SELECT i.entry_id {of_run}))"
    " SELECT min(a.id, b.id), max(a.id, b.id) FROM had a CROSS JOIN agent_entry_links l ON l.from_seq = a.seq"
    " AND l.relation = 'contradicts' CROSS JOIN had b ON b.seq = l.to_seq GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ?",
    of_run=_OF_RUN,
)


def insert(tx: Tx, row: DeliveryRow, items: Sequence[ItemRow]) -> None:
    """Store a delivery with its items; their `delivery_seq` is ignored."""
    seq = tx.insert(_INSERT, tuple(row)[:-1])
    tx.many(_INSERT_ITEM, [item._replace(delivery_seq=seq) for item in items])


def get(tx: Tx, delivery_id: str) -> DeliveryRow | None:
    """The delivery of an id, of whatever run."""
    row = tx.one(_BY_ID, (delivery_id,))
    return None if row is None else DeliveryRow._make(row)


def newest(tx: Tx, run_seq: int, query_hash: str) -> DeliveryRow | None:
    """The last delivery that answered a question of a run."""
    row = tx.one(_NEWEST, (run_seq, query_hash))
    return None if row is None else DeliveryRow._make(row)


def items(tx: Tx, delivery_seq: int) -> list[ItemRow]:
    """The items of a delivery, best first."""
    return [ItemRow._make(row) for row in tx.all(_ITEMS, (delivery_seq,))]


def held_revision(tx: Tx, delivery_seq: int, entry_id: str) -> int | None:
    """The revision of an entry that a delivery holds; None when it does not hold the entry."""
    row = tx.one(_HOLDS, (delivery_seq, entry_id))
    return None if row is None else int(row[0])


def newest_id(tx: Tx, run_seq: int) -> str | None:
    """The id of the last delivery of a run."""
    row = tx.one(_NEWEST_ID, (run_seq,))
    return None if row is None else str(row[0])


def delivered_before(tx: Tx, run_seq: int, sequence: int) -> dict[str, int]:
    """The newest revision of each entry that was delivered for an earlier event than that number, by entry id."""
    return {str(row[0]): int(row[1]) for row in tx.all(_DELIVERED, (run_seq, sequence))}


def use_of(tx: Tx, entry_id: str) -> tuple[int, int]:
    """How often an entry was delivered, and to how many runs."""
    row = tx.one(_USE, (entry_id,))
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


def outdated(tx: Tx, run_seq: int) -> list[str]:
    """Delivered entries that have a newer revision than any that was delivered; no more than advice shows and one."""
    return [str(row[0]) for row in tx.all(_OUTDATED, (run_seq, DELIVERY_REFERENCES_MAX))]


def contradicting(tx: Tx, run_seq: int) -> list[tuple[str, str]]:
    """Pairs of delivered entries that are verified, can still be found, and contradict each other; as many as that."""
    return [(str(row[0]), str(row[1])) for row in tx.all(_CONTRADICTING, (run_seq, DELIVERY_REFERENCES_MAX))]
