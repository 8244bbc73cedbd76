"""The runtime files as functions: what a descriptor must be to be believed, and what the lock promises."""

import errno
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from hivekeep.agent.canonical import ts
from hivekeep.doors import descriptor
from hivekeep.doors.descriptor import AlreadyRunning, Descriptor, InstanceLock
from hivekeep.doors.private import RuntimeRefused, UnsafeFile
from hivekeep.times import now_us
from hivekeep_contract.gateway_errors import ValidationError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes and locks of POSIX")

OURS = Descriptor(
    instance_id="9db04e4d-cd93-4f26-b8f3-8dbd719ce4a8",
    pid=4242,
    base_url="http://127.0.0.1:4000",
    database_fingerprint="sha256:" + "0f" * 32,
    started_at="2026-01-02T03:04:05.678Z",
    capability_token="ab" * 32,
)


def written(path: Path, **changes: Any) -> Path:
    """A descriptor file with some of its fields replaced; None takes a field out."""
    fields = {**OURS.public(), "capabilityToken": OURS.capability_token, **changes}
    path.write_text(json.dumps({key: value for key, value in fields.items() if value is not None}))
    path.chmod(0o600)
    return path


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """One line of JSON, mode 0600 whatever the umask, no temporary file left, and the folder made private."""
    file = tmp_path / "run" / "server.json"
    before = os.umask(0)
    try:
        descriptor.write(file, OURS)
    finally:
        os.umask(before)
    assert descriptor.read(file) == OURS
    assert file.read_text().count("\n") == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert [found.name for found in file.parent.iterdir()] == ["server.json"]


def test_the_public_fields_are_six_and_the_token_is_none_of_them() -> None:
    """What status shows has every field but the token."""
    assert set(OURS.public()) == {
        "protocolVersion",
        "instanceId",
        "pid",
        "baseUrl",
        "databaseFingerprint",
        "startedAt",
    }
    assert OURS.capability_token not in json.dumps(OURS.public())


def test_no_file_is_no_descriptor(tmp_path: Path) -> None:
    """Reading a missing file gives None."""
    assert descriptor.read(tmp_path / "server.json") is None


@pytest.mark.parametrize(
    "changes",
    [
        {"protocolVersion": "2"},
        {"protocolVersion": 1},
        {"instanceId": "not-a-uuid"},
        {"pid": 0},
        {"pid": -1},
        {"pid": True},
        {"pid": "4242"},
        {"pid": None},
        {"baseUrl": "http://evil.example:80"},
        {"baseUrl": "http://127.0.0.1.evil.example:80"},
        {"baseUrl": "http://user@127.0.0.1:80"},
        {"baseUrl": "http://127.0.0.1:80/path"},
        {"baseUrl": "https://127.0.0.1:80"},
        {"baseUrl": "127.0.0.1:80"},
        {"baseUrl": "http://127.0.0.1"},
        {"baseUrl": "http://127.0.0.1:"},
        {"baseUrl": "http://127.0.0.1:0"},
        {"baseUrl": "http://127.0.0.1:080"},
        {"baseUrl": "http://127.0.0.1:65536"},
        {"baseUrl": "http://127.0.0.2:80"},
        {"baseUrl": "http://::1:80"},
        {"baseUrl": "http://127.0.0.1:80?query"},
        {"baseUrl": "http://127.0.0.1:80#fragment"},
        {"baseUrl": "http://127.0.0.1:80\n"},
        {"databaseFingerprint": "0f" * 32},
        {"databaseFingerprint": "sha256:xyz"},
        {"startedAt": 5},
        {"startedAt": "2026-01-02T03:04:05Z"},
        {"startedAt": "2026-01-02T03:04:05.678901Z"},
        {"startedAt": "2026-01-02T03:04:05.678+00:00"},
        {"startedAt": "2026-02-30T03:04:05.678Z"},
        {"startedAt": "2026-01-02T25:04:05.678Z"},
        {"capabilityToken": "ab" * 31},
        {"capabilityToken": "AB" * 32},
        {"capabilityToken": None},
        {"extra": 1},
    ],
)
def test_a_field_that_is_not_of_its_form_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Exactly seven fields, each of its form; a client must not send its token to an address that is not loopback."""
    with pytest.raises(RuntimeRefused) as refused:
        descriptor.read(written(tmp_path / "server.json", **changes))
    assert refused.value.failure is ValidationError
    assert OURS.capability_token not in str(refused.value)


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1", "http://localhost:65535", "http://[::1]:4173"])
def test_every_address_that_a_server_may_have_is_understood(tmp_path: Path, base_url: str) -> None:
    """The three hosts that a server may listen on, with a port; an instance id may be written in either case."""
    told = descriptor.read(written(tmp_path / "server.json", baseUrl=base_url, instanceId=OURS.instance_id.upper()))
    assert told == OURS._replace(base_url=base_url, instance_id=OURS.instance_id.upper())
    assert told.is_of(OURS.instance_id)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", "\x00", "[" * 20_000, '{"pid": NaN}', " " * 65_537])
def test_what_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    """Broken or other JSON is a validation error, not a crash; nesting that the parser cannot take was one."""
    file = tmp_path / "server.json"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(RuntimeRefused):
        descriptor.read(file)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o777])
def test_any_bit_for_others_is_refused_on_reading_and_before_writing(tmp_path: Path, mode: int) -> None:
    """SECURITY_REJECTION, and the file keeps its content."""
    file = written(tmp_path / "server.json")
    file.chmod(mode)
    before = file.read_text()
    for attempt in (lambda: descriptor.read(file), lambda: descriptor.write(file, OURS)):
        with pytest.raises(UnsafeFile):
            attempt()
    assert file.read_text() == before


def test_a_link_is_not_followed_and_a_folder_is_no_file(tmp_path: Path) -> None:
    """A symbolic link is a security rejection, also when it leads to a proper descriptor; a folder is invalid."""
    link = tmp_path / "link.json"
    link.symlink_to(written(tmp_path / "server.json"))
    with pytest.raises(UnsafeFile):
        descriptor.read(link)
    (tmp_path / "folder").mkdir(mode=0o700)
    with pytest.raises(RuntimeRefused, match="regular file"):
        descriptor.write(tmp_path / "folder", OURS)


def test_a_pipe_in_its_place_is_refused_at_once(tmp_path: Path) -> None:
    """Opening a pipe for reading waits for somebody who writes; nobody does, and the start hung."""
    os.mkfifo(tmp_path / "server.json", 0o600)
    with pytest.raises(RuntimeRefused, match="regular file"):
        descriptor.read(tmp_path / "server.json")


def test_what_belongs_to_another_user_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a file nor a folder whose owner could change it behind our back; the superuser may use anybody's."""
    file = written(tmp_path / "server.json")
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    with pytest.raises(UnsafeFile, match="belongs to another user"):
        descriptor.read(file)
    with pytest.raises(UnsafeFile, match="belongs to another user"):
        InstanceLock.acquire(tmp_path / "x.lock", "a")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert descriptor.read(file) == OURS


