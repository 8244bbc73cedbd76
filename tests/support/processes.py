"""hivekeep as its users run it: real processes in a home of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

PROGRAM = [sys.executable, "-m", "hivekeep"]
START_TIMEOUT_S = 20.0


def environment(home: Path, **more: str) -> dict[str, str]:
    """Variables of a process whose database, configuration and runtime files are all below `home`.

    It has no embedder unless HIVEKEEP_EMBEDDING_MODELS names one.
    """
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    # A relative search path would mean another folder in a process that starts elsewhere.
    if "PYTHONPATH" in kept:
        kept["PYTHONPATH"] = os.pathsep.join(str(Path(part).resolve()) for part in kept["PYTHONPATH"].split(os.pathsep))
    ours = {"HIVEKEEP_RUNTIME_DIR": str(home / "run"), "HIVEKEEP_EMBEDDING_MODELS": "none"}
    return {**kept, "HOME": str(home), **ours, **more}


def run(home: Path, *arguments: str, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[bytes]:
    """Run one command to its end in `home`."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=stdin,
        capture_output=True,
        cwd=home,
        env=environment(home, **more),
        timeout=60,
        check=False,
    )


class Serving(NamedTuple):
    """A server that is ready: its process, its descriptor file and what that says."""

    process: subprocess.Popen[bytes]
    descriptor_file: Path
    descriptor: dict[str, Any]

    @property
    def url(self) -> str:
        """The address of the server, without a trailing slash."""
        return str(self.descriptor["baseUrl"])

    @property
    def headers(self) -> dict[str, str]:
        """The header that lets a request in."""
        return {"Authorization": f"Bearer {self.descriptor['capabilityToken']}"}

    def workers(self) -> list[int]:
        """Process ids of the master's children (Linux)."""
        pid = self.process.pid
        return [int(text) for text in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def stop(self) -> int:
        """Ask the server to end and give its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


@contextmanager
def serving(home: Path, *arguments: str, command: str = "serve", **more: str) -> Iterator[Serving]:
    """A server of the default database of `home`; whatever is left of it is killed at the end."""
    process = subprocess.Popen(
        [*PROGRAM, command, *arguments],
        stdout=subprocess.PIPE,
        stderr=(home / "serve.log").open("ab"),
        cwd=home,
        env=environment(home, **more),
        start_new_session=True,
    )
    try:
        file = home / "run" / "server.json"
        assert process.stdout is not None
        if not process.stdout.readline():
            process.wait(timeout=START_TIMEOUT_S)
            raise AssertionError(f"the server did not start: {(home / 'serve.log').read_text()}")
        yield Serving(process, file, json.loads(file.read_text()))
    finally:
        # The group also holds a worker whose master was killed.
        if process.poll() is None or group_lives(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)
        assert process.stdout is not None
        process.stdout.close()


def group_lives(group: int) -> bool:
    """Whether any process of a process group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(is_true: Callable[[], bool], timeout_s: float, what: str) -> float:
    """Seconds until `is_true()` held; fails after `timeout_s`."""
    began = time.monotonic()
    while not is_true():
        waited = time.monotonic() - began
        assert waited < timeout_s, f"{what} did not happen within {timeout_s} s"
        time.sleep(0.02)
    return time.monotonic() - began


def lines(*messages: object) -> bytes:
    """Messages as lines of the stdio transport."""
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)
