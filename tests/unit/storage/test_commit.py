"""A commit that the disk interrupts: its outcome is not known, and the error says so."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from hivekeep.storage.connections import open_connection
from hivekeep.storage.writer import Transactions
from hivekeep_contract.errors import WriteOutcomeUnknown
from support.stores import OPTIONS


class FailingCommit:
    """A connection whose disk fails when it is told to commit."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, *args: Any) -> Any:
        if sql == "COMMIT":
            raise apsw.IOError("disk I/O error")
        return self._connection.execute(sql, *args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def test_an_interrupted_commit_is_not_called_harmless(tmp_path: Path) -> None:
    """An I/O error during COMMIT used to be StorageUnavailable, which promises that nothing was written."""
    connection = open_connection(str(tmp_path / "x.db"), "writer", OPTIONS)
    transactions = Transactions(
        "x.db",
        FailingCommit(connection),
        busy_timeout_ms=100,
        check_room=lambda: None,  # type: ignore[arg-type]
    )
    with pytest.raises(WriteOutcomeUnknown) as caught:
        transactions.carry_out(lambda tx: tx.run("CREATE TABLE t (x)"))
    assert (caught.value.kind, caught.value.no_write) == ("unavailable", False)
    assert transactions.counts.side_effects_unknown == 1
    connection.close()
