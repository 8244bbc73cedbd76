"""`hivekeep serve` as processes: descriptor, lock, one worker, and what is left after each way to end."""

import hashlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from hivekeep_contract.settings import SETTINGS
from support.answering import PROVED, answering, json_response
from support.processes import PROGRAM, Serving, environment, group_lives, run, serving, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="serve is for Linux and macOS")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

DATABASE = ".local/share/hivekeep/hivekeep.db"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Serving]:
    """One server for the tests that leave it as it is."""
    with serving(home) as started:
        yield started


def failure(operation: str, code: str, message: str, reason: str) -> dict[str, Any]:
    """The failure envelope of a command."""
    error = {"code": code, "message": message, "details": {"reason": reason}}
    return {"apiVersion": "1", "ok": False, "operation": operation, "error": error}


def left_behind(home: Path, *, pid: int, port: int) -> dict[str, Any]:
    """A descriptor of the default database of `home` whose server is gone; its public fields."""
    told = {
        "protocolVersion": "1",
        "instanceId": "9db04e4d-cd93-4f26-b8f3-8dbd719ce4a8",
        "pid": pid,
        "baseUrl": f"http://127.0.0.1:{port}",
        "databaseFingerprint": f"sha256:{digest_of(home / DATABASE)}",
        "startedAt": "2026-01-02T03:04:05.678Z",
    }
    (home / "run").mkdir(mode=0o700)
    file = home / "run" / "server.json"
    file.write_text(json.dumps({**told, "capabilityToken": "ab" * 32}))
    file.chmod(0o600)
    return told


def digest_of(database: Path) -> str:
    return hashlib.sha256(os.fsencode(database.resolve())).hexdigest()


def port_of(server: Serving) -> int:
    port = urlsplit(server.url).port
    assert port is not None
    return port


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class TestDescriptor:
    def test_it_has_seven_fields_and_a_private_mode(self, home: Path, server: Serving) -> None:
        """Mode 0600 in a 0700 directory, the fields of the gateway, the master's pid, the real port."""
        told = server.descriptor
        assert set(told) == {
            "protocolVersion",
            "instanceId",
            "pid",
            "baseUrl",
            "databaseFingerprint",
            "startedAt",
            "capabilityToken",
        }
        assert (told["protocolVersion"], told["pid"]) == ("1", server.process.pid)
        assert len(told["capabilityToken"]) == 64
        assert told["baseUrl"] == f"http://127.0.0.1:{port_of(server)}"
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", told["startedAt"])
        assert stat.S_IMODE(server.descriptor_file.stat().st_mode) == 0o600
        assert stat.S_IMODE(server.descriptor_file.parent.stat().st_mode) == 0o700
        ready = httpx.get(f"{server.url}/health/ready", headers=server.headers)
        assert (ready.json(), ready.headers["Hivekeep-Instance"]) == ({"ok": True}, told["instanceId"])
        live = httpx.get(f"{server.url}/health/live", headers=server.headers)
        stranger = httpx.get(f"{server.url}/health/ready")
        assert "Hivekeep-Instance" not in {*live.headers, *stranger.headers}

    def test_the_lock_tells_who_holds_it(self, home: Path, server: Serving) -> None:
        """Instance and process as one line of JSON, mode 0600, named by the digest of the database's path."""
        digest = server.descriptor["databaseFingerprint"].removeprefix("sha256:")
        assert digest == digest_of(home / DATABASE)
        lock = home / "run" / f"{digest}.lock"
        told = {"instanceId": server.descriptor["instanceId"], "pid": server.process.pid}
        assert lock.read_text() == json.dumps(told) + "\n"
        assert stat.S_IMODE(lock.stat().st_mode) == 0o600

    def test_status_tells_all_but_the_token(self, home: Path, server: Serving) -> None:
        """`server status --json` prints running, not stale, and six fields."""
        done = run(home, "server", "status", "--json")
        told = json.loads(done.stdout)
        assert (done.returncode, told["running"], told["stale"]) == (0, True, False)
        assert told["descriptor"] == {
            key: value for key, value in server.descriptor.items() if key != "capabilityToken"
        }
        assert server.descriptor["capabilityToken"].encode() not in done.stdout + done.stderr

    def test_the_token_is_in_no_argument_and_no_log(self, home: Path, server: Serving) -> None:
        """Neither the command line of a process nor standard error shows it."""
        token = server.descriptor["capabilityToken"].encode()
        assert token not in (home / "serve.log").read_bytes()
        for pid in (server.process.pid, *server.workers()) if sys.platform == "linux" else ():
            assert token not in Path(f"/proc/{pid}/cmdline").read_bytes()


