"""inbox and unread: the mail of the caller, a page at a time, and how much of it is unread.

Invariant: nothing is marked here, and both count by the same statement.
"""

from hivekeep.packs.comm import letters
from hivekeep.packs.comm.letters import label
from hivekeep.packs.context import Context
from hivekeep.storage import messages
from hivekeep.storage.messages import UNREAD, BoxFilter
from hivekeep_contract.catalog import Wait
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.limits import UNREAD_COUNT_CAP
from hivekeep_contract.models import comm as models

SENT = "sent"
_INBOX_ONLY = ("status", "from_actor", "from_prefix", "exclude_from_actor")
_SENT_ONLY = ("to_actor",)


def inbox(ctx: Context, args: models.InboxArgs) -> models.InboxPage | Wait:
    """A page, or a wait when it would be empty and there is time; raises InvalidInput for filters of the other box."""
    _check(args)
    me = label(ctx)
    rows = messages.page(
        ctx.tx, ctx.namespace, me, _filters(args), limit=args.limit + 1 if args.limit else 0, offset=args.offset
    )
    if not rows and args.limit and args.wait_ms and ctx.may_wait:
        return Wait(ctx.now_us + args.wait_ms * 1000)
    shown, has_more = rows[: args.limit], len(rows) > args.limit
    count = 0 if args.box == SENT else messages.count_unread(ctx.tx, ctx.namespace, me)
    return {
        "messages": [letters.projected(letters.shown(row), args.fields) for row in shown],
        "count": len(shown),
        "unread_count": count,
        "unread_count_cap": UNREAD_COUNT_CAP,
        "unread_count_saturated": _saturated(count),
        "offset": args.offset,
        "next_offset": args.offset + len(shown) if has_more else None,
        "has_more": has_more,
    }


def unread(ctx: Context, args: models.UnreadArgs) -> models.UnreadMail:
    """How much of the mail of the caller is unread."""
    count = messages.count_unread(ctx.tx, ctx.namespace, label(ctx))
    return {"count": count, "count_cap": UNREAD_COUNT_CAP, "count_saturated": _saturated(count), "actor": label(ctx)}


def _saturated(count: int) -> bool:
    return count >= UNREAD_COUNT_CAP


def _check(args: models.InboxArgs) -> None:
    foreign = _INBOX_ONLY if args.box == SENT else _SENT_ONLY
    for name in foreign:
        if getattr(args, name) is not None:
            other = "inbox" if args.box == SENT else SENT
            raise InvalidInput(f"comm.inbox: {name!r} is accepted with box={other!r} only; this is box={args.box!r}")
    if args.since is not None and args.before is not None and args.since >= args.before:
        raise InvalidInput("comm.inbox: 'since' must be earlier than 'before'")


def _filters(args: models.InboxArgs) -> BoxFilter:
    sent = args.box == SENT
    return BoxFilter(
        sent=sent,
        status=None if sent else args.status or UNREAD,
        from_actor=args.from_actor,
        from_prefix=args.from_prefix,
        exclude_from_actor=args.exclude_from_actor,
        to_actor=args.to_actor,
        since=args.since,
        before=args.before,
        subject_contains=None if args.subject_contains is None else args.subject_contains.lower(),
        content_contains=None if args.content_contains is None else args.content_contains.lower(),
    )
