"""The verbs of schedule, and what the generic verbs may not do with what they made."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hivekeep.packs.schedule import events, moments
from hivekeep.packs.schedule.events import Scheduled
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.vocabulary import TRANSITIONS
from support.client import Hive
from support.schedules import Timed, timed
from support.stores import note

NOTE = 'create(kind="observation", content="it ran")'
KEY = "sk-proj-" + "aB3dE5fG7h" * 4


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Timed]:
    with timed(monkeypatch) as opened:
        yield opened


def refused(at: Timed, action: str, /, **more: Any) -> str:
    """The message of a refusal, which wrote nothing."""
    asked = {"action": action, "at": at.clock.text(60), **more}
    error = at.hive.refuses("schedule.schedule", **asked)
    assert error["kind"] == "invalid_input"
    assert at.hive.call("list", kind="scheduled_event")["items"] == []
    return str(error["message"])


class TestMaking:
    def test_it_is_a_note_with_the_properties_of_the_contract(self, at: Timed) -> None:
        """Every property that a new event has, the repeat anchor for a monthly one alone."""
        event_id = at.schedule(NOTE, 60, repeat="monthly")
        note = at.hive.call("get", id=event_id)
        assert (note["kind"], note["content"], note["status"]) == ("scheduled_event", NOTE, "pending")
        assert note["properties"] == {
            "trigger_at": "2030-01-31T12:01:00Z",
            "trigger_us": at.clock.us + 60_000_000,
            "repeat": "monthly",
            "repeat_anchor": "2030-01-31T12:01:00Z",
            "status": "pending",
            "event_type": "schedule",
            "created_by_actor": "anonymous:local",
            "payload": NOTE,
            "fired_at": None,
            "cancelled_at": None,
        }
        assert "repeat_anchor" not in at.properties(at.schedule(NOTE, 60, repeat="daily"))

    def test_its_creator_is_an_event_that_was_written_first(self, at: Timed) -> None:
        """Verb, kind, target, actor and payload of the proof."""
        ada = Timed(at.hive.as_actor("ada", "lab"), at.clock)
        event_id = ada.schedule(NOTE, 60)
        (proof,) = ada.hive.events(event_kind="audit", verb="schedule.creator_provenance", namespace="lab")
        assert (proof["target_id"], proof["actor"], proof["outcome"]) == (event_id, "actor:ada", "success")
        assert proof["payload"] == {"creator": {"kind": "actor", "id": "ada"}, "namespace": "lab"}

    def test_it_has_to_be_later_than_now(self, at: Timed) -> None:
        """Now itself is too early, a microsecond later is not; the offset counts."""
        assert "later than now" in refused(at, NOTE, at=at.clock.text())
        assert "later than now" in refused(at, NOTE, at="2030-01-31T13:00:00+01:00")
        at.schedule(NOTE, 0.000001)

    @pytest.mark.parametrize("at_text", ["soon", "2031-01-01", "2031-01-01T00:00:00", "2031-02-30T00:00:00Z"])
    def test_a_time_needs_a_zone(self, at: Timed, at_text: str) -> None:
        """Refused with an example."""
        message = refused(at, NOTE, at=at_text)
        assert "RFC 3339 timestamp with a zone, such as 2026-07-05T09:00:00Z" in message

    def test_the_time_stays_as_it_was_written(self, at: Timed) -> None:
        """Offset and spelling are kept, outer white space is not."""
        made = at.hive.call("schedule.schedule", action=NOTE, at=" 2031-01-01T09:00:00.50-03:30 ", repeat=" daily ")
        assert (made["trigger_at"], made["repeat"]) == ("2031-01-01T09:00:00.50-03:30", "daily")

    def test_a_credential_is_refused(self, at: Timed) -> None:
        """In an action and in a reminder, and nothing is written."""
        action = f'create(kind="observation", content="use {KEY}")'
        error = at.hive.refuses("schedule.schedule", action=action, at=at.clock.text(60))
        assert error["code"] == "secret_detected"
        error = at.hive.refuses("schedule.remind", content=f"use {KEY}", at=at.clock.text(60))
        assert error["code"] == "secret_detected"
        assert at.hive.call("list", kind="scheduled_event")["items"] == []


class TestActions:
    @pytest.mark.parametrize(
        ("action", "says"),
        [
            ("create(kind=", "one call of the request language"),
            ("just do it", "one call of the request language"),
            ("[stats(), whoami()]", "one call, not 2"),
            ("stats() | whoami()", "one call, not 2"),
            ("get(id=$prev.id)", "one call of the request language"),
            ("stat()", "names 'stat', which no loaded pack has"),
            ("kg.stats()", "names 'kg.stats', which no loaded pack has"),
            ("comm.heartbeat()", "only other verbs call"),
            ("get()", "'id' is required"),
            ("get(id=7)", "'id' must be"),
            ('get(id="x", colour="red")', "unknown argument 'colour'"),
            ("stats(help=true)", "unknown argument 'help'"),
            ('create(kind="concept", name="X", namespace="other")', "may not name a namespace"),
            ('create(kind="concept")', "'name' is required"),
            ('create(kind="observation")', "'content' is required"),
            ('create(name="X")', "give kind for one record"),
            ('create(items=[{"kind": "concept", "name": "X"}, {"kind": "insight"}])', "items[1]: 'content'"),
            ('create(items=[{"name": "X"}])', "items[0]: 'kind'"),
            ('create(items=[{"kind": "concept", "name": "X", "namespace": "other"}])', "items[0]: 'namespace'"),
            ('create(kind="spaceship", name="X")', "unknown kind 'spaceship'"),
        ],
    )
    def test_what_could_never_be_carried_out_is_refused(self, at: Timed, action: str, says: str) -> None:
        """The message says what is wrong with the call."""
        assert says in refused(at, action)

    @pytest.mark.parametrize(
        "action",
        [
            NOTE,
            'gtd.assign(title="follow up")',
            'gtd.next(assignee="agent:docs")',
            '{"tool": "stats", "args": {}}',
            'create(items=[{"kind": "concept", "name": "X"}, {"kind": "insight", "content": "y"}])',
            'create(kind="task", name="Call Ada")',
            'schedule.schedule(action="stats()", at="2099-01-01T00:00:00Z")',
            'memory.recall(query="tabs")',
        ],
    )
    def test_what_may_be_scheduled(self, at: Timed, action: str) -> None:
        """Any public verb of any loaded pack, in any spelling of the request language."""
        assert at.status(at.schedule(action, 60)) == "pending"


class TestAgenda:
    def test_it_is_ordered_by_the_moment_and_not_by_the_text(self, at: Timed) -> None:
        """Offsets are compared as moments; equal ones are ordered by id."""
        texts = ["2031-01-01T12:00:00+05:00", "2031-01-01T06:00:00Z", "2031-01-01T00:30:00-06:00"]
        for text in texts:
            at.hive.call("schedule.schedule", action=NOTE, at=text)
        found = at.hive.call("schedule.agenda")["events"]
        assert [event["properties"]["trigger_at"] for event in found] == [texts[1], texts[2], texts[0]]
        same = [at.schedule(NOTE, 60) for _ in range(3)]
        assert [event["id"] for event in at.hive.call("schedule.agenda", limit=3)["events"]] == sorted(same)

    def test_a_window_includes_its_ends(self, at: Timed) -> None:
        """Only what is due between the two moments, both included."""
        ids = [at.schedule(NOTE, seconds) for seconds in (10, 20, 30)]
        window = {"from": at.clock.text(10), "to": at.clock.text(20)}
        found = at.hive.call("schedule.agenda", **window)
        assert ([event["id"] for event in found["events"]], found["count"]) == (ids[:2], 2)
        assert at.hive.call("schedule.agenda", to=at.clock.text(9.999999))["count"] == 0

    def test_an_overdue_one_is_shown_until_it_is_over(self, at: Timed) -> None:
        """Now is no bound; what was carried out or withdrawn is not to come."""
        event_id = at.schedule(NOTE, 10)
        at.clock.wait(20)
        assert at.hive.call("schedule.agenda")["count"] == 1
        at.drain()
        assert at.status(event_id) == "fired"
        assert at.hive.call("schedule.agenda") == {"events": [], "count": 0}

    def test_it_shows_the_visible_namespaces(self, at: Timed) -> None:
        """local and the caller's own, not those of others."""
        ada, bob = (Timed(at.hive.as_actor(name, name), at.clock) for name in ("ada", "bob"))
        mine, common = ada.schedule(NOTE, 20), at.schedule(NOTE, 10)
        bob.schedule(NOTE, 30)
        assert [event["id"] for event in ada.hive.call("schedule.agenda")["events"]] == [common, mine]

    @pytest.mark.parametrize("limit", [0, 201, -1])
    def test_a_limit_out_of_range_is_refused(self, at: Timed, limit: int) -> None:
        """1 to 200."""
        assert "1 to 200" in at.hive.refuses("schedule.agenda", limit=limit)["message"]


