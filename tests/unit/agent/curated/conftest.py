"""A store on a file, and a desk on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivekeep.agent.curated.desk import Desk
from hivekeep.storage.sqlite import SqliteEngine, open_store
from support.stores import OPTIONS


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[SqliteEngine]:
    """A started engine on a new file, its writer inline."""
    opened = open_store(str(tmp_path / "hive.db"), OPTIONS)
    yield opened
    opened.close()


@pytest.fixture
def desk(engine: SqliteEngine, tmp_path: Path) -> Desk:
    """Ada's desk in an empty folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Desk(engine, "ada", folder)
