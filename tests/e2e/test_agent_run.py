"""The example of the gateway, run as a reader runs it: a process of its own, a real server, lines of a person."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest

from support.processes import Serving, environment, run, serving

ROOT = Path(__file__).resolve().parents[2]
ROOMY = {"HIVEKEEP_STORAGE_DISK_RESERVE_BYTES": "0"}
PASSES, FAILS = ("-c", "pass"), ("-c", "raise SystemExit(3)")
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Serving]:
    """A server of a fresh store."""
    with serving(tmp_path, **ROOMY) as running:
        yield running


def example(home: Path, said: str, task: str, *check: str) -> subprocess.CompletedProcess[str]:
    """One run of the example in the workspace `parser`, with what the person says, and Python as the check."""
    # The example finds the server by the command, so the command must be on the path.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    program = [sys.executable, str(ROOT / "examples/agent_run.py"), task, "--workspace", "parser", "--"]
    return subprocess.run(
        [*program, *check],
        input=said,
        env=environment(home, PATH=path),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def timeline(server: Serving) -> tuple[str, list[str]]:
    """Status and event types of the newest run of the workspace."""
    runs = f"{server.url}/api/v1/agent/runs"
    page = httpx.get(runs, params={"workspace": "parser"}, headers=server.headers).json()["data"]
    newest = page["items"][0]
    events = httpx.get(f"{runs}/{newest['runId']}/events", headers=server.headers).json()["data"]["items"]
    return newest["status"], [event["eventType"] for event in events]


def test_what_one_run_learned_the_next_one_is_told(server: Serving, tmp_path: Path) -> None:
    """The first run keeps a lesson as a candidate; the second is given it, judges it and closes as completed."""
    learn = "the parser\nits tests pass\nThe parser tests need LC_ALL=C\nThey sort by code point.\n"
    first = example(tmp_path, learn, "Mend the parser tests", sys.executable, *PASSES)
    assert (first.returncode, first.stderr) == (0, "")
    assert UUID.sub("ID", first.stdout.splitlines()[-1]) == "kept as candidate ID"

    entry = first.stdout.split()[-1]
    unused = run(tmp_path, "curated", "show", entry).stdout.decode()
    assert "delivered" not in unused
    use = "the parser\nits tests pass\nhelpful\n\n"
    second = example(tmp_path, use, "Mend the parser tests again", sys.executable, *PASSES)
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout.splitlines()[2:] == [
        "from the memory, to be checked: The parser tests need LC_ALL=C: They sort by code point.",
        "the check passed; evidence: fresh",
        "advice: The client does not report everything that it does. The ledger of this run is no complete transcript.",
        "Was it helpful, irrelevant, stale, conflicting? The parser tests need LC_ALL=C",
        "What should the next run know?",
    ]
    assert timeline(server) == (
        "completed",
        [
            "intake.started",
            "intake.answered",
            "intake.answered",
            "intake.ready",
            "run.started",
            "command.started",
            "test.completed",
            "step.started",
            "run.closed",
        ],
    )

    told = run(tmp_path, "curated", "show", entry).stdout.decode().splitlines()
    assert told[5] == "  delivered 1 time, to 1 run, helpful 1"


def test_a_person_who_knows_nothing_and_a_check_that_fails(server: Serving, tmp_path: Path) -> None:
    """No answer is invented: the intake is exhausted, the run ends as failed, the example with status 1."""
    done = example(tmp_path, "", "Mend the parser tests", sys.executable, *FAILS)
    assert (done.returncode, done.stderr) == (1, "")
    assert "the check failed; evidence: failed" in done.stdout.splitlines()
    status, types = timeline(server)
    assert (status, types[3]) == ("failed", "intake.exhausted")


def test_a_check_that_cannot_run_leaves_no_open_run(server: Serving, tmp_path: Path) -> None:
    """The run is closed as interrupted, and the example says what is missing."""
    done = example(tmp_path, "", "Mend the parser tests", str(tmp_path / "absent"))
    assert done.returncode == 2
    assert done.stderr == f"[Errno 2] No such file or directory: '{tmp_path / 'absent'}'\n"
    status, types = timeline(server)
    assert (status, types[-2:]) == ("interrupted", ["command.started", "run.closed"])


def test_without_a_server_the_example_says_so(tmp_path: Path) -> None:
    """The command that names the descriptor tells why it cannot."""
    done = example(tmp_path, "", "Mend the parser tests", sys.executable, *PASSES)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "hivekeep: service unavailable: No server of this database is running.\n"


def test_the_command_names_the_descriptor_of_the_running_server(server: Serving, tmp_path: Path) -> None:
    """`hivekeep server descriptor` prints its path and nothing of what is in it; status 6 for another database."""
    done = run(tmp_path, "server", "descriptor")
    assert (done.returncode, done.stdout.decode()) == (0, f"{server.descriptor_file}\n")
    assert json.loads(server.descriptor_file.read_text())["baseUrl"] == server.url
    other = run(tmp_path, "server", "descriptor", "--db", str(tmp_path / "other.db"))
    assert (other.returncode, other.stdout) == (6, b"")


def test_a_write_is_sent_again_under_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a lost answer, and after one that the server is busy; what is refused for good is not sent again."""
    spec = importlib.util.spec_from_file_location("agent_run", ROOT / "examples/agent_run.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    monkeypatch.setattr(example, "WAITS_S", (0, 0, 0))
    busy = {"ok": False, "error": {"code": "BACKPRESSURE", "message": "busy", "details": {"retryAfterSeconds": 1}}}
    closed = {"ok": False, "error": {"code": "CONFLICT", "message": "", "details": {"reason": "run_closed"}}}
    answers = [None, busy, {"ok": True, "data": {"runId": "r"}}, closed]
    keys = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            keys.append(self.headers["Idempotency-Key"])
            self.rfile.read(int(self.headers["Content-Length"]))
            answer = answers[len(keys) - 1]
            if answer is None:
                return
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        descriptor = tmp_path / "server.json"
        url = f"http://127.0.0.1:{server.server_address[1]}"
        descriptor.write_text(json.dumps({"baseUrl": url, "capabilityToken": "t"}))
        gateway = example.Gateway(descriptor)
        assert gateway.write("") == {"runId": "r"}
        with pytest.raises(example.RefusedError, match=r"^CONFLICT run_closed$"):
            gateway.write("/r/close")
        server.shutdown()
    assert (keys[0] == keys[1] == keys[2], keys[3] != keys[0], len(keys)) == (True, True, 4)
