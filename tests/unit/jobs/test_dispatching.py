"""Passes of the dispatcher: what is carried out, for whom, how often, and what is left of it."""

import json
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from hivekeep.gate.policy import Decision, GateRequest
from hivekeep.identity.caller import SYSTEM
from hivekeep.jobs import dispatching
from hivekeep.jobs.dispatching import INDETERMINATE, NO_CREATOR, Dispatcher, Summary
from hivekeep.packs.schedule import events
from hivekeep.storage import notes, schedules
from hivekeep.storage.engine import Tx
from hivekeep.storage.json_text import dump, load_object
from support.client import Hive
from support.schedules import Timed, timed

NOTE = 'create(kind="observation", content="it ran")'
DAY = 86_400


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Timed]:
    with timed(monkeypatch) as opened:
        yield opened


def rewrite(at: Timed, event_id: str, **properties: Any) -> None:
    """Change a stored scheduled event as only a foreign program could."""

    def write(tx: Tx) -> None:
        row = notes.get(tx, event_id)
        assert row is not None
        notes.update(tx, row, row._replace(properties=dump({**load_object(row.properties), **properties})))

    at.hive.server.engine.run_write(write)


class TestOnce:
    def test_it_runs_when_it_is_due_and_not_again(self, at: Timed) -> None:
        """Before its time nothing happens; then it is fired; a later pass finds nothing."""
        event_id = at.schedule(NOTE, 10)
        at.clock.wait(9.999999)
        assert at.drain() == Summary(skipped_not_due=1)
        at.clock.wait(0.000001)
        assert at.drain() == Summary(scanned=1, fired=1, outcomes_persisted=1)
        assert at.drain() == Summary()
        assert at.contents() == ["it ran"]
        properties = at.properties(event_id)
        assert (properties["status"], properties["fired_at"]) == ("fired", "2030-01-31T12:00:10.000000Z")
        assert properties["dispatch_receipt"] == {
            "occurrence_id": events.occurrence_id(event_id, at.clock.us),
            "trigger_us": at.clock.us,
            "actor": "anonymous:local",
            "state": "succeeded",
            "error": None,
        }

    def test_what_came_of_it_is_kept_as_an_event(self, at: Timed) -> None:
        """The event names the occurrence, holds the result, and is the dispatcher's."""
        event_id = at.schedule("whoami()", 10)
        at.clock.wait(10)
        at.drain()
        (event,) = at.hive.events(event_kind="scheduled_event_ran")
        assert (event["actor"], event["verb"], event["outcome"]) == (
            f"{SYSTEM}:schedule",
            "schedule.dispatch",
            "success",
        )
        assert event["target_id"] == event_id
        assert event["payload"]["result"]["namespace"] == "local"
        assert event["payload"] == {
            "event_id": event_id,
            "event_type": "schedule",
            "occurrence_id": events.occurrence_id(event_id, at.clock.us),
            "trigger_at": at.clock.text(),
            "outcome": "fired",
            "result": event["payload"]["result"],
        }

    def test_a_large_result_is_kept_as_its_size(self, at: Timed) -> None:
        """More than 64 KiB of a result are not stored once more."""
        at.hive.call("create", kind="observation", content="x" * 70_000)
        at.schedule('list(kind="observation")', 10)
        at.clock.wait(10)
        at.drain()
        (event,) = at.hive.events(event_kind="scheduled_event_ran")
        assert "result" not in event["payload"]
        assert event["payload"]["result_bytes"] > 70_000

    def test_those_that_are_due_run_in_the_order_of_their_times(self, at: Timed) -> None:
        """Whatever order they were made in, and over several pages."""
        for number in (3, 1, 2):
            at.schedule(f'create(kind="observation", content="{number}")', number)
        at.clock.wait(60)
        assert at.drain().fired == 3
        assert at.contents() == ["1", "2", "3"]

    def test_more_than_a_page_is_carried_out_in_one_pass(self, at: Timed) -> None:
        """A pass goes on until nothing is due."""
        for number in range(205):
            at.schedule("stats()", 1 + number / 1000)
        at.clock.wait(60)
        assert at.drain() == Summary(scanned=205, fired=205, outcomes_persisted=205)

    def test_a_withdrawn_one_never_runs(self, at: Timed) -> None:
        """Neither does a deleted one; a restored one does."""
        cancelled, deleted, restored = (at.schedule(NOTE, 10) for _ in range(3))
        at.hive.call("schedule.cancel", id=cancelled)
        at.hive.call("delete", id=deleted)
        at.hive.call("delete", id=restored)
        at.hive.call("restore", id=restored)
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, fired=1, outcomes_persisted=1)
        assert [at.status(one) for one in (cancelled, restored)] == ["cancelled", "fired"]

    def test_a_half_made_one_never_runs(self, at: Timed) -> None:
        """A note that is still provisioning is not looked at."""
        event_id = at.schedule(NOTE, 10)
        rewrite(at, event_id, status="provisioning")
        at.clock.wait(10)
        assert at.drain() == Summary()


