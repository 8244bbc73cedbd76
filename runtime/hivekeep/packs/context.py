"""What a handler receives besides its arguments.

Invariant: everything a handler does to the store goes through `ctx.tx`, so record, indexes, edges and events of one
operation commit together or not at all.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from hivekeep.gate.policy import GateRequest
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.identity.recent import RecentEntities
from hivekeep.packs.note_rules import FREE, NoteRules
from hivekeep.packs.ontology import Ontology
from hivekeep.search.embedders import Embedders
from hivekeep.storage import events, json_text
from hivekeep.storage.engine import Engine, EventRow, Tx
from hivekeep.storage.entities import EntityRow
from hivekeep.storage.notes import NoteRow
from hivekeep_contract import vocabulary
from hivekeep_contract.errors import GateUnavailable, PermissionDenied
from hivekeep_contract.settings import Settings

if TYPE_CHECKING:
    from hivekeep_contract.models.kg import Warning as Advice

T = TypeVar("T")

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


class Invoke(Protocol):
    """Runs another verb for a handler; see `Context.invoke`."""

    def __call__(self, context: "Context", verb: str, args: Mapping[str, Any]) -> Any:
        """The result of the verb."""
        ...


@dataclass(slots=True)
class Context:
    """One operation under way.

    `given` holds the argument names the caller wrote, null ones included. `read_entry` makes an entry of a bulk call
    the canonical arguments of this verb and the names given, as of a call of its own; it raises InvalidInput.
    `engines` maps the names of backends to open stores, for verbs that work outside a transaction.

    `target` becomes the audit row's target, `audit` joins its payload, `model_runs` counts in its cost. `beside` stands
    beside the result in the entry, `late_events` of a read are stored with its audit row. `event_id` is the id of the
    audit row when something had to know it before.

    `may_wait`: this look may be answered with a `Wait`; the last one may not. `if_unknown` holds details for the error
    of a write whose commit may or may not have reached the disk.

    The handler of a verb that opens its own transactions has no `tx`; it takes one from `reading` or `write`.
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
    embedders: Embedders
    permit: Callable[[GateRequest], object]
    invoker: Invoke
    source: str
    writable: bool
    recent: RecentEntities
    checker: Callable[[str, Mapping[str, Any]], None]
    target_id: str | None = None
    substrate: str = "event"
    audit: dict[str, Any] = field(default_factory=dict)
    audit_version: int = PAYLOAD_VERSION
    beside: dict[str, Any] | None = None
    late_events: tuple[EventRow, ...] = ()
    mentioned: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    deferred: tuple[Callable[[Tx], None], ...] = ()
    model_runs: int = 1
    may_wait: bool = False
    if_unknown: Mapping[str, object] | None = None
    event_id: str | None = None

    def visible(self, namespace: str | None = None) -> tuple[str, ...]:
        """The namespaces a read of several records ranges over; an explicit one is never widened."""
        return self.caller.visible if namespace is None else (namespace,)

    @contextmanager
    def reading(self) -> Iterator["Context"]:
        """This operation on a read snapshot, for the length of the block; for verbs that open their own."""
        with self.engines[MAIN].read() as tx:
            inner = replace(self, tx=tx)
            try:
                yield inner
            finally:
                self._take_over(inner)

    def write(self, fn: Callable[["Context"], T]) -> T:
        """Run `fn` on this operation in one write transaction of its own; for verbs that open their own."""

        def carry_out(tx: Tx) -> tuple[T, Context]:
            inner = replace(self, tx=tx, writable=True)
            return fn(inner), inner

        result, inner = self.engines[MAIN].run_write(carry_out)
        self._take_over(inner)
        return result

    def _take_over(self, inner: "Context") -> None:
        """Keep what was noted on the copy of this context; its map of audited facts is shared already."""
        self.target_id, self.substrate = inner.target_id, inner.substrate
        self.audit_version, self.model_runs, self.event_id = inner.audit_version, inner.model_runs, inner.event_id
        self.beside, self.late_events, self.deferred = inner.beside, inner.late_events, inner.deferred
        self.mentioned, self.forgotten = inner.mentioned, inner.forgotten

    def loaded(self, pack: str) -> bool:
        """Whether a pack is part of this server."""
        return pack in self.packs

    def rules_of(self, note_kind: str) -> NoteRules:
        """The rules of the pack that owns a note kind."""
        pack = self.packs.get(vocabulary.KIND_OWNERS.get(note_kind, ""))
        found: NoteRules = getattr(pack, "note_rules", {}).get(note_kind, FREE)
        return found

    def invoke(self, verb: str, args: Mapping[str, Any]) -> Any:
        """Run another verb for the same caller and answer its result.

        It asks the gate and leaves an audit row of its own, which names this operation's as its parent. Inside a
        transaction it joins it; raises Unsupported for a verb whose pack is not loaded or that cannot join, and
        whatever the verb raises.
        """
        return self.invoker(self, verb, args)

    def check_call(self, verb: str, args: Mapping[str, Any]) -> None:
        """Refuse arguments that the contract of another verb does not accept; raises InvalidInput, Unsupported.

        Nothing is run and nobody is asked: what only the store can tell is judged by the call itself.
        """
        self.checker(verb, args)

    def defer(self, fn: Callable[[Tx], None]) -> None:
        """Have something written soon after the operation succeeded, best effort: it never changes the answer."""
        self.deferred += (fn,)

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

    def embed(
        self,
        substrate: str,
        row: EntityRow | NoteRow,
        *,
        override: str | None = None,
        only_model: str | None = None,
    ) -> "list[Advice]":
        """Have the vectors of a live record made soon, as part of this write; answers what its author should know.

        `row.seq` must be its number in the store. `override` stands for its body, `only_model` names the one embedder
        that is asked, otherwise every registered one is.
        """
        if not self.embedders:
            return []
        from hivekeep.packs.embedding import enqueue  # a store without embedders never needs it

        asked = self.embedders if only_model is None else (self.embedders.get(only_model),)
        return enqueue(self.tx, asked, substrate, row, override, self.now_us)

    def emit(
        self, kind: str, substrate: str, record_id: str | None, payload: Mapping[str, Any], also: Sequence[str] = ()
    ) -> str:
        """Remember that something happened to a record, and `also` to others; answers the id of the event.

        In a write the event is part of the transaction. In a read it is stored, best effort, with the audit row.
        """
        row = self._event(kind, substrate, record_id, payload)
        if not self.writable:
            self.late_events += (row,)
            return row.id
        events.insert(self.tx, row)
        if record_id is not None and also:
            events.observe(self.tx, row.id, "target", (record_id, *also))
        elif record_id is not None:
            events.observe_target(self.tx, row.id, record_id)
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
        caller = self.caller
        # By position and in their order: naming sixteen fields costs more than storing them.
        return EventRow(
            new_id(),
            self.namespace,
            self.verb,
            substrate,
            caller.label,
            kind,
            "success",
            json_text.dump(payload),
            PAYLOAD_VERSION,
            None,
            None,
            record_id,
            caller.session_id,
            None,
            None,
            self.now_us,
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
