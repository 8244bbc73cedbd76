"""The one factory of connections: nobody else opens the file, so no connection misses a PRAGMA."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Final, Literal, NamedTuple, TypeVar

import apsw

from hivekeep.storage.engine import Args, OutOfTime, Row, TooComplex
from hivekeep.storage.scope_rank import WORD_FACTS, word_facts
from hivekeep_contract import limits
from hivekeep_contract.errors import Unsupported
from hivekeep_contract.settings import Settings

MEMORY: Final = ":memory:"
LOWER: Final = "lower_text"
"""The SQL function that lowers the letters of every script; the one of SQLite knows ASCII alone."""
Role = Literal["writer", "reader", "audit"]

_MMAP_BYTES: Final = 256 * 1024 * 1024
_CACHE_KIB: Final[dict[Role, int]] = {"writer": 32 * 1024, "reader": 8 * 1024, "audit": 2 * 1024}
_WRITING: Final[tuple[tuple[str, int | str], ...]] = (("journal_mode", "wal"), ("wal_autocheckpoint", 4000))
_STATEMENTS_KEPT: Final = 512
_BUSY_PAUSE_S: Final = 0.005
_A_LIMIT: Final = "too "
"""What SQLite says of a statement beyond one of its limits: too many columns, nested too deep."""
_STEPS_BETWEEN_LOOKS: Final = 20_000
"""Instructions of SQLite between two looks at the clock: well under a millisecond."""

T = TypeVar("T")


class StoreOptions(NamedTuple):
    """How a store is opened; the settings of the same names say what each option does.

    `gateway_queue_size` counts writes of the gateway that wait for their turn.
    `checkout_timeout_ms` is the wait for a reader, and for the writer where it has no thread.
    """

    synchronous: str
    busy_timeout_ms: int
    max_readers: int
    checkout_timeout_ms: int
    writer_admission_ms: int
    disk_reserve_bytes: int
    gateway_queue_size: int


def storage_options(settings: Settings) -> StoreOptions:
    """The options behind the `storage.*` settings and the one of the gateway's queue."""
    admission_ms = settings.storage_writer_admission_ms
    return StoreOptions(
        synchronous=settings.storage_synchronous,
        busy_timeout_ms=settings.storage_busy_timeout_ms,
        max_readers=settings.storage_max_readers,
        checkout_timeout_ms=round(settings.storage_checkout_timeout_secs * 1000),
        writer_admission_ms=limits.WRITER_ADMISSION_WAIT_MS if admission_ms is None else admission_ms,
        disk_reserve_bytes=settings.storage_disk_reserve_bytes,
        gateway_queue_size=settings.gateway_queue_size,
    )


