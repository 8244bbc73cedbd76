"""Vectors and real processes: nothing that waits is lost, whoever dies, and two processes never do the work twice."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hivekeep.storage import embedding_queue, vectors
from hivekeep.storage.sqlite import SqliteEngine
from support.processes import PROGRAM, environment, lines, run, serving, wait_until
from support.stores import OPTIONS

HASHED = {"HIVEKEEP_EMBEDDING_MODELS": "hashed"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def database(home: Path) -> str:
    """The default database of a home."""
    return str(home / ".local/share/hivekeep/hivekeep.db")


def state(home: Path) -> tuple[int, int]:
    """How many texts wait, and how many live records have a vector of the text they have."""
    engine = SqliteEngine(database(home), OPTIONS, read_only=True)
    engine.start(threaded=False)
    try:
        with engine.read() as tx:
            waiting = sum(one.waiting for one in embedding_queue.counts(tx))
            found = sum(
                vectors.count(tx, model, vectors.Scope("entity", ("local",))) - vectors.examine(tx, model).stale
                for model in vectors.models(tx)
            )
            return waiting, found
    finally:
        engine.close()


def call(number: int, ops: str) -> dict[str, Any]:
    """A tool call over MCP."""
    return {
        "jsonrpc": "2.0",
        "id": number,
        "method": "tools/call",
        "params": {"name": "request", "arguments": {"ops": ops}},
    }


def creates(first: int, count: int, text: str) -> str:
    """So many single creates in one request."""
    return json.dumps(
        [
            {"tool": "create", "args": {"kind": "concept", "name": f"thing {number}", "description": text}}
            for number in range(first, first + count)
        ]
    )


@contextmanager
def agent(home: Path, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """`hivekeep mcp` that has answered `initialize`; killed at the end."""
    process = subprocess.Popen(
        [*PROGRAM, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=home,
        env=environment(home, **more),
    )
    try:
        ask(process, INITIALIZE)
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def ask(process: subprocess.Popen[bytes], message: dict[str, Any]) -> dict[str, Any]:
    """The answer to one message."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines(message))
    process.stdin.flush()
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    assert answer["id"] == message["id"]
    return answer


def test_an_agent_makes_the_vectors_of_its_own_and_of_older_records(tmp_path: Path) -> None:
    """What `exec` left waiting and what the agent writes are embedded while the agent lives; its end is a clean one."""
    run(tmp_path, "exec", creates(0, 3, "left behind"), **HASHED)
    assert state(tmp_path) == (3, 0)
    with agent(tmp_path, **HASHED) as process:
        ask(process, call(1, creates(3, 4, "its own")))
        wait_until(lambda: state(tmp_path) == (0, 7), 20, "seven vectors")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=20) == 0


@pytest.mark.slow
def test_an_agent_that_was_killed_is_continued_by_another_one(tmp_path: Path) -> None:
    """About six seconds. Killed in the middle of the work: every text still waits or has its vector."""
    for first in (0, 100):
        run(tmp_path, "exec", "-", stdin=creates(first, 100, "word " * 800).encode(), **HASHED)
    with agent(tmp_path, **HASHED) as process:
        ask(process, call(1, "stats()"))
        wait_until(lambda: state(tmp_path)[1] > 0, 20, "the first vector")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    waiting, made = state(tmp_path)
    assert waiting + made == 200
    assert waiting > 0
    done = run(tmp_path, "doctor", "--json")
    assert json.loads(done.stdout)["ok"]
    # The lease of the killed agent ends by itself; the test does not wait for that.
    engine = SqliteEngine(database(tmp_path), OPTIONS)
    engine.start(threaded=False)
    engine.run_write(lambda tx: tx.run("UPDATE leases SET expires_at = 0"))
    engine.close()
    with agent(tmp_path, **HASHED) as process:
        ask(process, call(1, "stats()"))
        wait_until(lambda: state(tmp_path) == (0, 200), 40, "all vectors")


@pytest.mark.slow
def test_a_server_embeds_and_stops_in_order(tmp_path: Path) -> None:
    """About five seconds, with MiniLM. The vectors come, the stop is clean, and the lease is free afterwards."""
    with serving(tmp_path, HIVEKEEP_EMBEDDING_MODELS="minilm") as server:
        with httpx2.Client(base_url=server.url, headers=server.headers) as client:
            for number in range(5):
                body = {"kind": "concept", "name": f"thing {number}", "description": "memory " * 300}
                answer = client.post("/api/v1/verbs/create", json=body).json()
                assert answer["result"]["warnings"][0]["embedding_model"] == "minilm"
        wait_until(lambda: state(tmp_path) == (0, 5), 30, "five vectors")
        assert server.stop() == 0
    engine = SqliteEngine(database(tmp_path), OPTIONS, read_only=True)
    engine.start(threaded=False)
    with engine.read() as tx:
        assert tx.all("SELECT owner FROM leases WHERE name = 'embedding'") == [("",)]
    engine.close()


@pytest.mark.slow
def test_two_agents_share_the_work_and_do_none_of_it_twice(tmp_path: Path) -> None:
    """About five seconds. Both write and both would embed; every record has one vector and the queue is empty."""
    with agent(tmp_path, **HASHED) as one, agent(tmp_path, **HASHED) as two:
        for turn in range(5):
            for place, process in enumerate((one, two)):
                ask(process, call(turn + 1, creates(turn * 40 + place * 20, 20, "shared")))
        wait_until(lambda: state(tmp_path) == (0, 200), 40, "all vectors")


def test_initialize_and_a_first_call_import_no_model(tmp_path: Path) -> None:
    """With MiniLM registered `initialize` and a short create are answered without any of its libraries."""
    spy = "import sys, atexit; atexit.register(lambda: sys.stderr.write(' '.join(sorted(sys.modules))))"
    (tmp_path / "sitecustomize.py").write_text(spy)
    done = run(
        tmp_path,
        "mcp",
        stdin=lines(INITIALIZE),
        PYTHONPATH=str(tmp_path),
        HIVEKEEP_EMBEDDING_MODELS="minilm",
    )
    imported = set(done.stderr.decode().split())
    assert "hivekeep.doors.mcp" in imported
    assert {"numpy", "onnxruntime", "tokenizers", "hivekeep.search.embedders"} & imported == set()
    executed = run(
        tmp_path,
        "exec",
        'create(kind="concept", name="short")',
        PYTHONPATH=str(tmp_path),
        HIVEKEEP_EMBEDDING_MODELS="minilm",
    )
    imported = set(executed.stderr.decode().split())
    assert "hivekeep.search.embedders.minilm" in imported
    assert {"numpy", "onnxruntime", "tokenizers", "http.client", "hivekeep.jobs"} & imported == set()
