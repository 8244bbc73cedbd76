"""thread: a conversation in order, the two copies of a message as one."""

from hivekeep import values
from hivekeep.identity.ids import classify
from hivekeep.packs.comm import letters
from hivekeep.packs.comm.letters import label
from hivekeep.packs.context import Context
from hivekeep.storage import messages, notes
from hivekeep.storage.message_fields import KIND
from hivekeep.storage.messages import BEFORE_ALL, BEHIND_ALL, Place, View
from hivekeep.storage.notes import NoteRow
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.models import comm as models

ASCENDING = "asc"


def thread(ctx: Context, args: models.ThreadArgs) -> models.Conversation:
    """A page of the conversation that a message belongs to; raises NotFound, Ambiguous and InvalidInput."""
    view = View(ctx.namespace, label(ctx))
    entry = letters.found(ctx, args.id)
    root = letters.thread_of(entry) or entry.id
    rows = messages.thread(
        ctx.tx,
        view,
        root,
        order=args.order,
        limit=args.limit + 1,
        after=None if args.after is None else _place(ctx, view, args.after, args.order),
        root_apart=_is_apart(ctx, root),
    )
    page, has_more = rows[: args.limit], len(rows) > args.limit
    return {
        "thread_id": root,
        "messages": [letters.projected(letters.shown(row.note, read=row.read), args.fields) for row in page],
        "count": len(page),
        "has_more": has_more,
        "next_after": page[-1].note.id if has_more else None,
    }


def _is_apart(ctx: Context, root: str) -> bool:
    row = notes.get(ctx.tx, root)
    return row is not None and row.kind == KIND and letters.thread_of(row) is None


def _place(ctx: Context, view: View, after: str, order: str) -> Place:
    """Where a page begins: behind the shown copy of a message, or behind a moment."""
    if classify(after).form != "name":
        row: NoteRow = letters.found(ctx, after, "after")
        shown = messages.shown_copy(ctx.tx, view, row.id) or row
        return Place(shown.created_at, shown.id)
    try:
        return Place(values.timestamp(after), BEHIND_ALL if order == ASCENDING else BEFORE_ALL)
    except ValueError:
        raise InvalidInput(
            f"comm.thread: 'after' must be the id of a message or an RFC 3339 timestamp; got {after[:80]!r}"
        ) from None
