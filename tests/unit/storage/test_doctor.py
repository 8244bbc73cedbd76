"""What the examination of a database finds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import apsw
import pytest

from hivekeep.storage import doctor, entities, migrations, notes, vectors
from hivekeep.storage.connections import open_connection
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from support.stores import OPTIONS, entity, note

TESTS = Path(__file__).parents[2]
_ALL = [
    "file",
    "permissions",
    "integrity",
    "foreign keys",
    "migrations",
    "tables",
    "text index",
    "sequence ledgers",
    "pragmas",
    "vectors",
]


@pytest.fixture
def store(path: str) -> str:
    """A closed database with two entities and a note."""

    def fill(tx: Tx) -> None:
        for number in (1, 2):
            entities.insert(tx, entity(number))
        notes.insert(tx, note(3))

    engine = open_store(path, OPTIONS)
    engine.run_write(fill)
    engine.close()
    return path


def _troubles(path: str) -> dict[str, tuple[str, str]]:
    return {check.name: check[1:] for check in doctor.examine(path, OPTIONS) if check.verdict != "ok"}


def _spoil(path: str, statement: str) -> None:
    connection = open_connection(path, "writer", OPTIONS)
    connection.execute("PRAGMA foreign_keys = 0")
    connection.execute(statement)
    connection.close()


def test_a_sound_database_passes_every_check_unchanged(store: str) -> None:
    """Every check is made and is ok, and not a byte of the file changes."""
    before = Path(store).read_bytes()
    checks = doctor.examine(store, OPTIONS)
    assert [(check.name, check.verdict, check.detail) for check in checks] == [(name, "ok", "") for name in _ALL]
    assert Path(store).read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "name", "detail"),
    [
        (
            "DELETE FROM entity_words WHERE rowid = (SELECT rowid FROM entity_words LIMIT 1)",
            "text index",
            "1 live entity records are not indexed",
        ),
        ("DELETE FROM notes", "text index", "1 note index rows have no live record"),
        (
            "UPDATE note_ledger SET id = 'x'",
            "sequence ledgers",
            "notes 00000000-0000-4000-8000-000000000003 has no number of its own",
        ),
        ("DELETE FROM entity_ledger WHERE seq = 2", "foreign keys", "row 2 of entities points to no entity_ledger"),
        (
            "UPDATE schema_migrations SET checksum = 'x'",
            "migrations",
            "a migration was applied with another text than this program has",
        ),
        ("DROP INDEX notes_by_key; CREATE TABLE x (a)", "tables", "table notes: indexes should be"),
    ],
)
def test_each_trouble_is_found_and_named(store: str, statement: str, name: str, detail: str) -> None:
    """One fault of the content makes its own check fail, with a sentence that says where."""
    _spoil(store, statement)
    verdict, sentence = _troubles(store)[name]
    assert (verdict, sentence[: len(detail)]) == ("failed", detail)


def test_a_damaged_page_is_found(store: str) -> None:
    """Bytes that changed on the disk fail the integrity check."""
    content = bytearray(Path(store).read_bytes())
    content[4096 * 5 : 4096 * 5 + 64] = b"\xff" * 64
    Path(store).write_bytes(content)
    assert _troubles(store)["integrity"][0] == "failed"


def test_a_file_that_others_may_read_is_a_warning(store: str) -> None:
    """Database and backups are looked at; the sentence says what to do."""
    backup = Path(store + ".v1-20260101T000000Z.backup")
    backup.touch(mode=0o600)
    Path(store).chmod(0o640)
    backup.chmod(0o604)
    verdict, sentence = _troubles(store)["permissions"]
    assert verdict == "warning"
    assert sentence == f"{store} has mode 0640; chmod 600 it; {backup} has mode 0604; chmod 600 it"


def test_an_older_schema_says_how_it_is_migrated(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no damage of the file but must be seen."""
    known = migrations.packaged()
    more = known[-1]._replace(version=len(known) + 1, checksum="new")
    monkeypatch.setattr(migrations, "packaged", lambda: [*known, more])
    sentence = f"schema version {len(known)} of {len(known) + 1}; opening it for writing migrates it"
    assert _troubles(store) == {"migrations": ("failed", sentence)}


