"""uvicorn's HTTP/1.1 protocol, with an ordinary answer written in one piece.

What it keeps true: the bytes on the wire are those that uvicorn writes, except that who sends no HTTP is told so in
the envelope of the gateway and not in a line of text. uvicorn hands head and body to the transport one after the other,
which sends two segments and wakes the client twice; here a head waits for its body. Everything else (parsing,
keep-alive, pipelining, flow control, chunked bodies, a client that is gone) is uvicorn's own code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from hivekeep import compact_json
from hivekeep.doors import gateway
from hivekeep_contract.gateway_errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uvicorn._types import ASGISendEvent, HTTPResponseBodyEvent, HTTPResponseStartEvent


class Protocol(HttpToolsProtocol):
    """One connection."""

    def on_headers_complete(self) -> None:
        """The cycle of the request is made and its task created, which runs later."""
        super().on_headers_complete()
        # uvicorn names the class of its cycles in the middle of this method.
        self.cycle.__class__ = _Cycle

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP and close the connection; nobody knows which path it was meant for. `msg` is
        uvicorn's own line of text.

        Behind a request that is whole and waits for its answer nothing is said: the client would take the refusal for
        that answer, and what it asked for may be carried out.
        """
        if self._owes_an_answer():
            self.transport.close()
            return
        from hivekeep.doors.http import JSON_HEADERS  # a worker has it by now; the master never needs it

        body = compact_json.encode(gateway.failure(gateway.UNREADABLE_OPERATION, ValidationError("not_http")))
        told = [*JSON_HEADERS, ("content-length", str(len(body))), ("connection", "close")]
        fields = [*self.server_state.default_headers, *((name.encode(), value.encode()) for name, value in told)]
        self.transport.write(_head(400, fields) + body)
        self.transport.close()

    def _owes_an_answer(self) -> bool:
        cycle = self.cycle
        return bool(self.pipeline) or (cycle is not None and not (cycle.response_complete or cycle.more_body))

    def shutdown(self) -> None:
        """The server is about to stop: a request that waits for something is woken and answers what there is."""
        super().shutdown()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.message_event.set()


class _Cycle(RequestResponseCycle):
    """One request and its answer. `head` is an answer's beginning that waits for the first part of its body."""

    head: HTTPResponseStartEvent | None = None

    async def send(self, message: ASGISendEvent) -> None:
        """What the application calls with the parts of its answer."""
        if message["type"] == "http.response.start" and not self.response_started:
            self.head = message
            return
        head, self.head = self.head, None
        if head is not None:
            if self._write_whole(head, cast("HTTPResponseBodyEvent", message)):
                return
            await super().send(head)
        await super().send(message)

    def _write_whole(self, head: HTTPResponseStartEvent, message: HTTPResponseBodyEvent) -> bool:
        """Write an answer whose length is told, is right, and that ends here; False when it is none of this kind."""
        if (
            message.get("more_body")
            or not self.keep_alive
            or self.disconnected
            or self.flow.write_paused
            or self.scope["method"] == "HEAD"
        ):
            return False
        body = message.get("body", b"")
        fields = [*self.default_headers, *head.get("headers", ())]
        text = _head(head["status"], fields)
        if (
            b"\r\ncontent-length: %d\r\n" % len(body) not in text
            or text.count(b"\r\ncontent-length: ") != 1
            or b"\r\nconnection: " in text
            or b"\r\ntransfer-encoding: " in text
            # A line break inside a header would begin another one; uvicorn says what is wrong.
            or not text.count(b"\n") == text.count(b"\r") == len(fields) + 2
        ):
            return False
        self.transport.write(text + body)
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.message_event.set()
        self.on_response()
        return True


def _head(status: int, fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """The status line and the headers of an answer, up to its body."""
    return STATUS_LINE[status] + b"\r\n".join([b": ".join(field) for field in fields]) + b"\r\n\r\n"
