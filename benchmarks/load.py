"""A small HTTP client that keeps a server busy: `python -m benchmarks.load`, one JSON line in, one out.

Standard input: {"port", "head", "body", "connections", "seconds"}; `head` is the request up to the blank line
before the body. Standard output: {"requests", "seconds"}. Each connection is kept alive and sends its next
request when the answer to the last one is complete; any status but 200 ends the run with an error.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

HEAD_END = b"\r\n\r\n"
LENGTH = b"content-length:"


class Connection(asyncio.Protocol):
    """One keep-alive connection that repeats one request until the deadline."""

    def __init__(self, request: bytes, deadline: float) -> None:
        self._request = request
        self._deadline = deadline
        self._buffer = b""
        self._transport: asyncio.Transport | None = None
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.answered = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, separator, body = self._buffer.partition(HEAD_END)
        if not separator or len(body) < _body_length(head):
            return
        self._buffer = b""
        if not head.startswith(b"HTTP/1.1 200 "):
            self._finish(RuntimeError(f"not answered with 200: {head!r} {body[:500]!r}"))
        elif time.perf_counter() >= self._deadline:
            self.answered += 1
            self._finish(None)
        else:
            self.answered += 1
            assert self._transport is not None
            self._transport.write(self._request)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or RuntimeError("the server closed the connection"))

    def _finish(self, failure: Exception | None) -> None:
        if failure is None:
            self.done.set_result(self.answered)
        else:
            self.done.set_exception(failure)
        assert self._transport is not None
        self._transport.close()


def _body_length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(LENGTH):
            return int(line[len(LENGTH) :])
    raise RuntimeError(f"an answer without Content-Length: {head!r}")


async def drive(port: int, head: str, body: str, connections: int, seconds: float) -> dict[str, float]:
    """Load the server and answer how many requests it answered in how many seconds."""
    request = head.encode() + HEAD_END + body.encode()
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    clients = []
    for _ in range(connections):
        _, client = await loop.create_connection(lambda: Connection(request, started + seconds), "127.0.0.1", port)
        clients.append(client)
    answered = await asyncio.gather(*(client.done for client in clients))
    return {"requests": sum(answered), "seconds": time.perf_counter() - started}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(drive(**json.loads(sys.stdin.readline())))))
