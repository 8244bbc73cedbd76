"""A store in memory for what only takes a transaction, and one on a file for what takes several connections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import SqliteEngine, open_store
from support.stores import OPTIONS


@pytest.fixture
def tx() -> Iterator[Tx]:
    """A connection to an empty store in memory."""
    opened = open_store(MEMORY, OPTIONS)
    with opened.read() as reading:
        yield reading
    opened.close()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where a database may be made."""
    return str(tmp_path / "hive.db")


@pytest.fixture
def store(path: str) -> Iterator[SqliteEngine]:
    """A started engine on a new file, its writer inline."""
    opened = open_store(path, OPTIONS)
    yield opened
    opened.close()
