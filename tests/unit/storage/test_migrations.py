"""Bringing a file to the schema, and refusing files that must not be touched."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import apsw
import pytest

from hivekeep.storage import entities, migrations, tables, vectors
from hivekeep.storage.connections import open_connection
from hivekeep.storage.engine import Tx
from hivekeep.storage.migrations import Migration
from hivekeep.storage.sqlite import SqliteEngine, open_store
from hivekeep_contract.errors import MigrationFailed, NewerSchema, NotOurDatabase, StorageUnavailable
from support.stores import OPTIONS, entity, record_id


def _migration(version: int, sql: str) -> Migration:
    return Migration(version, f"step_{version}", sql, hashlib.sha256(sql.encode()).hexdigest())


def _migrate(path: str, known: list[Migration]) -> None:
    connection = open_connection(path, "writer", OPTIONS)
    try:
        migrations.migrate(path, connection, OPTIONS, known)
    finally:
        connection.close()


def _made(path: str) -> None:
    engine = open_store(path, OPTIONS)
    engine.run_write(lambda tx: entities.insert(tx, entity(1)))
    engine.close()


def _bytes_beside(path: str) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in Path(path).parent.iterdir()}


def test_the_migrated_schema_is_the_declared_one(path: str) -> None:
    """The tables the migrations make are the peewee models, column for column and index for index."""
    _made(path)
    connection = open_connection(path, "reader", OPTIONS)
    assert tables.differences(connection) == []
    assert sorted(tables.describe(connection)) == sorted(tables.declared())
    connection.close()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            "ALTER TABLE notes ADD COLUMN extra TEXT",
            "table notes: columns should be [], not [('extra', 'TEXT', True, 0)]",
        ),
        ("DROP TABLE event_observations", "table event_observations is missing"),
        (
            "DROP INDEX edges_by_source",
            "table edges: indexes should be [('edges_by_source', False, ('source_id', 'relation'), '')], not []",
        ),
    ],
)
def test_a_table_that_differs_is_named(path: str, change: str, sentence: str) -> None:
    """The comparison says which table, which aspect, and in what they differ."""
    _made(path)
    connection = open_connection(path, "writer", OPTIONS)
    connection.execute(change)
    assert tables.differences(connection) == [sentence]
    connection.close()


def test_a_new_file_is_private_and_ours(tmp_path: Path) -> None:
    """Directory 0700, database and log 0600, application id and version in the header."""
    path = str(tmp_path / "new" / "hive.db")
    engine = open_store(path, OPTIONS)
    engine.run_write(lambda tx: entities.insert(tx, entity(1)))
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in Path(path).parent.iterdir()}
    assert modes == {"hive.db": 0o600, "hive.db-wal": 0o600, "hive.db-shm": 0o600}
    assert stat.S_IMODE(Path(path).parent.stat().st_mode) == 0o700
    engine.close()
    assert migrations.file_state(path, OPTIONS) == (migrations.APPLICATION_ID, len(migrations.packaged()), True)


def test_opening_a_current_file_changes_nothing(path: str) -> None:
    """A second start neither migrates nor backs up."""
    _made(path)
    before = _bytes_beside(path)
    open_store(path, OPTIONS).close()
    assert _bytes_beside(path) == before


@pytest.mark.parametrize("in_log", [False, True], ids=["in the file", "still in the log"])
def test_a_newer_schema_is_refused_before_any_write(path: str, in_log: bool) -> None:
    """The refusal names both versions; not a byte of the database changes, even when the version is in the log."""
    _made(path)
    newest = len(migrations.packaged())
    other = apsw.Connection(path)
    other.pragma("user_version", newest + 1)
    if not in_log:
        other.close()
    database, log = Path(path).read_bytes(), Path(path + "-wal")
    log_before = log.read_bytes() if in_log else b""
    with pytest.raises(NewerSchema) as refused:
        open_store(path, OPTIONS)
    assert refused.value.details == {"schema_version": str(newest + 1), "known_version": str(newest)}
    assert Path(path).read_bytes() == database
    assert not in_log or log.read_bytes() == log_before
    other.close()


def test_the_database_of_another_application_is_refused(path: str) -> None:
    """A foreign application id, or tables without one, are not ours; nothing is written."""
    other = apsw.Connection(path)
    other.execute("CREATE TABLE theirs (a)")
    other.close()
    before = Path(path).read_bytes()
    with pytest.raises(NotOurDatabase, match="another application"):
        open_store(path, OPTIONS)
    assert Path(path).read_bytes() == before
    other = apsw.Connection(path)
    other.execute("DROP TABLE theirs; PRAGMA application_id = 99; VACUUM")
    other.close()
    with pytest.raises(NotOurDatabase, match="another application"):
        open_store(path, OPTIONS)
    assert not Path(path + "-wal").exists()


def test_a_file_that_is_no_database_is_refused(path: str) -> None:
    """Text stays as it is."""
    Path(path).write_text("dear diary")
    with pytest.raises(NotOurDatabase, match="not a SQLite database"):
        open_store(path, OPTIONS)
    assert Path(path).read_text() == "dear diary"


def test_an_empty_file_becomes_a_store(path: str) -> None:
    """A file of no bytes is a new database."""
    Path(path).touch()
    _made(path)
    assert migrations.file_state(path, OPTIONS).version == len(migrations.packaged())


def test_an_existing_file_is_backed_up_before_it_is_migrated(path: str) -> None:
    """The backup beside it is private, whole, holds the old rows, and is named after the old version."""
    _made(path)
    known = migrations.packaged()
    newest = len(known)
    _migrate(path, [*known, _migration(newest + 1, "SELECT 1; CREATE TABLE more (a); INSERT INTO more VALUES (1)")])
    (backup,) = migrations.backups(path)
    assert backup.name.startswith(f"hive.db.v{newest}-")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert migrations.file_state(path, OPTIONS).version == newest + 1
    migrated = open_connection(path, "reader", OPTIONS)
    assert migrated.execute("SELECT a FROM more").fetchall() == [(1,)]
    migrated.close()
    restored = SqliteEngine(str(backup), OPTIONS)
    restored.start(threaded=False)
    with restored.read() as tx:
        assert entities.get(tx, record_id(1)) == entity(1, seq=1)
        assert tx.all("SELECT name FROM sqlite_schema WHERE name = 'more'") == []
    restored.close()


def test_each_migration_is_a_transaction_of_its_own(path: str) -> None:
    """The third of three fails: the second stays, the third left nothing, and the message names the backup."""
    _made(path)
    known = migrations.packaged()
    newest = len(known)
    good = _migration(newest + 1, "CREATE TABLE second (a)")
    bad = _migration(newest + 2, "CREATE TABLE third (a); INSERT INTO nowhere VALUES (1)")
    with pytest.raises(MigrationFailed) as failed:
        _migrate(path, [*known, good, bad])
    assert str(migrations.backups(path)[0]) in failed.value.message
    assert "no such table: nowhere" in failed.value.message
    connection = open_connection(path, "reader", OPTIONS)
    names = connection.execute("SELECT name FROM sqlite_schema WHERE name IN ('second', 'third')").fetchall()
    assert names == [("second",)]
    assert connection.pragma("user_version") == newest + 1
    connection.close()


def test_a_backup_that_is_not_equal_stops_the_migration(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the counts of copy and original differ nothing is migrated."""
    _made(path)
    known = migrations.packaged()
    counted = iter([{"entities": 1}, {"entities": 2}])
    monkeypatch.setattr(migrations, "row_counts", lambda connection: next(counted))
    with pytest.raises(MigrationFailed, match="is not equal to"):
        _migrate(path, [*known, _migration(len(known) + 1, "CREATE TABLE more (a)")])
    assert migrations.file_state(path, OPTIONS).version == len(known)


