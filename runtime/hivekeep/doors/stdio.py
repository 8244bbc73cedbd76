"""MCP over stdio: newline-delimited messages on file descriptors 0 and 1, one after the other.

What it keeps true:
- Standard output carries the protocol only: the real descriptor is kept for replies, and everything else
  that writes to descriptor 1 (a stray print, a C library) lands on standard error.
- `initialize` is answered before settings, storage or validation are imported; the store is opened when the
  client pauses, or at the first call.
- A line that is no message gets -32700, a line longer than a response may be gets -32600, and the loop goes
  on.
- SIGTERM and end of input stop the process between two messages: a call that was started is answered first.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

from hivekeep.doors import mcp, wire
from hivekeep_contract.limits import RESPONSE_BUDGET_BYTES as LINE_MAX_BYTES

if TYPE_CHECKING:
    from hivekeep_contract.errors import HivekeepError

IDLE_BEFORE_WARM_UP_S = 0.05
_CHUNK = 65536


class Backend(Protocol):
    """What the loop needs behind it; each step is taken no earlier than asked for."""

    def tool(self) -> dict[str, Any]:
        """The definition of the tool `request`."""

    def warm_up(self) -> None:
        """Open the store, so that the first call does not wait for it."""

    def run(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run one tool call and give its envelope; raises HivekeepError when it is refused as a whole."""

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

    def run(self) -> None:
        for line in self._lines():
            reply = self._answer(line)
            if reply is not None:
                self._write(wire.encode(reply) + b"\n")
            if self._stopping:
                return

    def stop(self, _signal: int, _frame: object) -> None:
        self._stopping = True
        if self._waiting:
            raise _Stopped

    def _answer(self, line: bytes | _TooLong) -> Any:
        if isinstance(line, _TooLong):
            return mcp.error(None, mcp.INVALID_REQUEST, f"a message has at most {LINE_MAX_BYTES} bytes")
        try:
            message = wire.decode(line)
        except ValueError:
            return mcp.error(None, mcp.PARSE_ERROR, "the line is not a JSON message")
        if not isinstance(message, list):
            return self._answer_one(message)
        refusal = mcp.refuse_batch(message, self._version)
        if refusal is not None:
            return refusal
        return [reply for item in message if (reply := self._answer_one(item)) is not None] or None

    def _answer_one(self, message: object) -> dict[str, Any] | None:
        self._version = mcp.negotiate(message) or self._version
        try:
            reply = mcp.route(message, self._backend.tool)
        except Exception as failure:
            return mcp.fault(message, str(_typed(failure)))
        return self._run(reply) if isinstance(reply, mcp.Call) else reply

    def _run(self, call: mcp.Call) -> dict[str, Any]:
        try:
            return mcp.finish(call, self._backend.run(call.arguments))
        except Exception as failure:
            from hivekeep.doors import refusals

            return mcp.refuse(call, refusals.entry(_typed(failure)))

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
        self._waiting = True
        try:
            if self._stopping:
                raise _Stopped
            return os.read(self._source, _CHUNK)
        finally:
            self._waiting = False

    def _is_idle(self) -> bool:
        """Whether the client sent nothing for a moment; systems that cannot tell never warm up."""
        if sys.platform == "win32":
            return False
        readable, _, _ = select.select([self._source], [], [], IDLE_BEFORE_WARM_UP_S)
        return not readable

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._sink, view) :]


def _typed(failure: Exception) -> HivekeepError:
    """The failure as an error of the contract; one that is none is logged and told by its id."""
    from hivekeep.doors import refusals
    from hivekeep_contract.errors import HivekeepError

    return failure if isinstance(failure, HivekeepError) else refusals.unexpected(failure)
