"""Quarantine: messages from outside that nobody may take for trusted ones."""

from hivekeep.packs.context import Context
from hivekeep.storage import channels, notes
from hivekeep.storage.channels import Channel


def drop_expired(ctx: Context, channel: Channel) -> int:
    """Remove the parked messages of a channel that have expired, for good; answers how many."""
    gone = channels.expired(ctx.tx, ctx.namespace, channel, ctx.now_us)
    for row in gone:
        notes.hard_delete(ctx.tx, row)
        ctx.emit("note_deleted", "note", row.id, {"id": row.id, "namespace": row.namespace, "hard": True})
    return len(gone)
