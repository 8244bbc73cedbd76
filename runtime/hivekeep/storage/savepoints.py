"""A part of a transaction that can fail alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hivekeep.storage.engine import Tx
from hivekeep_contract.errors import HivekeepError


@contextmanager
def savepoint(tx: Tx) -> Iterator[None]:
    """Undo what the block did to the store when it raises an error of the contract; the transaction lives on.

    Every other exception is a fault that ends the whole transaction anyway.
    """
    tx.run("SAVEPOINT part")
    try:
        yield
    except HivekeepError:
        tx.run("ROLLBACK TO part")
        tx.run("RELEASE part")
        raise
    tx.run("RELEASE part")
