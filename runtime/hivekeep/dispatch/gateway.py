"""The agent event gateway: one operation from its request to the data of its answer. The same steps as for verbs.

Invariant: the checks come in the gateway's order (policy, a place in the queue, the run, the fields, the operation),
and a refusal before the operation leaves nothing but its audit row. Every failure leaves as a GatewayError, whose text
is fixed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any, Final, NamedTuple

from hivekeep.agent.context import AgentContext
from hivekeep.agent.work import Read, Slow, Work, Write
from hivekeep.agent.writing import RUN_ID
from hivekeep.dispatch import audit
from hivekeep.dispatch import call as calls
from hivekeep.dispatch.gateway_fields import Fields, Pairs
from hivekeep.dispatch.run import REQUEST_ID_BITS, Step, Steps
from hivekeep.gate.policy import Decision, Gate, GateRequest, check_gate
from hivekeep.identity.caller import Caller
from hivekeep.storage import agent_runs
from hivekeep.storage.engine import Engine, EventRow, Surface
from hivekeep.storage.faults import is_closing
from hivekeep.times import now_us
from hivekeep_contract.errors import GateUnavailable, HivekeepError, PermissionDenied, WriterQueueFull
from hivekeep_contract.gateway import Operation
from hivekeep_contract.gateway_errors import (
    Backpressure,
    DatabaseError,
    GatewayError,
    NotFound,
    SecurityRejection,
    ServiceUnavailable,
    UnexpectedError,
)
from hivekeep_contract.handlers.gateway import GatewayHandlers
from hivekeep_contract.limits import GATEWAY_RETRY_AFTER_S
from hivekeep_contract.settings import Settings

_SURFACE: Final[Surface] = "gateway"
_FIRST_UNAVAILABLE = 503
LONG_BODY_BYTES: Final = 1 << 14
"""From here on sanitising a body may take longer than others should wait for it: up to a microsecond a byte."""


class Asked(NamedTuple):
    """A request that a door has read: its operation, and what path, query string, body and headers say.

    `run_id` is None for an operation without a run, `body` and `key` for a read; `long` says that the body has more
    than LONG_BODY_BYTES.
    """

    operation: Operation
    run_id: str | None = None
    query: Pairs = ()
    body: dict[str, Any] | None = None
    key: str | None = None
    long: bool = False


class GatewayServer:
    """Dispatches the operations of the gateway to their handlers on one store."""

    def __init__(
        self, engine: Engine, settings: Settings, gate: Gate, operations: GatewayHandlers[AgentContext]
    ) -> None:
        self.engine = engine
        self.settings = settings
        self.gate = gate
        self.fields = Fields()
        self._operations = operations

    def steps(self, asked: Asked, caller: Caller, *, source: str) -> Steps:
        """The steps of one operation; the generator returns the data of the success envelope.

        Raises GatewayError after the audit row of the failure is stored.
        """
        call = _Call(self, asked, caller, source)
        try:
            data = yield from self._carry_out(call)
        except Exception as fault:
            error = typed(fault, asked.operation.name)
            # Who is refused because others write does not wait once more for them to let the row in.
            refused = isinstance(error, Backpressure | ServiceUnavailable | DatabaseError)
            yield from self._leave_row(call.failure_row(error), lost_is=None, degradable=refused)
            raise error from None
        if not call.audited:
            row = call.success_row(call.target_of(data))
            lost = DatabaseError("store_unavailable")
            yield from self._leave_row(row, lost_is=lost, degradable=not asked.operation.writes)
        return data

    def _carry_out(self, call: _Call) -> Steps:
        operation, run_id = call.asked.operation, call.asked.run_id
        call.permit()
        if operation.writes:
            self.engine.check_admission(_SURFACE)
        query = self.fields.query(operation, call.asked.query) if call.asked.query or operation.query else {}
        context = call.make_context()
        if run_id is not None:
            with self.engine.read() as tx:
                context.run = agent_runs.get(tx, run_id)
            if context.run is None:
                raise NotFound("no_run")
        argument: Mapping[str, Any] = query
        if call.asked.body is not None:
            argument = call.asked.body
            if not operation.state_first:
                context.check(argument)
        work: Work[Any] = getattr(self._operations, operation.stem)(context, argument)
        return (yield from self._work(work, aside=call.asked.long))

    def _work(self, work: Work[Any], *, aside: bool) -> Steps:
        """Carry out the items of an operation; it is told of what went wrong as well.

        What it does between its items is done here, or as slow work when it is to be done `aside`.
        """
        go: Callable[[], Any] = partial(next, work)
        try:
            while True:
                item = (yield Step("slow", partial(_advanced, go))) if aside else _advanced(go)
                if isinstance(item, _Ended):
                    return item.data
                try:
                    outcome = self._read(item) if isinstance(item, Read) else (yield self._step(item))
                except Exception as fault:
                    go = partial(work.throw, fault)
                else:
                    go = partial(work.send, outcome)
        finally:
            # A thread may be in it when nobody waits any more, and is left to end by itself.
            with suppress(ValueError):
                work.close()

    def _read(self, item: Read[Any]) -> Any:
        with self.engine.read() as tx:
            return item.fn(tx)

    def _step(self, item: Write[Any] | Slow[Any]) -> Step:
        if isinstance(item, Write):
            return Step(
                "write",
                partial(self.engine.run_write, item.fn),
                partial(self.engine.submit_write, item.fn, surface=_SURFACE),
            )
        return Step("slow", item.fn)

    def _leave_row(self, row: EventRow, *, lost_is: GatewayError | None, degradable: bool = False) -> Steps:
        """Commit the audit row of a read, a replay or a failure; a failure stays what it is when that fails."""
        if self.engine.read_only:
            return
        try:
            append = partial(self.engine.append_audit, (row,), may_degrade=degradable)
            yield Step("audit", append, None, (row,), degradable)
        except HivekeepError as fault:
            if lost_is is not None:
                raise lost_is from fault


class _Ended(NamedTuple):
    """What an operation returned: no future carries the exception by which a generator says that it has ended."""

    data: Any


def _advanced(go: Callable[[], Any]) -> Any:
    """The next item of an operation, or that it has ended."""
    try:
        return go()
    except StopIteration as end:
        return _Ended(end.value)


@dataclass(slots=True)
class _Call:
    """One operation under way."""

    server: GatewayServer
    asked: Asked
    caller: Caller
    source: str
    began_us: int = field(default_factory=now_us)
    request_id: int = field(default_factory=lambda: random.getrandbits(REQUEST_ID_BITS) + 1)
    decision: Decision = calls.NOT_ASKED
    context: AgentContext | None = None

    @property
    def audited(self) -> bool:
        """Whether a transaction of the operation holds its audit row."""
        return self.context is not None and self.context.audited

    def permit(self) -> None:
        """Ask the policy. Raises PermissionDenied or GateUnavailable."""
        caller = self.caller
        args: Mapping[str, object] = self.asked.body or dict(self.asked.query)
        name = self.asked.operation.name
        request = GateRequest(caller.kind, caller.id, caller.namespace, name, args, caller.session_id, self.source)
        try:
            self.decision = check_gate(self.server.gate, request)
        except PermissionDenied as refusal:
            self.decision = calls.denial(refusal)
            raise

    def make_context(self) -> AgentContext:
        """The surroundings of the operation, without its run."""
        server, key = self.server, self.asked.key
        self.context = AgentContext(
            engine=server.engine,
            settings=server.settings,
            caller=self.caller,
            operation=self.asked.operation.name,
            checker=partial(server.fields.check_body, self.asked.operation),
            audit_row=self.success_row,
            idempotency_key=key,
            key_hash=None if key is None else sha256(key.encode()).hexdigest(),
        )
        return self.context

    def target_of(self, data: Mapping[str, Any]) -> str | None:
        """The run that an answer is about: the one that was asked for, or the one that its data name."""
        run = None if self.context is None else self.context.run
        found: str | None = data.get(RUN_ID) if run is None else run.id
        return found

    def success_row(self, target_id: str | None) -> EventRow:
        """The audit row of a success on that target."""
        moment = now_us()
        row = self._row("success", moment, cost=audit.COST_BASE)
        return row._replace(target_id=target_id, duration_us=max(0, moment - self.began_us))

    def failure_row(self, error: GatewayError) -> EventRow:
        """The audit row of a failure."""
        denied = isinstance(error, SecurityRejection) and not self.decision.allowed
        return self._row("denied" if denied else "error", now_us())

    def _row(self, outcome: str, moment: int, cost: int | None = None) -> EventRow:
        return audit.row(
            verb_name=self.asked.operation.name,
            caller=self.caller,
            outcome=outcome,
            decision=self.decision,
            gate_impl=self.server.gate.name,
            request_id=self.request_id,
            now_us=moment,
            cost=cost,
        )


def typed(fault: Exception, operation: str) -> GatewayError:
    """The failure of the contract that stands for an exception (gateway rules, envelopes).

    One that nobody foresaw is logged with its type and places; no text of it reaches a client.
    """
    if isinstance(fault, GatewayError):
        return fault
    if isinstance(fault, WriterQueueFull):
        return Backpressure("busy", retry_after_s=GATEWAY_RETRY_AFTER_S)
    if isinstance(fault, PermissionDenied | GateUnavailable):
        return SecurityRejection("denied")
    if isinstance(fault, HivekeepError):
        if is_closing(fault):
            return ServiceUnavailable("closing")
        if fault.http_status >= _FIRST_UNAVAILABLE:
            return DatabaseError("store_unavailable")
    calls.typed_error(fault, operation)
    return UnexpectedError("internal")
