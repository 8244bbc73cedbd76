"""send and reply: both copies of a message, in one transaction.

Invariant: there is an outbound copy if and only if there is an inbound one that names it, and both say the same.
"""

from collections.abc import Mapping
from typing import Any

from hivekeep.gate.secrets import refuse_secrets
from hivekeep.packs.comm import letters
from hivekeep.packs.comm.letters import FROM_NAMES, TO_NAMES, Parties, Text, label
from hivekeep.packs.context import Context
from hivekeep.storage import messages
from hivekeep.storage.json_text import load_object
from hivekeep.storage.message_fields import INBOUND, OUTBOUND
from hivekeep.storage.messages import View
from hivekeep.storage.notes import NoteRow
from hivekeep.times import iso
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import comm as models

UNATTRIBUTED = "unattributed_sender"
RE = "Re: "


def send(ctx: Context, args: models.SendArgs) -> models.Sent:
    """The message that was sent. Raises InvalidInput and SecretDetected; nothing is written then."""
    me = label(ctx)
    if args.to == me and not ctx.caller.unattributed and not args.self_send:
        raise InvalidInput(
            f"comm.send: 'to' is the caller itself, {me!r}; self_send=true sends a note to oneself on purpose"
        )
    if args.thread_id is not None and not messages.is_root(ctx.tx, ctx.namespace, args.thread_id):
        raise InvalidInput(
            f"comm.send: 'thread_id' must be a conversation of the namespace {ctx.namespace!r}; no message of it "
            f"belongs to {args.thread_id}"
        )
    return _send(ctx, args.to, Text(args.content, args.subject), thread_id=args.thread_id, more={})


def reply(ctx: Context, args: models.ReplyArgs) -> models.Answered:
    """The reply that was sent. Raises InvalidInput, NotFound, Ambiguous and SecretDetected."""
    me = label(ctx)
    original = letters.found(ctx, args.id)
    properties = load_object(original.properties)
    sent = _send(
        ctx,
        _other_party(original, properties, me),
        Text(args.content, _subject(properties)),
        thread_id=letters.thread_of(original) or original.id,
        more=_mail_headers(properties),
    )
    return {**sent, "in_reply_to": original.id, "marked_read": _mark(ctx, original, me)}


def _send(ctx: Context, to: str, text: Text, *, thread_id: str | None, more: Mapping[str, Any]) -> models.Sent:
    if not text.content.strip():
        raise InvalidInput(f"{ctx.verb}: 'content' must be a string that is not blank")
    refuse_secrets((("content", text.content), ("subject", text.subject), ("to", to)))
    me = label(ctx)
    parties = Parties(me, to, ctx.namespace, ctx.namespace)
    outbound_id, inbound_id = letters.pair_ids()
    root = outbound_id if thread_id is None else thread_id
    outbound, inbound = (
        letters.letter(
            ctx,
            parties,
            text,
            message_id=message_id,
            direction=direction,
            thread_id=root,
            sent_at=ctx.now_us,
            more={**more, **beside},
        )
        for message_id, direction, beside in (
            (outbound_id, OUTBOUND, {}),
            (inbound_id, INBOUND, {"outbound_ref": outbound_id}),
        )
    )
    ctx.if_unknown = {"outbound_id": outbound_id}
    warnings = letters.store(ctx, (outbound, inbound))
    ctx.touch("note", outbound_id)
    told: models.Sent = {
        "id": outbound_id,
        "full_id": outbound_id,
        "thread_id": root,
        "to": to,
        "from_actor": me,
        "to_actor": to,
        "subject": text.subject,
        "sent_at": iso(ctx.now_us),
        "direction": "outbound",
    }
    advice = _unattributed(ctx, to)
    if warnings or advice:
        told["warnings"] = [*advice, *warnings]
    return told


def _unattributed(ctx: Context, to: str) -> list[models.Advice]:
    if not ctx.caller.unattributed or to == label(ctx):
        return []
    message = (
        f"the caller has no name, so {to} sees this from {label(ctx)!r};"
        " a reply reaches everybody else without a name as well"
    )
    return [{"code": UNATTRIBUTED, "message": message}]


def _other_party(original: NoteRow, properties: Mapping[str, Any], me: str) -> str:
    sender = letters.first_text(properties, FROM_NAMES)
    recipient = letters.first_text(properties, TO_NAMES)
    other = recipient if sender == me else sender
    if other is None or not other.strip():
        raise InvalidInput(f"comm.reply: the message {original.id} does not say whom a reply would go to")
    return other


def _subject(properties: Mapping[str, Any]) -> str | None:
    subject = properties.get("subject")
    if not isinstance(subject, str):
        return None
    return subject if subject.lower().startswith(RE.strip().lower()) else RE + subject


def _mail_headers(properties: Mapping[str, Any]) -> dict[str, Any]:
    """What a mail program needs to keep the thread together; nothing for a message that never was a mail."""
    parent = properties.get("wire_message_id")
    if not isinstance(parent, str) or not _is_token(parent):
        return {}
    before = properties.get("wire_references") or properties.get("references_chain") or []
    tokens = before.split(" ") if isinstance(before, str) else before if isinstance(before, list) else []
    chain = dict.fromkeys(token for token in (*tokens, parent) if isinstance(token, str) and _is_token(token))
    return {"in_reply_to_message_id": parent, "references_chain": list(chain)}


def _is_token(text: str) -> bool:
    """A line break in it would let a message write headers of its own."""
    return "@" in text and "\r" not in text and "\n" not in text


def _mark(ctx: Context, original: NoteRow, me: str) -> bool:
    """Whether the answered message is marked read now: the copy that is in the inbox of the caller, if there is one."""
    copy = messages.shown_copy(ctx.tx, View(ctx.namespace, me), original.id)
    if copy is None or not letters.is_for(load_object(copy.properties), me):
        return False
    if messages.mark_read(ctx.tx, (copy.seq,), ctx.now_us):
        letters.marked_events(ctx, (copy,))
    return True