@pytest.mark.parametrize("extension", [True, False], ids=["with the extension", "without it"])
def test_a_file_with_vectors_is_backed_up_and_migrated(
    path: str, extension: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables that only sqlite-vec can read are copied, whether this platform can load it or not."""

    def fill(tx: Tx) -> None:
        model = vectors.register_model(tx, "small", "1", 8, 1)
        vectors.put_many(tx, model, [vectors.VectorRow("note", 1, "local", "memory", 7, b"\0\0\0?" * 8)])

    engine = open_store(path, OPTIONS)
    engine.run_write(fill)
    engine.close()
    if not extension:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    known = migrations.packaged()
    _migrate(path, [*known, _migration(len(known) + 1, "CREATE TABLE more (a)")])
    (backup,) = migrations.backups(path)
    copy = open_store(str(backup), OPTIONS, read_only=True)
    with copy.read() as tx:
        (model,) = vectors.models(tx)
        found = vectors.nearest(tx, model, b"\0\0\0?" * 8, vectors.Scope("note", ("local",)), 5)
    copy.close()
    assert found == [vectors.Near(1, 1.0, 7)]


def test_a_migration_with_another_text_is_refused(path: str) -> None:
    """An applied migration never changes; the refusal names it."""
    _made(path)
    first, *rest = migrations.packaged()
    with pytest.raises(MigrationFailed, match=r"migration 1 \(base\) was applied with another text"):
        _migrate(path, [first._replace(checksum="0" * 64), *rest])


def test_a_store_that_cannot_be_made_is_refused_with_its_path(tmp_path: Path) -> None:
    """A directory in the way is a typed refusal, not a traceback of the system."""
    in_the_way = tmp_path / "file"
    in_the_way.touch()
    path = str(in_the_way / "hive.db")
    with pytest.raises(StorageUnavailable) as refused:
        open_store(path, OPTIONS)
    assert refused.value.body()["stage"] == "cannot_open"
    assert path in refused.value.message


def test_reading_only_does_not_migrate(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An older file is refused for reading only, and stays as it is."""
    _made(path)
    known = migrations.packaged()
    before = Path(path).read_bytes()
    monkeypatch.setattr(migrations, "packaged", lambda: [*known, _migration(len(known) + 1, "CREATE TABLE more (a)")])
    with pytest.raises(StorageUnavailable, match="older schema"):
        open_store(path, OPTIONS, read_only=True)
    assert Path(path).read_bytes() == before
