"""A scheduled event as a note: what its properties say, and what it becomes with each step of its life.

Invariant: a status changes along the table of the contract and in these functions alone; each answers the note to
store. A series goes on from the time that was due, never from the time at which it was carried out.
"""

import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from hivekeep.packs.schedule import moments, recurrence
from hivekeep.packs.schedule.moments import Moment
from hivekeep.storage.json_text import dump, load_object
from hivekeep.storage.notes import NoteRow
from hivekeep.times import iso
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import SCHEDULE_ERROR_CHARS
from hivekeep_contract.models import schedule as models
from hivekeep_contract.vocabulary import TRANSITIONS

KIND = "scheduled_event"
REMIND = "remind"
SCHEDULE = "schedule"

PROVISIONING = "provisioning"
PENDING = "pending"
FIRING = "firing"
FIRED = "fired"
CANCELLED = "cancelled"
MISSED = "missed"
FAILED = "failed"
_NEXT = TRANSITIONS["schedule.status"]

CLAIMED = "claimed"
INVOKING = "invoking"
SUCCEEDED = "succeeded"
RECEIPT = "dispatch_receipt"

OVERFLOW = "recurrence overflow: the next time lies behind the year 9999"


class Scheduled(NamedTuple):
    """A scheduled event with its properties read."""

    row: NoteRow
    properties: Mapping[str, Any]

    @property
    def status(self) -> str:
        """Where it stands."""
        return str(self.properties.get("status"))

    @property
    def repeat(self) -> str | None:
        """How it repeats."""
        found: str | None = self.properties.get("repeat")
        return found

    @property
    def due(self) -> Moment:
        """When it is due; raises ValueError for a stored text that is no time."""
        return moments.parse(str(self.properties.get("trigger_at")))

    @property
    def anchor(self) -> Moment:
        """The first time of its series; raises ValueError as `due` does."""
        return moments.parse(str(self.properties.get("repeat_anchor", self.properties.get("trigger_at"))))

    @property
    def receipt(self) -> Mapping[str, Any]:
        """How far a dispatcher came with the last occurrence; empty when none took one up."""
        return self.properties.get(RECEIPT) or {}


def read(row: NoteRow) -> Scheduled:
    """A stored scheduled event."""
    return Scheduled(row, load_object(row.properties))


def new_properties(event_type: str, due: Moment, text: str, repeat: str | None, actor: str) -> dict[str, Any]:
    """The properties of a new event that is not armed yet; `text` is the time as the caller wrote it."""
    properties: dict[str, Any] = {
        "trigger_at": text,
        "trigger_us": due.us,
        "repeat": repeat,
        "status": PROVISIONING,
        "event_type": event_type,
        "created_by_actor": actor,
        "payload": None,
        "fired_at": None,
        "cancelled_at": None,
    }
    if repeat == recurrence.MONTHLY:
        properties["repeat_anchor"] = text
    return properties


def armed(event: Scheduled, now_us: int) -> NoteRow:
    """A half-made, reclaimed or failed event, ready to be carried out."""
    return _to(event, PENDING, now_us)


def cancelled(event: Scheduled, now_us: int) -> NoteRow:
    """A pending event that was withdrawn."""
    return _to(event, CANCELLED, now_us, cancelled_at=iso(now_us))


def claimed(event: Scheduled, actor: str, state: str, now_us: int) -> NoteRow:
    """A pending event that a dispatcher took up."""
    due = event.due.us
    receipt = {
        "occurrence_id": occurrence_id(event.row.id, due),
        "trigger_us": due,
        "actor": actor,
        "state": state,
        "error": None,
    }
    return _to(event, FIRING, now_us, **{RECEIPT: receipt})


def taken(event: Scheduled) -> Scheduled:
    """A pending event on its way to an end without a call; nobody sees it so."""
    return event._replace(properties={**event.properties, "status": FIRING})


def receipted(event: Scheduled, state: str, error: str | None, now_us: int) -> NoteRow:
    """A claimed event with another state of its receipt."""
    return _changed(event, now_us, {RECEIPT: {**event.receipt, "state": state, "error": error}})


def finalised(event: Scheduled, now_us: int) -> NoteRow:
    """A claimed event whose receipt says what became of the call."""
    if event.receipt.get("state") == SUCCEEDED:
        return _on(event, FIRED, event.due.us, now_us, {"fired_at": iso(now_us), "error": None, "error_at": None})
    # A single event is tried again until it is missed; a repeating one has its next time anyway.
    return _on(event, PENDING, event.due.us, now_us, _told(event.receipt.get("error") or "", now_us))


def missed(event: Scheduled, now_us: int) -> NoteRow:
    """A taken event that is overdue for too long; one that repeats goes on with the first time behind now."""
    return _on(event, MISSED, now_us, now_us, {"missed_at": now_us})


def failed(event: Scheduled, error: str, now_us: int) -> NoteRow:
    """A taken event that cannot be carried out, ever."""
    return _to(event, FAILED, now_us, **_told(error, now_us))


def occurrence_id(note_id: str, due_us: int) -> str:
    """The id of one occurrence: the same whoever takes it up, and however often."""
    return str(uuid.uuid5(uuid.UUID(note_id), str(due_us)))


def public(event: Scheduled) -> models.ScheduledEvent:
    """The event as an answer shows it."""
    row = event.row
    return {
        "id": row.id,
        "full_id": row.id,
        "kind": row.kind,
        "content": row.content,
        "namespace": row.namespace,
        "properties": cast("models.Properties", event.properties),
        "created_at": iso(row.created_at),
        "updated_at": iso(row.updated_at),
    }


def refuse_unless_pending(event: Scheduled) -> None:
    """Raise InvalidInput that names the status of an event that can no longer be withdrawn."""
    if CANCELLED not in _NEXT[event.status]:
        raise InvalidInput(
            f"schedule.cancel: the scheduled event {event.row.id} is {event.status};"
            " only a pending one can be withdrawn"
        )


def _on(event: Scheduled, status: str, after_us: int, now_us: int, told: Mapping[str, Any]) -> NoteRow:
    """A single event with this status, or a repeating one that waits for its first time later than a moment."""
    if event.repeat is None:
        return _to(event, status, now_us, **told)
    try:
        following = recurrence.next_after(event.repeat, event.anchor, event.due, after_us)
    except OverflowError:
        return _to(event, FAILED, now_us, **{**told, **_told(OVERFLOW, now_us)})
    return _to(event, PENDING, now_us, **told, trigger_at=moments.render(following), trigger_us=following.us)


def _told(error: str, now_us: int) -> dict[str, Any]:
    return {"error": error[:SCHEDULE_ERROR_CHARS], "error_at": iso(now_us)}


def _to(event: Scheduled, status: str, now_us: int, **told: object) -> NoteRow:
    assert status in _NEXT[event.status], f"{event.status} does not lead to {status}"
    return _changed(event, now_us, {**told, "status": status})


def _changed(event: Scheduled, now_us: int, told: Mapping[str, object]) -> NoteRow:
    return event.row._replace(properties=dump({**event.properties, **told}), updated_at=now_us)
