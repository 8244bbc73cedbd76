"""Channels to the outside: their heartbeats, how far they were read, and the report of both.

Invariant: the heartbeat of a channel is one note whose id follows from the channel, so no two polls make two of them.
"""

import json
import uuid
from typing import Any, cast

from hivekeep import process
from hivekeep.gate.secrets import refuse_secrets
from hivekeep.packs.comm import parking
from hivekeep.packs.context import Context
from hivekeep.storage import channels, notes
from hivekeep.storage.channels import KIND, Channel, CursorRow
from hivekeep.storage.json_text import dump, load_object
from hivekeep.storage.notes import NoteRow
from hivekeep.times import iso, parse_iso
from hivekeep_contract.limits import CHANNEL_STALLED_POLLS, HEALTH_CHANNELS_MAX
from hivekeep_contract.models import comm as models

IDS = uuid.UUID("a1c3f0d2-5f1e-5c0e-9b43-6d1d6a0f7c55")
"""The namespace (RFC 9562) of the ids of heartbeats; another value would give each channel a second note."""
SOURCE = "daemon-heartbeat"
MICROS_A_SECOND = 1_000_000
OTHER_ERROR = "other"


def heartbeat(ctx: Context, args: models.HeartbeatArgs) -> models.Polled:
    """The heartbeat of a channel after one more poll; raises SecretDetected."""
    refuse_secrets((("error_class", args.error_class), ("error_message", args.error_message)))
    channel = Channel(args.channel_kind, args.channel_slug)
    gone = parking.drop_expired(ctx, channel)
    old = notes.get(ctx.tx, _id(ctx, channel), include_deleted=True)
    said = _after_poll(ctx, args, {} if old is None else load_object(old.properties))
    row = _store(ctx, channel, old, said)
    ctx.touch("note", row.id)
    kind = "channel_poll_succeeded" if args.ok else "channel_poll_failed"
    ctx.emit(kind, "note", row.id, {"channel_kind": channel.kind, "channel_slug": channel.slug})
    return {
        "id": row.id,
        "full_id": row.id,
        "channel_kind": channel.kind,
        "channel_slug": channel.slug,
        "consecutive_failures": said["consecutive_failures"],
        "expired_count": gone,
    }


def _id(ctx: Context, channel: Channel) -> str:
    return str(uuid.uuid5(IDS, json.dumps([ctx.namespace, *channel], ensure_ascii=False, separators=(",", ":"))))


def _after_poll(ctx: Context, args: models.HeartbeatArgs, before: dict[str, Any]) -> dict[str, Any]:
    now = iso(ctx.now_us)
    failures = before.get("consecutive_failures", 0)
    said = {
        **before,
        "channel_kind": args.channel_kind,
        "channel_slug": args.channel_slug,
        "last_poll_attempt_at": now,
        "consecutive_failures": 0 if args.ok else failures + 1,
        "last_success_at" if args.ok else "last_failure_at": now,
    }
    if not args.ok:
        said["last_error"] = {"class": args.error_class, "message": args.error_message, "at": now}
    if args.poll_interval_secs is not None:
        said["poll_interval_secs"] = args.poll_interval_secs
    return said


def _store(ctx: Context, channel: Channel, old: NoteRow | None, said: dict[str, Any]) -> NoteRow:
    if old is not None:
        new = old._replace(properties=dump(said), updated_at=ctx.now_us, deleted_at=None)
        return notes.update(ctx.tx, old, new)
    row = NoteRow(
        id=_id(ctx, channel),
        namespace=ctx.namespace,
        kind=KIND,
        content=f"{channel.kind} {channel.slug}",
        properties=dump(said),
        created_at=ctx.now_us,
        updated_at=ctx.now_us,
    )
    return row._replace(seq=notes.insert(ctx.tx, row))


