"""MCP over stdio: newline-delimited messages on file descriptors 0 and 1, on one thread.

What it keeps true:
- Standard output carries the protocol only: the real descriptor is kept for replies, and everything else
  that writes to descriptor 1 (a stray print, a C library) lands on standard error.
- `initialize` is answered before settings, storage or validation are imported; the store is opened when the
  client pauses, or at the first call.
- A line that is no message gets -32700, a line longer than a response may be gets -32600, and the loop goes
  on.
- Messages are answered in order, but for calls that wait for something to happen: those that came later go on, and
  the reply comes when there is one. A client that cancels such a call gets none.
- SIGTERM and end of input stop the process between two messages: a call that was started is answered first, and what
  still waits is over.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from hivekeep.doors import mcp, wire
from hivekeep_contract.limits import RESPONSE_BUDGET_BYTES as LINE_MAX_BYTES
from hivekeep_contract.limits import WAIT_LOOK_EVERY_MS

if TYPE_CHECKING:
    from hivekeep.dispatch.run import Step
    from hivekeep_contract.errors import HivekeepError

IDLE_BEFORE_WARM_UP_S = 0.05
_CHUNK = 65536
_CAN_PARK = sys.platform != "win32"
"""Whether the process can wait for its client and something else at once; otherwise calls that wait are waited for."""


class Backend(Protocol):
    """What the loop needs behind it; each step is taken no earlier than asked for."""

    def tool(self) -> dict[str, Any]:
        """The definition of the tool `request`."""

    def warm_up(self) -> None:
        """Open the store, so that the first call does not wait for it."""

    def steps(self, arguments: dict[str, Any]) -> Generator[Step, bool, dict[str, Any]]:
        """Run one tool call: the generator yields its waits, is told whether each is over, and returns the envelope.

        Raises HivekeepError when it is refused as a whole.
        """

    def data_version(self) -> int:
        """A number that changes with the store."""

    def close(self) -> None:
        """Let go of the store."""


def serve(backend: Backend) -> int:
    """Speak MCP on the standard streams until the input ends or SIGTERM comes. Returns 0, or 2 without them."""
    try:
        os.fstat(0)
        replies = os.dup(1)
    except OSError:
        if sys.stderr is not None:
            sys.stderr.write("hivekeep: standard input or output is closed; MCP needs both\n")
        return 2
    os.dup2(2, 1)
    loop = _Loop(backend, 0, replies)
    signal.signal(signal.SIGTERM, loop.stop)
    signal.signal(signal.SIGINT, loop.stop)
    try:
        loop.run()
    except (_Stopped, BrokenPipeError):
        pass
    finally:
        backend.close()
    return 0


class _Wait(NamedTuple):
    """A call that waits: what for, and its JSON-RPC id."""

    step: Step
    call_id: str | int


Replies: TypeAlias = Generator[_Wait, bool, Any]
"""A message that is being answered: it yields the waits of its calls and returns its reply, None when there is none."""


class _Stopped(Exception):
    """Raised by the signal handler while the loop only waits."""


class _TooLong:
    """Stands in the stream of lines for one that was thrown away."""


class _Loop:
    def __init__(self, backend: Backend, source: int, sink: int) -> None:
        self._backend = backend
        self._source = source
        self._sink = sink
        self._version: str | None = None
        self._warm = False
        self._waiting = False
        self._stopping = False
        self._parked: list[tuple[_Wait, Replies]] = []
        self._cancelled: set[str | int] = set()

    def run(self) -> None:
        try:
            for line in self._lines():
                self._go_on(self._answer(line), None)
                if self._stopping:
                    break
        except _Stopped:
            pass
        while self._parked:
            self._look(over=True)

    def stop(self, _signal: int, _frame: object) -> None:
        self._stopping = True
        if self._waiting:
            raise _Stopped

    def _go_on(self, replies: Replies, over: bool | None) -> None:
        """Work on a message until its reply is written or it waits; `over` is the result of its wait, if it had one."""
        try:
            wait = next(replies) if over is None else replies.send(over)
            while not _CAN_PARK:
                wait = replies.send(wait.step.run())
        except StopIteration as end:
            if end.value is not None:
                self._write(wire.encode(end.value) + b"\n")
        else:
            self._parked.append((wait, replies))

    def _look(self, *, over: bool = False) -> None:
        """Go on with the calls whose wait has ended, or with all of them because nobody waits any more."""
        parked, self._parked = self._parked, []
        version = self._backend.data_version()
        for wait, replies in parked:
            verdict = True if over or wait.call_id in self._cancelled else wait.step.verdict(version)
            if verdict is None:
                self._parked.append((wait, replies))
            else:
                self._go_on(replies, verdict)

    def _answer(self, line: bytes | _TooLong) -> Replies:
        if isinstance(line, _TooLong):
            return mcp.error(None, mcp.INVALID_REQUEST, f"a message has at most {LINE_MAX_BYTES} bytes")
        try:
            message = wire.decode(line)
        except ValueError:
            return mcp.error(None, mcp.PARSE_ERROR, "the line is not a JSON message")
        if not isinstance(message, list):
            return (yield from self._answer_one(message))
        refusal = mcp.refuse_batch(message, self._version)
        if refusal is not None:
            return refusal
        replies = []
        for item in message:
            reply = yield from self._answer_one(item)
            if reply is not None:
                replies.append(reply)
        return replies or None

    def _answer_one(self, message: object) -> Replies:
        self._version = mcp.negotiate(message) or self._version
        self._note_cancellation(message)
        try:
            reply = mcp.route(message, self._backend.tool)
        except Exception as failure:
            return mcp.fault(message, str(_typed(failure)))
        return (yield from self._run(reply)) if isinstance(reply, mcp.Call) else reply

    def _note_cancellation(self, message: object) -> None:
        """Remember that nobody wants the reply of a call that waits; one that does not is answered already."""
        cancelled = mcp.cancelled(message)
        if cancelled is not None and any(wait.call_id == cancelled for wait, _ in self._parked):
            self._cancelled.add(cancelled)

    def _run(self, call: mcp.Call) -> Replies:
        try:
            steps = self._backend.steps(call.arguments)
            over: bool | None = None
            while True:
                try:
                    step = next(steps) if over is None else steps.send(over)
                except StopIteration as end:
                    reply = mcp.finish(call, end.value)
                    break
                over = yield _Wait(step, call.id)
        except Exception as failure:
            from hivekeep.doors import refusals

            reply = mcp.refuse(call, refusals.entry(_typed(failure)))
        if call.id in self._cancelled:
            self._cancelled.discard(call.id)
            return None
        return reply

    def _lines(self) -> Iterator[bytes | _TooLong]:
        """Lines of the input without their end, blank ones left out; the last may lack its newline."""
        buffer = bytearray()
        skipping = False
        while chunk := self._read():
            start = 0
            while (end := chunk.find(b"\n", start)) >= 0:
                buffer += chunk[start:end]
                start = end + 1
                if skipping or len(buffer) > LINE_MAX_BYTES:
                    yield _TooLong()
                elif not buffer.isspace() and buffer:
                    yield bytes(buffer)
                buffer.clear()
                skipping = False
            buffer += chunk[start:]
            if len(buffer) > LINE_MAX_BYTES:
                skipping = True
                buffer.clear()
        if buffer and not buffer.isspace():
            yield bytes(buffer)

    def _read(self) -> bytes:
        if not self._warm and self._version is not None and self._is_idle():
            self._warm = True
            with contextlib.suppress(Exception):
                # What goes wrong here goes wrong again at the first call, which can tell the client.
                self._backend.warm_up()
        while True:
            if self._parked:
                self._look()
            # The look of a call that goes on waiting is not interrupted; only the wait for the client is.
            self._waiting = True
            try:
                if self._stopping:
                    raise _Stopped
                if not self._parked or self._is_readable(WAIT_LOOK_EVERY_MS / 1000):
                    return os.read(self._source, _CHUNK)
            finally:
                self._waiting = False

    def _is_idle(self) -> bool:
        """Whether the client sent nothing for a moment; systems that cannot tell never warm up."""
        if not _CAN_PARK:
            return False
        return not self._is_readable(IDLE_BEFORE_WARM_UP_S)

    def _is_readable(self, within_s: float) -> bool:
        """Whether the client says something, or has gone, within that time."""
        readable, _, _ = select.select([self._source], [], [], within_s)
        return bool(readable)

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._sink, view) :]


def _typed(failure: Exception) -> HivekeepError:
    """The failure as an error of the contract; one that is none is logged and told by its id."""
    from hivekeep.doors import refusals
    from hivekeep_contract.errors import HivekeepError

    return failure if isinstance(failure, HivekeepError) else refusals.unexpected(failure)
