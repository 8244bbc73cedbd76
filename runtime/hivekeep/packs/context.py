"""What a handler receives besides its arguments.

Invariant: everything a handler does to the store goes through `ctx.tx`, so record, indexes, edges and events of one
operation commit together or not at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hivekeep.gate.policy import GateRequest
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.packs.ontology import Ontology
from hivekeep.storage import events, json_text
from hivekeep.storage.engine import EventRow, Tx
from hivekeep_contract.errors import GateUnavailable, PermissionDenied
from hivekeep_contract.settings import Settings

PAYLOAD_VERSION = 1


@dataclass(slots=True)
class Context:
    """One operation under way.

    `given` holds the argument names the caller wrote, null ones included. `target` becomes the audit row's target,
    `audit` joins its payload, `beside` stands beside the result in the entry, `late_events` of a read are stored with
    its audit row.
    """

    tx: Tx
    caller: Caller
    verb: str
    namespace: str
    given: frozenset[str]
    now_us: int
    settings: Settings
    ontology: Ontology
    packs: Mapping[str, object]
    permit: Callable[[GateRequest], None]
    source: str
    writable: bool
    target_id: str | None = None
    substrate: str = "event"
    audit: dict[str, Any] = field(default_factory=dict)
    audit_version: int = PAYLOAD_VERSION
    beside: dict[str, Any] = field(default_factory=dict)
    late_events: list[EventRow] = field(default_factory=list)

    def visible(self, namespace: str | None = None) -> tuple[str, ...]:
        """The namespaces a read of several records ranges over; an explicit one is never widened."""
        return self.caller.visible if namespace is None else (namespace,)

    def touch(self, substrate: str, record_id: str) -> None:
        """Name the record that the operation wrote, or read by id."""
        self.substrate = substrate
        self.target_id = record_id

    def emit(self, kind: str, substrate: str, record_id: str | None, payload: Mapping[str, Any]) -> str:
        """Remember that something happened to a record; answers the id of the event.

        In a write the event is part of the transaction. In a read it is stored, best effort, with the audit row.
        """
        row = EventRow(
            id=new_id(),
            namespace=self.namespace,
            verb=self.verb,
            substrate=substrate,
            actor=self.caller.label,
            kind=kind,
            outcome="success",
            payload=json_text.dump(payload),
            payload_schema_version=PAYLOAD_VERSION,
            profile_state_version=None,
            duration_us=None,
            target_id=record_id,
            session_id=self.caller.session_id,
            aggregate_kind=None,
            aggregate_id=None,
            created_at=self.now_us,
        )
        if not self.writable:
            self.late_events.append(row)
            return row.id
        events.insert(self.tx, row)
        if record_id is not None:
            events.observe(self.tx, row.id, "target", (record_id,))
        return row.id

    def ask_gate(self, verb: str, args: Mapping[str, object]) -> None:
        """Check one more permission while the operation runs; raises PermissionDenied or GateUnavailable."""
        self.permit(
            GateRequest(
                actor_kind=self.caller.kind,
                actor_id=self.caller.id,
                namespace=self.namespace,
                verb=verb,
                args=args,
                session_id=self.caller.session_id,
                source=self.source,
            )
        )

    def permits(self, verb: str, args: Mapping[str, object]) -> bool:
        """Whether the policy would let this caller do something; a policy that cannot be asked permits nothing."""
        try:
            self.ask_gate(verb, args)
        except (PermissionDenied, GateUnavailable):
            return False
        return True
