"""Carrying out what is scheduled: one pass over everything that is due.

Invariant: an occurrence is carried out once, or missed, or fails as indeterminate, whenever this process is killed.
- A verb that only reads or writes this store runs in the transaction that marks the event, so both happen or neither.
- Any other verb is claimed, then noted as begun, then run, then noted as ended, then finished: each in a transaction of
  its own. Who takes over finds out how far it came; what was begun and not ended is never run again.
- Every transaction proves that the lease is ours. So whoever has it knows that nobody else finishes a claimed event.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from hivekeep import compact_json
from hivekeep.dispatch import call as calls
from hivekeep.dispatch.call import Call, Outcome, typed_error
from hivekeep.dispatch.run import Server, told
from hivekeep.identity.caller import SYSTEM, Caller, stored_label
from hivekeep.identity.ids import new_id
from hivekeep.jobs.lease import Lease, Lost
from hivekeep.packs.schedule import actions, events, provenance, recurrence
from hivekeep.packs.schedule.events import Scheduled
from hivekeep.request.plan import Op
from hivekeep.storage import events as event_rows
from hivekeep.storage import json_text, notes, schedules
from hivekeep.storage.engine import EventRow, Tx
from hivekeep.storage.notes import NoteRow
from hivekeep.times import now_us
from hivekeep_contract.errors import ConcurrentChange, HivekeepError, InvalidInput, UnknownVerb
from hivekeep_contract.limits import SCHEDULE_LEASE_MS, SCHEDULE_PAGE, SCHEDULE_RESULT_BYTES

LEASE: Final = "schedule"
SOURCE: Final = "schedule"
VERB: Final = "schedule.dispatch"
EVENT_KIND: Final = "scheduled_event_ran"

NO_CREATOR: Final = "no event of the store says who made it"
INDETERMINATE: Final = "the dispatcher was interrupted after the call began; it is not known whether it was carried out"

_SECOND_US: Final = 1_000_000
_UNAVAILABLE: Final = "unavailable"
_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(slots=True)
class Summary:
    """What one pass did; `missed` holds ids of events, everything else counts them.

    scanned: pending events that were due. fired, failed: occurrences whose call succeeded, or did not.
    advanced: repeating events that got their next time. retry_pending: single ones that are tried again.
    skipped_not_due: pending events whose time has not come. skipped_race: changed by somebody else meanwhile.
    reclaimed: claimed by a dispatcher that is gone, before the call began. indeterminate: after it began.
    finalized: after it ended. unreadable: pending events that do not say when they are due.
    outcomes_persisted: events that were stored about all this.
    """

    scanned: int = 0
    fired: int = 0
    advanced: int = 0
    failed: int = 0
    skipped_not_due: int = 0
    skipped_race: int = 0
    missed: list[str] = field(default_factory=list)
    reclaimed: int = 0
    retry_pending: int = 0
    indeterminate: int = 0
    finalized: int = 0
    unreadable: int = 0
    outcomes_persisted: int = 0


class Dispatcher:
    """Carries out what is due, one event after the other. Not for two threads at once."""

    def __init__(self, server: Server, clock: Callable[[], int] = now_us) -> None:
        """`clock` answers the present moment in microseconds."""
        self._server = server
        self._engine = server.engine
        self._clock = clock
        self._grace_us = server.around.settings.schedule_grace_secs * _SECOND_US
        self._lease = Lease(server.engine, LEASE, SCHEDULE_LEASE_MS)
        self._stopping = threading.Event()
        self._summary = Summary()
        self._advanced = False

    def stop(self) -> None:
        """Let the pass under way end behind the event that it is at; from any thread."""
        self._stopping.set()

    def run_pass(self) -> Summary | None:
        """Carry out everything that is due now; None when another process does. Raises the errors of the store."""
        self._summary = Summary()
        begun = self._clock()
        with self._engine.read() as tx:
            has_work = schedules.has_work(tx, begun)
            self._summary.skipped_not_due = schedules.waiting(tx, begun)
            self._summary.unreadable = schedules.unreadable(tx)
        if not has_work:
            return self._summary
        if not self._lease.take():
            return None
        try:
            self._settle_claims()
            for row in self._due(begun):
                self._dispatch(events.read(row))
        except Lost:
            return None
        finally:
            self._lease.release()
        return self._summary

    def _due(self, begun: int) -> Iterator[NoteRow]:
        """Everything that is due by the beginning of the pass, also what becomes due again while it is under way."""
        place = schedules.START
        while not self._stopping.is_set():
            with self._engine.read() as tx:
                page = schedules.due(tx, begun, place, SCHEDULE_PAGE)
            if not page:
                return
            for row in page:
                if self._stopping.is_set():
                    return
                self._summary.scanned += 1
                place = schedules.Place(events.read(row).properties["trigger_us"], row.id)
                yield row
                if self._advanced:
                    # Its next time may come before the rest of the page.
                    self._advanced = False
                    break

    # one event

    def _dispatch(self, event: Scheduled) -> None:
        try:
            self._carry_out(event)
        except (ConcurrentChange, _Raced):
            self._summary.skipped_race += 1

    def _carry_out(self, event: Scheduled) -> None:
        now = self._clock()
        with self._engine.read() as tx:
            creator = provenance.creator(tx, event.row)
        hopeless = self._hopeless(event, creator)
        if hopeless is not None:
            self._give_up(event, hopeless)
        elif now - event.due.us > self._grace_us:
            self._miss(event)
        else:
            assert creator is not None
            self._run(event, creator)

    def _hopeless(self, event: Scheduled, creator: Caller | None) -> str | None:
        """Why an event can never be carried out."""
        if creator is None:
            return NO_CREATOR
        try:
            _ = event.due, event.anchor
            if event.repeat is not None:
                recurrence.rule(event.repeat)
        except ValueError as fault:
            return f"no time: {fault}"
        except InvalidInput as fault:
            return fault.message
        return None

    def _run(self, event: Scheduled, creator: Caller) -> None:
        prepared = self._prepared(event, creator)
        if isinstance(prepared, Outcome):
            self._write(lambda tx: self._end(tx, self._claimed(tx, event, events.INVOKING, creator), prepared))
        elif prepared.verb.tx == "self":
            self._run_apart(event, creator, prepared)
        else:
            self._run_joined(event, creator, prepared)

    def _prepared(self, event: Scheduled, creator: Caller) -> Call | Outcome:
        """The call of an event for its creator, or the outcome of a refusal."""
        tool = str(event.properties.get("event_type"))
        try:
            op = _reminder(event, creator) if tool == events.REMIND else actions.parse(str(event.properties["payload"]))
            tool = op.verb
            verb = self._server.verbs.get(op.verb)
            if verb is None or verb.internal:
                raise UnknownVerb(f"no loaded pack has a public verb {op.verb!r}")
            made = calls.prepare(
                self._server.compiled(verb), op.args, creator, source=SOURCE, request_id=0, around=self._server.around
            )
            if isinstance(made, Call) and not self._server.around.embedders.is_ready(made.text_size):
                self._server.around.embedders.make_ready(made.text_size())
            return made
        except Exception as error:
            fault = typed_error(error, tool)
            around = self._server.around
            return calls.refused(tool, fault, creator, calls.NOT_ASKED, request_id=0, gate_impl=around.gate.name)

    def _run_joined(self, event: Scheduled, creator: Caller, call: Call) -> None:
        """Call and mark in one transaction; a call that fails is undone, and only its failure is written."""

        def carry_out(tx: Tx) -> Outcome:
            claimed = self._claimed(tx, event, events.INVOKING, creator)
            outcome = call.write(tx) if call.verb.tx == "write" else call.read(tx)
            self._end(tx, claimed, outcome)
            return outcome

        try:
            outcome = self._write(carry_out)
        except (Lost, _Raced):
            raise
        except Exception as error:
            outcome = self._refusal_of(call, error)
            self._write(lambda tx: self._end(tx, self._claimed(tx, event, events.INVOKING, creator), outcome))
        else:
            self._leave_behind(call, outcome)

    def _run_apart(self, event: Scheduled, creator: Caller, call: Call) -> None:
        """A verb with transactions and work of its own."""
        claimed = self._write(lambda tx: self._claimed(tx, event, events.CLAIMED, creator))
        begun = self._write(lambda tx: self._receipted(tx, claimed, events.INVOKING, None))
        with self._kept_alive():
            try:
                outcome = call.read(None)
            except Exception as error:
                outcome = call.failed(error)
        ended = self._write(lambda tx: self._noted(tx, begun, outcome))
        self._write(lambda tx: self._finish(tx, ended, ended.receipt["error"]))
        self._leave_behind(call, outcome)

    def _refusal_of(self, call: Call, error: Exception) -> Outcome:
        """The outcome of a call that failed; raises the error when it was the store that failed."""
        outcome = call.failed(error)
        assert outcome.error is not None
        if outcome.error.kind == _UNAVAILABLE:
            raise error
        return outcome

    def _leave_behind(self, call: Call, outcome: Outcome) -> None:
        if outcome.ok:
            for fn in outcome.deferred:
                self._engine.defer_write(fn)
            call.remember(outcome)

    # steps of one event, in a transaction

    def _claimed(self, tx: Tx, event: Scheduled, state: str, creator: Caller) -> Scheduled:
        """The event, ours; raises _Raced when it is no longer as it was read."""
        current = notes.get(tx, event.row.id)
        if current is None or current.version != event.row.version:
            raise _Raced
        return self._store(tx, event, events.claimed(event, creator.label, state, self._clock()))

    def _receipted(self, tx: Tx, event: Scheduled, state: str, error: str | None) -> Scheduled:
        return self._store(tx, event, events.receipted(event, state, error, self._clock()))

    def _noted(self, tx: Tx, event: Scheduled, outcome: Outcome) -> Scheduled:
        """How the call ended, with the rows and the event that tell it."""
        event_rows.insert_many(tx, outcome.pending)
        error = None if outcome.error is None else told(f"{outcome.error.kind}: {outcome.error.message}")
        self._tell(tx, event, events.FIRED if error is None else events.FAILED, error, outcome.result)
        return self._receipted(tx, event, events.SUCCEEDED if error is None else events.FAILED, error)

    def _finish(self, tx: Tx, event: Scheduled, error: str | None) -> Scheduled:
        done = self._store(tx, event, events.finalised(event, self._clock()))
        counts = self._summary
        if error is None:
            counts.fired += 1
        else:
            counts.failed += 1
        if done.status == events.PENDING:
            if event.repeat is not None:
                counts.advanced += 1
                self._advanced = True
            else:
                counts.retry_pending += 1
        return done

    def _end(self, tx: Tx, claimed: Scheduled, outcome: Outcome) -> None:
        ended = self._noted(tx, claimed, outcome)
        self._finish(tx, ended, ended.receipt["error"])

    def _miss(self, event: Scheduled) -> None:
        def write(tx: Tx) -> None:
            done = self._store(tx, event, events.missed(events.taken(event), self._clock()))
            self._tell(tx, event, events.MISSED, "overdue by more than schedule.grace_secs", None)
            self._summary.missed.append(event.row.id)
            self._summary.advanced += done.status == events.PENDING

        self._write(write)

    def _give_up(self, event: Scheduled, error: str) -> None:
        def write(tx: Tx) -> None:
            self._store(tx, event, events.failed(events.taken(event), error, self._clock()))
            self._tell(tx, event, events.FAILED, error, None)
            self._summary.failed += 1

        self._write(write)

    # what a dispatcher that is gone left behind

    def _settle_claims(self) -> None:
        with self._engine.read() as tx:
            found = [events.read(row) for row in schedules.firing(tx)]
        for event in found:
            self._write(partial(self._settle, event=event))

    def _settle(self, tx: Tx, event: Scheduled) -> None:
        """Finish a claimed event. Its dispatcher lost the lease, so it changes nothing any more."""
        state = event.receipt.get("state")
        if state in (events.SUCCEEDED, events.FAILED):
            self._finish(tx, event, event.receipt.get("error"))
            self._summary.finalized += 1
        elif state == events.INVOKING:
            self._store(tx, event, events.failed(event, INDETERMINATE, self._clock()))
            self._tell(tx, event, "indeterminate", INDETERMINATE, None)
            self._summary.indeterminate += 1
        else:
            self._store(tx, event, events.armed(event, self._clock()))
            self._summary.reclaimed += 1

    # the store

    def _write(self, fn: Callable[[Tx], T]) -> T:
        """Carry out one step under the lease; a step that is undone is not counted either."""
        before = _copy(self._summary)

        def kept(tx: Tx) -> T:
            self._lease.keep(tx)
            return fn(tx)

        try:
            return self._engine.run_write(kept)
        except BaseException:
            self._summary = before
            raise

    def _store(self, tx: Tx, event: Scheduled, row: NoteRow) -> Scheduled:
        return events.read(notes.update(tx, event.row, row))

    def _tell(self, tx: Tx, event: Scheduled, outcome: str, error: str | None, result: Any) -> None:
        """Remember what became of an occurrence."""
        payload: dict[str, Any] = {
            "event_id": event.row.id,
            "event_type": event.properties.get("event_type"),
            "occurrence_id": event.receipt.get("occurrence_id"),
            "trigger_at": event.properties.get("trigger_at"),
            "outcome": outcome,
        }
        if error is not None:
            payload["error"] = error
        elif outcome == events.FIRED:
            payload |= _kept(result)
        row = EventRow(
            id=new_id(),
            namespace=event.row.namespace,
            verb=VERB,
            substrate="note",
            actor=stored_label(SYSTEM, LEASE),
            kind=EVENT_KIND,
            outcome="success" if error is None else "error",
            payload=json_text.dump(payload),
            payload_schema_version=1,
            profile_state_version=None,
            duration_us=None,
            target_id=event.row.id,
            session_id=None,
            aggregate_kind=None,
            aggregate_id=None,
            created_at=self._clock(),
        )
        event_rows.insert(tx, row)
        event_rows.observe(tx, row.id, "target", (event.row.id,))
        self._summary.outcomes_persisted += 1

    @contextmanager
    def _kept_alive(self) -> Iterator[None]:
        """Give signs of life while a call runs; the block must not use the lease itself."""
        over = threading.Event()

        def renew() -> None:
            while not over.wait(SCHEDULE_LEASE_MS / 1000 / _SIGNS_A_LEASE):
                try:
                    self._engine.run_write(self._lease.keep)
                except (Lost, HivekeepError) as fault:
                    # Whether the lease is still ours is asked again by the transaction that notes the end.
                    _log.warning("a sign of life of the dispatcher failed: %s", type(fault).__name__)

        thread = threading.Thread(target=renew, name="hivekeep-schedule-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


_SIGNS_A_LEASE: Final = 4
"""How often a dispatcher gives a sign of life within one lease."""


class _Raced(Exception):
    """Somebody else changed the event since it was read."""


def _reminder(event: Scheduled, creator: Caller) -> Op:
    """The message that a reminder becomes, from its creator to itself."""
    return Op("comm.send", {"to": creator.id, "content": event.row.content, "self_send": True})


def _kept(result: Any) -> dict[str, Any]:
    """A result as the event keeps it; of one that is too large, how large it was."""
    text = compact_json.dump(result)
    size = len(text.encode())
    return {"result": result} if size <= SCHEDULE_RESULT_BYTES else {"result_bytes": size}


def _copy(summary: Summary) -> Summary:
    return Summary(**{name: _own(getattr(summary, name)) for name in Summary.__slots__})


def _own(value: Any) -> Any:
    return list(value) if isinstance(value, Sequence) else value
