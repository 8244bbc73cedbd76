"""The protocol of one connection: the bytes that uvicorn would write, an ordinary answer in one piece."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

pytest.importorskip("httptools")

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from hivekeep.doors.protocol import Protocol

Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
OLD = b"GET / HTTP/1.0\r\nhost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}"
HEAD = b"HEAD / HTTP/1.1\r\nhost: a\r\n\r\n"


class Transport(asyncio.Transport):
    """Keeps what is written, piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[bytes] = []
        self.closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.pieces.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def answer(headers: Headers, *bodies: bytes, status: int = 200) -> Callable[[Send], Awaitable[None]]:
    """An application that answers with these headers and the body in these parts."""

    async def answered(send: Send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        for index, body in enumerate(bodies):
            await send({"type": "http.response.body", "body": body, "more_body": index + 1 < len(bodies)})

    return answered


def talk(kind: type[HttpToolsProtocol], received: bytes, respond: Callable[[Send], Awaitable[None]]) -> Transport:
    """The connection after `received` was read and every request of it answered."""

    async def app(scope: Any, receive: Any, send: Send) -> None:
        await receive()
        await respond(send)

    async def inside() -> Transport:
        config = Config(app, log_config=None, interface="asgi3")
        config.load()
        state = ServerState()
        state.default_headers = [(b"date", b"now")]
        transport = Transport()
        protocol = kind(config, state, {}, asyncio.get_running_loop())
        protocol.connection_made(transport)
        protocol.data_received(received)
        while state.tasks and not transport.closed:
            await asyncio.sleep(0)
        protocol.connection_lost(None)
        while state.tasks:
            await asyncio.sleep(0)
        return transport

    return asyncio.run(inside())


def lengthy(*rest: tuple[bytes, bytes], length: bytes = b"2") -> Headers:
    return [(b"content-type", b"text/plain"), *rest, (b"content-length", length)]


@pytest.mark.parametrize("received", [GET, GET + GET, GET + GET + LAST, LAST, OLD, HEAD], ids=repr)
@pytest.mark.parametrize(
    "respond",
    [
        answer(lengthy(), b"ok"),
        answer(lengthy(length=b"0"), b"", status=404),
        answer(lengthy(), b"o", b"k"),
        answer(lengthy((b"connection", b"close")), b"ok"),
        answer([(b"content-type", b"text/plain")], b"ok"),
        answer([], b"", status=204),
        answer(lengthy(length=b"3"), b"ok"),
        answer(lengthy(length=b"1"), b"ok"),
        answer(lengthy((b"x-split", b"a\r\nx-other: b")), b"ok"),
        answer(lengthy((b"x-split", b"a\nb")), b"ok"),
    ],
)
def test_the_bytes_are_those_of_uvicorn(received: bytes, respond: Callable[[Send], Awaitable[None]]) -> None:
    """Answers of every kind, faulty ones included, and whether the connection is closed after them."""
    ours, theirs = talk(Protocol, received, respond), talk(HttpToolsProtocol, received, respond)
    assert (b"".join(ours.pieces), ours.closed) == (b"".join(theirs.pieces), theirs.closed)


@pytest.mark.parametrize(("received", "answers"), [(GET, 1), (GET + GET, 2)])
def test_an_ordinary_answer_is_one_piece(received: bytes, answers: int) -> None:
    """Head and body leave together, one piece for each request of a pipeline."""
    whole = b"HTTP/1.1 200 OK\r\ndate: now\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok"
    assert talk(Protocol, received, answer(lengthy(), b"ok")).pieces == [whole] * answers


@pytest.mark.parametrize(
    "received",
    [
        b"POST /api/v1/agent/runs HTTP/1.1\r\nidempotency-key: a\x01b\r\ncontent-length: 2\r\n\r\n{}",
        b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n",
        b"FETCH / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    ],
    ids=repr,
)
def test_what_is_no_http_is_told_so_in_an_envelope(received: bytes) -> None:
    """The parser refuses a control character in a header before any code of ours sees the request, and uvicorn wrote a
    line of text then: a client of the gateway got a failure without envelope, code and the headers of every answer."""
    refused = talk(Protocol, received, answer(lengthy(), b"ok"))
    (head, body) = b"".join(refused.pieces).split(b"\r\n\r\n")
    assert refused.closed
    assert json.loads(body) == {
        "apiVersion": "1",
        "ok": False,
        "operation": "server.request",
        "error": {"code": "VALIDATION_ERROR", "message": "invalid request", "details": {"reason": "not_http"}},
    }
    lines = head.split(b"\r\n")
    assert lines[:3] == [b"HTTP/1.1 400 Bad Request", b"date: now", b"content-type: application/json; charset=utf-8"]
    assert lines[-2:] == [b"content-length: %d" % len(body), b"connection: close"]
    assert b"cache-control: no-store" in lines


@pytest.mark.parametrize("whole", [GET, GET + GET, POST], ids=repr)
def test_a_refusal_is_no_answer_to_the_request_before_it(whole: bytes) -> None:
    """The refusal of what followed a request was written at once, before the answer of the request, which the client
    took for refused although it was carried out. Now the connection ends without an answer, as when a server dies."""
    cut = talk(Protocol, whole + b"\x16\x03\x01\r\n\r\n", answer(lengthy(), b"ok"))
    assert cut.closed
    assert not any(b"400" in piece for piece in cut.pieces)


def test_a_body_that_is_no_http_is_refused() -> None:
    """A broken chunk is a fault of the request that is being read, so that one is told."""
    broken = b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
    refused = talk(Protocol, broken, answer(lengthy(), b"ok"))
    assert refused.pieces[0].startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert refused.closed


@pytest.mark.parametrize("failure", [None, RuntimeError("no body")])
def test_an_application_that_ends_after_its_head_is_answered_for(failure: Exception | None) -> None:
    """The head was not written yet, so the client gets an error instead of half an answer."""

    async def ending(send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": lengthy()})
        if failure is not None:
            raise failure

    ended = talk(Protocol, GET, ending)
    assert b"".join(ended.pieces).startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert ended.closed
