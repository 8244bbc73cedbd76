"""Arguments and results of the pack `schedule`.

Printed from registry/packs/schedule/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import kg


class Ticker(TypedDict):
    """
    The dispatcher of a server.
    """

    last_tick_at: str | None


EventType: TypeAlias = Literal["remind", "schedule"]


ReceiptState: TypeAlias = Literal["claimed", "invoking", "succeeded", "failed"]


Status: TypeAlias = Literal["provisioning", "pending", "firing", "fired", "cancelled", "missed", "failed"]


class DispatchReceipt(TypedDict):
    """
    How far a dispatcher came with one occurrence.
    """

    occurrence_id: str
    trigger_us: int
    actor: str
    state: ReceiptState
    error: str | None


class Properties(TypedDict):
    """
    The state of a scheduled event.
    """

    trigger_at: str
    trigger_us: int
    repeat: str | None
    repeat_anchor: NotRequired[str]
    status: Status
    event_type: EventType
    created_by_actor: str
    payload: str | None
    fired_at: str | None
    cancelled_at: str | None
    missed_at: NotRequired[int]
    dispatch_receipt: NotRequired[DispatchReceipt]
    error: NotRequired[str | None]
    error_at: NotRequired[str | None]


class Scheduled(TypedDict):
    """
    A new scheduled event.
    """

    id: str
    full_id: str
    event_type: EventType
    trigger_at: str
    repeat: str | None
    status: Status
    warnings: NotRequired[list[kg.Warning]]


class ScheduledEvent(TypedDict):
    """
    A scheduled event.
    """

    id: str
    full_id: str
    kind: str
    content: str
    namespace: str
    properties: Properties
    created_at: str
    updated_at: str


class Agenda(TypedDict):
    """
    What is to come.
    """

    events: list[ScheduledEvent]
    count: int
    ticker: NotRequired[Ticker]


class Cancelled(TypedDict):
    """
    A scheduled event that was withdrawn.
    """

    id: str
    full_id: str
    status: Status
    cancelled_at: str
    properties: Properties


@dataclass(frozen=True, kw_only=True, slots=True)
class AgendaArgs:
    """
    Arguments of schedule.agenda.
    """

    from_: int | None = None
    to: int | None = None
    limit: int = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class CancelArgs:
    """
    Arguments of schedule.cancel.
    """

    id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RemindArgs:
    """
    Arguments of schedule.remind.
    """

    content: str
    at: str
    repeat: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScheduleArgs:
    """
    Arguments of schedule.schedule.
    """

    action: str
    at: str
    repeat: str | None = None
