"""A call that waits over HTTP: it answers when something happens, and holds nobody up meanwhile."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hivekeep.doors.auth import Guard
from hivekeep.doors.http import Door, create_app
from hivekeep.wiring import open_server
from hivekeep_contract.settings import Settings
from support.client import open_hive
from support.processes import PROGRAM, environment, serving

TOKEN = "ab" * 32
INBOX = "/api/v1/verbs/comm.inbox"


class Exchange:
    """Requests of several clients on one event loop; each may leave before it is answered."""

    def __init__(self, door: Door) -> None:
        self._app = create_app(door)

    async def post(
        self, path: str, body: dict[str, Any], *, actor: str = "bob", leaves: asyncio.Event | None = None
    ) -> Any:
        """The decoded answer; `leaves` is set when the client goes away."""
        raw = json.dumps(body).encode()
        headers = {
            "host": "127.0.0.1:4000",
            "authorization": f"Bearer {TOKEN}",
            "content-type": "application/json",
            "content-length": str(len(raw)),
            "hivekeep-actor": actor,
        }
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "server": ("127.0.0.1", 4000),
            "client": ("127.0.0.1", 50000),
        }
        incoming = iter([{"type": "http.request", "body": raw, "more_body": False}])
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            message = next(incoming, None)
            if message is None:
                await (leaves or asyncio.Event()).wait()
                return {"type": "http.disconnect"}
            return message

        async def send(event: dict[str, Any]) -> None:
            sent.append(event)

        await self._app(scope, receive, send)
        return json.loads(b"".join(event.get("body", b"") for event in sent[1:]))


@pytest.fixture
def door(tmp_path: Path) -> Iterator[Door]:
    """A door whose store other processes can open as well."""
    settings = Settings(db=str(tmp_path / "hive.db"), embedding_models=())
    door = Door(open_server(settings, threaded=True), Guard(TOKEN, []), 4096)
    try:
        yield door
    finally:
        door.close()


def audited(door: Door, verb: str) -> list[str]:
    """The outcomes of the audit rows of a verb."""
    with door.server.engine.read() as tx:
        rows = tx.all("SELECT outcome FROM events WHERE kind = 'audit' AND verb = ? ORDER BY seq", (verb,))
    return [row[0] for row in rows]


def test_a_send_of_the_same_process_ends_the_wait(door: Door) -> None:
    """Within a fraction of the time between two looks, with one audit row for the whole wait."""

    async def work() -> tuple[Any, float]:
        clients = Exchange(door)
        waiting = asyncio.create_task(clients.post(INBOX, {"wait_ms": 20_000}))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        assert audited(door, "comm.inbox") == []
        await clients.post("/api/v1/verbs/comm.send", {"to": "bob", "content": "Now"}, actor="ada")
        began = time.monotonic()
        return await waiting, time.monotonic() - began

    answer, took_s = asyncio.run(work())
    assert [message["content"] for message in answer["result"]["messages"]] == ["Now"]
    assert took_s < 0.5
    assert audited(door, "comm.inbox") == ["success"]


def test_a_send_of_another_process_ends_the_wait_and_reads_go_on(door: Door, tmp_path: Path) -> None:
    """The answer comes within a second of the commit; 20 reads go through meanwhile, none of them slower than 0.5 s."""
    code = (
        "import sys, time\n"
        "from support.client import open_hive\n"
        "with open_hive(sys.argv[1]) as hive:\n"
        "    sys.stdin.readline()\n"
        "    hive.as_actor('ada').call('comm.send', to='bob', content='From afar')\n"
        "    print(time.time(), flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    sender = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "hive.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    said, told = sender.stdin, sender.stdout
    assert said is not None
    assert told is not None

    async def work() -> tuple[Any, float, list[float]]:
        clients = Exchange(door)
        waiting = [asyncio.create_task(clients.post(INBOX, {"wait_ms": 20_000})) for _ in range(20)]
        await asyncio.sleep(1.5)
        took = []
        for _ in range(20):
            began = time.monotonic()
            assert (await clients.post("/api/v1/verbs/stats", {}))["ok"] is True
            took.append(time.monotonic() - began)
        assert not any(one.done() for one in waiting)
        said.write(b"go\n")
        said.flush()
        answers = await asyncio.gather(*waiting)
        return answers, time.time(), took

    try:
        answers, answered_at, took = asyncio.run(work())
        committed_at = float(told.readline())
    finally:
        said.close()
        sender.wait(timeout=20)
        told.close()
    assert {answer["result"]["messages"][0]["content"] for answer in answers} == {"From afar"}
    assert answered_at - committed_at < 1.0
    assert max(took) < 0.5


def test_nothing_that_fits_is_waited_for_until_the_time_is_over(door: Door) -> None:
    """Other mail wakes the call and it goes on waiting; at the deadline it answers an empty page, once."""

    async def work() -> tuple[Any, float]:
        clients = Exchange(door)
        began = time.monotonic()
        waiting = asyncio.create_task(clients.post(INBOX, {"wait_ms": 600, "from_actor": "eve"}))
        await asyncio.sleep(0.2)
        await clients.post("/api/v1/verbs/comm.send", {"to": "bob", "content": "Hm"}, actor="ada")
        return await waiting, time.monotonic() - began

    answer, took_s = asyncio.run(work())
    result = answer["result"]
    assert (result["messages"], result["count"], result["unread_count"]) == ([], 0, 1)
    assert 0.6 <= took_s < 10
    assert audited(door, "comm.inbox") == ["success"]


def test_a_client_that_leaves_ends_its_wait(door: Door) -> None:
    """Nothing is parked any more, and the operation has its audit row."""

    async def work() -> float:
        leaves = asyncio.Event()
        waiting = asyncio.create_task(Exchange(door).post(INBOX, {"wait_ms": 20_000}, leaves=leaves))
        await asyncio.sleep(0.2)
        leaves.set()
        began = time.monotonic()
        await waiting
        return time.monotonic() - began

    assert asyncio.run(work()) < 0.5
    assert audited(door, "comm.inbox") == ["success"]


def test_what_a_batch_did_before_its_wait_is_audited_before_it(door: Door) -> None:
    """A read in front of a call that waits has its row while that waits."""

    async def work() -> list[str]:
        body = {"ops": "[stats(), comm.inbox(wait_ms=700)]"}
        waiting = asyncio.create_task(Exchange(door).post("/api/v1/request", body))
        await asyncio.sleep(0.3)
        seen = audited(door, "stats")
        answer = await waiting
        assert [entry["ok"] for entry in answer["results"]] == [True, True]
        return seen

    assert asyncio.run(work()) == ["success"]
    assert audited(door, "stats") == ["success"]


def test_a_wait_on_this_thread_ends_with_its_time(tmp_path: Path) -> None:
    """Where there is nothing else to do the call simply waits."""
    with open_hive(tmp_path / "hive.db") as hive:
        began = time.monotonic()
        assert hive.call("comm.inbox", wait_ms=200)["messages"] == []
        assert 0.2 <= time.monotonic() - began < 1.0


@pytest.mark.slow
def test_a_server_that_stops_answers_the_calls_that_wait(tmp_path: Path) -> None:
    """SIGTERM ends a wait of 30 s at once with an empty page, and the server with 0; about 3 s."""
    code = (
        "import json, sys, urllib.request\n"
        "url, token = sys.argv[1:]\n"
        "head = {'Authorization': token, 'Content-Type': 'application/json'}\n"
        "asked = urllib.request.Request(url, json.dumps({'wait_ms': 30000}).encode(), head, method='POST')\n"
        "print(urllib.request.urlopen(asked, timeout=60).read().decode())\n"
    )
    with serving(tmp_path) as server:
        url, token = server.url + INBOX, server.headers["Authorization"]
        client = subprocess.Popen([sys.executable, "-c", code, url, token], stdout=subprocess.PIPE)
        time.sleep(1.5)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 5
        out, _ = client.communicate(timeout=20)
    assert json.loads(out)["result"]["messages"] == []


@pytest.mark.slow
def test_a_send_on_the_command_line_ends_a_wait_of_the_server(tmp_path: Path) -> None:
    """The server answers within a second of the end of the command that sent; about 4 s."""
    with serving(tmp_path) as server:
        code = (
            "import json, sys, time, urllib.request\n"
            "url, token = sys.argv[1:]\n"
            "head = {'Authorization': token, 'Content-Type': 'application/json', 'Hivekeep-Actor': 'bob'}\n"
            "asked = urllib.request.Request(url, json.dumps({'wait_ms': 30000}).encode(), head, method='POST')\n"
            "body = json.loads(urllib.request.urlopen(asked, timeout=60).read())\n"
            "print(json.dumps([time.time(), body['result']['count']]))\n"
        )
        token = server.headers["Authorization"]
        client = subprocess.Popen([sys.executable, "-c", code, server.url + INBOX, token], stdout=subprocess.PIPE)
        time.sleep(1.5)
        sent = subprocess.run(
            [*PROGRAM, "exec", "--actor", "ada", 'comm.send(to="bob", content="Now")'],
            env=environment(tmp_path),
            cwd=tmp_path,
            capture_output=True,
            timeout=30,
            check=True,
        )
        ended_at = time.time()
        out, _ = client.communicate(timeout=20)
    assert json.loads(sent.stdout)["results"][0]["ok"] is True
    answered_at, count = json.loads(out)
    assert count == 1
    assert answered_at - ended_at < 1.0