class TestOneServer:
    def test_a_second_one_is_refused_and_the_first_untouched(self, home: Path, server: Serving) -> None:
        """Status 5, one line, nothing on standard output; also through another name of the same file."""
        link = home / "other-name.db"
        if not link.exists():
            link.symlink_to(home / DATABASE)
        for arguments in ((), ("--db", str(link))):
            done = run(home, "serve", *arguments)
            assert (done.returncode, done.stdout) == (5, b"")
            assert done.stderr == b"hivekeep: a server of this database is already running\n"
        told = json.loads(run(home, "web", "--json", "--port", "0").stdout)
        assert told == failure("web", "CONFLICT", "conflicts with current state", "server_running")
        assert json.loads(server.descriptor_file.read_text()) == server.descriptor
        assert httpx.get(f"{server.url}/health/live").json() == {"ok": True}

    def test_another_database_has_a_server_of_its_own(self, home: Path, server: Serving) -> None:
        """It is found under a name made of its path, and both answer."""
        process = subprocess.Popen(
            [*PROGRAM, "serve", "--json", "--db", str(home / "second.db")],
            stdout=subprocess.PIPE,
            env=environment(home),
            cwd=home,
        )
        with process:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            assert (told["ok"], told["operation"], told["data"]["status"]) == (True, "serve", "running")
            digest = told["data"]["descriptor"]["databaseFingerprint"].removeprefix("sha256:")
            assert (home / "run" / f"server-{digest[:12]}.json").is_file()
            assert httpx.get(f"{told['data']['url']}/health/live").json() == {"ok": True}
            assert "capabilityToken" not in told["data"]["descriptor"]
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0

    def test_of_several_starts_at_once_one_succeeds(self, tmp_path: Path) -> None:
        """The others end with status 5, and the descriptor is that of the one."""
        starts = [
            subprocess.Popen(
                [*PROGRAM, "serve", "--json"],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(tmp_path),
                cwd=tmp_path,
            )
            for _ in range(3)
        ]
        outcomes = {}
        for process in starts:
            assert process.stdout is not None
            outcomes[process.pid] = json.loads(process.stdout.readline())
        (running,) = [pid for pid, told in outcomes.items() if told["ok"]]
        try:
            told = json.loads((tmp_path / "run" / "server.json").read_text())
            assert told["pid"] == running
            refused = [process.wait(timeout=30) for process in starts if process.pid != running]
            assert refused == [5, 5]
        finally:
            os.kill(running, signal.SIGTERM)
            for process in starts:
                process.wait(timeout=30)
                assert process.stdout is not None
                process.stdout.close()

    @linux_only
    def test_signals_for_more_workers_change_nothing(self, server: Serving) -> None:
        """SIGTTIN, SIGTTOU and SIGUSR2 leave one master with one worker."""
        before = server.workers()
        assert len(before) == 1
        for asked in (signal.SIGTTIN, signal.SIGTTOU, signal.SIGUSR2):
            server.process.send_signal(asked)
        answers = [httpx.get(f"{server.url}/health/live").status_code for _ in range(30)]
        assert answers == [200] * 30
        assert server.workers() == before

    def test_other_processes_write_beside_it(self, home: Path, server: Serving) -> None:
        """What `exec` writes the server reads, and the other way round."""
        done = run(home, "exec", 'create(kind="concept", name="from exec")')
        made = json.loads(done.stdout)["results"][0]["result"]
        read = httpx.post(f"{server.url}/api/v1/verbs/get", json={"id": made["id"]}, headers=server.headers)
        assert read.json()["result"]["name"] == "from exec"


