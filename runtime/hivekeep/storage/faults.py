"""The one place where what SQLite reports becomes what the rest of the program can act on."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

import apsw

from hivekeep_contract.errors import HivekeepError, StorageUnavailable, WriteOutcomeUnknown, WriterTaskBeginBusy

E = TypeVar("E", bound=HivekeepError)

CLOSING: Final = "closing"
CLOSED: Final = "closed"


class _Fault(NamedTuple):
    stage: str
    sentence: str


_FAULTS: Final[dict[type[apsw.Error], _Fault]] = {
    apsw.FullError: _Fault("disk_full", "the disk is full or a size limit is reached; free space and try again"),
    apsw.IOError: _Fault("io_error", "reading or writing the file failed; look at the disk"),
    apsw.ReadOnlyError: _Fault("read_only", "the file is read-only; make it and its directory writable"),
    apsw.CorruptError: _Fault("damaged", "the file is damaged; restore the newest backup beside it"),
    apsw.NotADBError: _Fault("not_a_database", "the file is not a database"),
    apsw.CantOpenError: _Fault("cannot_open", "the file cannot be opened; check its path and permissions"),
    apsw.PermissionsError: _Fault("no_permission", "this user may not use the file; check its permissions"),
    apsw.BusyError: _Fault("busy", "another process kept the file locked for the whole wait; try again"),
    apsw.LockedError: _Fault("busy", "the file is locked by a read that is still running; try again"),
    apsw.ConnectionClosedError: _Fault(CLOSED, "the store was closed meanwhile"),
}


_FLUSHES: Final = (apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC)


def typed(fault: BaseException | None, path: str) -> StorageUnavailable | None:
    """`StorageUnavailable` for a fault of the file or the disk; None for anything else.

    The message names the path and what the operator can do; `stage` is a stable word for the situation.
    """
    known = _FAULTS.get(type(fault)) if isinstance(fault, apsw.Error) else None
    if known is None:
        return None
    return unavailable(known.stage, f"storage: {path}: {known.sentence} ({fault})")


def unusable(fault: Exception, path: str) -> StorageUnavailable:
    """`StorageUnavailable` for whatever kept a connection to the file from being opened."""
    return typed(fault, path) or unavailable("cannot_open", f"storage: {path}: {fault}")


def unavailable(stage: str, message: str) -> StorageUnavailable:
    """The store cannot do what was asked; `stage` is a stable word for why."""
    return StorageUnavailable(message, stage=stage, capability=None, operation=None)


def is_closing(fault: HivekeepError) -> bool:
    """Whether the store is on its way out, or gone: nothing is wrong with it, but it takes no more work."""
    return isinstance(fault, StorageUnavailable) and fault.fields.get("stage") in (CLOSING, CLOSED)


def may_have_landed(fault: BaseException) -> bool:
    """Whether a commit that failed so may be found done after a restart.

    A failed write leaves the log without its commit record; a failed flush leaves the record there, and whether the
    disk kept it shows only when the file is opened again (SQLite: write-ahead logging, recovery).
    """
    return isinstance(fault, apsw.IOError) and getattr(fault, "extendedresult", None) in _FLUSHES


def unknown_outcome(path: str) -> WriteOutcomeUnknown:
    """A commit that was reported as failed although its record may have reached the disk."""
    return WriteOutcomeUnknown(
        f"storage: {path}: the disk failed during a commit; whether the write took effect is not known",
        stage="commit",
        capability=None,
        operation=None,
    )


def timed_out(refusal: type[E], message: str, timeout_ms: int) -> E:
    """A typed refusal after a wait; nothing of the operation was tried. Its `stage` is its code."""
    return refusal(
        f"storage: {message}",
        stage=refusal.code,
        timeout_ms=timeout_ms,
        capability=None,
        operation=None,
    )


def still_busy(path: str, timeout_ms: int) -> WriterTaskBeginBusy:
    """The refusal of a write that did not get the write lock of the file in time."""
    message = f"another process kept the write lock of {path} for {timeout_ms} ms; nothing was written"
    return timed_out(WriterTaskBeginBusy, message, timeout_ms)
