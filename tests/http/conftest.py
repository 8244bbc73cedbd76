"""A door over a real store in a temporary directory, spoken to without a socket."""

import asyncio
import json as json_module
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hivekeep.doors.auth import Guard
from hivekeep.doors.http import Door, create_app
from hivekeep.settings import load_settings
from hivekeep.wiring import open_server

TOKEN = "ab" * 32
BODY_LIMIT = 4096


class Answer(NamedTuple):
    """A complete HTTP answer; header names are lower-case."""

    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    @property
    def json(self) -> Any:
        return json_module.loads(self.content)


class Client:
    """Speaks ASGI to the application, byte for byte; every header can be replaced, None leaves it out.

    Bodies come in pieces of at most `piece_bytes`.
    """

    def __init__(self, door: Door) -> None:
        self.door = door
        self.piece_bytes = 1_000_000
        self._app = create_app(door)

    def send(self, method: str, path: str, *, json: Any = None, body: bytes = b"", **headers: str | None) -> Answer:
        chosen: dict[str, str | None] = {"Host": "127.0.0.1:4000", "Authorization": f"Bearer {TOKEN}"}
        if json is not None:
            body = json_module.dumps(json).encode()
        if method == "POST":
            chosen["Content-Type"] = "application/json"
        for name, value in headers.items():
            chosen[name.replace("_", "-")] = value
        sent = [(name.lower().encode(), value.encode("latin-1")) for name, value in chosen.items() if value is not None]
        return asyncio.run(self._exchange(method, path, body, sent))

    def post(self, path: str, json: Any = None, **more: Any) -> Answer:
        return self.send("POST", path, json=json, **more)

    def get(self, path: str, **more: Any) -> Answer:
        return self.send("GET", path, **more)

    async def _exchange(self, method: str, path: str, body: bytes, headers: list[tuple[bytes, bytes]]) -> Answer:
        raw_path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": raw_path,
            "raw_path": raw_path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [*headers, (b"content-length", str(len(body)).encode())],
            "server": ("127.0.0.1", 4000),
            "client": ("127.0.0.1", 50000),
        }
        size = self.piece_bytes
        pieces = [body[start : start + size] for start in range(0, len(body), size)] or [b""]
        last = len(pieces) - 1
        incoming = iter(
            [{"type": "http.request", "body": piece, "more_body": at < last} for at, piece in enumerate(pieces)]
        )
        outgoing: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return next(incoming, {"type": "http.disconnect"})

        async def send(event: dict[str, Any]) -> None:
            outgoing.append(event)

        await self._app(scope, receive, send)
        told = {name.decode(): value.decode() for name, value in outgoing[0]["headers"]}
        return Answer(outgoing[0]["status"], told, b"".join(event.get("body", b"") for event in outgoing[1:]))


@contextmanager
def open_door(folder: Path) -> Iterator[Door]:
    environ = {"HOME": str(folder), "HIVEKEEP_DB": str(folder / "store.db")}
    settings = load_settings({}, environ, folder).settings
    door = Door(open_server(settings, threaded=True), Guard(TOKEN, ["https://app.example"]), BODY_LIMIT)
    try:
        yield door
    finally:
        door.close()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of one store for the tests of a module, which add to it and change nothing else."""
    with open_door(tmp_path_factory.mktemp("store")) as door:
        yield Client(door)


@pytest.fixture
def own_client(tmp_path: Path) -> Iterator[Client]:
    """A client whose door the test may change."""
    with open_door(tmp_path) as door:
        yield Client(door)
