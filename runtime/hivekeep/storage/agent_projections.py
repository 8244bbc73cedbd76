"""What the ledger of a run adds up to, as it was last folded, and the events that a fold has yet to read.

Invariant: a stored state belongs to the events up to its sequence and to no others; it is only ever replaced by one
that goes at least as far. It can be made again from the ledger at any time.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump, load_object


class Reported(NamedTuple):
    """An event of the ledger as far as a fold reads it; `payload` is JSON text."""

    sequence: int
    event_id: str
    event_type: str
    outcome: str | None
    payload: str


class StoredProjection(NamedTuple):
    """A folded state and the sequence of the last event in it."""

    through_sequence: int
    state: dict[str, Any]


_FIND: Final = "SELECT through_sequence, state FROM agent_projections WHERE run_seq = ?"
_SAVE: Final = (
    "INSERT INTO agent_projections (run_seq, through_sequence, state) VALUES (?, ?, ?) ON CONFLICT (run_seq) DO UPDATE"
    " SET through_sequence = excluded.through_sequence, state = excluded.state"
    " WHERE excluded.through_sequence >= through_sequence"
)
_EVENTS: Final = (
    "SELECT sequence, event_id, event_type, outcome, payload FROM agent_events"
    " WHERE run_seq = ? AND sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?"
)


def find(tx: Tx, run_seq: int) -> StoredProjection | None:
    """The stored state of a run, or None before its first."""
    row = tx.one(_FIND, (run_seq,))
    return None if row is None else StoredProjection(int(row[0]), load_object(row[1]))


def save(tx: Tx, run_seq: int, stored: StoredProjection) -> None:
    """Keep a state, unless one is there that goes further."""
    tx.run(_SAVE, (run_seq, stored.through_sequence, dump(stored.state)))


def events_between(tx: Tx, run_seq: int, after: int, through: int, limit: int) -> list[Reported]:
    """The first events with a sequence above `after`, none above `through`, at most `limit`, in their order."""
    return [Reported._make(row) for row in tx.all(_EVENTS, (run_seq, after, through, limit))]