class TestCancel:
    def test_a_prefix_is_enough(self, at: Timed) -> None:
        """The answer has the new state, and the event is not carried out."""
        event_id = at.schedule(NOTE, 10)
        answer = at.hive.call("schedule.cancel", id=event_id[:8])
        assert (answer["full_id"], answer["status"]) == (event_id, "cancelled")
        assert answer["cancelled_at"] == answer["properties"]["cancelled_at"] == "2030-01-31T12:00:00.000000Z"
        at.clock.wait(10)
        assert at.drain().scanned == 0

    def test_what_is_over_stays_as_it_is(self, at: Timed) -> None:
        """The message names the status."""
        event_id = at.schedule(NOTE, 10)
        at.clock.wait(10)
        at.drain()
        error = at.hive.refuses("schedule.cancel", id=event_id)
        assert (error["kind"], f"{event_id} is fired" in error["message"]) == ("invalid_input", True)

    def test_another_namespace_is_not_looked_into(self, at: Timed) -> None:
        """Neither by full id nor by prefix, although it could be read."""
        event_id = at.schedule(NOTE, 10)
        ada = at.hive.as_actor("ada", "lab")
        for reference in (event_id, event_id[:8]):
            assert ada.refuses("schedule.cancel", id=reference)["kind"] == "not_found"
        assert at.status(event_id) == "pending"

    def test_another_kind_is_refused(self, at: Timed) -> None:
        """An entity and a note are no scheduled events, and the message says what they are."""
        entity = at.hive.call("create", kind="concept", name="LoRA")
        note = at.hive.call("create", kind="insight", content="Rank 8.")
        for record, kind in ((entity, "concept"), (note, "insight")):
            error = at.hive.refuses("schedule.cancel", id=record["id"])
            assert (error["kind"], f"of the kind {kind}" in error["message"]) == ("invalid_input", True)


