"""The connection factory."""

from __future__ import annotations

import subprocess
import sys

import apsw
import pytest

from hivekeep.storage import connections
from hivekeep.storage.connections import SqliteTx, load_vec, open_connection, pragmas_expected, storage_options
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine
from hivekeep_contract import limits
from hivekeep_contract.errors import Unsupported
from hivekeep_contract.settings import Settings
from support.stores import OPTIONS


@pytest.mark.parametrize("role", ["writer", "reader", "audit"])
@pytest.mark.parametrize("synchronous", ["full", "normal"])
def test_every_pragma_reads_back_on_every_connection(
    engine: SqliteEngine, role: connections.Role, synchronous: str
) -> None:
    """What the factory sets is what SQLite answers, number for number; only readers cannot write."""
    options = OPTIONS._replace(synchronous=synchronous, busy_timeout_ms=1234)
    connection = open_connection(engine.path, role, options)
    expected = pragmas_expected(role, options)
    assert {name: connection.pragma(name) for name in expected} == expected
    assert expected["journal_mode"] == "wal"
    assert expected["foreign_keys"] == 1
    assert expected["busy_timeout"] == 1234
    assert expected["synchronous"] == (2 if role == "writer" and synchronous == "full" else 1)
    assert expected["query_only"] == (1 if role == "reader" else 0)
    connection.close()


@pytest.mark.parametrize("role", ["writer", "reader", "audit"])
def test_a_statement_is_planned_once(engine: SqliteEngine, role: connections.Role) -> None:
    """A bound limit does not make SQLite plan anew: the plan does not depend on what is bound."""
    connection = open_connection(engine.path, role, OPTIONS)
    assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
    connection.close()


def test_a_reader_cannot_write(engine: SqliteEngine) -> None:
    """SQLite refuses a write statement on a reader."""
    with engine.read() as tx, pytest.raises(apsw.ReadOnlyError, match="readonly"):
        tx.run("DELETE FROM entities")


def test_the_options_are_the_settings() -> None:
    """Seconds become milliseconds, an absent admission wait becomes the limit."""
    options = storage_options(Settings(storage_checkout_timeout_secs=0.25, storage_max_readers=3))
    assert options == connections.StoreOptions(
        synchronous="full",
        busy_timeout_ms=30_000,
        max_readers=3,
        checkout_timeout_ms=250,
        writer_admission_ms=limits.WRITER_ADMISSION_WAIT_MS,
        disk_reserve_bytes=1_073_741_824,
        gateway_queue_size=64,
    )
    assert storage_options(Settings(storage_writer_admission_ms=100)).writer_admission_ms == 100


def test_vectors_load_without_their_python_package() -> None:
    """The extension works on a connection while neither sqlite_vec nor numpy is imported, and loading ends there."""
    program = (
        "import sys, apsw; from hivekeep.storage.connections import load_vec; c = apsw.Connection(':memory:');"
        "load_vec(c); print(c.execute(\"SELECT vec_length('[1,2,3]')\").fetchone()[0],"
        "'sqlite_vec' in sys.modules, 'numpy' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["3", "False", "False"]
    connection = apsw.Connection(":memory:")
    load_vec(connection)
    with pytest.raises(apsw.ExtensionLoadingError, match="not authorized"):
        connection.load_extension("vec0")


def test_a_platform_without_vectors_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal names the extension."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unsupported, match="sqlite-vec"):
        load_vec(apsw.Connection(":memory:"))


def test_a_transaction_says_whether_it_can_ask_for_vectors(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extension is loaded at the first question; a connection that could not have it goes on without."""
    assert [tx.vectors_ready(), tx.vectors_ready()] == [True, True]
    assert tx.one("SELECT vec_length('[1,2,3]')") == (3,)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    without = SqliteTx(apsw.Connection(":memory:"))
    assert [without.vectors_ready(), without.vectors_ready()] == [False, False]
    assert without.one("SELECT 1") == (1,)
