"""A validated read over HTTP, against FastAPI doing the same: body, query, event row, worker, clients.

Both sides run under gunicorn with one uvicorn worker; the load comes from a third process with keep-alive
connections. What the HTTP parser of uvicorn costs is paid by both.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

from benchmarks.floor import Ours, create_op, samples
from benchmarks.measure import Result, faster, pairs
from hivekeep.doors import descriptor

TARGET = 2.0
CASES = (("/get", "handler in a thread"), ("/get_on_the_loop", "handler on the loop"))
"""Routes of the floor: as FastAPI's documentation asks for a blocking library, and the faster way it warns of."""

CONNECTIONS = 16
SECONDS = 1.5
"""Length of one run."""

START_WAIT_S = 30.0


class _Server:
    """A gunicorn in a process of its own, and how its route is asked."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def first_line(self) -> str:
        """The line that a server prints when it is ready."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode()

    def stop(self) -> None:
        """End the master, which ends its worker."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


class _Target:
    """One request to one server."""

    def __init__(self, port: int, path: str, body: str, headers: dict[str, str]) -> None:
        self.port = port
        self.path = path
        self.body = body
        self.headers = {"Content-Type": "application/json", **headers}

    def wait(self) -> None:
        """Return when the route answers; raises after START_WAIT_S seconds."""
        deadline = time.monotonic() + START_WAIT_S
        request = Request(f"http://127.0.0.1:{self.port}{self.path}", self.body.encode(), self.headers, method="POST")
        while True:
            try:
                with urlopen(request, timeout=5) as answer:
                    answer.read()
                return
            except URLError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def load(self) -> float:
        """Keep the server busy for SECONDS; seconds for one request."""
        headers = {"Host": f"127.0.0.1:{self.port}", **self.headers, "Content-Length": str(len(self.body))}
        head = "\r\n".join([f"POST {self.path} HTTP/1.1", *(f"{key}: {text}" for key, text in headers.items())])
        order = {
            "port": self.port,
            "head": head,
            "body": self.body,
            "connections": CONNECTIONS,
            "seconds": SECONDS,
        }
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.load"],
            input=json.dumps(order),
            capture_output=True,
            text=True,
            check=True,
        )
        counted = json.loads(done.stdout)
        return float(counted["seconds"] / counted["requests"])


def run(count: int) -> list[Result]:
    """How many times as many reads a second as FastAPI."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-bench-") as folder:
        path = Path(folder) / "bench.db"
        ours = Ours(path, "full")
        record = str(ours.call(create_op(samples(1, seed=4)[0]))["id"])
        ours.close()
        body = json.dumps({"id": record})
        fastapi, served = _start_fastapi(folder, path), _start_ours(folder, path)
        try:
            target = _our_target(served, Path(folder), body)
            target.wait()
            results = [_against(_fastapi_target(fastapi, path, body), target, case, count) for path, case in CASES]
        finally:
            fastapi[0].stop()
            served.stop()
    return results


def _against(floor: _Target, target: _Target, case: str, count: int) -> Result:
    floor.wait()
    return faster("http", f"get, {CONNECTIONS} connections, {case}", pairs(floor.load, target.load, count), TARGET)


def _start_fastapi(folder: str, path: Path) -> tuple[_Server, int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [sys.executable, "-m", "gunicorn", "benchmarks.fastapi_app:app", "--workers", "1"]
    command += ["--worker-class", "uvicorn_worker.UvicornWorker", "--bind", f"127.0.0.1:{port}"]
    command += ["--keep-alive", "75", "--no-control-socket"]
    # A copy of the database: each side writes its own events.
    copy = Path(folder) / "fastapi.db"
    copy.write_bytes(path.read_bytes())
    return _Server(command, {"BENCH_DB": str(copy)}), port


def _fastapi_target(server: tuple[_Server, int], path: str, body: str) -> _Target:
    return _Target(server[1], path, body, {})


def _start_ours(folder: str, path: Path) -> _Server:
    command = [sys.executable, "-m", "hivekeep", "serve", "--db", str(path), "--json"]
    return _Server(command, {"HIVEKEEP_RUNTIME_DIR": folder})


def _our_target(server: _Server, folder: Path, body: str) -> _Target:
    server.first_line()
    (path,) = folder.glob("server*.json")
    written = descriptor.read(path)
    if written is None:
        raise RuntimeError(f"the server left no descriptor in {path}")
    port = int(written.base_url.rpartition(":")[2])
    headers = {"Authorization": f"Bearer {written.capability_token}"}
    return _Target(port, "/api/v1/verbs/get", body, headers)
