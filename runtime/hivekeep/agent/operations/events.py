"""`agent.events`: a batch of events of a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hivekeep.agent import events as ledger_events
from hivekeep.agent import ledger
from hivekeep.agent.canonical import digest
from hivekeep.agent.context import AgentContext
from hivekeep.agent.events import NewEvent
from hivekeep.agent.work import Work
from hivekeep.agent.writing import once, run_scope
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import INTAKE_EVENT_TYPES, RUN_STATUSES
from hivekeep_contract.gateway_errors import Conflict
from hivekeep_contract.models import gateway as models


def append_events(ctx: AgentContext, body: models.EventsBody) -> Work[models.Acknowledged]:
    """Append a batch, whole or not at all (gateway rules, events)."""
    batch = ledger.read_batch(ctx, body["events"])

    def mutate(tx: Tx) -> dict[str, Any]:
        run = ctx.run_now(tx)
        _check_state(run, batch)
        return cast(dict[str, Any], ledger.append(tx, run, batch).data)

    acknowledged = yield from once(ctx, run_scope(ctx), digest(ledger_events.request_form(batch)), mutate)
    return cast(models.Acknowledged, acknowledged.data)


def _check_state(run: RunRow, batch: Sequence[NewEvent]) -> None:
    """A run that has ended takes none, one that waits for an answer those of the intake alone."""
    ledger.require_open(run)
    if run.status == RUN_STATUSES["intake"] and any(event.event_type not in INTAKE_EVENT_TYPES for event in batch):
        raise Conflict("run_in_intake")
