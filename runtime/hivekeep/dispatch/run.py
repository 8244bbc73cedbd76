"""The server: a request in, an envelope out. No transport, no thread and no event loop of its own.

Invariant: `steps` yields every piece of work that may wait (a write, a slow read, the commit of audit rows) and is told
what became of it, so that one order of things serves a thread that simply runs each step and a loop that awaits it. A
quick read waits for nothing and is carried out on the way.

A verb that has nothing to tell yet is no work at all: its step says until when, and which state of the store it saw.
The door decides how to wait, and then the verb looks again.
"""

import random
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from functools import partial
from time import monotonic, sleep
from typing import Any, Literal, NamedTuple

from hivekeep import paths
from hivekeep.dispatch import call as calls
from hivekeep.dispatch.call import Call, Outcome, Surroundings
from hivekeep.dispatch.compiled import CompiledVerb, Schemas, compile_verb
from hivekeep.dispatch.help import help_answer
from hivekeep.gate.secrets import mask
from hivekeep.identity.caller import Caller
from hivekeep.request import budget, dsl, formats, present, prev, save, write_keys
from hivekeep.request.envelope import ToolCall
from hivekeep.request.plan import Op
from hivekeep.request.suggest import did_you_mean
from hivekeep.storage.engine import Engine, EventRow
from hivekeep.times import now_us
from hivekeep.values import relation
from hivekeep_contract.catalog import VERBS, Verb, Wait
from hivekeep_contract.errors import (
    HivekeepError,
    InvalidInput,
    ResultTooDeep,
    StorageUnavailable,
    UnknownVerb,
)
from hivekeep_contract.limits import (
    ERROR_MESSAGE_MAX_CHARS,
    NESTING_DEPTH_LIMIT,
    RESPONSE_BUDGET_BYTES,
    RESULT_DEPTH_LIMIT,
    WAIT_LOOK_EVERY_MS,
)
from hivekeep_contract.request import ADVISORIES, HELP_ARG

Lane = Literal["write", "slow", "audit", "wait"]
VERBOSE = "verbose"
JSON = "json"
ALWAYS_VERBOSE = "always_verbose"
READ_ONLY_ADVISORY = "audit_persistence_skipped_read_only"
REQUEST_ID_BITS = 52


class Step(NamedTuple):
    """A piece of work. `run` does it here and now; `submit`, for the write lane, hands it to the writer.

    The result goes back into the generator; an exception is thrown into it. The result of a wait is whether it is
    over: `until` (of `time.monotonic`) has come or nobody wants to know any more. It is False when the store may have
    changed.
    """

    lane: Lane
    run: Callable[[], Any]
    submit: Callable[[], Future[Any]] | None = None
    rows: tuple[EventRow, ...] = ()
    degradable: bool = False
    until: float = 0.0
    version: int = 0

    def verdict(self, version: int) -> bool | None:
        """The result of a wait when the store is in this state now; None while it goes on."""
        if version != self.version:
            return False
        return True if monotonic() >= self.until else None


class _Pause(NamedTuple):
    """A call whose first look found nothing; it waits until then (of `time.monotonic`) at most."""

    call: Call
    until: float


Steps = Generator[Step, Any, Any]


class Answer(NamedTuple):
    """What became of one operation: its entry, the entry as JSON text, and its error, if any."""

    entry: dict[str, Any]
    text: bytes
    error: HivekeepError | None


