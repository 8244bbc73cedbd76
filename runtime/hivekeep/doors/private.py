"""Files and folders that only their owner may look into: the descriptor of a server, its lock, writes that wait.

What it keeps true: a file is there whole, with its mode, or not at all. A file that others may read, a symbolic link
and anything that is not a regular file is refused, on reading and before overwriting; what is judged is the open file,
so nobody can swap it in between. A folder that others may write to, or that belongs to another user, is refused as a
whole.
"""

from __future__ import annotations

import os
import stat
import uuid
from pathlib import Path

from hivekeep_contract.gateway_errors import GatewayError, Reason, SecurityRejection, ValidationError

IS_POSIX = os.name == "posix"
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# A pipe in the place of a file must not make us wait for somebody who writes.
_READ_ONLY = os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class RuntimeRefused(Exception):
    """A start, a read or a write of private files that must not go on, and which failure of the gateway that is."""

    failure: type[GatewayError] = ValidationError
    reason: Reason = "bad_runtime_file"


class UnsafeFile(RuntimeRefused):
    """A file is a symlink, or it or its folder is open to other users or belongs to one."""

    failure = SecurityRejection
    reason = "unsafe_file"


def make_folder(folder: Path) -> None:
    """Make the folder. Raises RuntimeRefused when it cannot be made, and when others could swap the files in it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError as error:
        raise RuntimeRefused(f"the folder {folder} cannot be made: {error.strerror}") from None
    if IS_POSIX and found.st_mode & 0o022:
        raise UnsafeFile(f"the folder {folder} can be written by other users; its mode must be 0700")
    _check_owner(folder, found)


def read(path: Path, max_bytes: int) -> bytes | None:
    """The bytes of a regular file that only we can read; None when nothing is there.

    Raises UnsafeFile for a symbolic link and for a file that others may read or own, RuntimeRefused for anything else
    that is no such file, and for a larger one.
    """
    try:
        handle = os.open(path, _READ_ONLY)
    except FileNotFoundError:
        return None
    except OSError as error:
        if path.is_symlink():
            raise UnsafeFile(f"{path} is a symbolic link") from None
        raise RuntimeRefused(f"{path} cannot be used: {error.strerror}") from None
    try:
        _check_file(path, os.fstat(handle))
        with open(handle, "rb", closefd=False) as file:
            content = file.read(max_bytes + 1)
    finally:
        os.close(handle)
    if len(content) > max_bytes:
        raise RuntimeRefused(f"{path} is too large")
    return content


def write(path: Path, content: bytes, max_bytes: int) -> None:
    """Put a file in place, mode 0600, in one rename; it is there after a loss of power.

    Raises RuntimeRefused for an unsafe target and when the file cannot be written. A target that is there must be one
    that could be read with the same limit.
    """
    make_folder(path.parent)
    read(path, max_bytes)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4()}.tmp")
    try:
        _write_new(temporary, content)
        os.replace(temporary, path)  # noqa: PTH105
        _sync_folder(path.parent)
    except OSError as error:
        raise RuntimeRefused(f"{path} cannot be written: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _write_new(path: Path, content: bytes) -> None:
    """Make a file that only we can read, whatever the umask is, and bring its content to the disk."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        if IS_POSIX:
            os.fchmod(handle, 0o600)
        file.write(content)
        file.flush()
        os.fsync(handle)


def _sync_folder(folder: Path) -> None:
    if IS_POSIX:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _check_file(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise RuntimeRefused(f"{path} is not a regular file")
    if IS_POSIX and found.st_mode & 0o077:
        raise UnsafeFile(f"{path} is open to other users; its mode must be 0600")
    _check_owner(path, found)


def _check_owner(path: Path, found: os.stat_result) -> None:
    """Raise UnsafeFile for what belongs to another user; the superuser may use what is anybody's."""
    if IS_POSIX and os.geteuid() not in (0, found.st_uid):
        raise UnsafeFile(f"{path} belongs to another user")
