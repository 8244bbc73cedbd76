"""`hivekeep agent ... --spool` and `hivekeep agent flush`: writes that wait on disk for a server."""

import json
import shutil
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from hivekeep_contract.limits import SPOOL_ENTRIES_MAX
from support.processes import Serving, run, serving

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="serve is for Linux and macOS")

SECRET = "ghp_" + "a1B2" * 9
HINTS = {"taskType": "build", "target": "parser", "expected": "tests pass"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A home whose store has one active run and whose server has ended, and that run."""
    home = tmp_path_factory.mktemp("home")
    (home / "hints.json").write_text(json.dumps(HINTS))
    with serving(home) as server:
        options = ["--title", "build it", "--workspace", "w", "--hints", "hints.json", "--json"]
        run_id = json.loads(run(home, "agent", "open", *options).stdout)["data"]["runId"]
        assert server.stop() == 0
    return home, run_id


@pytest.fixture
def home(template: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(template[0], tmp_path / "home"))


@pytest.fixture
def run_id(template: tuple[Path, str]) -> str:
    return template[1]


@pytest.fixture
def server(home: Path) -> Iterator[Serving]:
    with serving(home) as started:
        yield started


def events(payload: Any, **more: Any) -> dict[str, Any]:
    return {"events": [{"eventType": "step.started", "actor": "me", "payload": payload}], **more}


def kept(home: Path, command: str, run_id: str, body: dict[str, Any], *options: str) -> CompletedProcess[bytes]:
    """A write with --spool."""
    arguments = ["agent", command, run_id, "--spool", "--input-json", "-", *options]
    return run(home, *arguments, stdin=json.dumps(body).encode())


def spool_of(home: Path) -> Path:
    (folder,) = (home / ".local/share/hivekeep/spool").iterdir()
    return folder


def names(home: Path) -> list[str]:
    """What is in the spool but its lock, by ending."""
    return sorted(file.suffix for file in spool_of(home).iterdir() if file.name != "lock")


def payloads(home: Path, run_id: str) -> list[Any]:
    """What the ledger holds behind the three events of the opening."""
    page = json.loads(run(home, "agent", "timeline", run_id, "--after", "3", "--json").stdout)
    return [event["payload"] for event in page["data"]["items"]]


def test_writes_wait_in_their_order_and_are_sent_once(home: Path, run_id: str) -> None:
    """Status 0 while they wait; with a server they are sent as they came, and a second flush has nothing to do."""
    for number in range(3):
        done = kept(home, "events", run_id, events(number))
        told = f"{number + 1} waiting (service unavailable: No server of this database is running.)\n"
        assert (done.returncode, done.stdout.decode()) == (0, told)
    assert kept(home, "close", run_id, {"status": "completed"}, "--json").stdout == (
        b'{"apiVersion":"1","ok":true,"operation":"agent.spool","data":{"waiting":4},"meta":{}}\n'
    )
    assert run(home, "agent", "flush").returncode == 6
    with serving(home):
        done = run(home, "agent", "flush", "--json")
        assert json.loads(done.stdout)["data"] == {"sent": 4}
        assert payloads(home, run_id) == [0, 1, 2, {"status": "completed"}]
        assert run(home, "agent", "flush").stdout == b"nothing waits\n"
    assert names(home) == []


def test_a_server_answers_a_kept_write_at_once(home: Path, run_id: str, server: Serving) -> None:
    """What waits of the run goes first; told is the answer to the write itself."""
    done = kept(home, "events", run_id, events("now"), "--json")
    assert (done.returncode, json.loads(done.stdout)["data"]["localSequences"]) == (0, [4])
    assert names(home) == []


def test_what_waits_of_the_run_goes_first(home: Path, run_id: str) -> None:
    """Also when only the later one is asked for; what waits of another run stays."""
    kept(home, "events", run_id, events("first"))
    kept(home, "events", "another", events("of another run"))
    with serving(home):
        done = kept(home, "events", run_id, events("second"), "--json")
        assert json.loads(done.stdout)["data"]["localSequences"] == [5]
        assert payloads(home, run_id) == ["first", "second"]
        assert names(home) == [".json"]


def test_a_write_whose_answer_was_lost_is_carried_out_once(home: Path, run_id: str) -> None:
    """The key is kept with it: the server answers the second time what it answered the first time."""
    body = events("once", idempotencyKey="the key")
    kept(home, "events", run_id, body)
    (file,) = spool_of(home).glob("*.json")
    copy = file.read_bytes()
    with serving(home):
        assert run(home, "agent", "flush").stdout == b"1 sent\n"
        file.write_bytes(copy)
        file.chmod(0o600)
        assert run(home, "agent", "flush").stdout == b"1 sent\n"
        assert payloads(home, run_id) == ["once"]


def test_what_waits_is_private_and_without_credentials(home: Path, run_id: str) -> None:
    """Folder 0700, files 0600; a credential is masked before it touches the disk."""
    kept(home, "events", run_id, events({"note": f"use {SECRET}"}))
    folder = spool_of(home)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert not [file for file in folder.iterdir() if SECRET.encode() in file.read_bytes()]


def test_a_credential_that_cannot_be_masked_is_not_kept(home: Path, run_id: str) -> None:
    """One in the name of a field: status 7, nothing waits."""
    done = kept(home, "events", run_id, events({SECRET: 1}))
    assert (done.returncode, done.stdout) == (7, b"")
    assert SECRET.encode() not in done.stderr
    assert names(home) == []


def test_a_write_that_is_refused_for_good_is_put_aside(home: Path, run_id: str) -> None:
    """It holds back nothing and is not lost: status 9, and the file stays with another ending."""
    kept(home, "events", run_id, {"events": []})
    kept(home, "events", run_id, events("good"))
    with serving(home):
        done = run(home, "agent", "flush", "--json")
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["code"]) == (9, "PARTIAL_FAILURE")
        assert f"1 sent; agent.events of {run_id} was refused (VALIDATION_ERROR)" in done.stderr.decode()
        assert payloads(home, run_id) == ["good"]
        assert names(home) == [".refused"]
        assert run(home, "agent", "flush").stdout == b"nothing waits\n"


def test_the_spool_is_bounded(home: Path, run_id: str) -> None:
    """Status 6 when as many wait as may wait; what waits stays as it is."""
    kept(home, "events", run_id, events(0))
    (first,) = spool_of(home).glob("*.json")
    for number in range(2, SPOOL_ENTRIES_MAX + 1):
        (first.parent / f"{number:012}-0000000000000000.refused").touch()
    done = kept(home, "events", run_id, events(1))
    assert (done.returncode, done.stdout) == (6, b"")
    assert b"no more may wait" in done.stderr
    assert [file.name for file in spool_of(home).glob("*.json")] == [first.name]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version":2}', "[" * 5000])
def test_a_file_that_is_none_of_ours_is_not_sent(home: Path, run_id: str, text: str, server: Serving) -> None:
    """Status 6 and the name of the file; nothing is lost."""
    kept(home, "events", run_id, events(0))
    file = spool_of(home) / "000000000001-0000000000000000.json"
    file.write_text(text)
    file.chmod(0o600)
    done = run(home, "agent", "flush")
    assert (done.returncode, file.name in done.stderr.decode(), file.read_text()) == (6, True, text)


def test_only_writes_whose_answer_nobody_needs_may_wait(home: Path, run_id: str) -> None:
    """An opening, an answer and a checkpoint are asked for what they answer."""
    for command in (["open", "--title", "t"], ["answer", run_id, "--question", "target", "--value", "v"]):
        assert run(home, "agent", *command, "--spool").returncode == 2
    assert kept(home, "checkpoint", run_id, {"currentStep": "s"}).returncode == 2