def test_a_descriptor_that_cannot_be_written_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is a refusal in one line; the temporary file, which holds the token, is gone."""

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RuntimeRefused, match="No space left on device"):
        descriptor.write(tmp_path / "server.json", OURS)
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_removes_its_descriptor(tmp_path: Path) -> None:
    """A file of another instance, and one that is no descriptor, are left alone."""
    file = written(tmp_path / "server.json")
    descriptor.remove(file, "00000000-0000-4000-8000-000000000000")
    assert file.exists()
    descriptor.remove(file, OURS.instance_id)
    assert not file.exists()
    file.write_text("{}")
    descriptor.remove(file, OURS.instance_id)
    assert file.exists()


class TestLock:
    def test_one_holder_at_a_time(self, tmp_path: Path) -> None:
        """A second taker is refused while the first holds; after release the file is gone and free."""
        path = tmp_path / "run" / "x.lock"
        lock = InstanceLock.acquire(path, "a")
        assert json.loads(path.read_text()) == {"instanceId": "a", "pid": os.getpid()}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert descriptor.lock_holder(path) == ("a", os.getpid())
        with pytest.raises(AlreadyRunning) as refused:
            InstanceLock.acquire(path, "b")
        assert (refused.value.failure.code, refused.value.failure.exit_status) == ("CONFLICT", 5)
        lock.release()
        assert not path.exists()
        assert descriptor.lock_holder(path) is None
        InstanceLock.acquire(path, "b").release()

    def test_a_file_left_behind_locks_nothing(self, tmp_path: Path) -> None:
        """The operating system's lock counts, not the file: the record of any process, dead or reused, is replaced."""
        path = tmp_path / "x.lock"
        for record in ('{"instanceId": "old", "pid": 1}', "garbage", ""):
            path.write_text(record)
            assert descriptor.lock_holder(path) is None
            InstanceLock.acquire(path, "new").release()

    def test_a_lock_on_a_vanished_file_is_no_lock(self, tmp_path: Path) -> None:
        """When the owner deletes its file between our open and our lock, the path is tried again."""
        path = tmp_path / "x.lock"
        first = InstanceLock.acquire(path, "a")
        path.unlink()
        second = InstanceLock.acquire(path, "b")
        assert json.loads(path.read_text())["instanceId"] == "b"
        second.release()
        first.release()

    def test_a_link_is_not_a_lock_file(self, tmp_path: Path) -> None:
        """A symbolic link in its place is refused and its target is not written."""
        target = tmp_path / "target"
        target.write_text("mine")
        (tmp_path / "x.lock").symlink_to(target)
        with pytest.raises(UnsafeFile):
            InstanceLock.acquire(tmp_path / "x.lock", "a")
        assert target.read_text() == "mine"


def test_the_present_moment_is_of_the_form_that_is_read(tmp_path: Path) -> None:
    """Exact milliseconds, also in the one moment of a thousand that has none."""
    for _ in range(20):
        now = OURS._replace(started_at=ts(now_us()))
        descriptor.write(tmp_path / "server.json", now)
        assert descriptor.read(tmp_path / "server.json") == now


def test_aliveness_of_processes() -> None:
    """This process and one of another user are alive; an id that no process has is not."""
    assert descriptor.is_alive(os.getpid()) is True
    assert descriptor.is_alive(1) is True
    assert descriptor.is_alive(2**22 + 1) is False
