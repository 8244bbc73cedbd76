"""Events of a batch before they are stored: sanitised, checked, and with what the client left out filled in.

Invariant: an event that went through here can be appended to any run as it is; what makes a later checkpoint
impossible is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from hivekeep.agent import sanitising
from hivekeep.agent.canonical import canonical, ts_us
from hivekeep.agent.projection import MUTATED, RESOLVES, REVISED
from hivekeep.storage.agent_events import LedgerRow
from hivekeep.storage.json_text import EMPTY_LIST
from hivekeep_contract.gateway import MUTATING_TYPES, REVISION_TYPES
from hivekeep_contract.gateway_errors import ValidationError
from hivekeep_contract.limits import GATEWAY_PAYLOAD_MAX_BYTES
from hivekeep_contract.models import gateway as models
from hivekeep_contract.vocabulary import ENUMS

_PROFILE_FIELDS: Final = frozenset(ENUMS["gateway.profile_field"])
_TASK_TYPES: Final = frozenset(ENUMS["gateway.task_type"])
_TASK_TYPE: Final = "taskType"
_NAMES: Final = {f'$["{name}"]': name for name in ("eventId", "sourceEventId")}
"""Fields that name the event, by their path. They stay as they are or are refused: a mark would be the same for all."""


class NewEvent(NamedTuple):
    """An event that may be stored. Moments are microseconds; `payload` and `redaction` are canonical JSON text.

    `is_named` says that the client gave the event id, `is_dated` that it said when the event happened; otherwise the
    server filled them in.
    """

    event_id: str
    source_event_id: str | None
    source_sequence: int | None
    event_type: str
    source_type: str | None
    actor: str
    outcome: str | None
    occurred_at: int
    ingested_at: int
    payload: str
    redaction: str
    is_named: bool
    is_dated: bool


class Content(NamedTuple):
    """What makes two reports the same event (gateway rules, sequences and identity)."""

    source_event_id: str | None
    source_sequence: int | None
    event_type: str
    source_type: str | None
    actor: str
    outcome: str | None
    occurred_at: int
    payload: str
    redaction: str


def read_batch(
    inputs: Sequence[models.EventInput],
    *,
    workspace: str,
    now_us: int,
    new_id: Callable[[], str],
    payloads_at: Mapping[int, str] | None = None,
) -> list[NewEvent]:
    """Events of a client, which the schema of the operation let through, in their order (gateway rules, events).

    `payloads_at` has the JSON pointers of the fields that some of the inputs stand for, by the place of the input; a
    fault of such a payload is one of that field. Raises SecurityRejection for a credential in an id or a key,
    ValidationError for a payload over 64 KiB and for one that a projection could not read.
    """
    elsewhere = payloads_at or {}
    return [
        _read(event, field, elsewhere.get(place, f"{field}/payload"), workspace, now_us, new_id)
        for place, event in enumerate(inputs)
        for field in [f"/events/{place}"]
    ]


def own(event_type: str, payload: dict[str, Any], *, actor: str, event_id: str, now_us: int) -> NewEvent:
    """An event of the gateway's own. Its payload is made of what was sanitised before."""
    return NewEvent(
        event_id=event_id,
        source_event_id=None,
        source_sequence=None,
        event_type=event_type,
        source_type=None,
        actor=actor,
        outcome=None,
        occurred_at=now_us,
        ingested_at=now_us,
        payload=canonical(payload).decode(),
        redaction=EMPTY_LIST,
        is_named=False,
        is_dated=False,
    )


def request_form(batch: Sequence[NewEvent]) -> list[list[object]]:
    """What is hashed of a batch to tell one request from another: what the client said, sanitised.

    What the server filled in is left out, so the same request gives the same form each time; and so is the redaction
    list, so that a credential and the mark for it are one request (gateway rules, idempotency).
    """
    return [
        [
            event.event_id if event.is_named else None,
            event.source_event_id,
            event.source_sequence,
            event.event_type,
            event.source_type,
            event.actor,
            event.outcome,
            event.occurred_at if event.is_dated else None,
            event.payload,
        ]
        for event in batch
    ]


def is_same(event: NewEvent, stored: LedgerRow) -> bool:
    """Whether an event reports what a stored one does. One without a moment happened when the stored one came in."""
    occurred_at = event.occurred_at if event.is_dated else stored.ingested_at
    return _content(event)._replace(occurred_at=occurred_at) == _content(stored)


def _content(event: NewEvent | LedgerRow) -> Content:
    return Content._make(getattr(event, name) for name in Content._fields)


def _read(
    event: models.EventInput, field: str, payload_at: str, workspace: str, now_us: int, new_id: Callable[[], str]
) -> NewEvent:
    said, redactions = sanitising.with_list(workspace, event)
    if redactions:
        redactions = [one for one in redactions if one["path"] not in _NAMES]
        for name in _NAMES.values():
            if said.get(name) != event.get(name):
                sanitising.refuse_secret(event[name], f"{field}/{name}")
    payload = canonical(said["payload"])
    if len(payload) > GATEWAY_PAYLOAD_MAX_BYTES:
        raise ValidationError("too_large", field=payload_at)
    _check_payload(event["eventType"], said["payload"], payload_at)
    event_id = event.get("eventId")
    occurred_at = event.get("occurredAt")
    return NewEvent(
        event_id=new_id() if event_id is None else event_id,
        source_event_id=event.get("sourceEventId"),
        source_sequence=said.get("sourceSequence"),
        event_type=event["eventType"],
        source_type=said.get("sourceType"),
        actor=said["actor"],
        outcome=said.get("outcome"),
        occurred_at=now_us if occurred_at is None else ts_us(occurred_at),
        ingested_at=now_us,
        payload=payload.decode(),
        redaction=canonical(redactions).decode() if redactions else EMPTY_LIST,
        is_named=event_id is not None,
        is_dated=occurred_at is not None,
    )


def _check_payload(event_type: str, payload: Any, field: str) -> None:
    """Refuse what a projection could not read (gateway rules, payload rules by type)."""
    if event_type in REVISION_TYPES:
        _check_revision(payload, field)
    if not isinstance(payload, dict):
        return
    if RESOLVES in payload and not _are_ids(payload[RESOLVES]):
        raise ValidationError("wrong_value", field=f"{field}/{RESOLVES}")
    if event_type in MUTATING_TYPES and not isinstance(payload.get(MUTATED, False), bool):
        raise ValidationError("wrong_type", field=f"{field}/{MUTATED}")


def _check_revision(payload: Any, field: str) -> None:
    """A revision is an object of the one member `profile`, which holds slots of a task profile and nothing else."""
    if not isinstance(payload, dict):
        raise ValidationError("wrong_type", field=field)
    if REVISED not in payload:
        raise ValidationError("missing_field", field=f"{field}/{REVISED}")
    if len(payload) > 1:
        raise ValidationError("unknown_field", field=field)
    field = f"{field}/{REVISED}"
    profile = payload[REVISED]
    if not isinstance(profile, dict):
        raise ValidationError("wrong_type", field=field)
    if not _PROFILE_FIELDS.issuperset(profile):
        raise ValidationError("unknown_field", field=field)
    for name, value in profile.items():
        if value is not None and not isinstance(value, str):
            raise ValidationError("wrong_type", field=f"{field}/{name}")
        if name == _TASK_TYPE and value is not None and value not in _TASK_TYPES:
            raise ValidationError("wrong_value", field=f"{field}/{name}")


def _are_ids(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) and one.strip() for one in value)
