"""Arguments and results of the pack `comm`.

Printed from registry/packs/comm/ by `make generate`; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from hivekeep_contract.models import kg


class Advice(TypedDict):
    """
    Something the caller should know.
    """

    code: str
    message: str


class ChannelCursor(TypedDict):
    """
    How far a channel was read; null where nothing is known.
    """

    channel_kind: str
    channel_slug: str
    source: str | None
    generation: str | None
    high_water: str | None
    updated_at: str | None


ChannelError = TypedDict(
    "ChannelError",
    {
        "class": str,
        "message": str,
        "at": str,
    },
)


ChosenFields = TypedDict(
    "ChosenFields",
    {
        "id": NotRequired[str],
        "short_id": NotRequired[str],
        "full_id": NotRequired[str],
        "kind": NotRequired[str],
        "from": NotRequired[Any],
        "to": NotRequired[Any],
        "subject": NotRequired[Any],
        "read": NotRequired[bool],
        "direction": NotRequired[Any],
        "preview": NotRequired[str],
        "content": NotRequired[str],
        "namespace": NotRequired[str],
        "properties": NotRequired[dict[str, Any]],
        "created_at": NotRequired[str],
        "updated_at": NotRequired[str],
        "comm_schema_version": NotRequired[Any],
        "from_actor": NotRequired[Any],
        "to_actor": NotRequired[Any],
        "thread_id": NotRequired[Any],
        "sent_at": NotRequired[Any],
        "outbound_ref": NotRequired[Any],
        "sent_by_process": NotRequired[Any],
    },
)


Message = TypedDict(
    "Message",
    {
        "id": str,
        "short_id": str,
        "full_id": str,
        "kind": str,
        "from": Any,
        "to": Any,
        "subject": Any,
        "read": bool,
        "direction": Any,
        "preview": str,
        "content": str,
        "namespace": str,
        "properties": dict[str, Any],
        "created_at": str,
        "updated_at": str,
    },
)


class Polled(TypedDict):
    """
    The heartbeat of a channel as stored.
    """

    id: str
    full_id: str
    channel_kind: str
    channel_slug: str
    consecutive_failures: int
    expired_count: int


class ProbedMessage(TypedDict):
    """
    A message that is new.
    """

    id: str
    created_at_us: int
    from_actor: Any
    subject: NotRequired[str]


class ProcessUse(TypedDict):
    """
    What this process uses.
    """

    cpu_us: int
    rss_bytes: int | None
    active_phases: list[str]


class UnreadMail(TypedDict):
    """
    How much is unread.
    """

    count: int
    count_cap: int
    count_saturated: bool
    actor: str


Delivery: TypeAlias = Literal["delivered", "undelivered"]


Direction: TypeAlias = Literal["inbound", "outbound"]


HealthRole: TypeAlias = Literal["daemon", "client"]


MarkStatus: TypeAlias = Literal["success", "failed", "unknown"]


MarksStatus: TypeAlias = Literal["success", "partial", "failed", "unknown"]


class Answered(TypedDict):
    """
    A reply that was sent.
    """

    id: str
    full_id: str
    thread_id: str
    to: str
    from_actor: str
    to_actor: str
    subject: str | None
    sent_at: str
    direction: Direction
    warnings: NotRequired[list[kg.Warning | Advice]]
    in_reply_to: str
    marked_read: bool


class Channel(TypedDict):
    """
    A channel to the outside, and what is parked for it.
    """

    channel_kind: str
    channel_slug: str
    poll_interval_secs: int | None
    stalled: bool | None
    last_success_at: str | None
    last_failure_at: str | None
    last_poll_attempt_at: str | None
    last_error: ChannelError | None
    consecutive_failures: int | None
    quarantined_count: int


class Channels(TypedDict):
    """
    How the channels of a namespace are.
    """

    role: HealthRole
    source: str | None
    namespace: str
    as_of: str
    channels: list[Channel]
    quarantined_count: int
    unattributed_quarantined_count: int
    resource: ProcessUse


class Conversation(TypedDict):
    """
    A page of a thread; the two copies of a message are shown as one.
    """

    thread_id: str
    messages: list[Message | ChosenFields]
    count: int
    has_more: bool
    next_after: str | None


class DeliveredResult(TypedDict):
    id: str
    status: Delivery
    delivered: bool
    inbound_count: int


Fetched = TypedDict(
    "Fetched",
    {
        "id": str,
        "full_id": str,
        "status": MarkStatus,
        "read": bool | None,
        "mark_error": NotRequired[str],
        "properties": dict[str, Any],
        "subject": NotRequired[Any],
        "content": NotRequired[str],
        "from": NotRequired[Any],
        "to": NotRequired[Any],
        "direction": NotRequired[Any],
        "created_at": NotRequired[str],
    },
)


class Fetches(TypedDict):
    """
    What became of several marks, and the messages.
    """

    status: MarksStatus
    results: list[Fetched]
    requested_count: int
    unique_count: int
    marked_count: int
    unknown_count: int
    failed_count: int


class InboxPage(TypedDict):
    """
    A page of messages, newest first, and how much is unread.
    """

    messages: list[Message | ChosenFields]
    count: int
    unread_count: int
    unread_count_cap: int
    unread_count_saturated: bool
    offset: int
    next_offset: int | None
    has_more: bool


class Marked(TypedDict):
    """
    What became of one mark.
    """

    id: str
    full_id: str
    status: MarkStatus
    read: bool | None
    mark_error: NotRequired[str]
    properties: dict[str, Any]


class Marks(TypedDict):
    """
    What became of several marks.
    """

    status: MarksStatus
    results: list[Marked]
    requested_count: int
    unique_count: int
    marked_count: int
    unknown_count: int
    failed_count: int


class Probed(TypedDict):
    """
    What is new for an actor.
    """

    cursor_us: int
    new_messages: list[ProbedMessage]
    stale_unread_count: int


class Received(TypedDict):
    """
    A message that came from outside.
    """

    id: str
    full_id: str
    thread_id: str
    deduplicated: bool
    thread_id_canonical: NotRequired[bool]
    warnings: NotRequired[list[kg.Warning]]


class Sent(TypedDict):
    """
    A message that was sent.
    """

    id: str
    full_id: str
    thread_id: str
    to: str
    from_actor: str
    to_actor: str
    subject: str | None
    sent_at: str
    direction: Direction
    warnings: NotRequired[list[kg.Warning | Advice]]


ReadResult: TypeAlias = Fetched | Fetches


@dataclass(frozen=True, kw_only=True, slots=True)
class CursorCommitArgs:
    """
    Arguments of comm.cursor_commit.
    """

    channel_kind: str
    channel_slug: str
    source: str
    generation: str
    high_water: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CursorGetArgs:
    """
    Arguments of comm.cursor_get.
    """

    channel_kind: str
    channel_slug: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveredArgs:
    """
    Arguments of comm.delivered.
    """

    id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HealthArgs:
    """
    Arguments of comm.health.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class HeartbeatArgs:
    """
    Arguments of comm.heartbeat.
    """

    channel_kind: str
    channel_slug: str
    ok: bool
    error_class: str | None = None
    error_message: str | None = None
    poll_interval_secs: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestArgs:
    """
    Arguments of comm.ingest.
    """

    from_: str
    to: str
    content: str
    subject: str | None = None
    thread_id: str | None = None
    correlation_external_id: str | None = None
    external_id: str | None = None
    channel_kind: str | None = None
    channel_slug: str | None = None
    default_inbound_actor: str | None = None
    sent_at: int | None = None
    quarantined: bool = False
    metadata: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkReadArgs:
    """
    Arguments of comm.mark_read.
    """

    ids: list[str]
    atomic: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeArgs:
    """
    Arguments of comm.probe.
    """

    actor: str
    since_us: int | None = None
    stale_minutes: int = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadArgs:
    """
    Arguments of comm.read.
    """

    id: str | None = None
    ids: list[str] | None = None
    body: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplyArgs:
    """
    Arguments of comm.reply.
    """

    id: str
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SendArgs:
    """
    Arguments of comm.send.
    """

    to: str
    content: str
    subject: str | None = None
    thread_id: str | None = None
    self_send: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class UnreadArgs:
    """
    Arguments of comm.unread.
    """


Box: TypeAlias = Literal["inbox", "sent"]


InboxStatus: TypeAlias = Literal["unread", "read", "all"]


MessageField: TypeAlias = Literal["id", "short_id", "full_id", "kind", "from", "to", "subject", "read", "direction", "preview", "content", "namespace", "properties", "created_at", "updated_at", "comm_schema_version", "from_actor", "to_actor", "thread_id", "sent_at", "outbound_ref", "sent_by_process"]


ThreadOrder: TypeAlias = Literal["asc", "desc"]


@dataclass(frozen=True, kw_only=True, slots=True)
class InboxArgs:
    """
    Arguments of comm.inbox.
    """

    limit: int = 20
    box: Box = "inbox"
    offset: int = 0
    status: InboxStatus | None = None
    wait_ms: int = 0
    from_actor: str | None = None
    from_prefix: str | None = None
    exclude_from_actor: str | None = None
    to_actor: str | None = None
    since: int | None = None
    before: int | None = None
    subject_contains: str | None = None
    content_contains: str | None = None
    fields: list[MessageField] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadArgs:
    """
    Arguments of comm.thread.
    """

    id: str
    limit: int = 100
    order: ThreadOrder = "asc"
    after: str | None = None
    fields: list[MessageField] | None = None
