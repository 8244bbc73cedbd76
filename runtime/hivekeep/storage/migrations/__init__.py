"""Bringing a database file to the schema of this program.

Keeps true: a file of a newer program, of another application, or with a changed history is refused before
anything is written; an existing file is only migrated after a backup beside it was read back and found equal;
each migration is one transaction.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

import apsw

from hivekeep.storage.connections import MEMORY, StoreOptions, log_has_content, open_connection, patiently
from hivekeep.storage.vector_layout import CODES_PREFIX, FLOATS_PREFIX
from hivekeep_contract.errors import MigrationFailed, NewerSchema, NotOurDatabase

APPLICATION_ID: Final = 0x484B4550
"""`HKEP`: marks a file as ours in its header."""

_OF_EXTENSION: Final = (FLOATS_PREFIX, CODES_PREFIX)
_HEADER_BYTES: Final = 100
_BACKUP_SUFFIX: Final = ".backup"
_MAGIC: Final = b"SQLite format 3\x00"


class Migration(NamedTuple):
    """One step of the schema; `checksum` is the SHA-256 of its text."""

    version: int
    name: str
    sql: str
    checksum: str


class FileState(NamedTuple):
    """What a database file says of itself; a new or empty file has no tables and version 0."""

    application_id: int
    version: int
    has_tables: bool


def packaged() -> list[Migration]:
    """The migrations of this program in their order, from the numbered `.sql` files of this package."""
    found = []
    for file in Path(__file__).parent.glob("*.sql"):
        number, _, name = file.stem.partition("_")
        text = file.read_text(encoding="utf-8")
        found.append(Migration(int(number), name, text, hashlib.sha256(text.encode()).hexdigest()))
    found.sort()
    if [migration.version for migration in found] != list(range(1, len(found) + 1)):
        raise AssertionError("the migrations must be numbered 1, 2, 3 ... without a gap")
    return found


def create_file(path: str) -> None:
    """Make an empty database file that only its owner can read, unless there is one."""
    directory = Path(path).parent
    if not directory.exists():
        directory.mkdir(mode=0o700, parents=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return


def file_state(path: str, options: StoreOptions) -> FileState:
    """What the file says of itself, without writing to it; raises `NotOurDatabase` for no SQLite file."""
    with Path(path).open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header:
        return FileState(0, 0, False)
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES:
        raise NotOurDatabase(f"storage: {path} is not a SQLite database; name another file")
    if log_has_content(path):
        return patiently(lambda: _state_behind_log(path), options.busy_timeout_ms)
    pages, version, application = (int.from_bytes(header[at : at + 4], "big") for at in (28, 60, 68))
    return FileState(application, version, pages > 1)


def check(path: str, state: FileState, migrations: Sequence[Migration]) -> None:
    """Refuse a file that this program must not touch: `NotOurDatabase` or `NewerSchema`."""
    if state.application_id != APPLICATION_ID and (state.application_id or state.has_tables):
        raise NotOurDatabase(f"storage: {path} is a database of another application; name another file")
    if state.version > len(migrations):
        raise NewerSchema(
            f"storage: {path} has schema version {state.version}, this program knows versions up to"
            f" {len(migrations)}; nothing was written",
            details={"schema_version": state.version, "known_version": len(migrations)},
        )


def migrate(path: str, connection: apsw.Connection, options: StoreOptions, migrations: Sequence[Migration]) -> None:
    """Bring an open file to the newest schema; several processes may do so at once.

    Raises `MigrationFailed` when an applied migration is not the one this program has, when the backup is not
    equal to the file, or when a migration cannot be carried out.
    """
    backed_up: Path | None = None
    found: int | None = None
    while True:
        connection.execute("BEGIN IMMEDIATE")
        try:
            applied = _applied(connection)
            found = len(applied) if found is None else found
            _check_history(path, applied, migrations)
            if len(applied) == len(migrations):
                connection.execute("ROLLBACK")
                return
            # The write lock is held, so nothing changes between the backup and the migration. What this very call made
            # holds nothing worth a copy.
            if found and backed_up is None and path != MEMORY:
                backed_up = _verified_backup(path, options, len(applied))
            _apply(connection, migrations[len(applied)], backed_up)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def applied_checksums(connection: apsw.Connection) -> list[str]:
    """The checksums of the applied migrations, in their order."""
    return _applied(connection)


def backups(path: str) -> list[Path]:
    """The backups that migrations left beside a database, by name."""
    name = Path(path).name
    beside = Path(path).absolute().parent.iterdir()
    return sorted(file for file in beside if file.name.startswith(name + ".v") and file.name.endswith(_BACKUP_SUFFIX))


def _state_behind_log(path: str) -> FileState:
    """The same from behind a write-ahead log, whose pages are newer than those of the file."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        has_tables = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is not None
        application_id, version = (
            int(connection.pragma("application_id")),
            int(connection.pragma("user_version")),
        )
        return FileState(application_id, version, has_tables)
    finally:
        connection.close()


def _applied(connection: apsw.Connection) -> list[str]:
    if not connection.pragma("user_version"):
        return []
    return [row[0] for row in connection.execute("SELECT checksum FROM schema_migrations ORDER BY version")]


def _check_history(path: str, applied: Sequence[str], migrations: Sequence[Migration]) -> None:
    for checksum, migration in zip(applied, migrations, strict=False):
        if checksum != migration.checksum:
            raise MigrationFailed(
                f"storage: {path}: migration {migration.version} ({migration.name}) was applied with another"
                " text than this program has; restore a backup or use that program",
                details={"version": migration.version},
            )


def _apply(connection: apsw.Connection, migration: Migration, backed_up: Path | None) -> None:
    try:
        # Fetching to the end: a statement with rows would otherwise keep those after it from running.
        connection.execute(migration.sql).fetchall()
        connection.execute(
            "INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
            (migration.version, migration.name, migration.checksum, time.time_ns() // 1000),
        )
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", migration.version)
    except apsw.SQLError as fault:
        kept = "" if backed_up is None else f"; the file as it was is in {backed_up}"
        raise MigrationFailed(
            f"storage: migration {migration.version} ({migration.name}) failed: {fault}{kept}",
            details={"version": migration.version},
        ) from fault


def _verified_backup(path: str, options: StoreOptions, version: int) -> Path:
    """Copy the file beside itself, and read the copy back: intact, and every table of the same length."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    target = Path(f"{path}.v{version}-{stamp}{_BACKUP_SUFFIX}")
    create_file(str(target))
    source = open_connection(path, "reader", options)
    copy = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with copy.backup("main", source, "main") as backup:
            backup.step()
        verdict = [row[0] for row in copy.execute("PRAGMA quick_check")]
        if verdict != ["ok"] or row_counts(copy) != row_counts(source):
            raise MigrationFailed(f"storage: the backup {target} is not equal to {path}; the database was not changed")
    finally:
        copy.close()
        source.close()
    return target


def row_counts(connection: apsw.Connection) -> dict[str, int]:
    """How many rows each table has, but not those of sqlite-vec, which may be out of reach; `vectors` counts theirs."""
    tables = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')"
    ).fetchall()
    return {
        str(name): _row_count(connection, str(name))
        for (name,) in sorted(tables)
        if not str(name).startswith(_OF_EXTENSION)
    }


def _row_count(connection: apsw.Connection, table: str) -> int:
    quoted = '"' + table.replace('"', '""') + '"'
    row = connection.execute(" ".join(("SELECT count(*) FROM", quoted))).fetchone()
    assert row is not None
    return int(row[0])
