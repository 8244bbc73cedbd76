"""Fixtures of every test folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.client import Hive, open_hive

BASE_MODEL_REVISION = "2026-07-01"
"""The revision that the examples of the contracts say their server has."""


@pytest.fixture
def hive() -> Iterator[Hive]:
    """A fresh server in memory."""
    with open_hive(brain_base_model_revision=BASE_MODEL_REVISION) as opened:
        yield opened


@pytest.fixture
def file_hive(tmp_path: Path) -> Iterator[Hive]:
    """A fresh server on a file."""
    with open_hive(tmp_path / "hive.db") as opened:
        yield opened
