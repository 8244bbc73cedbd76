"""Whether the ledgers of all runs are what was appended to them.

Invariant: nothing is changed, memory stays bounded whatever is stored, and a finding names a run and a sequence, never
anything that a client wrote.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Final, NamedTuple

from hivekeep.agent.canonical import digest
from hivekeep.agent.chain import event_hash
from hivekeep.gate.redaction import is_clean
from hivekeep.storage import agent_events, agent_integrity
from hivekeep.storage.agent_events import LedgerRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import load
from hivekeep.storage.snapshots import snapshot
from hivekeep_contract.gateway import LEDGER_ROOT
from hivekeep_contract.limits import GATEWAY_PAGE_MAX_BYTES

_PIECE: Final = 500
"""Events in memory at a time, at most; large ones are fewer."""
_BEFORE_ALL: Final = -(1 << 63)
"""Somebody who tampers can give an event any number."""


class Finding(NamedTuple):
    """What is wrong with a run, at which event if it is about one. `broken`: the ledger is not what was appended."""

    run_id: str
    sequence: int | None
    trouble: str
    broken: bool

    def __str__(self) -> str:
        at = "" if self.sequence is None else f" at sequence {self.sequence}"
        return f"run {self.run_id}{at}: {self.trouble}"


class _Broken(Exception):
    """The first break of a ledger."""

    def __init__(self, sequence: int | None, trouble: str) -> None:
        super().__init__(trouble)
        self.sequence = sequence
        self.trouble = trouble


def examine(tx: Tx, most: int) -> Generator[Finding, None, None]:
    """The first break of each run (gateway rules, hash chain), what of it still looks like a credential, and rows that
    contradict their run, at most `most` of each sort. All of it is read from one view of the store.
    """
    with snapshot(tx):
        for run in agent_integrity.runs(tx):
            yield from _of_run(tx, run)
        for stray in agent_integrity.strays(tx, most):
            yield Finding(stray.run_id, None, stray.trouble, broken=True)


def examine_run(tx: Tx, run: RunRow) -> Iterator[Finding]:
    """The same of one run alone. `tx` must be a snapshot."""
    yield from _of_run(tx, run)
    for stray in agent_integrity.strays_of(tx, run.seq):
        yield Finding(stray.run_id, None, stray.trouble, broken=True)


def _of_run(tx: Tx, run: RunRow) -> Iterator[Finding]:
    if not all(map(is_clean, (run.workspace, run.title, *map(_value, (run.task, run.metadata))))):
        yield Finding(run.id, None, "its description holds what looks like a credential", broken=False)
    try:
        _check_description(tx, run)
        unclean = _check_ledger(tx, run)
    except _Broken as broken:
        yield Finding(run.id, broken.sequence, broken.trouble, broken=True)
    else:
        if unclean is not None:
            yield Finding(run.id, unclean, "the event holds what looks like a credential", broken=False)


def _check_description(tx: Tx, run: RunRow) -> None:
    if digest(_value(run.task)) != run.task_hash:
        raise _Broken(None, "its task is not the one that was hashed")
    intake = agent_integrity.intake(tx, run.seq)
    if intake is None:
        raise _Broken(None, "it has no intake")
    if intake.profile_hash is not None and digest(_value(intake.profile)) != intake.profile_hash:
        raise _Broken(None, "its profile is not the one that was hashed")


def _check_ledger(tx: Tx, run: RunRow) -> int | None:
    """Follow the chain to its end; answers the sequence of the first event that looks like it holds a credential."""
    sequence, previous, largest, unclean = 0, LEDGER_ROOT, None, None
    for row in _events(tx, run):
        sequence += 1
        _check_link(run, row, sequence, previous)
        previous = row.event_hash
        if row.source_sequence is not None:
            largest = max(row.source_sequence, largest or 0)
        if unclean is None and not _is_clean(row):
            unclean = sequence
    if (run.last_sequence, run.last_event_hash) != (sequence, previous):
        raise _Broken(sequence, "the run says that its ledger ends elsewhere")
    if run.last_source_sequence != largest:
        raise _Broken(None, "the run has another last source sequence than its ledger")
    return unclean


def _check_link(run: RunRow, row: LedgerRow, sequence: int, previous: str) -> None:
    if row.sequence != sequence:
        raise _Broken(sequence, "the event is missing")
    if row.previous_hash != previous:
        raise _Broken(sequence, "the event is not chained to the one before it")
    if event_hash(run.id, row) != row.event_hash:
        raise _Broken(sequence, "the event is not the one that was hashed")


def _events(tx: Tx, run: RunRow) -> Iterator[LedgerRow]:
    after: int | None = _BEFORE_ALL
    while after is not None:
        page = agent_events.page(tx, run.seq, after=after, limit=_PIECE, max_bytes=GATEWAY_PAGE_MAX_BYTES)
        yield from page.rows
        after = page.next_after


def _is_clean(row: LedgerRow) -> bool:
    texts = (row.event_id, row.source_event_id, row.source_type, row.actor, row.outcome)
    return is_clean([_value(row.payload), *texts])


def _value(text: str) -> object:
    """The value of a stored JSON text; one that is none has no value, and its hash does not fit."""
    try:
        return load(text)
    except ValueError:
        return None