class TestFailure:
    def test_a_failed_call_leaves_nothing_and_is_tried_again(self, at: Timed) -> None:
        """The event is pending with the error, and fires once the reason is gone."""
        entity = at.hive.call("create", kind="concept", name="LoRA")
        event_id = at.schedule(f'link(source_id="{entity["id"]}", target_id="{event_pad()}", relation="extends")', 10)
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, failed=1, retry_pending=1, outcomes_persisted=1)
        properties = at.properties(event_id)
        assert properties["status"] == "pending"
        assert properties["error"].startswith("not_found: ")
        assert properties["error_at"] == "2030-01-31T12:00:10.000000Z"
        assert at.outcomes(event_id) == ["failed"]

    def test_a_failing_one_is_missed_in_the_end(self, at: Timed) -> None:
        """It is tried at every pass until the grace is over."""
        event_id = at.schedule(f'delete(id="{event_pad()}")', 10)
        at.clock.wait(10)
        at.drain()
        at.clock.wait(3600)
        at.drain()
        at.clock.wait(1)
        assert at.drain() == Summary(scanned=1, missed=[event_id], outcomes_persisted=1)
        assert at.outcomes(event_id) == ["failed", "failed", "missed"]
        assert (at.status(event_id), at.properties(event_id)["missed_at"]) == ("missed", at.clock.us)

    def test_a_failing_series_goes_on(self, at: Timed) -> None:
        """The error is kept and the next time is armed; a success clears the error."""
        event_id = at.schedule('create(kind="decision", content="b", key="k")', 10, repeat="daily")
        at.hive.call("create", kind="decision", content="a", key="k")
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, failed=1, advanced=1, outcomes_persisted=1)
        properties = at.properties(event_id)
        assert (properties["status"], properties["trigger_at"]) == ("pending", "2030-02-01T12:00:10Z")
        assert properties["error"].startswith("conflict: ")
        at.hive.call("delete", id=at.hive.call("list", kind="decision")["items"][0]["id"])
        at.clock.wait(DAY)
        assert at.drain() == Summary(scanned=1, fired=1, advanced=1, outcomes_persisted=1)
        assert at.properties(event_id)["error"] is None

    def test_one_that_fails_does_not_hold_up_the_others(self, at: Timed) -> None:
        """Each event is a matter of its own."""
        at.schedule(f'delete(id="{event_pad()}")', 1)
        at.schedule(NOTE, 2)
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=2, fired=1, failed=1, retry_pending=1, outcomes_persisted=2)
        assert at.contents() == ["it ran"]

    def test_a_call_cannot_withdraw_its_own_event(self, at: Timed) -> None:
        """While it runs, the event is firing; the attempt fails and nothing of it stays."""
        event_id = at.schedule(NOTE, 10)
        rewrite(at, event_id, payload=f'schedule.cancel(id="{event_id}")')
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, failed=1, retry_pending=1, outcomes_persisted=1)
        assert "is firing" in at.properties(event_id)["error"]

    def test_an_unforeseen_fault_is_a_failure_too(self, at: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing of the transaction stays, the error says internal, and the pass goes on."""

        def broken(_ctx: object, _args: object) -> None:
            raise RuntimeError("secret text")

        compiled = at.hive.server.compiled(at.hive.server.verbs["stats"])
        at.hive.server._compiled["stats"] = compiled._replace(handler=broken)
        event_id = at.schedule("stats()", 10)
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, failed=1, retry_pending=1, outcomes_persisted=1)
        error = at.properties(event_id)["error"]
        assert error.startswith("internal: ")
        assert "secret text" not in error


def event_pad() -> str:
    """The id of no record."""
    return "00000000-0000-4000-8000-000000000000"


class TestMissed:
    def test_an_hour_late_still_runs_and_a_microsecond_more_does_not(self, at: Timed) -> None:
        """The grace of one hour is included."""
        kept, lost = at.schedule(NOTE, 10.000001), at.schedule(NOTE, 10)
        at.clock.wait(3610.000001)
        assert at.drain() == Summary(scanned=2, fired=1, missed=[lost], outcomes_persisted=2)
        assert (at.status(kept), at.status(lost)) == ("fired", "missed")
        assert at.outcomes(lost) == ["missed"]

    def test_a_series_goes_on_without_catching_up(self, at: Timed) -> None:
        """After three days the next time is the first one behind now, on the old second of the day."""
        event_id = at.schedule(NOTE, 10, repeat="daily")
        at.clock.wait(3 * DAY + 7200)
        assert at.drain() == Summary(scanned=1, missed=[event_id], advanced=1, outcomes_persisted=1)
        properties = at.properties(event_id)
        assert (properties["status"], properties["trigger_at"]) == ("pending", "2030-02-04T12:00:10Z")
        assert at.contents() == []

    def test_every_time_within_the_grace_runs(self, at: Timed) -> None:
        """Three times of a series that are due at once are three occurrences."""
        event_id = at.schedule(NOTE, 60, repeat="every:10m")
        at.clock.wait(60 + 1200)
        assert at.drain() == Summary(scanned=3, fired=3, advanced=3, outcomes_persisted=3)
        assert at.properties(event_id)["trigger_at"] == "2030-01-31T12:31:00Z"
        assert len({one["payload"]["occurrence_id"] for one in at.hive.events(event_kind="scheduled_event_ran")}) == 3


class TestSeries:
    def test_several_series_keep_the_order_of_their_times(self, at: Timed) -> None:
        """What becomes due again within a pass goes before what was due later all along."""
        for name, seconds in (("often", 60), ("late", 1000)):
            at.schedule(f'create(kind="observation", content="{name}")', seconds, repeat="every:10m")
        at.clock.wait(1300)
        assert at.drain() == Summary(scanned=4, fired=4, advanced=4, outcomes_persisted=4)
        # 60 s, 660 s, 1000 s, 1260 s
        assert at.contents() == ["often", "often", "late", "often"]

    def test_the_next_time_is_shown_in_the_offset_of_the_first(self, at: Timed) -> None:
        """A monthly event of the 31st at 14:30 in +02:00 comes on the 28th of February and the 31st of March."""
        made = at.hive.call("schedule.schedule", action=NOTE, at="2030-01-31T14:30:00+02:00", repeat="monthly")
        shown = []
        for wanted in ("2030-01-31T12:30:00Z", "2030-02-28T12:30:00Z", "2030-03-31T12:30:00Z"):
            at.clock.us = at.clock.__class__(wanted).us
            assert at.drain().fired == 1
            shown.append(at.properties(made["full_id"])["trigger_at"])
        assert shown == ["2030-02-28T14:30:00+02:00", "2030-03-31T14:30:00+02:00", "2030-04-30T14:30:00+02:00"]

    def test_a_series_that_leaves_the_calendar_fails(self, at: Timed) -> None:
        """The last call is carried out; there is no next time."""
        event_id = at.schedule(NOTE, 10, repeat="every:9000000000000s")
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, fired=1, outcomes_persisted=1)
        properties = at.properties(event_id)
        assert properties["status"] == "failed"
        assert properties["error"] == events.OVERFLOW
        assert at.contents() == ["it ran"]


class TestAuthority:
    def test_it_runs_for_its_creator_in_its_namespace(self, at: Timed) -> None:
        """Actor and namespace are those of the caller who made it, not of the dispatcher."""
        ada = Timed(at.hive.as_actor("ada", "lab"), at.clock)
        ada.schedule(NOTE, 10)
        at.clock.wait(10)
        assert at.drain().fired == 1
        (note,) = ada.hive.call("list", kind="observation", namespace="lab")["items"]
        assert (note["content"], note["namespace"]) == ("it ran", "lab")
        (audit,) = ada.hive.events(event_kind="audit", verb="create", namespace="lab")
        assert audit["actor"] == "actor:ada"

    def test_what_the_note_says_of_its_creator_does_not_count(self, at: Timed) -> None:
        """created_by_actor is for display."""
        event_id = at.schedule(NOTE, 10)
        rewrite(at, event_id, created_by_actor="actor:root")
        at.clock.wait(10)
        at.drain()
        (audit,) = at.hive.events(event_kind="audit", verb="create")
        assert audit["actor"] == "anonymous:local"

    def test_without_proof_of_its_creator_it_fails_unrun(self, at: Timed) -> None:
        """A note that came into the store otherwise is carried out for nobody, whatever was tried in its name."""
        event_id = at.schedule(NOTE, 10)

        def copy(tx: Tx) -> str:
            row = notes.get(tx, event_id)
            assert row is not None
            notes.insert(tx, row._replace(id=event_pad()))
            return row.id

        at.hive.server.engine.run_write(copy)
        at.hive.fails(f'schedule.creator_provenance(id="{event_pad()}")')
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=2, fired=1, failed=1, outcomes_persisted=2)
        properties = at.properties(event_pad())
        assert (properties["status"], properties["error"]) == ("failed", NO_CREATOR)
        assert at.contents() == ["it ran"]

    def test_the_policy_is_asked_when_it_runs(self, at: Timed) -> None:
        """A creator who lost the right to write is refused then, and the audit row says denied."""
        event_id = at.schedule(NOTE, 10)
        at.hive.server.around.gate = _NoCreate()
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, failed=1, retry_pending=1, outcomes_persisted=1)
        assert at.properties(event_id)["error"].startswith("permission_denied: ")
        (audit,) = at.hive.events(event_kind="audit", verb="create")
        assert audit["outcome"] == "denied"


class _NoCreate:
    """A policy that lets nobody create."""

    name = "no_create"

    def check(self, request: GateRequest) -> Decision:
        return Decision(request.verb != "create", None, ())


class TestReminder:
    def test_it_becomes_a_message_to_its_creator(self, at: Timed) -> None:
        """The creator finds the content in its inbox, once."""
        ada = Hive(at.hive.server, at.hive.as_actor("ada").caller)
        ada.call("schedule.remind", content="Check the build.", at=at.clock.text(10))
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, fired=1, outcomes_persisted=1)
        assert at.drain() == Summary()
        messages = ada.call("comm.inbox")["messages"]
        assert [message["content"] for message in messages] == ["Check the build."]

    def test_nobody_in_particular_is_reminded_too(self, at: Timed) -> None:
        """The anonymous caller finds it in the inbox of `local`."""
        at.hive.call("schedule.remind", content="Check the build.", at=at.clock.text(10), repeat="every:1h")
        for _ in range(2):
            at.clock.wait(3600)
            assert at.drain() == Summary(scanned=1, fired=1, advanced=1, outcomes_persisted=1)
        messages = at.hive.call("comm.inbox")["messages"]
        assert [message["content"] for message in messages] == ["Check the build."] * 2

    def test_without_the_pack_it_is_refused_before_any_write(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The other verbs work without comm."""
        with timed(monkeypatch, runtime_packs=("kg", "schedule")) as at:
            error = at.hive.refuses("schedule.remind", content="Check.", at=at.clock.text(10))
            assert (error["code"], error["details"]) == ("unconfigured", {"setting": "runtime.packs"})
            assert at.hive.call("list", kind="scheduled_event")["items"] == []
            at.schedule(NOTE, 10)
            at.clock.wait(10)
            assert at.drain().fired == 1


class TestApart:
    """Verbs with transactions of their own."""

    ACTION = 'context(query="nothing")'

    def test_it_runs_between_claim_and_end(self, at: Timed) -> None:
        """The event is fired, with a receipt and the result."""
        event_id = at.schedule(self.ACTION, 10)
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, fired=1, outcomes_persisted=1)
        assert at.properties(event_id)["dispatch_receipt"]["state"] == "succeeded"
        assert at.outcomes(event_id) == ["fired"]

    def test_a_long_one_keeps_its_lease(self, at: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
        """Signs of life let a call run for longer than a lease, and nobody takes over meanwhile."""
        monkeypatch.setattr(dispatching, "SCHEDULE_LEASE_MS", 200)
        monkeypatch.setattr(at, "dispatcher", Dispatcher(at.hive.server, at.clock))
        others: list[Summary | None] = []

        def slowly(_ctx: object, _args: object) -> dict[str, Any]:
            time.sleep(0.6)
            others.append(Dispatcher(at.hive.server, at.clock).run_pass())
            return {}

        compiled = at.hive.server.compiled(at.hive.server.verbs["context"])
        at.hive.server._compiled["context"] = compiled._replace(handler=slowly)
        event_id = at.schedule(self.ACTION, 10)
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, fired=1, outcomes_persisted=1)
        assert (others, at.outcomes(event_id)) == ([None], ["fired"])

    def test_a_failed_one_is_tried_again(self, at: Timed) -> None:
        """Its error is in the receipt and in the event."""
        event_id = at.schedule(f'context(entity_ids=["{event_pad()}"])', 10)
        at.clock.wait(10)
        assert at.drain() == Summary(scanned=1, failed=1, retry_pending=1, outcomes_persisted=1)
        properties = at.properties(event_id)
        assert (properties["status"], properties["dispatch_receipt"]["state"]) == ("pending", "failed")

    @pytest.mark.parametrize(
        ("state", "status", "summary"),
        [
            ("claimed", "fired", Summary(scanned=1, fired=1, reclaimed=1, outcomes_persisted=1)),
            (None, "fired", Summary(scanned=1, fired=1, reclaimed=1, outcomes_persisted=1)),
            ("invoking", "failed", Summary(indeterminate=1, outcomes_persisted=1)),
            ("succeeded", "fired", Summary(fired=1, finalized=1)),
        ],
    )
    def test_what_a_dead_dispatcher_left_is_settled(
        self, at: Timed, state: str | None, status: str, summary: Summary
    ) -> None:
        """Not begun: it runs now. Begun: failed, never run. Ended: finished without running."""
        event_id = at.schedule(NOTE, 10)
        at.clock.wait(10)
        receipt = {
            "occurrence_id": events.occurrence_id(event_id, at.clock.us),
            "trigger_us": at.clock.us,
            "actor": "anonymous:local",
            "state": state,
            "error": None,
        }
        rewrite(at, event_id, status="firing", **({} if state is None else {"dispatch_receipt": receipt}))
        assert at.drain() == summary
        assert at.status(event_id) == status
        assert at.contents() == (["it ran"] if summary.reclaimed else [])
        if state == "invoking":
            assert at.properties(event_id)["error"] == INDETERMINATE
            assert at.outcomes(event_id) == ["indeterminate"]

    def test_a_series_whose_call_had_ended_goes_on(self, at: Timed) -> None:
        """A failure that was noted is finished as one: the next time is armed."""
        event_id = at.schedule(NOTE, 10, repeat="weekly")
        at.clock.wait(10)
        rewrite(at, event_id, status="firing", dispatch_receipt={"state": "failed", "error": "internal: x"})
        assert at.drain() == Summary(failed=1, advanced=1, finalized=1)
        properties = at.properties(event_id)
        assert (properties["trigger_at"], properties["error"]) == ("2030-02-07T12:00:10Z", "internal: x")


