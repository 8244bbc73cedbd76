"""The gateway of a real server: one connection for many requests, and keys that outlive a killed process."""

from __future__ import annotations

import http.client
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from hivekeep_contract.gateway import OPERATIONS
from support.gateway import Reply, check, event, opening, path_of
from support.processes import Serving, serving, wait_until

pytestmark = pytest.mark.slow
"""Each starts real processes: 2 to 6 seconds."""


class Connection:
    """One connection to a server."""

    def __init__(self, server: Serving) -> None:
        self._token = server.headers["Authorization"]
        self.http = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=20)

    def ask(self, name: str, run_id: str | None = None, body: Any = None, *, key: str = "k") -> Reply:
        """The checked answer of one operation."""
        operation = OPERATIONS[name]
        headers = {"Authorization": self._token}
        if operation.writes:
            headers |= {"Content-Type": "application/json", "Idempotency-Key": key}
        sent = None if body is None else json.dumps(body)
        self.http.request(operation.http_method, path_of(operation, run_id), sent, headers)
        answer = self.http.getresponse()
        envelope = json.loads(answer.read())
        check(name, answer.status, envelope)
        assert answer.version == 11
        return Reply(answer.status, envelope, {name.lower(): value for name, value in answer.getheaders()})


def test_a_connection_is_kept(tmp_path: Path) -> None:
    """Successes, refusals before and behind routing and a read go over one socket of HTTP/1.1."""
    with serving(tmp_path) as server:
        connection = Connection(server)
        run_id = connection.ask("agent.open", body=opening()).data["runId"]
        socket = connection.http.sock
        assert connection.ask("agent.open", body={}).status == 400
        assert connection.ask("agent.events", run_id, {"apiVersion": "1", "events": [event()]}).status == 200
        assert connection.ask("agent.close", "nowhere", {}).status == 404
        too_large = {"apiVersion": "1", "events": [event(payload="x" * 2_200_000)]}
        assert connection.ask("agent.events", run_id, too_large).told[2] == "body_too_large"
        assert connection.ask("agent.run.read", run_id).data["lastSequence"] == 4
        assert connection.http.sock is socket


def test_a_key_outlives_a_killed_server(tmp_path: Path) -> None:
    """What was acknowledged is there after SIGKILL, and its key is answered by the next server."""
    with serving(tmp_path) as server:
        connection = Connection(server)
        opened = connection.ask("agent.open", body=opening(), key="open").data
        run_id = opened["runId"]
        batch = {"apiVersion": "1", "events": [event(sourceEventId="a"), event()]}
        appended = connection.ask("agent.events", run_id, batch, key="batch").data
        for pid in (*server.workers(), server.process.pid):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: server.process.poll() is not None, 10, "the end of the server")
    with serving(tmp_path) as server:
        connection = Connection(server)
        assert connection.ask("agent.open", body=opening(), key="open").data["runId"] == run_id
        assert connection.ask("agent.events", run_id, batch, key="batch").data == appended
        other = connection.ask("agent.events", run_id, {"apiVersion": "1", "events": [event()]}, key="batch")
        assert other.told == (409, "CONFLICT", "key_reused")
        assert connection.ask("agent.run.read", run_id).data["lastSequence"] == 5
