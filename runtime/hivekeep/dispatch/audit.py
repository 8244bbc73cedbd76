"""The audit row: one event for every dispatched operation, whatever became of it.

Invariant: an answer about an operation leaves the server only after its audit row is committed, except for a read while
another writer holds the lock (it waits a bounded time, and the row is counted as degraded).
"""

from typing import Any

from hivekeep.gate.policy import Decision
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.packs.context import PAYLOAD_VERSION, Context
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
    label, session_id = caller.label, caller.session_id
    namespace, substrate, version, target_id = caller.namespace, "event", PAYLOAD_VERSION, None
    if context is not None:
        namespace, substrate = context.namespace, context.substrate
        version, target_id = context.audit_version, context.target_id
    payload: dict[str, Any] = {
        "timestamp": iso(now_us),
        "actor": label,
        "namespace": namespace,
        "verb": verb_name,
        "decision": "allow" if decision.allowed else "deny",
        "obligations": decision.obligations,
        "gate_impl": gate_impl,
        "resource": {"work_class": WORK_CLASS} if cost is None else {"work_class": WORK_CLASS, "cost_unit": cost},
        "request_id": request_id,
    }
    if decision.reason is not None:
        payload["deny_reason"] = decision.reason
    if session_id is not None:
        payload["session_id"] = session_id
    if context is not None and context.audit:
        payload.update(context.audit)
    # By position and in their order: naming sixteen fields costs more than storing them.
    return EventRow(
        (context.event_id if context else None) or new_id(),
        payload["namespace"],
        verb_name,
        substrate,
        label,
        KIND,
        outcome,
        json_text.dump(payload),
        version,
        None,
        duration_us,
        target_id,
        session_id,
        None,
        None,
        now_us,
    )
