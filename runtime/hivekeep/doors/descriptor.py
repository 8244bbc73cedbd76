"""The runtime descriptor and the lock: how a client finds a server, and why there is one per database.

What it keeps true:
- The lock decides, the descriptor tells. The lock is held by the operating system for as long as the
  server's processes live, so a killed server or a reused process id never blocks the next start.
- The descriptor carries the capability token: it is a private file (`doors/private.py`), so no reader sees half of it
  or reads it before its mode is right, and no other user can put one in its place.
- A server removes only its own descriptor.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from hivekeep.agent.formats import FORMATS
from hivekeep.doors import private, wire
from hivekeep.doors.private import RuntimeRefused, UnsafeFile
from hivekeep_contract.gateway import DESCRIPTOR_FIELDS, DESCRIPTOR_PROTOCOL
from hivekeep_contract.gateway_errors import Conflict
from hivekeep_contract.limits import RUNTIME_FILE_MAX_BYTES

RUNNING = "a server of this database is already running"
DYING_WAIT_S = 3.0
LIVE_WAIT_S = 0.3
_TOKEN_FIELD = DESCRIPTOR_FIELDS[-1]
_BASE_URL = re.compile(r"http://(?P<host>127\.0\.0\.1|\[::1\]|localhost):(?P<port>[1-9][0-9]{0,4})")
_is_hex64 = FORMATS["hex64"]
_is_moment = FORMATS["gateway_timestamp"]


class AlreadyRunning(RuntimeRefused):
    """Another server holds the lock of this database."""

    failure = Conflict
    reason = "server_running"


class Descriptor(NamedTuple):
    """The fields of the runtime descriptor in the order of the contract (gateway rules, runtime descriptor).

    `started_at` is `YYYY-MM-DDTHH:MM:SS.mmmZ` in UTC.
    """

    instance_id: str
    pid: int
    base_url: str
    database_fingerprint: str
    started_at: str
    capability_token: str

    def public(self) -> dict[str, Any]:
        """Everything but the token, under the names of the file."""
        fields = self._named()
        del fields[_TOKEN_FIELD]
        return fields

    def text(self) -> str:
        """The content of the file: one line of JSON, with the token."""
        return json.dumps(self._named()) + "\n"

    def is_of(self, instance_id: str) -> bool:
        """Whether `instance_id` names the server of this descriptor, in either case."""
        return self.instance_id.lower() == instance_id.lower()

    def _named(self) -> dict[str, Any]:
        return dict(zip(DESCRIPTOR_FIELDS, (DESCRIPTOR_PROTOCOL, *self), strict=True))


def is_alive(pid: int) -> bool:
    """Whether a process of this id exists, also one of another user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def write(path: Path, descriptor: Descriptor) -> None:
    """Put the descriptor in place, mode 0600, in one rename.

    Raises RuntimeRefused for an unsafe target and when the file cannot be written.
    """
    private.write(path, descriptor.text().encode(), RUNTIME_FILE_MAX_BYTES)


def read(path: Path) -> Descriptor | None:
    """The descriptor in `path`, None when there is no file.

    Raises RuntimeRefused for a file that is unsafe or no descriptor.
    """
    content = private.read(path, RUNTIME_FILE_MAX_BYTES)
    if content is None:
        return None
    try:
        value = wire.decode(content)
    except ValueError:
        raise RuntimeRefused(f"{path} is not JSON; when no server runs it may be deleted") from None
    return _checked(value, path)


def remove(path: Path, instance_id: str) -> None:
    """Delete the descriptor if it is that of `instance_id`; any other file is left alone."""
    with contextlib.suppress(RuntimeRefused, OSError):
        found = read(path)
        if found is not None and found.is_of(instance_id):
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
        private.make_folder(path.parent)
        started = time.monotonic()
        while True:
            handle = _try_lock(path)
            if handle is not None:
                os.truncate(handle, 0)
                record = json.dumps({"instanceId": instance_id, "pid": os.getpid()}) + "\n"
                os.pwrite(handle, record.encode(), 0)
                return cls(path, handle)
            holder = _recorded(path).pid
            patience = LIVE_WAIT_S if holder is not None and is_alive(holder) else DYING_WAIT_S
            if time.monotonic() - started > patience:
                raise AlreadyRunning(RUNNING)
            time.sleep(0.05)

    def release(self) -> None:
        """Delete the file, then let go, so that nobody locks a file that is about to vanish."""
        self._path.unlink(missing_ok=True)
        os.close(self._handle)


class Holder(NamedTuple):
    """Who has a lock: the instance and the process that it recorded, None where it recorded nothing readable."""

    instance_id: str | None
    pid: int | None


def lock_holder(path: Path) -> Holder | None:
    """Who holds the lock in `path` at this moment; None when nobody does, whatever the file says."""
    if not path.exists():
        return None
    handle = _try_lock(path)
    if handle is None:
        return _recorded(path)
    os.close(handle)
    return None


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


def _recorded(path: Path) -> Holder:
    """What the file of a lock says of its holder, which may be about to write it."""
    try:
        with path.open("rb") as file:
            value = wire.decode(file.read(RUNTIME_FILE_MAX_BYTES))
    except (OSError, ValueError):
        value = None
    fields = value if isinstance(value, dict) else {}
    instance_id, pid = fields.get("instanceId"), fields.get("pid")
    return Holder(
        instance_id if isinstance(instance_id, str) else None,
        pid if type(pid) is int and pid > 0 else None,
    )


def _checked(value: object, path: Path) -> Descriptor:
    """The descriptor of a decoded file, or RuntimeRefused: the fields of the contract, no others, each of its form."""
    if not isinstance(value, dict) or set(value) != set(DESCRIPTOR_FIELDS):
        raise RuntimeRefused(f"{path} does not have exactly the fields of a runtime descriptor")
    version, *fields = (value[name] for name in DESCRIPTOR_FIELDS)
    found = Descriptor(*fields)
    texts = [field for name, field in found._asdict().items() if name != "pid"]
    well_formed = (
        version == DESCRIPTOR_PROTOCOL
        and all(isinstance(text, str) for text in texts)
        and type(found.pid) is int
        and found.pid > 0
        and _is_uuid(found.instance_id)
        and _is_hex64(found.capability_token)
        and _is_hex64(found.database_fingerprint.removeprefix("sha256:"))
        and found.database_fingerprint.startswith("sha256:")
        and _is_base_url(found.base_url)
        and _is_moment(found.started_at)
    )
    if not well_formed:
        raise RuntimeRefused(f"{path} has a field that is not of its form")
    return found


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def _is_base_url(text: str) -> bool:
    found = _BASE_URL.fullmatch(text)
    return found is not None and int(found["port"]) <= 65535