class Server:
    """Dispatches operations to the loaded packs on one store."""

    def __init__(self, engine: Engine, around: Surroundings) -> None:
        """`around.packs` maps names of loaded packs to their handlers."""
        self.engine = engine
        self.around = around
        self._schemas = Schemas()
        self._compiled: dict[str, CompiledVerb] = {}
        around.find_verb = self._find_verb
        self.verbs = {name: verb for name, verb in VERBS.items() if verb.pack in around.packs}

    # whole requests

    def handle(self, request: ToolCall, caller: Caller, *, source: str) -> dict[str, Any]:
        """Answer a request on this thread. Raises a request-level HivekeepError (nothing ran then)."""
        envelope: dict[str, Any] = drive(self.steps(request, caller, source=source))
        return envelope

    def steps(self, request: ToolCall, caller: Caller, *, source: str) -> Steps:
        """The same as steps for a door that awaits them; the generator returns the envelope."""
        plan = dsl.parse(request.ops)
        request.check_lengths(len(plan.ops))
        if request.save_to is not None:
            save.check_destination(request.save_to, paths.exports_dir(self.around.settings))
        write_keys.check_write_keys(plan, self.verbs.get, _relation_or_itself)
        request_id = request.request_id or random.getrandbits(REQUEST_ID_BITS) + 1
        run = self._chain if plan.mode == "chain" else self._batch
        outcomes = yield from run(plan.ops, caller, source, request_id)
        moment = now_us()
        entries: list[dict[str, Any]] = []
        texts: list[bytes | None] = []
        for index, outcome in enumerate(outcomes):
            entry, text = self._entry(outcome, request.presentation_of(index), request.format_of(index), moment)
            entries.append(entry)
            texts.append(text)
        if request.save_to is not None:
            step = Step("slow", partial(save.save, entries, request.save_to, paths.exports_dir(self.around.settings)))
            return (yield step)
        return budget.fit(budget.envelope(entries), RESPONSE_BUDGET_BYTES, texts)

    def call_verb(
        self,
        verb: str,
        args: dict[str, Any],
        caller: Caller,
        *,
        source: str,
        presentation: str = VERBOSE,
        format: str = JSON,
        internal: bool = False,
    ) -> Steps:
        """One operation without the request language; the generator returns an `Answer`.

        `internal`: a part of this program asks, such as a poller of a channel, and may use internal verbs too.
        """
        request_id = random.getrandbits(REQUEST_ID_BITS) + 1
        if budget.depth_exceeds(args, NESTING_DEPTH_LIMIT):
            error = InvalidInput(f"the arguments nest deeper than {NESTING_DEPTH_LIMIT} containers")
            outcomes = [self._refused(verb, error, caller, request_id)]
        else:
            begun = self._begin(verb, args, caller, source, request_id, internal=internal)
            outcomes = [begun if isinstance(begun, Outcome) else (yield from self._finish(begun))]
        yield from self._settle(outcomes, 0)
        entry, text = self._entry(outcomes[0], presentation, format, now_us())
        entry, text = budget.fit_one(entry, text, RESPONSE_BUDGET_BYTES)
        return Answer(entry, text, outcomes[0].error)

    # operations

    def _batch(self, ops: Sequence[Op], caller: Caller, source: str, request_id: int) -> Steps:
        outcomes: list[Outcome] = []
        settled = 0
        for op in ops:
            begun = self._begin(op.verb, op.args, caller, source, request_id)
            if isinstance(begun, _Pause):
                # What is done already does not stay without its audit rows for as long as this may take.
                yield from self._settle(outcomes, settled)
                settled = len(outcomes)
            outcomes.append(begun if isinstance(begun, Outcome) else (yield from self._finish(begun)))
        yield from self._settle(outcomes, settled)
        return outcomes

    def _chain(self, ops: Sequence[Op], caller: Caller, source: str, request_id: int) -> Steps:
        outcomes: list[Outcome] = []
        previous: Any = None
        for index, op in enumerate(ops):
            try:
                args = prev.substitute(op.args, previous, self._takes_container(op.verb)) if index else op.args
            except Exception as error:
                outcomes.append(self._fault(op.verb, error, caller, request_id))
            else:
                begun = self._begin(op.verb, args, caller, source, request_id)
                outcomes.append(begun if isinstance(begun, Outcome) else (yield from self._finish(begun)))
            yield from self._settle(outcomes, index)
            if not outcomes[-1].ok:
                outcomes.extend(Outcome(tool=told(later.verb), aborted=True) for later in ops[index + 1 :])
                break
            previous = outcomes[-1].result
        return outcomes

    def _begin(
        self, name: str, args: dict[str, Any], caller: Caller, source: str, request_id: int, *, internal: bool = False
    ) -> Outcome | Call | _Pause:
        """The outcome of a refusal, of help or of a quick read; anything else for `_finish` to carry out."""
        verb = self.verbs.get(name)
        if verb is None:
            return self._refused(name, self._unknown(name), caller, request_id)
        if HELP_ARG in args:
            return self._help(verb, args[HELP_ARG], caller, request_id)
        if verb.internal and not internal:
            error = UnknownVerb(f"{name} is internal: other verbs call it, a request cannot")
            return self._refused(name, error, caller, request_id)
        try:
            compiled = self._compiled.get(name) or self.compiled(verb)
            prepared = calls.prepare(compiled, args, caller, source=source, request_id=request_id, around=self.around)
        except Exception as error:
            return self._fault(name, error, caller, request_id)
        if isinstance(prepared, Outcome) or prepared.verb.tx == "write" or prepared.verb.cost == "slow":
            return prepared
        try:
            if prepared.verb.wait:
                looked = self._look(prepared, may_wait=True)
                if isinstance(looked, Wait):
                    return _Pause(prepared, monotonic() + (looked.deadline_us - now_us()) / 1_000_000)
                return looked
            return self._done(prepared, self._read(prepared))
        except Exception as error:
            return prepared.failed(error)

    def _finish(self, call: Call | _Pause) -> Steps:
        """A write up to its commit, a slow read, or a wait up to its answer."""
        if isinstance(call, _Pause):
            return (yield from self._wait(*call))
        if call.verb.tx == "write":
            if self.engine.read_only:
                return call.failed(StorageUnavailable(f"the store is read-only; {call.verb.name} writes"))
            if not self.around.embedders.is_ready(call.text_size):
                # What bounds a text is read from files, which no transaction waits for.
                yield Step("slow", partial(self.around.embedders.make_ready, call.text_size()))
            step = Step(
                "write",
                partial(self.engine.run_write, call.write),
                partial(self.engine.submit_write, call.write),
            )
        else:
            step = Step("slow", partial(self._read, call))
        try:
            outcome = yield step
        except Exception as error:
            return call.failed(error)
        return self._done(call, outcome)

    def _wait(self, call: Call, until: float) -> Steps:
        """Look again whenever the store has changed, for the last time when the wait is over."""
        try:
            # The state is noted before each look, so that no change can fall between a look and the wait for it.
            version = self.engine.data_version()
            looked = self._look(call, may_wait=True)
            while isinstance(looked, Wait):
                over = yield Step("wait", partial(self._sleep, until, version), until=until, version=version)
                version = self.engine.data_version()
                looked = self._look(call, may_wait=not over)
        except Exception as error:
            return call.failed(error)
        return looked

    def _look(self, call: Call, *, may_wait: bool) -> Outcome | Wait:
        with self.engine.read() as tx:
            looked = call.look(tx, may_wait=may_wait)
        return looked if isinstance(looked, Wait) else self._done(call, looked)

    def _sleep(self, until: float, version: int) -> bool:
        """What a door without anything else to do does with a wait."""
        step = Step("wait", lambda: None, until=until, version=version)
        while (over := step.verdict(self.engine.data_version())) is None:
            sleep(max(0.0, min(WAIT_LOOK_EVERY_MS / 1000, until - monotonic())))
        return over

    def _done(self, call: Call, outcome: Outcome) -> Outcome:
        """The outcome of an operation that has taken effect, with what it leaves behind on its way."""
        for fn in outcome.deferred:
            self.engine.defer_write(fn)
        self.around.observe(call.verb.name, call.namespace)
        return call.remember(outcome)

    def _read(self, call: Call) -> Outcome:
        if call.verb.tx in ("none", "self"):
            return call.read(None)
        with self.engine.read() as tx:
            return call.read(tx)

    def _settle(self, outcomes: list[Outcome], since: int) -> Steps:
        """Commit the pending audit rows of `outcomes[since:]`; a success whose row is lost becomes a failure there."""
        rows: tuple[EventRow, ...] = ()
        degradable = True
        for outcome in outcomes[since:]:
            if outcome.pending:
                rows += outcome.pending
                degradable = degradable and outcome.degradable
        if not rows or self.engine.read_only:
            return
        try:
            yield Step("audit", partial(self.engine.append_audit, rows, may_degrade=degradable), None, rows, degradable)
        except HivekeepError as failure:
            for index in range(since, len(outcomes)):
                outcomes[index] = calls.without_audit(outcomes[index], failure)

    # what is made on first use

    def compiled(self, verb: Verb) -> CompiledVerb:
        """The verb with its validator, models and handler."""
        found = self._compiled.get(verb.name)
        if found is None:
            found = compile_verb(verb, self.around.packs[verb.pack], self._schemas)
            self._compiled[verb.name] = found
        return found

    def _find_verb(self, name: str) -> CompiledVerb | None:
        verb = self.verbs.get(name)
        return None if verb is None else self.compiled(verb)

    def _takes_container(self, name: str) -> Callable[[str], bool]:
        verb = self.verbs.get(name)
        if verb is None:
            return lambda _param: True
        return self.compiled(verb).containers.__contains__

    # refusals and help

    def _refused(self, tool: str, error: HivekeepError, caller: Caller, request_id: int) -> Outcome:
        return calls.refused(
            told(tool), error, caller, calls.NOT_ASKED, request_id=request_id, gate_impl=self.around.gate.name
        )

    def _fault(self, tool: str, error: Exception, caller: Caller, request_id: int) -> Outcome:
        """The outcome of an exception before the handler; one that nobody foresaw becomes `internal`."""
        return self._refused(tool, calls.typed_error(error, tool), caller, request_id)

    def _unknown(self, name: str) -> UnknownVerb:
        offered = sorted(name for name, verb in self.verbs.items() if not verb.internal)
        hint = did_you_mean(name, offered) or "."
        return UnknownVerb(f"unknown verb {told(name)!r}{hint} Registered: {', '.join(offered)}")

    def _help(self, verb: Verb, value: Any, caller: Caller, request_id: int) -> Outcome:
        if value is not True:
            error = InvalidInput(f"{verb.name}: 'help' must be true when it is given")
            return self._refused(verb.name, error, caller, request_id)
        return Outcome(tool=verb.name, result=help_answer(verb), help=True)

    # entries

    def _entry(
        self, outcome: Outcome, presentation: str, format: str, moment: int
    ) -> tuple[dict[str, Any], bytes | None]:
        """The entry, and its JSON text where that was made on the way."""
        if outcome.aborted:
            return aborted_entry(outcome.tool), None
        if outcome.error is not None:
            return failed_entry(outcome.tool, outcome.error, outcome.disposition), None
        entry: dict[str, Any] = {"ok": True, "tool": outcome.tool, "result": outcome.result}
        if outcome.beside:
            entry.update(outcome.beside)
        if self.engine.read_only and not outcome.help:
            entry["advisories"] = [*entry.get("advisories", ()), dict(ADVISORIES[READ_ONLY_ADVISORY])]
        if self.verbs[outcome.tool].presentation == ALWAYS_VERBOSE:
            presentation = VERBOSE
        if format == JSON and presentation == VERBOSE:
            # The result is shown as it is, and its text tells more cheaply than a walk that it is not too deep.
            text = budget.shallow_text(entry, RESULT_DEPTH_LIMIT)
            if text is not None:
                return entry, text
        if budget.depth_exceeds(outcome.result, RESULT_DEPTH_LIMIT):
            return budget.without_result(entry, _too_deep()), None
        parsed = outcome.parsed_content
        shown = present.present(outcome.result, presentation, moment, opaque_content=parsed)
        entry["result"] = formats.render(shown, format, presentation, parsed_content=parsed)
        return entry, None


