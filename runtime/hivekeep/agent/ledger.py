"""Appending to the ledger of a run, as operations do it: the state that lets them, and what they acknowledge.

Invariant: a batch is appended to the run as the transaction sees it, whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from hivekeep.agent import appending, events
from hivekeep.agent.context import AgentContext
from hivekeep.agent.events import NewEvent
from hivekeep.agent.intaking import Step
from hivekeep.storage import agent_runs
from hivekeep.storage.agent_runs import RunRow
from hivekeep.storage.engine import Tx
from hivekeep_contract.gateway import GATEWAY_ACTORS, RUN_STATUSES
from hivekeep_contract.gateway_errors import Conflict
from hivekeep_contract.models import gateway as models


class Appended(NamedTuple):
    """The run after a batch, and the acknowledgement of the batch."""

    run: RunRow
    data: models.Acknowledged


def append(tx: Tx, run: RunRow, batch: Sequence[NewEvent]) -> Appended:
    """Append a batch of events, or find that it is stored already. Raises the conflicts of the ledger."""
    done = appending.append(tx, run, batch)
    data: models.Acknowledged = {
        "runId": run.id,
        "acceptedThrough": done.sequences[-1],
        "localSequences": done.sequences,
        "sourceSequences": done.source_sequences,
        "eventIds": done.event_ids,
        "runStatus": cast(models.RunStatus, run.status),
        "untrusted": True,
    }
    return Appended(done.run, data)


def lifecycle(ctx: AgentContext, tx: Tx, run: RunRow, steps: Iterable[Step], now_us: int) -> RunRow:
    """Append what the gateway itself has to say of a run; answers the run after it."""
    batch = [own_event(ctx, event_type, payload, now_us) for event_type, payload in steps]
    return append(tx, run, batch).run


def own_event(ctx: AgentContext, event_type: str, payload: dict[str, Any], now_us: int) -> NewEvent:
    """An event of the gateway's own, whose payload holds nothing that was not sanitised before."""
    return events.own(event_type, payload, actor=GATEWAY_ACTORS["lifecycle"], event_id=ctx.new_id(), now_us=now_us)


def read_batch(
    ctx: AgentContext, inputs: Sequence[models.EventInput], payloads_at: Mapping[int, str] | None = None
) -> list[NewEvent]:
    """The events of a request on a run, sanitised and checked; `payloads_at` is where inputs come from that are no
    event of the request. Raises ValidationError and SecurityRejection."""
    return events.read_batch(
        inputs, workspace=ctx.the_run.workspace, now_us=ctx.now_us(), new_id=ctx.new_id, payloads_at=payloads_at
    )


def activate(tx: Tx, run: RunRow, now_us: int) -> RunRow:
    """Let a run whose profile is final take events."""
    active = RUN_STATUSES["active"]
    agent_runs.move(tx, run, active, now_us)
    return run._replace(status=active, updated_at=now_us)


def require_active(run: RunRow) -> None:
    """Raise Conflict for a run that waits for an answer or has ended (gateway rules, runs and state)."""
    if run.status == RUN_STATUSES["intake"]:
        raise Conflict("run_in_intake")
    require_open(run)


def require_open(run: RunRow) -> None:
    """Raise Conflict for a run that has ended."""
    if run.status not in RUN_STATUSES.values():
        raise Conflict("run_closed")
