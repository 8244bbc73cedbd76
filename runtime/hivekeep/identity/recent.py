"""Which entities a caller named last: what "the paper" may refer to.

Invariant: a ring belongs to one (namespace, actor) pair and holds ids only, each once, most recent first. What they are
called now, and whether they are still there, is read from the store, so a ring never answers from memory.
"""

import threading
from collections.abc import Iterable

from hivekeep.identity.caller import Caller
from hivekeep_contract.limits import RECENT_CALLERS_MAX, RECENT_ENTITIES_MAX

Key = tuple[str, str, str]


class RecentEntities:
    """The rings of one process; any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Insertion order is age: whatever is named again is taken out and put at the end.
        self._rings: dict[Key, dict[str, None]] = {}

    def of(self, caller: Caller, namespace: str) -> list[str]:
        """Ids of the entities that the caller named in a namespace, most recent first."""
        with self._lock:
            return list(reversed(self._rings.get((namespace, caller.kind, caller.id), {})))

    def admit(self, caller: Caller, namespace: str, ids: Iterable[str]) -> None:
        """The caller named these, the last one last; the oldest give way."""
        key = (namespace, caller.kind, caller.id)
        rings = self._rings
        with self._lock:
            ring = rings.pop(key, None) or {}
            for record_id in ids:
                ring.pop(record_id, None)
                ring[record_id] = None
            rings[key] = ring
            while len(ring) > RECENT_ENTITIES_MAX:
                del ring[next(iter(ring))]
            while len(rings) > RECENT_CALLERS_MAX:
                del rings[next(iter(rings))]

    def forget(self, ids: Iterable[str]) -> None:
        """Take deleted entities out of every ring."""
        gone = list(ids)
        with self._lock:
            for ring in self._rings.values():
                for record_id in gone:
                    ring.pop(record_id, None)
