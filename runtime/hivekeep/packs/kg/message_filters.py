"""The filters of list that only messages have.

Invariant: a filter is refused for every other kind, so none is ever ignored. What names a conversation names one.
"""

from hivekeep.identity.ids import classify
from hivekeep.packs.context import Context
from hivekeep.packs.ontology import KindRef
from hivekeep.storage import messages
from hivekeep.storage.message_fields import KIND, MessageTraits
from hivekeep_contract.errors import Ambiguous, InvalidInput, NotFound
from hivekeep_contract.limits import AMBIGUOUS_SHOWN
from hivekeep_contract.models import kg as models
from hivekeep_contract.vocabulary import ENUMS

MESSAGE_FILTERS = ("thread_id", "direction", "from", "to", "read", "delivered")


def message_traits(ctx: Context, args: models.ListArgs, kind: KindRef) -> MessageTraits | None:
    """What a list of messages is filtered by, None for another kind.

    Raises InvalidInput for a filter that the kind does not have, NotFound and Ambiguous for a prefix of a conversation.
    """
    given = [name for name in MESSAGE_FILTERS if name in ctx.given]
    if kind.kind != KIND:
        if given:
            raise InvalidInput(f"list: {given[0]!r} is accepted for kind={KIND!r} only; this list is of {args.kind!r}")
        return None
    directions = ENUMS["comm.direction"]
    if args.direction is not None and args.direction not in directions:
        raise InvalidInput(f"list: 'direction' must be one of {', '.join(directions)}; got {args.direction[:80]!r}")
    return MessageTraits(
        thread_id=None if args.thread_id is None else _root(ctx, args.thread_id),
        direction=args.direction,
        sender=args.from_,
        recipient=args.to,
        read=args.read,
        delivered=args.delivered,
    )


def _root(ctx: Context, text: str) -> str:
    """The stored root that a reference means; see the contract for the order in which its readings are tried."""
    ref = classify(text)
    if ref.form == "name":
        return text
    if "-" not in text and messages.is_root(ctx.tx, ctx.namespace, text):
        # An old label may look like the beginning of a UUID; written out, it is itself.
        return text
    if ref.form == "uuid":
        return ref.text
    roots = messages.roots_from(ctx.tx, ctx.namespace, ref.text, AMBIGUOUS_SHOWN + 1)
    roots = [root for root in roots if classify(root).form == "uuid"]
    if len(roots) == 1:
        return roots[0]
    if roots:
        raise Ambiguous(
            f"thread_id: {text!r} fits several conversations: {', '.join(roots[:AMBIGUOUS_SHOWN])}; give more digits",
            details={"ref": text, "count": len(roots)},
        )
    label = messages.root_in_any_case(ctx.tx, ctx.namespace, text)
    if label is None:
        raise NotFound(f"thread_id: not found: {text}", details={"param": "thread_id", "id": text})
    return label
