"""The ledgers of runs as an operator works with them: looking whether they are sound, and removing runs.

Invariant: a run is removed whole, in one transaction that finds it as it was asked for, and an answer holds nothing
that a client wrote but the name of a workspace. A run is named by its full id or by the first eight or more digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final, NamedTuple

from hivekeep.agent import integrity
from hivekeep.agent.canonical import moment_now, ts
from hivekeep.agent.curated import checks, secrecy
from hivekeep.agent.integrity import Finding
from hivekeep.identity.ids import classify
from hivekeep.storage import agent_integrity, agent_purges, agent_runs
from hivekeep.storage.agent_purges import PurgeRow
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Engine, Tx
from hivekeep.storage.snapshots import snapshot
from hivekeep.times import now_us
from hivekeep_contract.errors import HivekeepError
from hivekeep_contract.gateway import OPERATIONS
from hivekeep_contract.gateway_errors import NotFound, ValidationError
from hivekeep_contract.limits import LEDGER_FINDINGS_MAX, LEDGER_PURGE_MAX
from hivekeep_contract.vocabulary import ENUMS

Answer = dict[str, Any]

_SECOND_US: Final = 1_000_000
_RUN: Final = "/runId"
_OPEN_SCOPE: Final = next(name for name, operation in OPERATIONS.items() if operation.writes and not operation.has_run)
"""Where the keys of openings count: they have no run yet (gateway rules, idempotency)."""


class Idle(NamedTuple):
    """Runs of a workspace that stand there and got nothing since before a moment, in microseconds."""

    workspace: str
    status: str
    before_us: int


@dataclass(frozen=True, slots=True)
class LedgerDesk:
    """A store, and the name of whoever works with it."""

    engine: Engine
    author: str

    def __post_init__(self) -> None:
        """Raise SecurityRejection for an author that looks like a credential: a purge is stored under that name."""
        secrecy.refuse([("/actor", self.author)])

    def inspect(self, reference: str | None = None) -> Answer:
        """What is wrong with one run, or with all of them (gateway rules, commands).

        A run that was purged is told with its tombstone. Raises ValidationError for what is no id, and NotFound.
        """
        with self.engine.read() as tx:
            if reference is None:
                totals = agent_integrity.totals(tx)
                findings = list(islice(integrity.examine(tx, LEDGER_FINDINGS_MAX), LEDGER_FINDINGS_MAX + 1))
                return {**_examined(findings), "totals": totals._asdict(), "run": None, "purge": None}
            with snapshot(tx):
                found = _named(tx, reference)
                if isinstance(found, PurgeRow):
                    return {**_examined(()), "totals": None, "run": None, "purge": _purge_view(found)}
                findings = list(integrity.examine_run(tx, found))
                return {**_examined(findings), "totals": None, "run": _summary(tx, found), "purge": None}

    def purge(self, reference: str, *, confirmed: bool) -> Answer:
        """Remove a run for good, or say what would be removed.

        One that was removed before is told with its tombstone; confirmed once more, what is left of it is erased.
        """
        with self.engine.read() as tx, snapshot(tx):
            found = _named(tx, reference)
            runs = [] if isinstance(found, PurgeRow) else [_summary(tx, found)]
        if isinstance(found, PurgeRow):
            erased = self._erased() if confirmed else None
            told = _purge_answer([], confirmed=confirmed, erased=erased)
            return {**told, "purgedBefore": _purge_view(found)}
        return self._purged(runs, None, confirmed=confirmed)

    def purge_idle(self, workspace: str, status: str, age_s: int, *, confirmed: bool) -> Answer:
        """Remove the runs of a workspace that stand there and got nothing for so many seconds, the oldest first.

        An intake that nobody answers stays open for ever otherwise (gateway rules, runs and state).
        """
        checks.identifier(workspace, "/workspace")
        checks.word(status, "/status", ENUMS["gateway.run_status"])
        idle = Idle(workspace, status, now_us() - age_s * _SECOND_US)
        with self.engine.read() as tx, snapshot(tx):
            rows = agent_runs.idle(tx, *idle, LEDGER_PURGE_MAX + 1)
            runs = [_summary(tx, row) for row in rows[:LEDGER_PURGE_MAX]]
        return {**self._purged(runs, idle, confirmed=confirmed), "more": len(rows) > len(runs)}

    def _purged(self, runs: Sequence[Answer], idle: Idle | None, *, confirmed: bool) -> Answer:
        """Remove runs one after the other; what was removed is cleaned out of the file also when one cannot be."""
        if not confirmed:
            return _purge_answer(runs, confirmed=False, erased=None)
        removed: list[Answer] = []
        try:
            for run in runs:
                removed += self.engine.run_write(partial(self._remove, run["runId"], idle))
        finally:
            erased = self._erased()
        return _purge_answer(removed, confirmed=True, erased=erased)

    def _remove(self, run_id: str, idle: Idle | None, tx: Tx) -> list[Answer]:
        """Remove a run unless it is not idle any more; answers what was removed, nothing or one."""
        run = agent_runs.get(tx, run_id)
        if run is None or (idle is not None and not _is_idle(run, idle)):
            return []
        told = _summary(tx, run)
        tombstone = PurgeRow(
            run_id=run.id,
            event_count=told["holds"]["events"],
            last_event_hash=run.last_event_hash,
            open_key_hash=agent_purges.open_key(tx, run.seq, _OPEN_SCOPE),
            actor=self.author,
            purged_at=moment_now(),
        )
        agent_purges.remove(tx, run, tombstone)
        return [told]

    def _erased(self) -> bool:
        """Clean the file of all runs that were purged and are not known to be erased.

        False when that failed or a reader keeps the log; the runs are gone all the same.
        """
        try:
            with self.engine.read() as tx:
                last = agent_purges.last_unerased(tx)
            if last is None:
                return True
            if not self.engine.scrub():
                return False
            self.engine.run_write(lambda tx: agent_purges.note_erased(tx, last, moment_now()))
        except HivekeepError:
            return False
        return True


def _named(tx: Tx, reference: str) -> RunRow | PurgeRow:
    """The run, or the tombstone, of a full id or of eight or more digits. Raises ValidationError and NotFound."""
    form, text = classify(reference)
    if form == "name":
        raise ValidationError("wrong_value", field=_RUN)
    found: dict[str, RunRow | PurgeRow] = {row.run_id: row for row in agent_purges.with_prefix(tx, text)}
    found |= {row.id: row for row in agent_runs.with_prefix(tx, text)}
    if len(found) > 1:
        raise ValidationError("ambiguous", field=_RUN)
    if not found:
        raise NotFound("no_run")
    return found.popitem()[1]


def _is_idle(run: RunRow, idle: Idle) -> bool:
    return (run.workspace, run.status) == (idle.workspace, idle.status) and run.updated_at < idle.before_us


def _summary(tx: Tx, run: RunRow) -> Answer:
    """Where a run stands and what is stored of it; `entriesKept` outlive its purge."""
    return {
        "runId": run.id,
        "workspace": run.workspace,
        "status": run.status,
        "createdAt": ts(run.created_at),
        "updatedAt": ts(run.updated_at),
        "holds": agent_purges.holdings(tx, run.seq)._asdict(),
        "entriesKept": agent_purges.kept_entries(tx, run.seq),
    }


def _purge_view(row: PurgeRow) -> Answer:
    return {
        "runId": row.run_id,
        "purgedAt": ts(row.purged_at),
        "actor": row.actor,
        "events": row.event_count,
        "lastEventHash": row.last_event_hash,
        "erasedAt": None if row.erased_at is None else ts(row.erased_at),
    }


def _purge_answer(runs: Iterable[Mapping[str, Any]], *, confirmed: bool, erased: bool | None) -> Answer:
    return {"dryRun": not confirmed, "runs": list(runs), "purgedBefore": None, "more": False, "bytesErased": erased}


def _examined(findings: Sequence[Finding]) -> Answer:
    """Findings as they are told; `sound` says that no ledger is broken."""
    return {
        "sound": not any(finding.broken for finding in findings),
        "findings": [_finding_view(finding) for finding in findings[:LEDGER_FINDINGS_MAX]],
        "more": len(findings) > LEDGER_FINDINGS_MAX,
    }


def _finding_view(finding: Finding) -> Answer:
    return {
        "runId": finding.run_id,
        "sequence": finding.sequence,
        "trouble": finding.trouble,
        "broken": finding.broken,
    }