def cursor_get(ctx: Context, args: models.CursorGetArgs) -> models.ChannelCursor:
    """How far a channel was read, nulls when it never was."""
    channel = Channel(args.channel_kind, args.channel_slug)
    return _cursor(channel, channels.cursor(ctx.tx, ctx.namespace, channel))


def cursor_commit(ctx: Context, args: models.CursorCommitArgs) -> models.ChannelCursor:
    """What is remembered from now on."""
    channel = Channel(args.channel_kind, args.channel_slug)
    row = CursorRow(args.source, args.generation, args.high_water, ctx.now_us)
    channels.put_cursor(ctx.tx, ctx.namespace, channel, row)
    return _cursor(channel, row)


def _cursor(channel: Channel, row: CursorRow | None) -> models.ChannelCursor:
    return {
        "channel_kind": channel.kind,
        "channel_slug": channel.slug,
        "source": None if row is None else row.source,
        "generation": None if row is None else row.generation,
        "high_water": None if row is None else row.high_water,
        "updated_at": None if row is None else iso(row.updated_at),
    }


def health(ctx: Context, args: models.HealthArgs) -> models.Channels:
    """Every known channel, up to the most that one report has."""
    parked = channels.parked(ctx.tx, ctx.namespace)
    polled = [_polled(ctx, row) for row in channels.heartbeats(ctx.tx, ctx.namespace, HEALTH_CHANNELS_MAX)]
    for channel in polled:
        channel["quarantined_count"] = parked.by_channel.get(_identity(channel), 0)
    known = {_identity(channel) for channel in polled}
    others = [_only_parked(channel, count) for channel, count in parked.by_channel.items() if channel not in known]
    return {
        "role": "daemon" if polled else "client",
        "source": SOURCE if polled else None,
        "namespace": ctx.namespace,
        "as_of": iso(ctx.now_us),
        "channels": [*polled, *others][:HEALTH_CHANNELS_MAX],
        "quarantined_count": sum(parked.by_channel.values()) + parked.unattributed,
        "unattributed_quarantined_count": parked.unattributed,
        "resource": _resource(),
    }


def _identity(channel: models.Channel) -> Channel:
    return Channel(channel["channel_kind"], channel["channel_slug"])


def _polled(ctx: Context, row: NoteRow) -> models.Channel:
    said = load_object(row.properties)
    return {
        "channel_kind": said["channel_kind"],
        "channel_slug": said["channel_slug"],
        "poll_interval_secs": said.get("poll_interval_secs"),
        "stalled": _stalled(ctx, said),
        "last_success_at": said.get("last_success_at"),
        "last_failure_at": said.get("last_failure_at"),
        "last_poll_attempt_at": said.get("last_poll_attempt_at"),
        "last_error": cast("models.ChannelError | None", said.get("last_error")),
        "consecutive_failures": said["consecutive_failures"],
        "quarantined_count": 0,
    }


def _stalled(ctx: Context, said: dict[str, Any]) -> bool | None:
    """Whether the polls stay away; not known without a pace, and no question while the channel fails."""
    interval = said.get("poll_interval_secs")
    if interval is None or said["consecutive_failures"] > 0:
        return None
    silent_us = ctx.now_us - parse_iso(said["last_poll_attempt_at"])
    return bool(silent_us > CHANNEL_STALLED_POLLS * interval * MICROS_A_SECOND)


def _only_parked(channel: Channel, count: int) -> models.Channel:
    return {
        "channel_kind": channel.kind,
        "channel_slug": channel.slug,
        "poll_interval_secs": None,
        "stalled": None,
        "last_success_at": None,
        "last_failure_at": None,
        "last_poll_attempt_at": None,
        "last_error": None,
        "consecutive_failures": None,
        "quarantined_count": count,
    }


def _resource() -> models.ProcessUse:
    use = process.use()
    return {"cpu_us": use.cpu_us, "rss_bytes": use.rss_bytes, "active_phases": process.threads_beside()}
