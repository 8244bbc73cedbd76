"""The audit row: one event for every dispatched operation, whatever became of it.

Invariant: an answer about an operation leaves the server only after its audit row is committed, except for a read while
another writer holds the lock (it waits a bounded time, and the row is counted as degraded).
"""

from typing import Any

from hivekeep.gate.policy import Decision
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.packs.context import Context
from hivekeep.storage import json_text
from hivekeep.storage.engine import EventRow
from hivekeep.times import iso
from hivekeep_contract.catalog import Verb

KIND = "audit"
WORK_CLASS = "interactive"
COST_BASE = 1
"""Cost of an operation that runs no model."""


def cost_unit(verb: Verb, registered_models: int, model_runs: int) -> int:
    """`1 + w * items * models` of a successful operation (gate rules, cost unit); a bulk call runs no model."""
    if verb.audit_cost is None:
        return COST_BASE
    return COST_BASE + model_runs * (registered_models if verb.audit_cost == "models" else 1)


def row(
    *,
    verb_name: str,
    caller: Caller,
    outcome: str,
    decision: Decision,
    gate_impl: str,
    request_id: int,
    now_us: int,
    duration_us: int | None = None,
    context: Context | None = None,
    cost: int | None = None,
) -> EventRow:
    """The audit event of one operation. `cost` is given for a success only; `context` once there is one."""
    resource: dict[str, Any] = {"work_class": WORK_CLASS}
    if cost is not None:
        resource["cost_unit"] = cost
    payload: dict[str, Any] = {
        "timestamp": iso(now_us),
        "actor": caller.label,
        "namespace": context.namespace if context else caller.namespace,
        "verb": verb_name,
        "decision": "allow" if decision.allowed else "deny",
        "obligations": list(decision.obligations),
        "gate_impl": gate_impl,
        "resource": resource,
        "request_id": request_id,
    }
    if decision.reason is not None:
        payload["deny_reason"] = decision.reason
    if caller.session_id is not None:
        payload["session_id"] = caller.session_id
    if context is not None:
        payload.update(context.audit)
    return EventRow(
        id=(context.event_id if context else None) or new_id(),
        namespace=payload["namespace"],
        verb=verb_name,
        substrate=context.substrate if context else "event",
        actor=caller.label,
        kind=KIND,
        outcome=outcome,
        payload=json_text.dump(payload),
        payload_schema_version=context.audit_version if context else 1,
        profile_state_version=None,
        duration_us=duration_us,
        target_id=context.target_id if context else None,
        session_id=caller.session_id,
        aggregate_kind=None,
        aggregate_id=None,
        created_at=now_us,
    )
