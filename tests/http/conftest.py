"""A door over a real store in a temporary directory, spoken to without a socket."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import falcon.testing
import pytest

from hivekeep.doors.auth import Guard
from hivekeep.doors.http import Door, create_app
from hivekeep.settings import load_settings
from hivekeep.wiring import open_server

TOKEN = "ab" * 32
BODY_LIMIT = 4096


class Client:
    """Sends requests as a well-behaved client; every header can be replaced, None leaves it out."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self._http = falcon.testing.TestClient(create_app(door))

    def send(
        self, method: str, path: str, *, json: Any = None, body: bytes | None = None, **headers: str | None
    ) -> falcon.testing.Result:
        chosen: dict[str, str | None] = {"Host": "127.0.0.1:4000", "Authorization": f"Bearer {TOKEN}"}
        if json is not None or body is not None:
            chosen["Content-Type"] = "application/json"
        for name, value in headers.items():
            chosen[name.replace("_", "-")] = value
        sent = {name: value for name, value in chosen.items() if value is not None}
        # Of the versions, 1.0 is the one for which the simulation adds no Host of its own.
        return self._http.simulate_request(
            method, path, json=json, body=body, headers=sent, http_version="1.0"
        )

    def post(self, path: str, json: Any = None, **more: Any) -> falcon.testing.Result:
        return self.send("POST", path, json=json, **more)

    def get(self, path: str, **more: Any) -> falcon.testing.Result:
        return self.send("GET", path, **more)


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    environ = {"HOME": str(tmp_path), "HIVEKEEP_DB": str(tmp_path / "store.db")}
    settings = load_settings({}, environ, tmp_path).settings
    door = Door(open_server(settings, threaded=True), Guard(TOKEN, ["https://app.example"]), BODY_LIMIT)
    yield door
    door.close()


@pytest.fixture
def client(door: Door) -> Client:
    return Client(door)
