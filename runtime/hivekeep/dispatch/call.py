"""One operation, from its name and arguments to what became of it.

Invariant: an error knows where it was raised. Before the handler nothing was written; inside it only a code that the
registry proves harmless says so; after the commit the result is told with the error.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hivekeep.dispatch import audit
from hivekeep.dispatch.compiled import CompiledVerb
from hivekeep.dispatch.validate import canonical_arguments
from hivekeep.gate.policy import Decision, Gate, GateRequest, check_gate
from hivekeep.identity.caller import Caller
from hivekeep.identity.ids import new_id
from hivekeep.identity.recent import RecentEntities
from hivekeep.packs.context import Context
from hivekeep.packs.ontology import Ontology
from hivekeep.search.embedders import Embedders
from hivekeep.storage import events
from hivekeep.storage.engine import Engine, EventRow, Tx
from hivekeep.times import now_us
from hivekeep_contract.catalog import Verb, Wait
from hivekeep_contract.errors import (
    AuditDeadlineExpired,
    AuditQueueExhausted,
    AuditStoreFailure,
    HivekeepError,
    Internal,
    Unsupported,
    WriteOutcomeUnknown,
    WriterPoolCheckoutTimeout,
    WriterQueueFull,
    WriterTaskBeginBusy,
)
from hivekeep_contract.settings import Settings

NOT_COMMITTED = "not_committed"
UNKNOWN = "unknown"
COMMITTED = "committed"
_OBLIGATIONS: tuple[tuple[type[HivekeepError], type[HivekeepError]], ...] = (
    (WriterQueueFull, AuditQueueExhausted),
    (WriterTaskBeginBusy, AuditDeadlineExpired),
    (WriterPoolCheckoutTimeout, AuditDeadlineExpired),
)
_JOINS_READS = ("read", "none")
_JOINS_WRITES = ("write", *_JOINS_READS)
NOT_ASKED = Decision(allowed=False, reason="refused before the policy was asked", obligations=())


@dataclass(slots=True)
class Outcome:
    """What became of one operation.

    `pending` holds audit rows that no transaction of the operation committed; `mentioned` and `forgotten` are the
    entities that a success was about, and those it took away; `deferred` is what it has written later.
    """

    tool: str
    result: Any = None
    beside: dict[str, Any] | None = None
    error: HivekeepError | None = None
    disposition: str = COMMITTED
    aborted: bool = False
    help: bool = False
    parsed_content: bool = False
    pending: tuple[EventRow, ...] = ()
    degradable: bool = False
    mentioned: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    deferred: tuple[Callable[[Tx], None], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the operation succeeded so far."""
        return self.error is None and not self.aborted


@dataclass(slots=True)
class Surroundings:
    """What all operations of one server share. `find_verb` is set by the server that they surround.

    `observe` hears the verb and the namespace of each operation that succeeded; it is quick and never raises.
    """

    settings: Settings
    ontology: Ontology
    packs: Mapping[str, object]
    engines: Mapping[str, Engine]
    gate: Gate
    embedders: Embedders
    recent: RecentEntities = field(default_factory=RecentEntities)
    find_verb: Callable[[str], CompiledVerb | None] = lambda _name: None
    observe: Callable[[str, str], None] = lambda _verb, _namespace: None

    def permit(self, request: GateRequest) -> Decision:
        """The decision of the gate; raises PermissionDenied or GateUnavailable."""
        return check_gate(self.gate, request)


