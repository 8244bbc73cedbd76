"""Which proposal of a run became which entry of the curated memory.

Invariant: a proposal becomes one entry. A link is only ever added; it goes with its run, and outlives its entry.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from hivekeep.storage import json_text
from hivekeep.storage.engine import Tx
from hivekeep.storage.statements import marks, sql
from hivekeep_contract.gateway import PROMOTION_REFUSALS
from hivekeep_contract.limits import DELIVERY_REFERENCES_MAX


class LinkRow(NamedTuple):
    """One link; `delivery_id` is the delivery that the proposal followed. `created_at` is in microseconds."""

    id: str
    run_seq: int
    event_id: str
    delivery_id: str | None
    entry_id: str
    created_at: int


class ProposalRow(NamedTuple):
    """A proposal in the ledger of its run; `payload` and `redaction` are JSON text."""

    sequence: int
    payload: str
    redaction: str


_COLUMNS: Final = ", ".join(LinkRow._fields)
_INSERT: Final = sql(
    "INSERT INTO agent_memory_links ({columns}) VALUES ({marks})", columns=_COLUMNS, marks=marks(len(LinkRow._fields))
)
_OF_EVENT: Final = sql("SELECT {columns} FROM agent_memory_links WHERE event_id = ?", columns=_COLUMNS)
_PROPOSAL: Final = (
    "SELECT sequence, payload, redaction FROM agent_events"
    " WHERE event_id = ? AND run_seq = ? AND event_type = 'memory.proposed'"
)
_UNPROMOTED: Final = (
    "SELECT e.event_id FROM agent_events e WHERE e.run_seq = ? AND e.event_type = 'memory.proposed'"
    " AND NOT EXISTS (SELECT 1 FROM agent_memory_links l WHERE l.event_id = e.event_id)"
    " AND NOT EXISTS (SELECT 1 FROM json_each(e.redaction) AS r JOIN json_each(?) AS refused"
    " ON json_extract(r.value, '$.kind') = refused.value)"
    " ORDER BY e.sequence DESC LIMIT ?"
)


def insert(tx: Tx, row: LinkRow) -> None:
    """Store the link of a proposal that has none."""
    tx.run(_INSERT, row)


def proposal(tx: Tx, run_seq: int, event_id: str) -> ProposalRow | None:
    """The proposal of a run that has this event id."""
    row = tx.one(_PROPOSAL, (event_id, run_seq))
    return None if row is None else ProposalRow._make(row)


def of_event(tx: Tx, event_id: str) -> LinkRow | None:
    """The link of a proposal."""
    row = tx.one(_OF_EVENT, (event_id,))
    return None if row is None else LinkRow._make(row)


def unpromoted(tx: Tx, run_seq: int) -> list[str]:
    """The newest proposals of a run that became no entry yet and could, by event id; no more than advice shows and one.

    A proposal of which a credential was masked cannot: what it says is not there any more.
    """
    rows = tx.all(_UNPROMOTED, (run_seq, json_text.dump(list(PROMOTION_REFUSALS)), DELIVERY_REFERENCES_MAX))
    return [str(row[0]) for row in rows]