def test_without_vectors_there_is_a_warning(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store works without the extension, and doctor says so."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    verdict, sentence = _troubles(store)["vectors"]
    assert verdict == "warning"
    assert "sqlite-vec" in sentence


def test_troubles_of_vectors_are_told_by_model(store: str) -> None:
    """What a worker clears up is a warning; a vector that is lost is a failure."""

    def fill(tx: Tx) -> None:
        model = vectors.register_model(tx, "small", "1", 8, 1)
        rows = [vectors.VectorRow("note", seq, "local", "observation", 7, b"\0\0\0?" * 8) for seq in (1, 2)]
        vectors.put_many(tx, model, rows)

    engine = open_store(store, OPTIONS)
    engine.run_write(fill)
    engine.close()
    stale = "1 vectors of small 1 are of a former text of their record; hivekeep reindex makes them anew"
    gone = "1 vectors of small 1 have no record any more"
    assert _troubles(store) == {"vectors": ("warning", f"{gone}; {stale}")}
    _spoil(store, "DELETE FROM vector_floats_1_rowids WHERE rowid = 3")
    lost = "1 vectors of small 1 are missing in its index; hivekeep reindex makes them anew"
    assert _troubles(store) == {"vectors": ("failed", f"{gone}; {stale}; {lost}")}


def test_vectors_are_examined_without_the_extension(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies in its tables is no trouble by itself; that it is missing is the only warning."""

    def fill(tx: Tx) -> None:
        model = vectors.register_model(tx, "small", "1", 8, 1)
        of_text = vectors.source_hash(None, "content 3")
        vectors.put_many(tx, model, [vectors.VectorRow("note", 1, "local", "observation", of_text, b"\0\0\0?" * 8)])

    engine = open_store(store, OPTIONS)
    engine.run_write(fill)
    engine.close()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    sentence = "the sqlite-vec extension is not installed; vectors are compared one by one instead"
    assert _troubles(store) == {"vectors": ("warning", sentence)}


def test_a_missing_file_is_not_made(path: str) -> None:
    """The examination ends there and creates nothing."""
    assert _troubles(path) == {"file": ("failed", f"{path} does not exist; the first operation creates it")}
    assert not Path(path).exists()


def test_a_foreign_file_ends_the_examination(path: str) -> None:
    """A database of another application is only named."""
    other = apsw.Connection(path)
    other.execute("CREATE TABLE theirs (a)")
    other.close()
    troubles = _troubles(path)
    assert list(troubles) == ["file"]
    assert "another application" in troubles["file"][1]


def test_many_troubles_are_cut_short(store: str) -> None:
    """Five sentences and how many more there are."""
    connection = open_connection(store, "writer", OPTIONS)
    for number in range(4, 12):
        connection.execute("INSERT INTO entity_ledger (seq, id) VALUES (?, 'x')", (number,))
        connection.execute(
            "INSERT INTO entities SELECT ?, 'id' || ?, namespace, kind, entity_type, name, name_key, description,"
            " properties, tags, created_at, updated_at, deleted_at, merged_into, merge_event_id, version"
            " FROM entities WHERE seq = 1",
            (number, number),
        )
    connection.close()
    sentence = _troubles(store)["sequence ledgers"][1]
    assert sentence.count("has no number of its own") == 5
    assert sentence.endswith("; and 1 more")


_AS_A_READER = """
import os, sys
from hivekeep.storage import doctor
sys.path.insert(0, sys.argv[1])
from support.stores import OPTIONS
doctor.examine(sys.argv[2], OPTIONS)  # imports what is imported late
if os.geteuid() == 0:
    os.setuid(65534)
print({check.name: check.verdict for check in doctor.examine(sys.argv[3], OPTIONS)}["pragmas"])
"""


@pytest.mark.skipif(os.name != "posix", reason="needs the permissions of POSIX")
def test_a_place_where_nothing_can_be_written_is_no_fault(store: str) -> None:
    """There the file is read without its log, which SQLite calls another mode; the header of the file tells it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(store, folder))
        copy.chmod(0o444)
        Path(folder).chmod(0o555)
        program = [sys.executable, "-c", _AS_A_READER, str(TESTS), store, str(copy)]
        told = subprocess.run(program, capture_output=True, text=True, check=False)
        Path(folder).chmod(0o755)
    assert (told.stdout, told.stderr) == ("ok\n", "")


def test_another_journal_mode_is_a_fault(store: str) -> None:
    """A file that something took its log from is told, wherever it is read."""
    connection = apsw.Connection(store)
    connection.pragma("journal_mode", "delete")
    connection.close()
    assert _troubles(store) == {"pragmas": ("failed", "journal_mode is delete, not wal")}
