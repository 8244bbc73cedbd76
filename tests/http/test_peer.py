"""Whether a server runs, decided against programs that only look like it: who is told what, and who is believed."""

import contextlib
import os
import socket
import sys
import time
from pathlib import Path

import pytest

from hivekeep.doors import descriptor, peer
from hivekeep.doors.descriptor import Descriptor, InstanceLock
from hivekeep.doors.peer import AnswerTooLarge, Connection, NoAnswer, NoServer
from hivekeep.paths import RuntimeFiles
from support.answering import INSTANCE, PROVED, TOKEN, Asked, answering, json_response, response

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and locks of POSIX")

DIGEST = "0f" * 32
NO_PROCESS = 2**22 + 1


def files(folder: Path) -> RuntimeFiles:
    return RuntimeFiles(folder / "server.json", folder / f"{DIGEST}.lock", f"sha256:{DIGEST}")


def descriptor_of(port: int, pid: int | None = None, instance_id: str = INSTANCE) -> Descriptor:
    url = f"http://127.0.0.1:{port}"
    return Descriptor(
        instance_id, os.getpid() if pid is None else pid, url, f"sha256:{DIGEST}", "2026-01-02T03:04:05.678Z", TOKEN
    )


def publish(folder: Path, found: Descriptor) -> RuntimeFiles:
    descriptor.write(folder / "server.json", found)
    return files(folder)


class TestLook:
    def test_no_descriptor_is_no_server(self, tmp_path: Path) -> None:
        """Nothing runs and nothing is stale."""
        assert peer.look(files(tmp_path)) == (None, False)
        assert peer.look(files(tmp_path)).stale is False

    def test_the_descriptor_of_another_database_tells_nothing(self, tmp_path: Path) -> None:
        """Its server is none of this database, whether it runs or not."""
        found = descriptor_of(1)._replace(database_fingerprint="sha256:" + "1a" * 32)
        assert peer.look(publish(tmp_path, found)) == (None, False)

    def test_a_dead_process_is_stale_without_being_asked(self, tmp_path: Path) -> None:
        """Whoever listens at its address now is not told its token; the file is left as it is."""
        with answering(PROVED) as program:
            found = descriptor_of(program.port, NO_PROCESS)
            told = peer.look(publish(tmp_path, found))
        assert (told.descriptor, told.running, told.stale) == (found, False, True)
        assert program.asked == []
        assert descriptor.read(tmp_path / "server.json") == found

    def test_who_holds_the_lock_runs_without_being_asked(self, tmp_path: Path) -> None:
        """The operating system vouches for it, also while it is too busy to answer."""
        lock = InstanceLock.acquire(files(tmp_path).lock, INSTANCE)
        try:
            assert peer.look(publish(tmp_path, descriptor_of(1))).running is True
            assert peer.look(publish(tmp_path, descriptor_of(1, instance_id=INSTANCE.upper()))).running is True
        finally:
            lock.release()

    def test_a_lock_of_another_instance_vouches_for_nobody(self, tmp_path: Path) -> None:
        """A new server holds the lock already, and the descriptor is still that of the one before it."""
        lock = InstanceLock.acquire(files(tmp_path).lock, "00000000-0000-4000-8000-000000000000")
        try:
            assert peer.look(publish(tmp_path, descriptor_of(1))).stale is True
        finally:
            lock.release()

    def test_a_server_whose_lock_file_was_deleted_runs(self, tmp_path: Path) -> None:
        """Somebody tidied the folder: the server answers for itself."""
        with answering(PROVED) as program:
            assert peer.look(publish(tmp_path, descriptor_of(program.port))).running is True
        assert program.lines() == ["GET /health/live", "GET /health/ready"]

    def test_a_reused_process_id_is_stale(self, tmp_path: Path) -> None:
        """The process id lives and nothing listens: it was given to another process."""
        assert peer.look(publish(tmp_path, descriptor_of(1))).stale is True


LIVE, READY = "GET /health/live", "GET /health/ready"