class TestGenericVerbs:
    """create, update, merge and delete of kg."""

    def test_none_is_made_by_create(self, at: Timed) -> None:
        """Single, in bulk and by a proposal: refused, and the message names the verbs."""
        error = at.hive.refuses("create", kind="scheduled_event", content="stats()")
        assert "schedule.schedule or schedule.remind" in error["message"]
        error = at.hive.refuses("create", items=[{"kind": "scheduled_event", "content": "stats()"}])
        assert "schedule.schedule or schedule.remind" in error["message"]

    @pytest.mark.parametrize(
        "patch", [{"content": "other"}, {"properties": {"status": "fired"}}, {"tags": ["x"]}, {"name": "n"}]
    )
    def test_none_is_changed_by_update(self, at: Timed, patch: dict[str, Any]) -> None:
        """Whatever the patch names."""
        event_id = at.schedule(NOTE, 10)
        before = at.hive.call("get", id=event_id)
        assert at.hive.refuses("update", id=event_id, **patch)["kind"] == "invalid_input"
        assert at.hive.call("get", id=event_id) == before

    def test_two_are_not_merged(self, at: Timed) -> None:
        """Neither of them goes."""
        into, gone = at.schedule(NOTE, 10), at.schedule(NOTE, 10)
        assert at.hive.refuses("merge", into_id=into, from_id=gone)["kind"] == "invalid_input"
        assert (at.status(into), at.status(gone)) == ("pending", "pending")

    def test_a_deleted_one_is_withdrawn_and_can_come_back(self, at: Timed) -> None:
        """It leaves the agenda and is there again after restore."""
        event_id = at.schedule(NOTE, 10)
        at.hive.call("delete", id=event_id)
        assert at.hive.call("schedule.agenda")["count"] == 0
        at.hive.call("restore", id=event_id)
        assert at.hive.call("schedule.agenda")["count"] == 1


def test_the_agenda_of_a_server_says_when_it_looked_last(at: Timed) -> None:
    """Only a process with a dispatcher has a ticker; before the first look it is null."""
    from hivekeep.packs.schedule import SchedulePack
    from hivekeep.packs.schedule.looking import Tick

    pack = at.hive.server.around.packs["schedule"]
    assert isinstance(pack, SchedulePack)
    assert "ticker" not in at.hive.call("schedule.agenda")
    pack.tick = Tick(None)
    assert at.hive.call("schedule.agenda")["ticker"] == {"last_tick_at": None}
    pack.tick = Tick(at.clock.us)
    assert at.hive.call("schedule.agenda")["ticker"] == {"last_tick_at": "2030-01-31T12:00:00.000000Z"}


def test_a_caller_sees_who_made_it(at: Timed) -> None:
    """The label is the stored one of the creator."""
    ada = Hive(at.hive.server, at.hive.as_actor("ada").caller)
    event_id = Timed(ada, at.clock).schedule(NOTE, 10)
    assert at.properties(event_id)["created_by_actor"] == "actor:ada"


STEPS: dict[str, Callable[[Scheduled], NoteRow]] = {
    "pending": lambda event: events.armed(event, 1),
    "firing": lambda event: events.claimed(event, "actor:ada", events.CLAIMED, 1),
    "fired": lambda event: events.finalised(_with(event, {"state": events.SUCCEEDED}), 1),
    "cancelled": lambda event: events.cancelled(event, 1),
    "missed": lambda event: events.missed(event, 1),
    "failed": lambda event: events.failed(event, "no", 1),
}


def _with(event: Scheduled, receipt: dict[str, Any]) -> Scheduled:
    return event._replace(properties={**event.properties, "dispatch_receipt": receipt})


@pytest.mark.parametrize("status", TRANSITIONS["schedule.status"])
@pytest.mark.parametrize("following", STEPS)
def test_a_status_changes_along_the_table_of_the_contract(status: str, following: str) -> None:
    """Every step from every status: carried out where the table has it, impossible where it has not."""
    due = moments.parse("2030-01-31T12:00:00Z")
    properties = events.new_properties("schedule", due, "2030-01-31T12:00:00Z", None, "actor:ada")
    event = Scheduled(note(1), {**properties, "status": status})
    if following in TRANSITIONS["schedule.status"][status]:
        assert events.read(STEPS[following](event)).status == following
    else:
        with pytest.raises(AssertionError, match=f"{status} does not lead to {following}"):
            STEPS[following](event)
