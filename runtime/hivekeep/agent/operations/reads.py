"""The reads of the gateway: runs, one run, its intake, its events. They deliver no context and write nothing.

Pages may be a megabyte, so the event loop does not wait for them.
"""

from __future__ import annotations

from functools import partial

from hivekeep.agent import intaking, views
from hivekeep.agent.context import AgentContext
from hivekeep.agent.work import Read, Slow, Work
from hivekeep.storage import agent_events, agent_intakes, agent_runs
from hivekeep.storage.agent_runs import RunFilter, RunPlace
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway_errors import NotFound
from hivekeep_contract.limits import GATEWAY_PAGE_MAX, GATEWAY_PAGE_MAX_BYTES
from hivekeep_contract.models import gateway as models


def runs_list(ctx: AgentContext, query: models.RunsListQuery) -> Work[models.RunPage]:
    """Runs of a workspace, newest first (gateway rules, pagination)."""
    after = views.run_place(query["cursor"]) if "cursor" in query else None
    page: models.RunPage = yield Slow(partial(_runs, ctx, query, after))
    return page


def _runs(ctx: AgentContext, query: models.RunsListQuery, after: RunPlace | None) -> models.RunPage:
    limit = query.get("limit", GATEWAY_PAGE_MAX)
    filters = RunFilter(client_kind=query.get("client"), status=query.get("status"))
    with ctx.engine.read() as tx:
        rows = agent_runs.page(tx, query["workspace"], filters, after=after, limit=limit + 1)
    shown = views.within_bytes(views.run_view(row) for row in rows[:limit])
    more = len(rows) > len(shown)
    return {
        "items": shown,
        "nextCursor": views.run_cursor(rows[len(shown) - 1]) if more else None,
        "untrusted": True,
    }


def run_read(ctx: AgentContext, query: models.RunReadQuery) -> Work[models.RunView]:
    """The run that the path names."""
    yield from ()
    return views.run_view(ctx.the_run)


def intake_read(ctx: AgentContext, query: models.IntakeReadQuery) -> Work[models.IntakeState]:
    """Its intake: the question that waits, and no context."""
    state: models.IntakeState = yield Read(partial(_intake, ctx))
    return state


def _intake(ctx: AgentContext, tx: Tx) -> models.IntakeState:
    row = agent_intakes.find(tx, ctx.the_run.seq)
    if row is None:
        raise NotFound("no_run")
    run = ctx.the_run if row.profile_hash is None else ctx.run_now(tx)
    return intaking.view(run, row)


def events_list(ctx: AgentContext, query: models.EventsListQuery) -> Work[models.EventPage]:
    """Its events, oldest first; a page of large ones ends early."""
    page: models.EventPage = yield Slow(partial(_events, ctx, query))
    return page


def _events(ctx: AgentContext, query: models.EventsListQuery) -> models.EventPage:
    run = ctx.the_run
    with ctx.engine.read() as tx:
        page = agent_events.page(
            tx,
            run.seq,
            after=query.get("after", 0),
            limit=query.get("limit", GATEWAY_PAGE_MAX),
            event_type=query.get("type"),
            max_bytes=GATEWAY_PAGE_MAX_BYTES,
        )
    return {
        "items": [views.event_view(run.id, row) for row in page.rows],
        "nextCursor": page.next_after,
        "untrusted": True,
    }
