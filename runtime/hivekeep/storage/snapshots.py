"""Several reads that see one state of the store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hivekeep.storage.engine import Tx


@contextmanager
def snapshot(tx: Tx) -> Iterator[None]:
    """One view of the store for all reads of the block, whatever is written meanwhile."""
    tx.run("BEGIN")
    try:
        yield
    finally:
        tx.run("ROLLBACK")
