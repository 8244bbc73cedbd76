"""list: the sessions of a namespace, newest first."""

from hivekeep.packs.context import Context
from hivekeep.packs.session import answers
from hivekeep.storage import sessions
from hivekeep.storage.sessions import SessionFilter
from hivekeep_contract.models import session as models


def list_sessions(ctx: Context, args: models.ListArgs) -> models.SessionPage:
    """One page, and how many sessions there are behind all pages."""
    filters = SessionFilter(args.provider, args.agent_id, args.since)
    rows = sessions.page(ctx.tx, ctx.namespace, filters, limit=args.limit, offset=args.offset)
    return {
        "ok": True,
        "sessions": [answers.summary(row) for row in rows],
        "count": len(rows),
        "total": sessions.count(ctx.tx, ctx.namespace, filters),
        "limit": args.limit,
        "offset": args.offset,
    }