@dataclass(slots=True)
class Call:
    """One operation that may run: its arguments are canonical and the policy has allowed it."""

    verb: Verb
    compiled: CompiledVerb
    args: Any
    given: frozenset[str]
    namespace: str
    decision: Decision
    caller: Caller
    source: str
    request_id: int
    around: Surroundings
    if_unknown: Mapping[str, object] | None = None

    def context(self, tx: Tx, writable: bool) -> Context:
        """The handler's surroundings on an open transaction or snapshot."""
        around = self.around
        # By position and in their order: naming fifteen arguments costs more than storing them.
        return Context(
            tx,
            self.caller,
            self.verb.name,
            self.namespace,
            self.given,
            now_us(),
            around.settings,
            around.ontology,
            around.packs,
            self._read_entry,
            around.engines,
            around.embedders,
            around.permit,
            self._invoke,
            self.source,
            writable,
            around.recent,
            self._check,
        )

    def _invoke(self, context: Context, verb: str, args: Mapping[str, Any]) -> Any:
        """See `Context.invoke`."""
        inner = self._inner(context, verb, dict(args))
        context.event_id = context.event_id or new_id()
        if context.tx is not None or inner.verb.tx in ("self", "none"):
            return inner._within(context)
        if inner.verb.tx == "write":
            return context.write(inner._within)
        with context.reading() as snapshot:
            return inner._within(snapshot)

    def _check(self, verb: str, args: Mapping[str, Any]) -> None:
        """See `Context.check_call`."""
        canonical_arguments(self._known(verb), dict(args))

    def _known(self, name: str) -> CompiledVerb:
        compiled = self.around.find_verb(name)
        if compiled is None:
            raise Unsupported(f"{self.verb.name}: needs {name}, whose pack is not loaded")
        return compiled

    def _inner(self, context: Context, name: str, args: dict[str, Any]) -> "Call":
        compiled = self._known(name)
        canonical, given = canonical_arguments(compiled, args)
        namespace = compiled.namespace_of(canonical, context.namespace)
        caller = self.caller
        decision = check_gate(
            self.around.gate, GateRequest(caller.kind, caller.id, namespace, name, args, caller.session_id, self.source)
        )
        return replace(
            self,
            verb=compiled.verb,
            compiled=compiled,
            args=canonical,
            given=given,
            namespace=namespace,
            decision=decision,
        )

    def _within(self, outer: Context) -> Any:
        """Run as a part of the operation that invoked this one, in its transaction or snapshot if it has one."""
        if outer.tx is not None and self.verb.tx not in (_JOINS_WRITES if outer.writable else _JOINS_READS):
            raise Unsupported(f"{outer.verb}: {self.verb.name} cannot run inside its transaction")
        context = self.context(outer.tx, outer.writable)
        context.audit["parent_event_id"] = outer.event_id
        result = self.compiled.handler(context, self.args)
        row = self._success_row(context)
        if outer.writable:
            events.insert(outer.tx, row)
        else:
            outer.late_events += (row, *context.late_events)
        outer.mentioned += context.mentioned
        outer.forgotten += context.forgotten
        outer.deferred += context.deferred
        return result

    def text_size(self) -> int:
        """How many bytes the texts can have that this operation gives to the embedders, 0 when it gives none."""
        if self.verb.embeds is None:
            return 0
        if self.verb.embeds == "stored":
            return sys.maxsize
        values = (getattr(self.args, name) for name in self.args.__slots__)
        return sum(len(value.encode()) for value in values if isinstance(value, str))

    def _read_entry(self, entry: dict[str, Any]) -> tuple[Any, frozenset[str]]:
        return canonical_arguments(self.compiled, entry)

    def write(self, tx: Tx) -> Outcome:
        """Run a `tx: write` handler; its audit row joins the transaction. Raises what the handler raises."""
        context = self.context(tx, True)
        result = self.compiled.handler(context, self.args)
        self.if_unknown = context.if_unknown
        events.insert(tx, self._success_row(context))
        return Outcome(
            tool=self.verb.name,
            result=result,
            beside=context.beside,
            mentioned=context.mentioned,
            forgotten=context.forgotten,
            deferred=context.deferred,
        )

    def read(self, tx: Tx | None) -> Outcome:
        """Run a `tx: read` or `tx: none` handler; its audit row is left pending. Raises what the handler raises."""
        context = self.context(tx, False)  # type: ignore[arg-type]
        return self._was_read(context, self.compiled.handler(context, self.args))

    def look(self, tx: Tx, *, may_wait: bool) -> Outcome | Wait:
        """Run a `tx: read` handler that may wait; a wait leaves nothing behind. Raises what the handler raises."""
        context = self.context(tx, False)
        context.may_wait = may_wait
        result = self.compiled.handler(context, self.args)
        return result if isinstance(result, Wait) else self._was_read(context, result)

    def _was_read(self, context: Context, result: Any) -> Outcome:
        rows = (self._success_row(context), *context.late_events)
        return Outcome(
            tool=self.verb.name,
            result=result,
            beside=context.beside,
            parsed_content=self.compiled.parses_content and self.args.parse_content,
            pending=rows,
            degradable=True,
            mentioned=context.mentioned,
            forgotten=context.forgotten,
            deferred=context.deferred,
        )

    def remember(self, outcome: Outcome) -> Outcome:
        """Note what the caller named, now that the operation has taken effect."""
        if outcome.mentioned:
            self.around.recent.admit(self.caller, self.namespace, outcome.mentioned)
        if outcome.forgotten:
            self.around.recent.forget(outcome.forgotten)
        return outcome

    def failed(self, error: Exception) -> Outcome:
        """The outcome of an error raised inside the handler, or by the store around it."""
        typed = typed_error(error, self.verb.name)
        if isinstance(typed, WriteOutcomeUnknown) and self.if_unknown is not None:
            typed = WriteOutcomeUnknown(typed.message, details={**typed.details, **self.if_unknown}, **typed.fields)
        denied = typed.code == "permission_denied"
        row = self._failure_row("denied" if denied else "error")
        disposition = NOT_COMMITTED if typed.no_write else UNKNOWN
        return Outcome(tool=self.verb.name, error=typed, disposition=disposition, pending=(row,))

    def _success_row(self, context: Context) -> EventRow:
        moment = now_us()
        return audit.row(
            verb_name=context.verb,
            caller=self.caller,
            outcome="success",
            decision=self.decision,
            gate_impl=self.around.gate.name,
            request_id=self.request_id,
            now_us=moment,
            duration_us=max(0, moment - context.now_us),
            context=context,
            cost=audit.cost_unit(self.verb, len(self.around.embedders), context.model_runs),
        )

    def _failure_row(self, outcome: str) -> EventRow:
        return audit.row(
            verb_name=self.verb.name,
            caller=self.caller,
            outcome=outcome,
            decision=self.decision,
            gate_impl=self.around.gate.name,
            request_id=self.request_id,
            now_us=now_us(),
        )


