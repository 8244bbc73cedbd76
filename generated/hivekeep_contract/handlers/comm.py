"""What the pack `comm` must implement: one method a verb, typed by its contract.

Printed from registry/packs/comm/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from hivekeep_contract.catalog import Wait
from hivekeep_contract.models.comm import (
    Answered,
    ChannelCursor,
    Channels,
    Conversation,
    CursorCommitArgs,
    CursorGetArgs,
    DeliveredArgs,
    DeliveredResult,
    HealthArgs,
    HeartbeatArgs,
    InboxArgs,
    InboxPage,
    IngestArgs,
    MarkReadArgs,
    Marks,
    Polled,
    ProbeArgs,
    Probed,
    ReadArgs,
    ReadResult,
    Received,
    ReplyArgs,
    SendArgs,
    Sent,
    ThreadArgs,
    UnreadArgs,
    UnreadMail,
)

CtxT = TypeVar("CtxT", contravariant=True)


class CommHandlers(Protocol[CtxT]):
    """Mail between actors, in threads."""

    def cursor_commit(self, ctx: CtxT, args: CursorCommitArgs, /) -> ChannelCursor:
        """Remember how far a channel was read, after the whole page was taken in."""
        ...

    def cursor_get(self, ctx: CtxT, args: CursorGetArgs, /) -> ChannelCursor:
        """Say how far a channel was read."""
        ...

    def delivered(self, ctx: CtxT, args: DeliveredArgs, /) -> DeliveredResult:
        """Say whether a message that the caller sent reached the inbox of its recipient."""
        ...

    def health(self, ctx: CtxT, args: HealthArgs, /) -> Channels:
        """Show how the channels to the outside are, and how much is parked."""
        ...

    def heartbeat(self, ctx: CtxT, args: HeartbeatArgs, /) -> Polled:
        """Note how a poll of a channel went."""
        ...

    def inbox(self, ctx: CtxT, args: InboxArgs, /) -> InboxPage | Wait:
        """List the messages of the caller, and wait for one when there is none."""
        ...

    def ingest(self, ctx: CtxT, args: IngestArgs, /) -> Received:
        """Take in a message that came from outside."""
        ...

    def mark_read(self, ctx: CtxT, args: MarkReadArgs, /) -> Marks:
        """Mark messages of the caller read, best effort or all together."""
        ...

    def probe(self, ctx: CtxT, args: ProbeArgs, /) -> Probed:
        """Look cheaply whether an actor has new mail."""
        ...

    def read(self, ctx: CtxT, args: ReadArgs, /) -> ReadResult:
        """Fetch messages of the caller and mark them read."""
        ...

    def reply(self, ctx: CtxT, args: ReplyArgs, /) -> Answered:
        """Answer a message within its thread."""
        ...

    def send(self, ctx: CtxT, args: SendArgs, /) -> Sent:
        """Send a message to an actor, in a new thread or in one that exists."""
        ...

    def thread(self, ctx: CtxT, args: ThreadArgs, /) -> Conversation:
        """Read a conversation in order."""
        ...

    def unread(self, ctx: CtxT, args: UnreadArgs, /) -> UnreadMail:
        """Count the unread messages of the caller."""
        ...