class TestStart:
    @pytest.mark.parametrize("host", ["0.0.0.0", "192.168.0.1", "example.org"])
    def test_only_loopback_is_listened_on(self, tmp_path: Path, host: str) -> None:
        """Any other host is a validation error before anything is created, also for `web` and from the environment."""
        for arguments, more in (
            (["serve", "--host", host], {}),
            (["web", "--host", host], {}),
            (["serve"], {"HIVEKEEP_SERVE_HOST": host}),
        ):
            done = run(tmp_path, *arguments, **more)
            assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (3, b"", 1)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("port", ["-1", "65536", "0x50", "http"])
    def test_only_a_port_is_listened_on(self, tmp_path: Path, port: str) -> None:
        """A whole number from 0 to 65535; anything else is a validation error, told in one envelope with --json."""
        done = run(tmp_path, "serve", "--json", f"--port={port}")
        told = failure("serve", "VALIDATION_ERROR", "invalid request", "bad_setting")
        assert (done.returncode, json.loads(done.stdout), done.stdout.count(b"\n")) == (3, told, 1)
        assert list(tmp_path.iterdir()) == []

    def test_an_option_that_does_not_exist_is_a_usage_error(self, tmp_path: Path) -> None:
        """Status 2, with one envelope when it was asked for."""
        for arguments, operation in ((["serve"], "serve"), (["web"], "web"), (["server", "status"], "server.status")):
            done = run(tmp_path, *arguments, "--json", "--nonsense")
            told = failure(operation, "USAGE_ERROR", "invalid request", "bad_usage")
            assert (done.returncode, json.loads(done.stdout)) == (2, told)
        assert run(tmp_path, "serve", "--nonsense").stdout == b""

    def test_a_descriptor_open_to_others_is_refused(self, tmp_path: Path) -> None:
        """A file of mode 0644 in its place stops the start: status 7, the file is left as it was."""
        (tmp_path / "run").mkdir(mode=0o700)
        file = tmp_path / "run" / "server.json"
        file.write_text("{}")
        file.chmod(0o644)
        done = run(tmp_path, "serve")
        assert (done.returncode, file.read_text()) == (7, "{}")

    def test_a_descriptor_that_is_none_is_refused(self, tmp_path: Path) -> None:
        """Somebody else's file in its place is not overwritten: status 3; nothing else is left behind."""
        (tmp_path / "run").mkdir(mode=0o700)
        file = tmp_path / "run" / "server.json"
        file.write_text("{}")
        file.chmod(0o600)
        for arguments in (["serve"], ["server", "status"]):
            done = run(tmp_path, *arguments)
            assert (done.returncode, done.stdout, file.read_text()) == (3, b"", "{}")
        assert [found.name for found in tmp_path.iterdir()] == ["run"]

    def test_the_descriptor_of_a_reused_process_id_is_overwritten(self, tmp_path: Path) -> None:
        """A process of its number lives and answers, even as a web server would, and is not ours."""
        with answering({"GET /health/live": json_response(200, {"ok": True})}) as program:
            stale = left_behind(tmp_path, pid=os.getpid(), port=program.port)
            told = json.loads(run(tmp_path, "server", "status", "--json").stdout)
            assert told == {"running": False, "stale": True, "descriptor": stale}
            with serving(tmp_path) as server:
                assert server.descriptor["instanceId"] != stale["instanceId"]
                assert server.stop() == 0

    def test_a_server_whose_lock_was_deleted_is_not_joined_by_another(self, tmp_path: Path) -> None:
        """A tidied runtime folder lets a second one lock; the first still answers, so the second is refused."""
        with serving(tmp_path) as server:
            (lock,) = (tmp_path / "run").glob("*.lock")
            lock.unlink()
            done = run(tmp_path, "serve")
            assert (done.returncode, done.stderr) == (5, b"hivekeep: a server of this database is already running\n")
            assert json.loads(run(tmp_path, "server", "status", "--json").stdout)["running"] is True
            assert json.loads(server.descriptor_file.read_text()) == server.descriptor

    def test_a_server_that_came_up_meanwhile_is_seen_once_we_listen(self, tmp_path: Path) -> None:
        """Both passed the first look, and the lock of the other was deleted: the second look refuses; status 5."""
        ready = json_response(200, {"ok": True}, Hivekeep_Instance="9db04e4d-cd93-4f26-b8f3-8dbd719ce4a8")
        with answering({**PROVED, "GET /health/ready": ready}) as program:
            left_behind(tmp_path, pid=os.getpid(), port=program.port)
            file = tmp_path / "run" / "server.json"
            hidden = file.rename(tmp_path / "hidden.json")
            script = (
                "import pathlib, sys\n"
                "from hivekeep.cli import commands\n"
                "from hivekeep.doors import serve\n"
                "serve._prepare_store = lambda _settings: pathlib.Path(sys.argv[1]).rename(sys.argv[2])\n"
                "commands.hivekeep(['serve', '--json'])\n"
            )
            done = subprocess.run(
                [sys.executable, "-c", script, str(hidden), str(file)],
                capture_output=True,
                cwd=tmp_path,
                env=environment(tmp_path),
                timeout=60,
                check=False,
            )
            told = failure("serve", "CONFLICT", "conflicts with current state", "server_running")
            assert (done.returncode, json.loads(done.stdout)) == (5, told)
            assert json.loads(file.read_text())["baseUrl"] == f"http://127.0.0.1:{program.port}"
            assert program.lines() == ["GET /health/live", "GET /health/ready"]

    def test_the_server_of_another_default_database_stays_reachable(self, tmp_path: Path) -> None:
        """Two homes that share a runtime folder: the second would take the descriptor of the first away."""
        other = tmp_path / "other"
        other.mkdir()
        shared = str(tmp_path / "run")
        with serving(tmp_path) as server:
            done = run(other, "serve", HIVEKEEP_RUNTIME_DIR=shared)
            assert (done.returncode, done.stdout) == (5, b"")
            assert b"another database; give this one its own runtime.dir" in done.stderr
            assert json.loads(server.descriptor_file.read_text()) == server.descriptor
            told = run(other, "server", "status", "--json", HIVEKEEP_RUNTIME_DIR=shared)
            assert json.loads(told.stdout) == {"running": False, "stale": False}
            with serving(other) as second:
                assert second.stop() == 0

    def test_a_symbolic_link_is_refused(self, tmp_path: Path) -> None:
        """A link in the descriptor's place is not followed: status 7, its target is untouched."""
        (tmp_path / "run").mkdir(mode=0o700)
        target = tmp_path / "target"
        target.write_text("mine")
        (tmp_path / "run" / "server.json").symlink_to(target)
        assert run(tmp_path, "serve").returncode == 7
        assert target.read_text() == "mine"

    def test_a_database_that_cannot_be_opened_is_told_before_listening(self, tmp_path: Path) -> None:
        """A file that is no database: status 6, one line, no descriptor and no lock are left."""
        (tmp_path / "text.db").write_text("this is no database" * 100)
        done = run(tmp_path, "serve", "--db", "text.db")
        assert (done.returncode, done.stdout) == (6, b"")
        assert done.stderr.startswith(b"hivekeep: ")
        assert done.stderr.count(b"\n") == 1
        assert list((tmp_path / "run").iterdir()) == []

    def test_the_port_can_be_chosen(self, tmp_path: Path) -> None:
        """--port and --host localhost are what the descriptor says."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with serving(tmp_path, "--host", "localhost", "--port", str(port)) as server:
            assert server.url == f"http://localhost:{port}"
            assert httpx.get(f"http://127.0.0.1:{port}/health/live").json() == {"ok": True}

    def test_web_is_the_same_server_on_a_port_of_its_own(self, tmp_path: Path) -> None:
        """Its first page leads to the reference, which has the API; a second server of either name is refused."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with serving(tmp_path, command="web", HIVEKEEP_WEB_PORT=str(port)) as server:
            assert server.url == f"http://127.0.0.1:{port}"
            page = httpx.get(f"{server.url}/", follow_redirects=True)
            assert (page.status_code, page.url.path) == (200, "/docs")
            assert "/api/v1/request" in page.text
            assert run(tmp_path, "serve").returncode == 5
            assert server.stop() == 0

    def test_web_listens_where_people_expect_it(self) -> None:
        """The port of the contract, which `serve` does not take."""
        defaults = {setting.key: setting.default for setting in SETTINGS}
        assert (defaults["web.port"], defaults["serve.port"]) == (4173, 0)


