"""A home folder of its own, for commands that run in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

DATABASE = "hive.db"


def move_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `folder` the home, the current directory and the place of the store, and leave every model out."""
    for name, value in {
        "HOME": folder,
        "HIVEKEEP_DB": folder / DATABASE,
        "HIVEKEEP_EMBEDDING_MODELS": "none",
        "HIVEKEEP_STORAGE_DISK_RESERVE_BYTES": 0,
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(folder)
