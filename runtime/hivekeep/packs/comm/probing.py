"""probe and delivered: questions about mail that one look at an index answers.

Invariant: nothing is written, and a cursor never goes back.
"""

from hivekeep.packs.comm.letters import label
from hivekeep.packs.context import Context
from hivekeep.storage import messages
from hivekeep.storage.messages import Arrival
from hivekeep_contract.limits import PROBE_MESSAGES_MAX
from hivekeep_contract.models import comm as models

MICROS_A_MINUTE = 60_000_000


def probe(ctx: Context, args: models.ProbeArgs) -> models.Probed:
    """What is new for an actor behind a cursor; without one that is known, the place to begin from."""
    stale_before = ctx.now_us - args.stale_minutes * MICROS_A_MINUTE
    now = messages.arrivals(ctx.tx, ctx.namespace, args.actor, stale_before)
    # A number beyond the last one ever given was no cursor, such as the moment of an older client.
    since = args.since_us if args.since_us is not None and args.since_us <= now.of_all else None
    if since is None:
        return {"cursor_us": now.newest, "new_messages": [], "stale_unread_count": now.stale}
    fresh: list[Arrival] = []
    if now.newest > since:
        fresh = messages.arrived_after(ctx.tx, ctx.namespace, args.actor, since, PROBE_MESSAGES_MAX)
    return {
        "cursor_us": max(now.newest, since),
        "new_messages": [_told(one) for one in sorted(fresh, key=lambda one: (one.created_at, one.id))],
        "stale_unread_count": now.stale,
    }


def _told(one: Arrival) -> models.ProbedMessage:
    told: models.ProbedMessage = {"id": one.id, "created_at_us": one.created_at, "from_actor": one.from_actor}
    if isinstance(one.subject, str):
        told["subject"] = one.subject
    return told


def delivered(ctx: Context, args: models.DeliveredArgs) -> models.DeliveredResult:
    """Whether the copy of the recipient of a message of the caller is stored."""
    count = messages.delivered(ctx.tx, ctx.namespace, args.id, label(ctx))
    return {
        "id": args.id,
        "status": "delivered" if count else "undelivered",
        "delivered": count > 0,
        "inbound_count": count,
    }