class TestEnd:
    @pytest.mark.parametrize(
        ("stop", "to_all"), [(signal.SIGTERM, False), (signal.SIGINT, False), (signal.SIGINT, True)]
    )
    def test_a_signal_ends_it_and_leaves_nothing_behind(
        self, tmp_path: Path, stop: signal.Signals, to_all: bool
    ) -> None:
        """Status 0; descriptor and lock are gone, the store is closed, no process is left.

        A terminal's Ctrl-C reaches master and worker at once.
        """
        with serving(tmp_path) as server:
            entity = {"kind": "concept", "name": "A"}
            httpx.post(f"{server.url}/api/v1/verbs/create", json=entity, headers=server.headers)
            if to_all:
                os.killpg(server.process.pid, stop)
            else:
                server.process.send_signal(stop)
            assert server.process.wait(timeout=30) == 0
            assert not group_lives(server.process.pid)
        assert list((tmp_path / "run").iterdir()) == []
        assert {file.name for file in (tmp_path / DATABASE).parent.iterdir()} == {"hivekeep.db"}

    @linux_only
    @pytest.mark.slow
    def test_a_killed_worker_is_replaced_under_the_same_descriptor(self, tmp_path: Path) -> None:
        """About 2 s: after kill -9 of the worker the same address answers again, and the lock held throughout."""
        with serving(tmp_path) as server:
            (worker,) = server.workers()
            os.kill(worker, signal.SIGKILL)
            wait_until(lambda: server.workers() not in ([], [worker]), 10, "another worker started")
            assert httpx.get(f"{server.url}/health/ready", headers=server.headers, timeout=20).json() == {"ok": True}
            assert json.loads(server.descriptor_file.read_text()) == server.descriptor
            assert run(tmp_path, "serve").returncode == 5
            assert server.stop() == 0

    @linux_only
    @pytest.mark.slow
    def test_after_a_killed_master_the_port_closes_and_a_new_server_starts(self, tmp_path: Path) -> None:
        """About 3 s: kill -9 of the descriptor's pid closes the port within 2 s; the stale descriptor is replaced."""
        with serving(tmp_path) as server:
            port = port_of(server)
            os.kill(server.descriptor["pid"], signal.SIGKILL)
            server.process.wait(timeout=5)
            wait_until(lambda: not is_open(port), 2.0, "the port was closed")
            told = json.loads(run(tmp_path, "server", "status", "--json").stdout)
            assert (told["running"], told["stale"]) == (False, True)
            with serving(tmp_path) as second:
                assert second.descriptor["instanceId"] != server.descriptor["instanceId"]
                assert second.descriptor["capabilityToken"] != server.descriptor["capabilityToken"]
                assert httpx.get(f"{second.url}/health/ready", headers=second.headers).json() == {"ok": True}
                assert second.stop() == 0


