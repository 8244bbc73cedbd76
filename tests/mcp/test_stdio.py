"""`hivekeep mcp` as a process: what stands on its standard output, and how it ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hivekeep_contract.limits import RESPONSE_BUDGET_BYTES
from support.processes import PROGRAM, environment, lines, run

SESSION = "0a1b2c3d-0000-4000-8000-00000000000f"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


def call(request_id: int, ops: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": "request", "arguments": {"ops": ops, **arguments}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


def replies(output: bytes) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


def envelope(reply: dict[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(reply["result"]["content"][0]["text"])
    return told


def test_a_conversation_is_answered_line_by_line_and_ends_with_its_input(tmp_path: Path) -> None:
    """Each request has one line in order, notifications none; end of input ends the process with 0."""
    notes = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    talk = lines(INITIALIZE, notes, call(2, 'create(kind="concept", name="A")'), call(3, "stats()"))
    done = run(tmp_path, "mcp", stdin=talk)
    assert done.returncode == 0, done.stderr
    told = replies(done.stdout)
    assert [reply["id"] for reply in told] == [1, 2, 3]
    assert envelope(told[1])["summary"]["succeeded"] == 1
    assert envelope(told[2])["results"][0]["result"]["entities"] == 1


def test_the_caller_of_the_process_comes_from_its_options(tmp_path: Path) -> None:
    """--actor and --namespace are who asks; a variable is overruled by the option."""
    talk = lines(INITIALIZE, call(2, "whoami()", presentation="verbose"))
    done = run(tmp_path, "mcp", "--actor", "agent-a", "--namespace=team", stdin=talk, HIVEKEEP_ACTOR="other")
    who = envelope(replies(done.stdout)[1])["results"][0]["result"]
    assert (who["actor_id"], who["namespace"], who["unattributed"]) == ("agent-a", "team", False)


def test_a_variable_that_no_setting_has_is_told_after_initialize(tmp_path: Path) -> None:
    """initialize alone reads no setting and says nothing; what needs one does, on standard error only."""
    begun = run(tmp_path, "mcp", stdin=lines(INITIALIZE), HIVEKEEP_ACTR="x")
    assert (len(replies(begun.stdout)), begun.stderr) == (1, b"")
    talk = lines(INITIALIZE, call(2, "whoami()"), call(3, "whoami()"))
    done = run(tmp_path, "mcp", stdin=talk, HIVEKEEP_ACTR="x")
    assert len(replies(done.stdout)) == 3
    assert done.stderr.count(b"HIVEKEEP_ACTR (did you mean HIVEKEEP_ACTOR?)") == 1


def test_the_session_of_the_process_is_noted(tmp_path: Path) -> None:
    """The variable names it for every call of the process; whoami repeats it."""
    talk = lines(INITIALIZE, call(2, "whoami()", presentation="verbose"))
    done = run(tmp_path, "mcp", stdin=talk, HIVEKEEP_SESSION=SESSION)
    assert envelope(replies(done.stdout)[1])["results"][0]["result"]["session_id"] == SESSION


def test_a_read_only_process_refuses_to_write(tmp_path: Path) -> None:
    """--read-only serves reads with an advisory and refuses writes as unavailable."""
    run(tmp_path, "exec", 'create(kind="concept", name="A")')
    talk = lines(INITIALIZE, call(2, "stats()"), call(3, 'create(kind="concept", name="B")'))
    told = replies(run(tmp_path, "mcp", "--read-only", stdin=talk).stdout)
    read = envelope(told[1])["results"][0]
    assert read["ok"] is True
    assert [advisory["code"] for advisory in read["advisories"]] == ["audit_persistence_skipped_read_only"]
    assert envelope(told[2])["results"][0]["error"]["kind"] == "unavailable"


@pytest.mark.parametrize("line", [b"garbage", b"{", b'{"a": NaN}', b"\xff\xfe", b"[" * 200_000, b'"\\ud800"'])
def test_a_line_that_is_no_message_does_not_end_the_conversation(tmp_path: Path, line: bytes) -> None:
    """-32700 without an id, then the next line is served; blank lines are nothing."""
    ping = lines({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    done = run(tmp_path, "mcp", stdin=line + b"\n\n  \n" + ping)
    told = replies(done.stdout)
    assert (told[0]["id"], told[0]["error"]["code"]) == (None, -32700)
    assert told[1:] == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


def test_a_line_beyond_the_limit_is_thrown_away(tmp_path: Path) -> None:
    """A message larger than a response may be is -32600, and the one after it is served."""
    ping = lines({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    told = replies(run(tmp_path, "mcp", stdin=b" " * (RESPONSE_BUDGET_BYTES + 1) + b"\n" + ping).stdout)
    assert [reply.get("error", {}).get("code") for reply in told] == [-32600, None]


def test_a_last_line_without_an_end_is_served(tmp_path: Path) -> None:
    """Input that ends without a newline still asked its question."""
    told = replies(run(tmp_path, "mcp", stdin=lines({"jsonrpc": "2.0", "id": 2, "method": "ping"})[:-1]).stdout)
    assert [reply["id"] for reply in told] == [2]


def test_batches_follow_the_negotiated_revision(tmp_path: Path) -> None:
    """After 2025-03-26 was negotiated a batch is answered as a batch; after 2025-06-18 it is refused."""
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    old = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": "2025-03-26"}}  # type: ignore[dict-item]
    told = replies(run(tmp_path, "mcp", stdin=lines(old, [ping, {**ping, "id": 3}])).stdout)
    assert [reply["id"] for reply in told[1]] == [2, 3]
    told = replies(run(tmp_path, "mcp", stdin=lines(INITIALIZE, [ping])).stdout)
    assert told[1]["error"]["code"] == -32600


def test_nothing_but_the_protocol_reaches_standard_output(tmp_path: Path) -> None:
    """What a library prints while a call runs lands on standard error."""
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "sitecustomize.py").write_text(
        "import atexit, os\n"
        "import hivekeep.request.dsl as dsl\n"
        "parse = dsl.parse\n"
        "def loud(text):\n"
        "    print('printed'); os.write(1, b'written\\n')\n"
        "    return parse(text)\n"
        "dsl.parse = loud\n"
    )
    path = os.pathsep.join([str(noisy), *(part for part in [environment(tmp_path).get("PYTHONPATH")] if part)])
    done = run(tmp_path, "mcp", stdin=lines(INITIALIZE, call(2, "stats()")), PYTHONPATH=path)
    assert [reply["id"] for reply in replies(done.stdout)] == [1, 2]
    assert b"printed" in done.stderr
    assert b"written" in done.stderr


def test_an_unusable_setting_is_told_in_every_answer(tmp_path: Path) -> None:
    """The process answers initialize, then says in each call what is wrong with its settings."""
    talk = lines(INITIALIZE, call(2, "stats()"), call(3, "stats()"))
    told = replies(run(tmp_path, "mcp", stdin=talk, HIVEKEEP_STORAGE_SYNCHRONOUS="sometimes").stdout)
    assert told[0]["result"]["serverInfo"]["name"] == "hivekeep"
    for reply in told[1:]:
        assert reply["result"]["isError"] is True
        assert "HIVEKEEP_STORAGE_SYNCHRONOUS" in envelope(reply)["error"]["message"]


def test_an_unknown_option_is_a_usage_error(tmp_path: Path) -> None:
    """Status 2, the option named on standard error, nothing on standard output."""
    done = run(tmp_path, "mcp", "--databse", "x")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--databse" in done.stderr


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path: Path, stop: signal.Signals) -> None:
    """SIGTERM and SIGINT between two messages: status 0, and the store is closed (no write-ahead log is left)."""
    process = subprocess.Popen(
        [*PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(tmp_path), cwd=tmp_path
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(lines(INITIALIZE, call(2, 'create(kind="concept", name="A")')))
        process.stdin.flush()
        assert [json.loads(process.stdout.readline())["id"] for _ in range(2)] == [1, 2]
        process.send_signal(stop)
        assert process.wait(timeout=10) == 0
    left = {file.name for file in (tmp_path / ".local/share/hivekeep").iterdir()}
    assert left == {"hivekeep.db"}


def imported_by(tmp_path: Path, *messages: Any) -> set[str]:
    """The modules that a process has imported when it has answered the messages."""
    spy = "import sys, atexit; atexit.register(lambda: sys.stderr.write(' '.join(sorted(sys.modules))))"
    (tmp_path / "sitecustomize.py").write_text(spy)
    path = os.pathsep.join([str(tmp_path), *(part for part in [environment(tmp_path).get("PYTHONPATH")] if part)])
    done = run(tmp_path, "mcp", stdin=lines(*messages), PYTHONPATH=path)
    assert [reply["id"] for reply in replies(done.stdout)] == [message["id"] for message in messages]
    return set(done.stderr.decode().split())


def test_initialize_is_answered_before_anything_heavy_is_imported(tmp_path: Path) -> None:
    """Until its first answer the process has imported no store, no validator, no click, no HTTP and no TOML."""
    imported = imported_by(tmp_path, INITIALIZE)
    heavy = {"apsw", "peewee", "jsonschema_rs", "click", "falcon", "gunicorn", "uvicorn", "asyncio", "tomllib"}
    assert "hivekeep.doors.mcp" in imported
    assert imported & heavy == set()
    assert not [name for name in imported if name.startswith(("hivekeep.storage", "hivekeep.dispatch"))]


def test_a_verb_imports_nothing_of_the_gateway(tmp_path: Path) -> None:
    """A process that carries out verbs pays neither for runs and curated memory nor for the client of a server."""
    imported = imported_by(tmp_path, INITIALIZE, call(2, 'create(kind="concept", name="A")'))
    assert "hivekeep.packs.kg.create" in imported
    gateway = ("hivekeep.agent", "hivekeep.dispatch.gateway", "hivekeep_contract.gateway", "http.client")
    assert not [name for name in imported if name.startswith(gateway)]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_idle_process_opens_the_store_before_it_is_asked(tmp_path: Path) -> None:
    """After initialize, when the client pauses, the store is opened: the first call does not wait for it."""
    from support.processes import wait_until

    process = subprocess.Popen(
        [*PROGRAM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(tmp_path), cwd=tmp_path
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(lines(INITIALIZE))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        opened = tmp_path / ".local/share/hivekeep/hivekeep.db"
        wait_until(opened.exists, 10, "the store was opened")
        process.stdin.close()
        assert process.wait(timeout=10) == 0
