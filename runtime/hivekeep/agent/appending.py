"""Appending a batch to the ledger of a run, inside of the transaction of the operation.

Invariant: the sequences of a run are contiguous from 1, each event is chained to the one before it, and an event that
is reported again is never stored again. A batch is stored whole, or acknowledged whole, or refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from hivekeep.agent.chain import event_hash
from hivekeep.agent.events import NewEvent, is_same
from hivekeep.storage import agent_events
from hivekeep.storage.agent_events import LedgerRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway_errors import Conflict, IntegrityError

_SHARED: Final = NewEvent._fields.index("is_named")
"""So many leading fields of a new event are those of its row between the sequence and the hashes, in their order."""


class Appended(NamedTuple):
    """The run behind a batch, and the batch in the order of its sequences."""

    run: RunRow
    sequences: list[int]
    source_sequences: list[int | None]
    event_ids: list[str]


def append(tx: Tx, run: RunRow, batch: Sequence[NewEvent]) -> Appended:
    """Store at least one event, or find that all are stored (gateway rules, sequences and identity).

    `run` is the run as this transaction sees it; whether its status takes events is the caller's matter. Raises
    Conflict for an id that the batch has twice, that stands for another event, or of which only some are stored, and
    IntegrityError when the ledger does not end where the run says.
    """
    _check_repeats(batch)
    rows = _stored(tx, run, batch)
    after = run
    if not rows:
        rows = list(_sealed(run, batch))
        agent_events.insert_many(tx, rows)
        after = _behind(run, rows)
        if not agent_events.advance(tx, run, after):
            raise IntegrityError("broken_record")
    return Appended(
        after, [row.sequence for row in rows], [row.source_sequence for row in rows], [row.event_id for row in rows]
    )


def _check_repeats(batch: Sequence[NewEvent]) -> None:
    sources = [event.source_event_id for event in batch if event.source_event_id is not None]
    if len({event.event_id for event in batch}) < len(batch) or len(set(sources)) < len(sources):
        raise Conflict("batch_repeats")


def _stored(tx: Tx, run: RunRow, batch: Sequence[NewEvent]) -> list[LedgerRow]:
    """The events of the batch when all are stored already, in the order of their sequences; none when none is."""
    named = [event.event_id for event in batch if event.is_named]
    sources = [event.source_event_id for event in batch if event.source_event_id is not None]
    by_id = {row.event_id: row for row in agent_events.by_ids(tx, named)} if named else {}
    by_source = (
        {row.source_event_id: row for row in agent_events.by_source_ids(tx, run.seq, sources)} if sources else {}
    )
    if not by_id and not by_source:
        return []
    found = [_same(run, event, by_id.get(event.event_id), by_source.get(event.source_event_id)) for event in batch]
    rows = {row.sequence: row for row in found if row is not None}
    if len(rows) < len(batch):
        raise Conflict("batch_partly_stored")
    return [rows[sequence] for sequence in sorted(rows)]


def _same(run: RunRow, event: NewEvent, by_id: LedgerRow | None, by_source: LedgerRow | None) -> LedgerRow | None:
    """The stored event that this one reports again, None for a new one."""
    if by_id is not None and by_id.run_seq != run.seq:
        raise Conflict("event_id_reused")
    if by_source is not None and (by_id not in (None, by_source) or not is_same(event, by_source)):
        raise Conflict("source_id_reused")
    if by_id is not None and not is_same(event, by_id):
        raise Conflict("event_id_reused")
    return by_source or by_id


def _sealed(run: RunRow, batch: Sequence[NewEvent]) -> Iterator[LedgerRow]:
    """The rows of new events: numbered, and chained to what the ledger ends with."""
    previous = run.last_event_hash
    for sequence, event in enumerate(batch, run.last_sequence + 1):
        row = LedgerRow._make((run.seq, sequence, *event[:_SHARED], previous, ""))
        previous = event_hash(run.id, row)
        yield row._replace(event_hash=previous)


def _behind(run: RunRow, rows: Sequence[LedgerRow]) -> RunRow:
    """The run when its ledger ends with these rows."""
    numbers = [row.source_sequence for row in rows if row.source_sequence is not None]
    if run.last_source_sequence is not None:
        numbers.append(run.last_source_sequence)
    last = rows[-1]
    return run._replace(
        last_sequence=last.sequence,
        last_source_sequence=max(numbers, default=None),
        last_event_hash=last.event_hash,
        updated_at=max(run.updated_at, last.ingested_at),
    )