class TestRefusedStarts:
    """What stops a start is told in one line, before anything listens."""

    @pytest.mark.parametrize(
        ("folder", "mode", "status", "words"),
        [("file/run", None, 3, "Not a directory"), ("run", 0o777, 7, "can be written by other users")],
    )
    def test_a_runtime_folder_that_cannot_be_trusted(
        self, tmp_path: Path, folder: str, mode: int | None, status: int, words: str
    ) -> None:
        """One below a file was a traceback; in one that others may write to they could swap descriptor and lock."""
        (tmp_path / "file").write_text("")
        if mode is not None:
            (tmp_path / folder).mkdir()
            (tmp_path / folder).chmod(mode)
        done = run(tmp_path, "serve", HIVEKEEP_RUNTIME_DIR=str(tmp_path / folder))
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (status, b"", 1), done.stderr
        assert words in done.stderr.decode()

    def test_a_port_that_is_taken(self, tmp_path: Path) -> None:
        """gunicorn tries for five seconds and logs eleven lines; the next free port is the caller's choice."""
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            done = run(tmp_path, "serve", "--port", str(port))
        told = f"hivekeep: port {port} of 127.0.0.1 cannot be used: Address already in use\n"
        assert (done.returncode, done.stderr.decode()) == (3, told)
        assert list((tmp_path / "run").iterdir()) == []
