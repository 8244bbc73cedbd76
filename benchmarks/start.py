"""How long a client waits for the answer to `initialize`, and what the waiting process weighs.

The floor is a Python that imports json, reads one line and answers it: what starting any Python costs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import Result, pairs, slower

TIME_TARGET = 4.0
MEMORY_TARGET_MB = 40.0

WITHOUT_MODEL = {"HIVEKEEP_EMBEDDING_MODELS": "none"}
"""A model that is loaded behind the first write would be most of what is weighed."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
FIRST_CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "request", "arguments": {"ops": 'create(kind="concept", name="first")'}},
}
BARE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    reply = {"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": "2025-06-18"}}
    sys.stdout.write(json.dumps(reply) + "\\n")
    sys.stdout.flush()
"""


class _Process:
    """A server on standard input and output, and the moment it was started."""

    def __init__(self, command: list[str]) -> None:
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command, env={**os.environ, **WITHOUT_MODEL}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def ask(self, message: dict[str, object]) -> float:
        """Send a message; seconds since the start when its answer was read."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        if answer["id"] != message["id"] or "result" not in answer:
            raise RuntimeError(f"not an answer to {message['method']}: {answer}")
        return time.perf_counter() - self.started

    def memory_mb(self) -> float:
        """Resident memory now, in MB of 1,000,000 bytes."""
        shown = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(self._process.pid)], capture_output=True, text=True, check=True
        )
        return int(shown.stdout) * 1024 / 1e6

    def end(self) -> None:
        """Close the input, which ends the server."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


def run(count: int) -> list[Result]:
    """Time to the answer of `initialize`, memory then, and memory after the first operation."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        ours = [sys.executable, "-m", "hivekeep", "mcp", "--db", str(Path(folder) / "bench.db")]
        bare = [sys.executable, "-c", BARE]
        measured = pairs(lambda: _first_answer(bare), lambda: _first_answer(ours), count)
        waiting, working = _memory(ours)
    return [
        slower("start", "initialize over stdio", measured, TIME_TARGET),
        _weight("memory after initialize", waiting, MEMORY_TARGET_MB),
        _weight("memory after a create", working, None),
    ]


def _first_answer(command: list[str]) -> float:
    process = _Process(command)
    seconds = process.ask(INITIALIZE)
    process.end()
    return seconds


def _memory(command: list[str]) -> tuple[float, float]:
    process = _Process(command)
    process.ask(INITIALIZE)
    waiting = process.memory_mb()
    process.ask(FIRST_CALL)
    working = process.memory_mb()
    process.end()
    return waiting, working


def _weight(case: str, megabytes: float, target: float | None) -> Result:
    shown = f"{megabytes:.1f} MB"
    return Result("start", case, None, megabytes, "MB", megabytes, shown, "at most", target)
