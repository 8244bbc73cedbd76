"""ingest: a message from outside becomes an inbound one.

Invariant: what a channel delivers twice is stored once. What came from outside sets no property that has a meaning of
its own here but those this module sets.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.identity.ids import classify, new_id
from hivekeep.packs.comm import letters, parking
from hivekeep.packs.comm.letters import FROM_NAMES, Parties, Text
from hivekeep.packs.context import Context
from hivekeep.storage import messages
from hivekeep.storage.channels import Channel
from hivekeep.storage.json_text import load_object
from hivekeep.storage.message_fields import INBOUND
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import QUARANTINE_DAYS
from hivekeep_contract.models import comm as models

MICROS_A_DAY = 86_400_000_000


class _Conversation(NamedTuple):
    """What a message belongs to: the root, and who began it; None where that is not known."""

    root: str | None
    starter: str | None


def ingest(ctx: Context, args: models.IngestArgs) -> models.Received:
    """The message as stored, or the one that was there already; raises InvalidInput and SecretDetected."""
    given_root = _given_root(args)
    refuse_secrets(
        (
            ("content", args.content),
            ("subject", args.subject),
            ("from", args.from_),
            ("to", args.to),
            ("metadata", args.metadata),
        )
    )
    if args.channel_kind is not None and args.channel_slug is not None:
        parking.drop_expired(ctx, Channel(args.channel_kind, args.channel_slug))
    if args.external_id is not None:
        channel = (args.channel_kind or "", args.channel_slug or "")
        known = messages.taken_in(ctx.tx, ctx.namespace, args.external_id, channel)
        if known is not None:
            return _duplicate(ctx, known)
    answered = _answered(ctx, args.correlation_external_id)
    message_id = new_id()
    root = given_root or answered.root or message_id
    row = _row(ctx, args, answered, message_id, root)
    warnings = letters.store(ctx, (row,))
    ctx.touch("note", row.id)
    told = _received(row.id, root, deduplicated=False)
    if warnings:
        told["warnings"] = warnings
    return told


def _given_root(args: models.IngestArgs) -> str | None:
    if args.thread_id is None or not args.thread_id.strip():
        return None
    ref = classify(args.thread_id.strip())
    if ref.form != "uuid":
        raise InvalidInput(f"comm.ingest: 'thread_id' must be a full UUID or blank; got {args.thread_id[:80]!r}")
    return ref.text


def _answered(ctx: Context, correlation: str | None) -> _Conversation:
    """The conversation of the message that was sent out under an id, or that the id is the root of."""
    if correlation is None or not correlation.strip():
        return _Conversation(None, None)
    name = correlation.strip()
    original = messages.sent_out(ctx.tx, ctx.namespace, (name, _toggled(name)))
    if original is None:
        root = classify(name).text
        original = messages.first_sent_of(ctx.tx, ctx.namespace, root)
        if original is None:
            return _Conversation(root if messages.is_root(ctx.tx, ctx.namespace, root) else None, None)
    stored = load_object(original.properties).get("thread_id")
    root_of = stored if isinstance(stored, str) else original.id
    return _Conversation(root_of, letters.first_text(load_object(original.properties), FROM_NAMES))


def _toggled(name: str) -> str:
    """The other spelling of a mail's id: with angle brackets, or without."""
    return name[1:-1] if name.startswith("<") and name.endswith(">") else f"<{name}>"


def _row(ctx: Context, args: models.IngestArgs, answered: _Conversation, message_id: str, root: str) -> NoteRow:
    recipient = answered.starter or args.default_inbound_actor or args.to
    row = letters.letter(
        ctx,
        Parties(args.from_, recipient, args.from_, args.to),
        Text(args.content, args.subject),
        message_id=message_id,
        direction=INBOUND,
        thread_id=root,
        sent_at=ctx.now_us if args.sent_at is None else args.sent_at,
        more=_further(args),
    )
    return row._replace(expires_at=ctx.now_us + QUARANTINE_DAYS * MICROS_A_DAY) if args.quarantined else row


def _further(args: models.IngestArgs) -> dict[str, Any]:
    """Properties beside those of every message; the metadata of the channel never overrides one of them."""
    ours: Mapping[str, Any] = {
        "external_id": args.external_id,
        "channel_kind": args.channel_kind,
        "channel_slug": args.channel_slug,
        "quarantined": args.quarantined or None,
    }
    reserved = {*ours, "subject", "outbound_ref", "sent_by_process"}
    told = {name: value for name, value in (args.metadata or {}).items() if name not in reserved}
    return {**told, **{name: value for name, value in ours.items() if value is not None}}


def _duplicate(ctx: Context, known: NoteRow) -> models.Received:
    ctx.touch("note", known.id)
    stored = load_object(known.properties).get("thread_id")
    return _received(known.id, stored if isinstance(stored, str) else known.id, deduplicated=True)


def _received(message_id: str, root: str, *, deduplicated: bool) -> models.Received:
    told: models.Received = {
        "id": message_id,
        "full_id": message_id,
        "thread_id": root,
        "deduplicated": deduplicated,
    }
    if classify(root).form != "uuid":
        told["thread_id_canonical"] = False
    return told