class Killed(BaseException):
    """Stands for the end of a process: nothing behind it is carried out."""


class DyingStore:
    """The writes of a store up to the n-th, at which the process ends: before, within or behind its transaction."""

    def __init__(self, at: Timed, monkeypatch: pytest.MonkeyPatch, number: int, moment: str) -> None:
        self.left = number
        self.dead = False
        self._moment = moment
        self._write = at.hive.server.engine.run_write
        monkeypatch.setattr(at.hive.server.engine, "run_write", self.run_write)

    def run_write(self, fn: Callable[[Tx], Any]) -> Any:
        """The real one, unless it is time to die."""
        self.left -= 1
        if self.dead or (self.left == 0 and self._moment == "before"):
            self._die()
        try:
            return self._write(self._dying(fn) if self.left == 0 and self._moment == "within" else fn)
        finally:
            if self.left == 0:
                self._die()

    def _dying(self, fn: Callable[[Tx], Any]) -> Callable[[Tx], Any]:
        def half(tx: Tx) -> None:
            try:
                fn(tx)
            finally:
                self._die()

        return half

    def _die(self) -> None:
        self.dead = True
        raise Killed


@pytest.mark.parametrize("moment", ["before", "within", "behind"])
def test_death_at_every_write_leaves_each_event_carried_out_once(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """However far a pass came, the next one finishes it: only a verb with work of its own may end as indeterminate."""
    indeterminate = 0
    for number in count(1):
        with timed(monkeypatch, runtime_packs=("kg", "brain", "schedule")) as at, monkeypatch.context() as dying:
            store = [at.schedule(f'create(kind="observation", content="{name}")', 10) for name in ("a", "b")]
            apart = [at.schedule(f'brain.mark_turn(label="{name}")', 10) for name in ("c", "d")]
            failing = at.schedule(f'delete(id="{event_pad()}")', 10, repeat="daily")
            at.clock.wait(10)
            engine = DyingStore(at, dying, number, moment)
            try:
                at.dispatcher.run_pass()
            except Killed:
                assert engine.dead
            dying.undo()
            at.hive.server.engine.run_write(lambda tx: tx.run("UPDATE leases SET expires_at = 0"))
            second = Dispatcher(at.hive.server, at.clock).run_pass()
            assert second is not None
            assert sorted(at.contents()) == ["a", "b"]
            assert [at.outcomes(one) for one in store] == [["fired"], ["fired"]]
            assert (at.outcomes(failing), at.status(failing)) == (["failed"], "pending")
            marks = [event["payload"]["phase"] for event in at.hive.events(event_kind="phase_started")]
            for name, one in zip("cd", apart, strict=True):
                if at.status(one) == "failed":
                    indeterminate += 1
                    assert (at.outcomes(one), at.properties(one)["error"]) == (["indeterminate"], INDETERMINATE)
                    assert marks.count(name) <= 1
                else:
                    assert (at.outcomes(one), at.status(one), marks.count(name)) == (["fired"], "fired", 1)
            if not engine.dead:
                break
    # One write for the lease, one for each call that is marked with it, two for the one that fails, five for each call
    # with work of its own, one to give the lease back; and the pass that nothing stopped.
    assert number == 1 + 2 + 2 + 2 * 5 + 1 + 1
    assert indeterminate > 0


class TestOneOwner:
    def test_a_second_dispatcher_leaves_the_first_alone(self, at: Timed) -> None:
        """While one has the lease, another one's pass says so and carries nothing out."""
        at.schedule(NOTE, 10)
        at.clock.wait(10)
        assert at.dispatcher._lease.take()
        assert Dispatcher(at.hive.server, at.clock).run_pass() is None
        assert at.contents() == []
        at.dispatcher._lease.release()
        second = Dispatcher(at.hive.server, at.clock).run_pass()
        assert second is not None
        assert second.fired == 1

    def test_one_that_lost_its_lease_writes_nothing_more(self, at: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
        """The call of a dispatcher that was replaced is undone with its mark."""
        event_id = at.schedule(NOTE, 10)
        at.clock.wait(10)
        taken = at.dispatcher._lease.take

        def lose() -> bool:
            assert taken()
            at.dispatcher._lease._fence = 999
            return True

        monkeypatch.setattr(at.dispatcher._lease, "take", lose)
        assert at.dispatcher.run_pass() is None
        assert (at.contents(), at.status(event_id)) == ([], "pending")

    def test_an_event_that_changed_since_it_was_read_is_left(self, at: Timed, monkeypatch: pytest.MonkeyPatch) -> None:
        """Withdrawn between the look and the call: the withdrawal holds."""
        event_id = at.schedule(NOTE, 10)
        at.clock.wait(10)
        prepared = at.dispatcher._prepared

        def cancel_first(*args: Any) -> Any:
            at.hive.call("schedule.cancel", id=event_id)
            return prepared(*args)

        monkeypatch.setattr(at.dispatcher, "_prepared", cancel_first)
        assert at.drain() == Summary(scanned=1, skipped_race=1)
        assert (at.contents(), at.status(event_id)) == ([], "cancelled")


def test_events_that_do_not_say_when_are_counted_and_left(at: Timed) -> None:
    """Neither a missing moment nor a text as one stops a pass."""
    without, text, good = (at.schedule(NOTE, 10) for _ in range(3))
    rewrite(at, without, trigger_us=None)
    rewrite(at, text, trigger_us="tomorrow")
    at.clock.wait(10)
    assert at.drain() == Summary(scanned=1, fired=1, unreadable=2, outcomes_persisted=1)
    assert [at.status(one) for one in (without, text, good)] == ["pending", "pending", "fired"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"trigger_at": "soon"}, "no time: soon"),
        ({"repeat": "sometimes"}, 'invalid repeat expression "sometimes"'),
        ({"repeat": "monthly", "repeat_anchor": "once"}, "no time: once"),
    ],
)
def test_what_cannot_be_carried_out_fails_unrun(at: Timed, changed: dict[str, Any], error: str) -> None:
    """A stored time or repetition that is of no grammar ends the event, not the pass."""
    event_id = at.schedule(NOTE, 10)
    rewrite(at, event_id, **changed)
    at.clock.wait(10)
    assert at.drain() == Summary(scanned=1, failed=1, outcomes_persisted=1)
    assert at.status(event_id) == "failed"
    assert at.properties(event_id)["error"].startswith(error)
    assert at.contents() == []


def test_every_look_walks_an_index(at: Timed) -> None:
    """Agenda, due events, claimed ones and counts read no table from end to end."""
    from support.stores import Explained

    with at.hive.server.engine.read() as tx:
        explained: Any = Explained(tx)
        schedules.agenda(explained, ("local", "lab"), since=None, until=None, limit=20)
        schedules.due(explained, 1, schedules.START, 200)
        schedules.firing(explained)
        steps = json.dumps(explained.steps)
    assert "SCAN" not in steps.replace("SCAN notes USING INDEX notes_firing", "")
    assert "TEMP B-TREE" not in steps
