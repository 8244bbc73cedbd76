"""What a handler receives besides its arguments.

Invariant: everything a handler does to the store goes through `ctx.tx`, so record, indexes, edges and events of one
operation commit together or not at all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hivekeep.gate.policy import GateRequest
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.identity.recent import RecentEntities
from hivekeep.packs.ontology import Ontology
from hivekeep.storage import events, json_text
from hivekeep.storage.engine import Engine, EventRow, Tx
from hivekeep_contract.errors import GateUnavailable, PermissionDenied
from hivekeep_contract.settings import Settings

PAYLOAD_VERSION = 1

MAIN = "main"
"""The backend that every store has."""


class Happened(NamedTuple):
    """Something that a handler did to a record."""

    kind: str
    substrate: str
    record_id: str
    payload: Mapping[str, Any]


class Aggregate(NamedTuple):
    """Something whose history is a row of events, such as a proposal."""

    kind: str
    id: str


@dataclass(slots=True)
class Context:
    """One operation under way.

    `given` holds the argument names the caller wrote, null ones included. `read_entry` makes an entry of a bulk call
    the canonical arguments of this verb and the names given, as of a call of its own; it raises InvalidInput.
    `engines` maps the names of backends to open stores, for verbs that work outside a transaction.

    `target` becomes the audit row's target, `audit` joins its payload, `model_runs` counts in its cost. `beside` stands
    beside the result in the entry, `late_events` of a read are stored with its audit row.
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
    read_entry: Callable[[dict[str, Any]], tuple[Any, frozenset[str]]]
    engines: Mapping[str, Engine]
    permit: Callable[[GateRequest], None]
    source: str
    writable: bool
    recent: RecentEntities
    target_id: str | None = None
    substrate: str = "event"
    audit: dict[str, Any] = field(default_factory=dict)
    audit_version: int = PAYLOAD_VERSION
    beside: dict[str, Any] = field(default_factory=dict)
    late_events: list[EventRow] = field(default_factory=list)
    mentioned: list[str] = field(default_factory=list)
    forgotten: list[str] = field(default_factory=list)
    model_runs: int = 1

    def visible(self, namespace: str | None = None) -> tuple[str, ...]:
        """The namespaces a read of several records ranges over; an explicit one is never widened."""
        return self.caller.visible if namespace is None else (namespace,)

    def touch(self, substrate: str, record_id: str) -> None:
        """Name the record that the operation wrote, or read by id."""
        self.substrate = substrate
        self.target_id = record_id

    def mention(self, *entity_ids: str) -> None:
        """Say which entities the operation was about; once it succeeded, they are what the caller named last."""
        self.mentioned += entity_ids

    def forget(self, *entity_ids: str) -> None:
        """Say which entities are gone; once the operation succeeded, nobody named them last."""
        self.forgotten += entity_ids

    def emit(
        self, kind: str, substrate: str, record_id: str | None, payload: Mapping[str, Any], also: Sequence[str] = ()
    ) -> str:
        """Remember that something happened to a record, and `also` to others; answers the id of the event.

        In a write the event is part of the transaction. In a read it is stored, best effort, with the audit row.
        """
        row = self._event(kind, substrate, record_id, payload)
        if not self.writable:
            self.late_events.append(row)
            return row.id
        events.insert(self.tx, row)
        if record_id is not None:
            events.observe(self.tx, row.id, "target", (record_id, *also))
        return row.id

    def emit_of(
        self,
        aggregate: Aggregate,
        kind: str,
        payload: Mapping[str, Any],
        *,
        outcome: str = "success",
        also: Sequence[str] = (),
    ) -> str:
        """Remember in a write what happened to something that its events tell, and `also` to records."""
        row = self._event(kind, "event", aggregate.id, payload)
        row = row._replace(outcome=outcome, aggregate_kind=aggregate.kind, aggregate_id=aggregate.id)
        events.insert(self.tx, row)
        events.observe(self.tx, row.id, "target", (aggregate.id, *also))
        return row.id

    def emit_all(self, happened: Sequence[Happened]) -> None:
        """Remember in a write what happened to many records, in their order."""
        rows = [self._event(*one) for one in happened]
        events.insert_many(self.tx, rows)
        events.observe_targets(self.tx, rows)

    def _event(self, kind: str, substrate: str, record_id: str | None, payload: Mapping[str, Any]) -> EventRow:
        return EventRow(
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