class SqliteTx:
    """A `Tx` on one connection."""

    __slots__ = ("_connection", "_execute", "_last_insert_rowid", "_vectors", "changes", "many", "run")

    run: Callable[..., None]
    """Carry out a statement that has no rows to give."""
    many: Callable[..., None]
    """Carry out one statement once for each row of arguments."""
    changes: Callable[[], int]
    """How many rows the last INSERT, UPDATE or DELETE touched."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        # Bound once: these run several times in every operation.
        self._execute = connection.execute
        self._last_insert_rowid = connection.last_insert_rowid
        self._vectors: bool | None = None
        self.run = connection.execute  # type: ignore[assignment]  # its cursor is nobody's business
        self.many = connection.executemany  # type: ignore[assignment]
        self.changes = connection.changes

    def one(self, sql: str, args: Args = ()) -> Row | None:
        """The first row of a statement, or None."""
        return self._execute(sql, args).fetchone()

    def all(self, sql: str, args: Args = ()) -> list[Row]:
        """Every row of a statement."""
        return self._execute(sql, args).fetchall()

    def all_within(self, sql: str, args: Args, budget_ms: int) -> list[Row]:
        """Every row of a SELECT; raises `OutOfTime` when it takes longer than the budget, or `TooComplex`."""
        deadline = monotonic() + budget_ms / 1000
        watch = self._connection.set_progress_handler
        watch(lambda: monotonic() >= deadline, _STEPS_BETWEEN_LOOKS, id=self)
        try:
            return self._execute(sql, args).fetchall()
        except apsw.InterruptError as stopped:
            raise OutOfTime from stopped
        except apsw.SQLError as refused:
            if _A_LIMIT not in str(refused):
                raise
            raise TooComplex(str(refused)) from refused
        finally:
            watch(None, id=self)

    def insert(self, sql: str, args: Args = ()) -> int:
        """Carry out an INSERT and answer the integer key of the new row."""
        self._execute(sql, args)
        return self._last_insert_rowid()

    def vectors_ready(self) -> bool:
        """Whether statements over tables of sqlite-vec can be carried out; the first question loads the extension."""
        if self._vectors is None:
            try:
                load_vec(self._connection)
                self._vectors = True
            except Unsupported:
                self._vectors = False
        return self._vectors


def open_connection(path: str, role: Role, options: StoreOptions, *, read_only: bool = False) -> apsw.Connection:
    """A connection with every PRAGMA set; raises apsw errors, which `faults.typed` translates.

    A read-only connection never writes to the file, not even to its header.
    """
    connection = _open_read_only(path) if read_only else _open(path)
    connection.set_busy_timeout(options.busy_timeout_ms)
    # Without this SQLite plans a statement anew at each call when a limit or a partial index meets a bound argument.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.create_scalar_function(LOWER, _lower, 1, deterministic=True)
    connection.register_fts5_function(WORD_FACTS, word_facts)  # type: ignore[arg-type]  # bytes are a value of SQLite
    for pragma, value in _pragmas(role, options, read_only=read_only):
        patiently(partial(connection.pragma, pragma, value), options.busy_timeout_ms)
    return connection


def _lower(*values: object) -> str | None:
    (text,) = values
    return text.lower() if isinstance(text, str) else None


def patiently(step: Callable[[], T], busy_timeout_ms: int) -> T:
    """Carry out a step of opening a file, again and again while another process opens or closes it as well.

    SQLite does not wait for these locks itself: switching to the log and recovering it are refused at once.
    """
    deadline = monotonic() + busy_timeout_ms / 1000
    while True:
        try:
            return step()
        except apsw.BusyError:
            if monotonic() >= deadline:
                raise
            sleep(_BUSY_PAUSE_S)


def pragmas_expected(role: Role, options: StoreOptions, *, read_only: bool = False) -> dict[str, int | str]:
    """What each PRAGMA must answer on a connection to a file, for the check of `doctor`."""
    expected = dict(_pragmas(role, options, read_only=read_only))
    expected["journal_mode"] = "wal"
    expected["synchronous"] = {"full": 2, "normal": 1}[str(expected["synchronous"])]
    expected["temp_store"] = 2
    expected["busy_timeout"] = options.busy_timeout_ms
    return expected


def load_vec(connection: apsw.Connection) -> None:
    """Load the sqlite-vec extension by its path; raises `Unsupported` where this platform has none.

    Its Python package is not imported: that would pull in numpy.
    """
    from importlib.util import find_spec

    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise Unsupported("the sqlite-vec extension is not installed; vectors are compared one by one instead")
    connection.enable_load_extension(True)
    try:
        connection.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"))
    except apsw.ExtensionLoadingError as fault:
        raise Unsupported("the sqlite-vec extension cannot be loaded on this platform: " + str(fault)) from fault
    finally:
        connection.enable_load_extension(False)


def wal_path(path: str) -> Path:
    """The write-ahead log beside a database."""
    return Path(path + "-wal")


def log_has_content(path: str) -> bool:
    """The write-ahead log holds pages that the database file does not have yet."""
    log = wal_path(path)
    return log.is_file() and log.stat().st_size > 0


def _open(path: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if path == MEMORY else 0)
    return apsw.Connection(path, flags=flags, statementcachesize=_STATEMENTS_KEPT)


def _open_read_only(path: str) -> apsw.Connection:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, statementcachesize=_STATEMENTS_KEPT)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
        # The directory cannot take the log's index: its medium, or this user, may not write there. Without a log the
        # file alone is the whole truth.
        if log_has_content(path):
            raise
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        uri = Path(path).absolute().as_uri() + "?immutable=1"
        connection = apsw.Connection(uri, flags=flags, statementcachesize=_STATEMENTS_KEPT)
    return connection


def _pragmas(role: Role, options: StoreOptions, *, read_only: bool) -> Sequence[tuple[str, int | str]]:
    writing = () if role == "reader" or read_only else _WRITING
    return [
        *writing,
        ("synchronous", options.synchronous if role == "writer" else "normal"),
        ("foreign_keys", 1),
        ("mmap_size", _MMAP_BYTES),
        ("cache_size", -_CACHE_KIB[role]),
        ("temp_store", "memory"),
        ("query_only", 0 if writing else 1),
    ]