class TestProof:
    """A program took over the port: no connection to it comes about."""

    @pytest.mark.parametrize(
        "live",
        [
            json_response(200, {"ok": False}),
            json_response(404, {"ok": True}),
            response(200, b"<html>hello</html>"),
            response(200, b"x" * 70_000),
            response(200, b'{"ok":true', content_length="11", connection="close"),
            response(302, b"", location="http://127.0.0.1:1/"),
            b"SSH-2.0-OpenSSH_9.6\r\n",
            None,
        ],
    )
    def test_what_does_not_live_as_we_do_is_not_told_the_token(self, live: bytes | None) -> None:
        """It gets the one probe that carries nothing."""
        with answering({**PROVED, LIVE: lambda _asked: live}) as program, pytest.raises(NoServer):
            Connection(descriptor_of(program.port))
        assert program.lines() == [LIVE]
        assert "authorization" not in program.asked[0].headers

    @pytest.mark.parametrize(
        "ready",
        [
            json_response(200, {"ok": True}),
            json_response(401, {"ok": False}),
            json_response(200, {"ok": True}, Hivekeep_Instance="00000000-0000-4000-8000-000000000000"),
            json_response(404, {"ok": True}, Hivekeep_Instance=INSTANCE),
            json_response(200, {"ok": True}, Hivekeep_Instance=INSTANCE, hivekeep_instance=INSTANCE),
        ],
    )
    def test_what_does_not_name_the_instance_gets_nothing_else(self, ready: bytes) -> None:
        """Also a server of ours that is another one, and one that names an instance twice."""
        with answering({**PROVED, READY: ready}) as program, pytest.raises(NoServer):
            Connection(descriptor_of(program.port))
        assert program.lines() == [LIVE, READY]
        assert program.asked[1].headers["authorization"] == f"Bearer {TOKEN}"

    def test_nobody_listens(self) -> None:
        """A refused connection is no server."""
        with pytest.raises(NoServer):
            Connection(descriptor_of(1))

    def test_a_server_that_stops_is_still_the_server(self) -> None:
        """503 says that it is on its way out, not that it is another."""
        ready = json_response(503, {"ok": False}, Hivekeep_Instance=INSTANCE.upper())
        with answering({**PROVED, READY: ready}) as program:
            Connection(descriptor_of(program.port)).close()
        assert program.lines() == [LIVE, READY]

    def test_a_silent_program_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One that accepts and says nothing costs no more than the time for a probe."""
        monkeypatch.setattr(peer, "CLIENT_CONNECT_TIMEOUT_MS", 50)
        with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(NoServer):
            Connection(descriptor_of(listener.getsockname()[1]))


class TestExchange:
    def test_all_goes_over_the_connection_that_was_proved(self) -> None:
        """When it ends, it is not opened again: another program may listen there by then."""
        replies = {**PROVED, "GET /a": json_response(200, 1, connection="close"), "GET /b": json_response(200, 2)}
        with answering(replies) as program, Connection(descriptor_of(program.port)) as connection:
            assert connection.exchange("GET", "/a", {}).body == b"1"
            with pytest.raises(NoAnswer):
                connection.exchange("GET", "/b", {})
        assert (program.lines(), len(program.connections)) == ([LIVE, READY, "GET /a"], 1)

    def test_an_answer_that_trickles_is_given_up(self) -> None:
        """Each piece comes in time and the whole does not."""

        def trickle(_asked: Asked) -> None:
            whole = json_response(200, "x" * 400)
            with contextlib.suppress(OSError):
                for at in range(len(whole)):
                    program.connections[0].sendall(whole[at : at + 1])
                    time.sleep(0.002)
            return

        with answering({**PROVED, "GET /a": trickle}) as program, Connection(descriptor_of(program.port)) as connection:
            began = time.monotonic()
            with pytest.raises(NoAnswer):
                connection.exchange("GET", "/a", {}, timeout_ms=300)
            assert time.monotonic() - began < 2

    def test_an_answer_has_a_size(self) -> None:
        """One byte more than is read is too large, with or without a length."""
        replies = {**PROVED, "GET /a": response(200, b"x" * 100), "GET /b": response(200, b"x" * 101)}
        with answering(replies) as program, Connection(descriptor_of(program.port)) as connection:
            assert len(connection.exchange("GET", "/a", {}, max_bytes=100).body) == 100
            with pytest.raises(AnswerTooLarge):
                connection.exchange("GET", "/b", {}, max_bytes=100)
