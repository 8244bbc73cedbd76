"""Writes of the command line that wait on disk for a server.

What it keeps true:
- A write is on disk, sanitised and whole, before it is sent, and leaves the disk only when a server has answered it. It
  keeps its key, so that one whose answer was lost is carried out once.
- Writes are sent in the order in which they came; one that cannot be sent now holds back those behind it. One that is
  refused for good is put aside, so it is not lost, and holds back nothing.
- Folder 0700, files 0600, a bounded number of files and bytes; one process at a time (gateway rules, client spool).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

from hivekeep import compact_json
from hivekeep.doors import private, wire
from hivekeep.doors.client import Answer
from hivekeep.doors.private import RuntimeRefused
from hivekeep.gate.redaction import sanitise
from hivekeep_contract.gateway import SPOOL_FIELDS, SPOOL_OPERATIONS
from hivekeep_contract.gateway_errors import (
    Backpressure,
    DatabaseError,
    GatewayError,
    IntegrityError,
    Reason,
    ServiceUnavailable,
    UnexpectedError,
)
from hivekeep_contract.limits import HTTP_BODY_MAX_BYTES, SPOOL_ENTRIES_MAX, SPOOL_MAX_BYTES

_VERSION = 1
_WAITING = ".json"
_REFUSED = ".refused"
_LOCK = "lock"
_NUMBER_DIGITS = 12
_RUN_DIGITS = 16
_ENTRY_MAX_BYTES = 2 * HTTP_BODY_MAX_BYTES

LATER: tuple[type[GatewayError], ...] = (
    ServiceUnavailable,
    Backpressure,
    DatabaseError,
    UnexpectedError,
    IntegrityError,
)
"""Failures that say nothing against the write: the same one may succeed another time."""


class SpoolRefused(RuntimeRefused):
    """The folder cannot take a write, or holds one that is none of ours."""

    failure = ServiceUnavailable
    reason: Reason = "bad_spool"


class SpoolFull(SpoolRefused):
    """As many writes wait as may wait."""

    reason = "spool_full"


class Write(NamedTuple):
    """A write to a run: the operation, what it is sent with, and its body."""

    operation: str
    run_id: str
    key: str
    body: dict[str, Any]


class Flushed(NamedTuple):
    """What became of the writes that waited, in their order: the answers, what could not be sent, and why not.

    `answers` pairs each write that was answered with a success or a refusal for good.
    """

    answers: list[tuple[Write, Answer]]
    left: int
    why: GatewayError | None

    @property
    def refused(self) -> list[tuple[Write, Answer]]:
        """The writes that were refused for good, and what they were answered."""
        return [(write, answer) for write, answer in self.answers if answer.failure is not None]


class Spool:
    """The writes of one database that wait; this process has them to itself until `close`."""

    def __init__(self, folder: Path) -> None:
        """Wait for another process that uses the folder, which is made when it is not there.

        Raises RuntimeRefused for a folder that is not ours alone or cannot be used.
        """
        if not private.IS_POSIX:
            raise SpoolRefused("writes wait on disk on Linux and macOS, where a server runs")
        import fcntl

        private.make_folder(folder)
        self.folder = folder
        try:
            self._lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | private.NO_FOLLOW, 0o600)
        except OSError as error:
            raise SpoolRefused(f"{folder} cannot be locked: {error.strerror}") from None
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let other processes use it."""
        os.close(self._lock)

    def keep(self, write: Write, *, home: str | None) -> None:
        """Put a write behind those that wait, its body sanitised.

        Raises SecurityRejection for a body with a credential that cannot be masked, SpoolFull, and RuntimeRefused when
        the file cannot be written.
        """
        body = sanitise(write.body, home=home).value
        named = (_VERSION, write.operation, write.run_id, write.key, body)
        raw = compact_json.encode(dict(zip(SPOOL_FIELDS, named, strict=True)))
        kept = self._files(_WAITING, _REFUSED)
        taken = sum(file.stat().st_size for file in kept)
        if len(kept) >= SPOOL_ENTRIES_MAX or taken + len(raw) > SPOOL_MAX_BYTES:
            raise SpoolFull(f"{self.folder} has {len(kept)} writes and {taken} bytes; no more may wait")
        number = 1 + max((int(file.name[:_NUMBER_DIGITS]) for file in kept), default=0)
        name = f"{number:0{_NUMBER_DIGITS}}-{_digest(write.run_id)}{_WAITING}"
        private.write(self.folder / name, raw, _ENTRY_MAX_BYTES)

    def waiting(self, run_id: str | None = None) -> Iterator[tuple[Path, Write]]:
        """The writes that wait, those of one run or all, with their files. Raises RuntimeRefused at one of no form."""
        for file in self._files(_WAITING):
            if run_id is None or file.stem.endswith(_digest(run_id)):
                yield file, _read(file)

    def flush(self, send: Callable[[Write], Answer], run_id: str | None = None) -> Flushed:
        """Send the writes that wait, those of one run or all, until one cannot be sent now.

        `send` asks a server and may raise a GatewayError.
        """
        answers: list[tuple[Write, Answer]] = []
        why: GatewayError | None = None
        for file, write in self.waiting(run_id):
            try:
                answer = send(write)
            except GatewayError as failure:
                why = failure
                break
            if answer.failure is not None and issubclass(answer.failure, LATER):
                why = answer.failure()
                break
            answers.append((write, answer))
            if answer.failure is None:
                file.unlink()
            else:
                file.rename(file.with_suffix(_REFUSED))
        return Flushed(answers, sum(1 for _ in self.waiting(run_id)), why)

    def _files(self, *endings: str) -> list[Path]:
        return sorted(file for file in self.folder.iterdir() if file.suffix in endings)


def _read(file: Path) -> Write:
    """The write in a file. Raises RuntimeRefused for one that is unsafe or of no form that is sent."""
    try:
        value = wire.decode(private.read(file, _ENTRY_MAX_BYTES) or b"")
    except ValueError:
        value = None
    if not isinstance(value, dict) or tuple(value) != SPOOL_FIELDS:
        raise SpoolRefused(f"{file} is no write that waits; move it away")
    version, *fields = value.values()
    write = Write(*fields)
    well_formed = (
        version == _VERSION
        and write.operation in SPOOL_OPERATIONS.values()
        and isinstance(write.run_id, str)
        and isinstance(write.key, str)
        and isinstance(write.body, dict)
    )
    if not well_formed:
        raise SpoolRefused(f"{file} has a field that is not of its form; move it away")
    return write


def _digest(run_id: str) -> str:
    """What the name of a file says of its run; an id may hold what no name of a file can."""
    return hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()[:_RUN_DIGITS]
