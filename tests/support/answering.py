"""A program on a port that is no hivekeep server, or one that misbehaves: it answers what a test lets it answer.

Invariant: it remembers every request as it came, so that a test can say what was told to it and what was not.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

INSTANCE = "9db04e4d-cd93-4f26-b8f3-8dbd719ce4a8"
TOKEN = "ab" * 32


class Asked(NamedTuple):
    """A request: its first line, its headers by lower-case name, its body."""

    line: str
    headers: dict[str, str]
    body: bytes


Response = Callable[[Asked], bytes | None]
"""The bytes to send; None closes the connection without an answer, and so does `connection: close` after one."""


def response(status: int, body: bytes, **headers: str) -> bytes:
    """A whole answer; a header named with `_` for `-`, one with an empty value is left out."""
    fields = {"content-type": "application/json; charset=utf-8", "content-length": str(len(body))}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
    return f"HTTP/1.1 {status} OK\r\n{head}\r\n".encode("latin-1") + body


def json_response(status: int, value: Any, **headers: str) -> bytes:
    """An answer with a JSON value."""
    return response(status, json.dumps(value, separators=(",", ":")).encode(), **headers)


PROVED: Mapping[str, bytes] = {
    "GET /health/live": json_response(200, {"ok": True}),
    "GET /health/ready": json_response(200, {"ok": True}, Hivekeep_Instance=INSTANCE),
}
"""What the server of `INSTANCE` answers to the probes."""


class Answering(NamedTuple):
    """The port, what was asked on it so far, and how many connections it had."""

    port: int
    asked: list[Asked]
    connections: list[socket.socket]

    def lines(self) -> list[str]:
        """The first lines of the requests, without the version."""
        return [asked.line.removesuffix(" HTTP/1.1") for asked in self.asked]


@contextmanager
def answering(replies: Mapping[str, bytes | Response]) -> Iterator[Answering]:
    """Answer requests by `METHOD path`; a request that is not foreseen gets no answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        found = Answering(listener.getsockname()[1], [], [])
        thread = threading.Thread(target=_accept, args=(listener, replies, found), daemon=True)
        thread.start()
        try:
            yield found
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for connection in found.connections:
                connection.close()
            thread.join(timeout=5)


def _accept(listener: socket.socket, replies: Mapping[str, bytes | Response], found: Answering) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        found.connections.append(connection)
        threading.Thread(target=_serve, args=(connection, replies, found), daemon=True).start()


def _serve(connection: socket.socket, replies: Mapping[str, bytes | Response], found: Answering) -> None:
    with connection, connection.makefile("rb") as stream:
        while (asked := _next(stream)) is not None:
            found.asked.append(asked)
            reply = replies.get(asked.line.removesuffix(" HTTP/1.1"))
            answer = reply(asked) if callable(reply) else reply
            if answer is None:
                return
            connection.sendall(answer)
            if b"\r\nconnection: close\r\n" in answer:
                return


def _next(stream: Any) -> Asked | None:
    try:
        line = stream.readline().decode("latin-1").strip()
        headers: dict[str, str] = {}
        while field := stream.readline().decode("latin-1").strip():
            name, _, value = field.partition(":")
            headers[name.lower()] = value.strip()
        return Asked(line, headers, stream.read(int(headers.get("content-length", "0")))) if line else None
    except (OSError, ValueError):
        return None
