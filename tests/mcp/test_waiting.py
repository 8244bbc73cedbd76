"""A call that waits on stdio: the same client goes on talking, and what waits is answered when something happens."""

import json
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.processes import PROGRAM, environment, lines

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
LONG_MS = 20_000


def call(request_id: int, ops: str) -> dict[str, Any]:
    params = {"name": "request", "arguments": {"ops": ops}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def result(reply: dict[str, Any]) -> Any:
    return json.loads(reply["result"]["content"][0]["text"])["results"][-1]["result"]


class Client:
    """One agent's end of the pipes."""

    def __init__(self, home: Path, actor: str) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, "mcp", "--actor", actor],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # What was read ahead would be invisible to select.
            bufsize=0,
            cwd=home,
            env=environment(home),
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        self.say(INITIALIZE)
        assert self.hear(20)["id"] == 1

    def say(self, *messages: object) -> None:
        self.stdin.write(lines(*messages))
        self.stdin.flush()

    def hear(self, within_s: float) -> Any:
        readable, _, _ = select.select([self.stdout], [], [], within_s)
        assert readable, "no reply"
        return json.loads(self.stdout.readline())

    def close(self) -> None:
        if not self.stdin.closed:
            self.stdin.close()
        self.process.wait(timeout=20)
        self.stdout.close()


@pytest.fixture
def bob(tmp_path: Path) -> Iterator[Client]:
    client = Client(tmp_path, "bob")
    try:
        yield client
    finally:
        client.close()


def test_others_are_answered_while_a_call_waits(bob: Client) -> None:
    """A later call overtakes it; a send of the same client then ends the wait."""
    bob.say(
        call(2, f"comm.inbox(wait_ms={LONG_MS})"), call(3, "stats()"), {"jsonrpc": "2.0", "id": 4, "method": "ping"}
    )
    assert [bob.hear(10)["id"] for _ in range(2)] == [3, 4]
    bob.say(call(5, 'comm.send(to="bob", content="Note", self_send=true)'))
    told = {reply["id"]: reply for reply in (bob.hear(5) for _ in range(2))}
    assert sorted(told) == [2, 5]
    assert [message["content"] for message in result(told[2])["messages"]] == ["Note"]


def test_a_send_of_another_process_is_heard_within_a_second(bob: Client, tmp_path: Path) -> None:
    """The other process has ended by then, so this measures more than the wait."""
    bob.say(call(2, f"comm.inbox(wait_ms={LONG_MS})"))
    time.sleep(0.5)
    sent = [*PROGRAM, "exec", "--actor", "ada", 'comm.send(to="bob", content="From afar")']
    subprocess.run(sent, cwd=tmp_path, env=environment(tmp_path), check=True, capture_output=True, timeout=30)
    reply = bob.hear(1.0)
    assert (reply["id"], result(reply)["count"]) == (2, 1)


def test_the_end_of_the_input_ends_a_wait(bob: Client) -> None:
    """The client has gone: what still waits is answered with what there is, and the process ends with 0."""
    bob.say(call(2, f"comm.inbox(wait_ms={LONG_MS})"))
    time.sleep(0.5)
    bob.stdin.close()
    reply = bob.hear(5)
    assert (reply["id"], result(reply)["count"]) == (2, 0)
    assert bob.process.wait(timeout=10) == 0


def test_sigterm_ends_a_wait(bob: Client) -> None:
    """A call that was started is answered first, and at once."""
    bob.say(call(2, f"comm.inbox(wait_ms={LONG_MS})"))
    time.sleep(0.5)
    bob.process.send_signal(signal.SIGTERM)
    assert bob.hear(5)["id"] == 2
    assert bob.process.wait(timeout=10) == 0


def test_a_cancelled_call_gets_no_reply(bob: Client) -> None:
    """Its wait is over and other calls go on."""
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    bob.say(call(2, f"comm.inbox(wait_ms={LONG_MS})"), call(3, "stats()"), cancelled)
    assert bob.hear(10)["id"] == 3
    bob.say(
        call(4, 'comm.send(to="bob", content="Note", self_send=true)'), call(5, 'list(kind="event", verb="comm.inbox")')
    )
    assert [bob.hear(10)["id"] for _ in range(2)] == [4, 5]


def test_a_batch_waits_as_a_whole(bob: Client) -> None:
    """Its replies come together and in order, and messages outside of it go on meanwhile."""
    bob.say([call(2, "comm.inbox(wait_ms=700)"), call(3, "stats()")], {"jsonrpc": "2.0", "id": 4, "method": "ping"})
    assert bob.hear(5)["id"] == 4
    assert [reply["id"] for reply in bob.hear(5)] == [2, 3]
