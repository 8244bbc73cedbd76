"""The runtime descriptor and the lock: how a client finds a server, and why there is one per database.

What it keeps true:
- The lock decides, the descriptor tells. The lock is held by the operating system for as long as the
  server's processes live, so a killed server or a reused process id never blocks the next start.
- The descriptor carries the capability token: it is written to a 0600 file in a 0700 directory and renamed
  into place, so no reader sees half of it or reads it before the mode is right. A file that others may
  read, a symlink or anything that is not a regular file is refused, on reading and before overwriting.
- A server removes only its own descriptor.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from hivekeep.doors.auth import is_loopback, parse_authority

PROTOCOL_VERSION = "1"
DYING_WAIT_S = 3.0
LIVE_WAIT_S = 0.3


class RuntimeRefused(Exception):
    """A start or a read of runtime files that must not go on; `code` and `exit_code` are the gateway's."""

    code = "VALIDATION_ERROR"
    exit_code = 3


class AlreadyRunning(RuntimeRefused):
    """Another server holds the lock of this database."""

    code = "CONFLICT"
    exit_code = 5


class UnsafeFile(RuntimeRefused):
    """A runtime file is a symlink, or it or its folder is open to other users."""

    code = "SECURITY_REJECTION"
    exit_code = 7


class Descriptor(NamedTuple):
    """The fields of the runtime descriptor; its protocol version is a constant, times are ISO 8601 in UTC."""

    instance_id: str
    pid: int
    base_url: str
    database_fingerprint: str
    started_at: str
    capability_token: str

    def public(self) -> dict[str, Any]:
        """Everything but the token, under the names of the file."""
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "instanceId": self.instance_id,
            "pid": self.pid,
            "baseUrl": self.base_url,
            "databaseFingerprint": self.database_fingerprint,
            "startedAt": self.started_at,
        }


def now_iso() -> str:
    """The present moment as `YYYY-MM-DDTHH:MM:SS.ffffffZ`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def is_alive(pid: int) -> bool:
    """Whether a process of this id exists, also one of another user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def is_private_file(path: Path) -> bool:
    """Whether `path` is a regular file that only we can read; False when nothing is there.

    Raises RuntimeRefused for anything else.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise RuntimeRefused(f"{path} cannot be used: {error.strerror}") from None
    if stat.S_ISLNK(found.st_mode):
        raise UnsafeFile(f"{path} is a symbolic link")
    if not stat.S_ISREG(found.st_mode):
        raise RuntimeRefused(f"{path} is not a regular file")
    if os.name == "posix" and found.st_mode & 0o077:
        raise UnsafeFile(f"{path} is open to other users; its mode must be 0600")
    return True


def write(path: Path, descriptor: Descriptor) -> None:
    """Put the descriptor in place, mode 0600, in one rename. Raises RuntimeRefused for an unsafe target."""
    _private_folder(path.parent)
    is_private_file(path)
    body = json.dumps({**descriptor.public(), "capabilityToken": descriptor.capability_token}) + "\n"
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: Path) -> Descriptor | None:
    """The descriptor in `path`, None when there is no file.

    Raises RuntimeRefused for a file that is unsafe or no descriptor.
    """
    if not is_private_file(path):
        return None
    try:
        value = json.loads(path.read_bytes())
    except ValueError:
        raise RuntimeRefused(f"{path} is not JSON") from None
    return _checked(value, path)


def remove(path: Path, instance_id: str) -> None:
    """Delete the descriptor if it is that of `instance_id`; any other file is left alone."""
    with contextlib.suppress(RuntimeRefused, OSError):
        found = read(path)
        if found is not None and found.instance_id == instance_id:
            path.unlink()


class InstanceLock:
    """The lock of one database, held until `release` or until every process that inherited it is gone."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle = handle

    @classmethod
    def acquire(cls, path: Path, instance_id: str) -> InstanceLock:
        """Take the lock or raise AlreadyRunning.

        A holder whose recorded process is gone is given time to let go: its worker may still be finishing.
        """
        _private_folder(path.parent)
        started = time.monotonic()
        while True:
            handle = _try_lock(path)
            if handle is not None:
                os.truncate(handle, 0)
                record = json.dumps({"instanceId": instance_id, "pid": os.getpid()}) + "\n"
                os.pwrite(handle, record.encode(), 0)
                return cls(path, handle)
            holder = _recorded_pid(path)
            patience = LIVE_WAIT_S if holder is not None and is_alive(holder) else DYING_WAIT_S
            if time.monotonic() - started > patience:
                raise AlreadyRunning("a server of this database is already running")
            time.sleep(0.05)

    def release(self) -> None:
        """Delete the file, then let go, so that nobody locks a file that is about to vanish."""
        self._path.unlink(missing_ok=True)
        os.close(self._handle)


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock in `path` at this moment."""
    if not path.exists():
        return False
    handle = _try_lock(path)
    if handle is None:
        return True
    os.close(handle)
    return False


def _try_lock(path: Path) -> int | None:
    """An open handle that holds the lock on what `path` names now; None while another process has it."""
    import fcntl

    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        raise UnsafeFile(f"{path} cannot be opened as a lock file: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Its owner may have deleted the file between our open and our lock; then the lock guards nothing.
        if path.stat().st_ino == os.fstat(handle).st_ino:
            return handle
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(handle)
    return None


def _recorded_pid(path: Path) -> int | None:
    try:
        pid = json.loads(path.read_bytes())["pid"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid if isinstance(pid, int) and pid > 0 else None


def _private_folder(folder: Path) -> None:
    """Make the folder. Raises RuntimeRefused when it cannot be made, and when others could swap the files in it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        raise RuntimeRefused(f"the runtime folder {folder} cannot be made: {error.strerror}") from None
    if os.name == "posix" and found.st_mode & 0o022:
        raise UnsafeFile(f"the runtime folder {folder} can be written by other users; its mode must be 0700")


def _checked(value: object, path: Path) -> Descriptor:
    """The descriptor of a decoded file, or RuntimeRefused: seven fields, no others, each of its form."""
    names = ("instanceId", "pid", "baseUrl", "databaseFingerprint", "startedAt", "capabilityToken")
    if not isinstance(value, dict) or set(value) != {"protocolVersion", *names}:
        raise RuntimeRefused(f"{path} does not have exactly the fields of a runtime descriptor")
    descriptor = Descriptor(*(value[name] for name in names))
    texts = [value[name] for name in names if name != "pid"]
    well_formed = (
        value["protocolVersion"] == PROTOCOL_VERSION
        and all(isinstance(text, str) for text in texts)
        and type(descriptor.pid) is int
        and descriptor.pid > 0
        and _is_uuid(descriptor.instance_id)
        and _is_hex64(descriptor.capability_token)
        and descriptor.database_fingerprint.startswith("sha256:")
        and _is_hex64(descriptor.database_fingerprint[7:])
        and _is_loopback_url(descriptor.base_url)
    )
    if not well_formed:
        raise RuntimeRefused(f"{path} has a field that is not of its form")
    return descriptor


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def _is_hex64(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _is_loopback_url(url: str) -> bool:
    scheme, separator, authority = url.partition("://")
    host = parse_authority(authority)
    return scheme == "http" and bool(separator) and host is not None and is_loopback(host)
