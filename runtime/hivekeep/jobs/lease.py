"""A lease as its owner holds it.

Invariant: who writes under a lease asks for it inside the same transaction, so that an owner that was silent for too
long, and was replaced, writes nothing any more.
"""

from __future__ import annotations

import os
from typing import Final

from hivekeep.identity.ids import new_id
from hivekeep.storage import leases
from hivekeep.storage.engine import Engine, Tx
from hivekeep.times import now_us

_MICROSECONDS: Final = 1000
"""In a millisecond."""


class Lost(Exception):
    """Another owner has the lease; the transaction that found out is rolled back."""


class Lease:
    """The right to do one job on one store. Not for two threads at once."""

    def __init__(self, engine: Engine, name: str, ttl_ms: int) -> None:
        """`ttl_ms` after its last sign of life an owner may be replaced."""
        self._engine = engine
        self._name = name
        self._ttl_us = ttl_ms * _MICROSECONDS
        self._owner = f"{os.getpid()}-{new_id()}"
        self._fence: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether it is ours as far as we know; `keep` finds out."""
        return self._fence is not None

    def take(self) -> bool:
        """Become the owner, or stay it; False while another process is."""
        if self._fence is None:
            self._fence = self._engine.run_write(
                lambda tx: leases.claim(tx, self._name, self._owner, self._ttl_us, now_us())
            )
        return self._fence is not None

    def keep(self, tx: Tx) -> None:
        """Prove inside a transaction that the lease is ours, and renew it; raises Lost."""
        fence = self._fence
        if fence is None or not leases.renew(tx, self._name, self._owner, fence, self._ttl_us, now_us()):
            self._fence = None
            raise Lost

    def release(self) -> None:
        """Let another process have it at once; nothing happens when it is not ours."""
        if self._fence is not None:
            fence, self._fence = self._fence, None
            self._engine.run_write(lambda tx: leases.release(tx, self._name, self._owner, fence))
