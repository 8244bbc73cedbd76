"""A commit that the disk interrupts: its outcome is not known, and the error says so."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from hivekeep.storage import migrations
from hivekeep.storage.connections import open_connection
from hivekeep.storage.writer import Transactions
from hivekeep_contract.errors import StorageUnavailable, WriteOutcomeUnknown
from support.stores import OPTIONS


class FailingCommit:
    """A connection whose disk fails when it is told to commit."""

    def __init__(self, connection: apsw.Connection, code: int) -> None:
        self._connection = connection
        self._code = code

    def execute(self, sql: str, *args: Any) -> Any:
        if sql == "COMMIT":
            fault = apsw.IOError("disk I/O error")
            fault.extendedresult = self._code
            raise fault
        return self._connection.execute(sql, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def transactions_of(path: Path, code: int) -> Transactions:
    """Transactions on a fresh file whose commits fail with an extended result code."""
    migrations.create_file(str(path))
    connection: Any = FailingCommit(open_connection(str(path), "writer", OPTIONS), code)
    return Transactions(str(path), connection, busy_timeout_ms=100, check_room=lambda: None)


def test_an_interrupted_flush_is_not_called_harmless(tmp_path: Path) -> None:
    """A flush that failed during COMMIT used to be StorageUnavailable, which promises that nothing was written."""
    transactions = transactions_of(tmp_path / "x.db", apsw.SQLITE_IOERR_FSYNC)
    with pytest.raises(WriteOutcomeUnknown) as caught:
        transactions.carry_out(lambda tx: tx.run("CREATE TABLE t (x)"))
    assert (caught.value.kind, caught.value.no_write) == ("unavailable", False)
    assert transactions.counts.side_effects_unknown == 1


def test_an_interrupted_write_of_the_log_wrote_nothing(tmp_path: Path) -> None:
    """Without its commit record the log holds no transaction, so the plain refusal is true."""
    transactions = transactions_of(tmp_path / "x.db", apsw.SQLITE_IOERR_WRITE)
    with pytest.raises(StorageUnavailable) as caught:
        transactions.carry_out(lambda tx: tx.run("CREATE TABLE t (x)"))
    assert caught.value.no_write is True
    assert transactions.counts.side_effects_unknown == 0
