"""Writes that may come a moment after the answer: telemetry, never a record.

Keeps true: a deferred write never delays or changes the answer that caused it. Each is a transaction of its own, in
the order they came; one that fails, or that finds the queue full, is counted and dropped. Closing the store carries out
what is waiting; a killed process loses it.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from hivekeep.storage.engine import Tx
from hivekeep_contract.limits import DEFERRED_WRITES_MAX

_log = logging.getLogger(__name__)

Write = Callable[[Tx], None]


class DeferredWrites:
    """A queue and one thread, which lives while something waits."""

    def __init__(self, run_write: Callable[[Write], Any]) -> None:
        """`run_write` carries out one function in a transaction and may be called from any thread."""
        self._run_write = run_write
        self._waiting: deque[Write] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._dropped = 0

    def add(self, fn: Write) -> None:
        """Queue a write; never blocks and never raises."""
        with self._changed:
            if len(self._waiting) >= DEFERRED_WRITES_MAX:
                self._dropped += 1
                return
            self._waiting.append(fn)
            if self._thread is None:
                self._thread = threading.Thread(target=self._carry_out, name="hivekeep-deferred", daemon=True)
                self._thread.start()

    def settle(self) -> None:
        """Return when everything that was queued before has been carried out or dropped."""
        with self._changed:
            self._changed.wait_for(lambda: self._thread is None)

    def counters(self) -> dict[str, int | None]:
        """How many writes were dropped."""
        return {"deferred_writes_dropped": self._dropped}

    def _carry_out(self) -> None:
        while (fn := self._next()) is not None:
            try:
                self._run_write(fn)
            except Exception as fault:
                # The text of the fault may quote a record; its type is enough to look for the cause.
                _log.warning("a deferred write was dropped: %s", type(fault).__name__)
                with self._changed:
                    self._dropped += 1

    def _next(self) -> Write | None:
        with self._changed:
            if self._waiting:
                return self._waiting.popleft()
            self._thread = None
            self._changed.notify_all()
            return None
