"""One connection to an empty store in memory, and the callers of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hivekeep.storage.connections import MEMORY
from hivekeep.storage.engine import Tx
from hivekeep.storage.sqlite import open_store
from support.stores import OPTIONS


@pytest.fixture
def tx() -> Iterator[Tx]:
    """A connection for functions that take a `Tx`."""
    opened = open_store(MEMORY, OPTIONS)
    with opened.read() as reading:
        yield reading
    opened.close()
