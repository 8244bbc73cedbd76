"""Fixtures of every test folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.client import Hive, open_hive


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server in memory."""
    with open_hive() as opened:
        yield opened


@pytest.fixture
def file_hive(tmp_path: Path) -> Iterator[Hive]:
    """A fresh server on a file."""
    with open_hive(tmp_path / "hive.db") as opened:
        yield opened