def prepare(
    compiled: CompiledVerb,
    args: dict[str, Any],
    caller: Caller,
    *,
    source: str,
    request_id: int,
    around: Surroundings,
) -> Call | Outcome:
    """Validate, normalise and ask the policy. Answers the outcome of a refusal, which is always `not_committed`."""
    decision = NOT_ASKED
    verb = compiled.verb
    try:
        canonical, given = canonical_arguments(compiled, args)
        namespace = compiled.namespace_of(canonical, caller.namespace)
        request = GateRequest(caller.kind, caller.id, namespace, verb.name, args, caller.session_id, source)
        decision = check_gate(around.gate, request)
    except HivekeepError as error:
        return refused(verb.name, error, caller, decision, request_id=request_id, gate_impl=around.gate.name)
    return Call(verb, compiled, canonical, given, namespace, decision, caller, source, request_id, around)


def refused(
    tool: str, error: HivekeepError, caller: Caller, decision: Decision, *, request_id: int, gate_impl: str
) -> Outcome:
    """The outcome of a refusal before the handler, with its audit row."""
    denied = error.code == "permission_denied"
    if denied:
        decision = denial(error)
    row = audit.row(
        verb_name=tool,
        caller=caller,
        outcome="denied" if denied else "error",
        decision=decision,
        gate_impl=gate_impl,
        request_id=request_id,
        now_us=now_us(),
    )
    return Outcome(tool=tool, error=error, disposition=NOT_COMMITTED, pending=(row,))


def denial(error: HivekeepError) -> Decision:
    """The decision of a policy that refused with this error, for the audit row."""
    return Decision(allowed=False, reason=str(error), obligations=())


def typed_error(error: Exception, verb: str) -> HivekeepError:
    """The error itself when it is one of the contract; otherwise Internal, with the place of the fault in the log.

    The log line holds type and places only: an exception's text can quote arguments.
    """
    if isinstance(error, HivekeepError):
        return error
    import logging
    import traceback

    error_id = new_id()
    places = ", ".join(f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__))
    logging.getLogger("hivekeep").error(
        "internal error %s in %s: %s at %s", error_id, verb, type(error).__name__, places
    )
    return Internal(f"internal error; the server's log names it {error_id}", error_id=error_id)


def without_audit(outcome: Outcome, failure: HivekeepError) -> Outcome:
    """The outcome whose pending rows, if it has any, could not be stored.

    A success whose required row is missing is an obligation error that carries the result; a failure stays what it is.
    """
    if not outcome.pending or outcome.error is not None:
        return outcome
    cause = next((made for of, made in _OBLIGATIONS if isinstance(failure, of)), AuditStoreFailure)
    error = cause(
        f"the operation was carried out but its audit row was not stored: {failure}", domain_result=outcome.result
    )
    return Outcome(tool=outcome.tool, error=error, disposition=COMMITTED)