def drive(steps: Steps) -> Any:
    """Run every step on this thread, waits included, and answer what the generator returns."""
    try:
        step = next(steps)
        while True:
            try:
                done = step.run()
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(done)
    except StopIteration as stop:
        return stop.value


def waits_of(steps: Steps) -> Steps:
    """Run every step on this thread but the waits, which it yields; returns what the generator returns."""
    try:
        step = next(steps)
        while True:
            try:
                done = (yield step) if step.lane == "wait" else step.run()
            except Exception as error:
                step = steps.throw(error)
            else:
                step = steps.send(done)
    except StopIteration as stop:
        return stop.value


def failed_entry(tool: str | None, error: HivekeepError, disposition: str) -> dict[str, Any]:
    """The entry of an operation that failed (envelope rules). What it repeats of the input is cut and masked."""
    body = error.body()
    body["message"] = told(error.message)
    if error.details:
        body["details"] = {name: told(text) for name, text in error.details.items()}
    for name, value in error.fields.items():
        if isinstance(value, str):
            body[name] = told(value)
    body["domain_disposition"] = disposition
    shown = None if tool is None else told(tool)
    return {"ok": False, "tool": shown, "domain_disposition": disposition, "error": body}


def told(text: str) -> str:
    """A text for an answer or a log that may repeat input: no megabyte of it, and no credential in it."""
    if len(text) > ERROR_MESSAGE_MAX_CHARS:
        half = ERROR_MESSAGE_MAX_CHARS // 2
        text = f"{text[:half]} ... {text[-half:]}"
    return mask(text)


def aborted_entry(tool: str) -> dict[str, Any]:
    """The entry of an operation that did not run because an earlier one of its chain failed; it has no error."""
    return {
        "ok": False,
        "tool": told(tool),
        "aborted": True,
        "domain_disposition": calls.NOT_COMMITTED,
        "message": "not run: an earlier operation of the chain failed",
    }


def _too_deep() -> ResultTooDeep:
    return ResultTooDeep(
        f"the operation succeeded, but its result nests deeper than {RESULT_DEPTH_LIMIT} containers",
        recoverable=budget.READ_OUTCOME,
    )


def _relation_or_itself(word: str) -> str:
    try:
        return relation(word)
    except ValueError:
        return word
