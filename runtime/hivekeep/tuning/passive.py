"""What a process saw without being told: recalls that found something or not, feedback that no profile took, and that
other operations succeeded.

Invariant: it is held in memory, dies with the process, and tunes nothing; `brain.profile` shows it beside what was
learned. A reset of the profile by this process drops what it holds of it.
"""

import threading
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from hivekeep.storage.engine import Engine
from hivekeep.tuning.beliefs import RELEVANCE, SALIENCE, TARGET, TEMPORAL, Belief
from hivekeep.tuning.serving import Served
from hivekeep_contract.limits import (
    BUILTIN_PROFILE,
    FAST_RECALL_US,
    FEEDBACK_RELEVANCE,
    FEEDBACK_WEIGHT,
    POSTERIOR_TARGETS_MAX,
)

_COUNTED_APART = ("memory.recall", "memory.feedback", "brain.feedback", "brain.auto_feedback")


@dataclass(slots=True)
class Observed:
    """The evidence on one profile, as beliefs that began at its priors."""

    relevance: Belief = RELEVANCE
    salience: Belief = SALIENCE
    temporal: Belief = TEMPORAL
    total_events: int = 0
    targets: dict[str, Belief] = field(default_factory=dict)

    def note(self, target_id: str, weight: float) -> None:
        """Add evidence on a record; the one that was met first gives way to one too many."""
        if target_id not in self.targets and len(self.targets) >= POSTERIOR_TARGETS_MAX:
            del self.targets[next(iter(self.targets))]
        self.targets[target_id] = self.targets.get(target_id, TARGET).after(weight)


class Passive:
    """What one process saw of one store, by namespace and profile. Any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], Observed] = {}

    def recall(self, namespace: str, profile_id: str, latency_us: int, top_id: str | None) -> None:
        """A recall was answered; `top_id` is its first record, None when it found nothing."""
        hit = top_id is not None
        quick = hit and latency_us <= FAST_RECALL_US
        with self._lock:
            seen = self._of(namespace, profile_id)
            seen.total_events += 1
            seen.relevance = seen.relevance.after(1.0 if hit else -1.0)
            seen.temporal = seen.temporal.after(1.0 if quick else -1.0)
            if top_id is not None:
                seen.note(top_id, 1.0)

    def dispatched(self, verb: str, namespace: str) -> None:
        """An operation succeeded. What is counted for its profile, here or in the store, is not counted again."""
        if verb not in _COUNTED_APART:
            with self._lock:
                self._of(namespace, BUILTIN_PROFILE).total_events += 1

    def feedback(self, namespace: str, profile_id: str, signal: str, target_id: str) -> None:
        """Somebody judged a record, and no profile was there to learn it."""
        weight = FEEDBACK_WEIGHT[signal]
        with self._lock:
            seen = self._of(namespace, profile_id)
            seen.total_events += 1
            seen.salience = seen.salience.after(weight)
            if signal in FEEDBACK_RELEVANCE:
                seen.relevance = seen.relevance.after(weight)
            seen.note(target_id, weight)

    def seen(self, namespace: str, profile_id: str) -> Observed:
        """The evidence on a profile so far."""
        with self._lock:
            found = self._of(namespace, profile_id)
            return Observed(found.relevance, found.salience, found.temporal, found.total_events, dict(found.targets))

    def forget(self, namespace: str, profile_id: str) -> None:
        """Drop the evidence on a profile."""
        with self._lock:
            self._seen.pop((namespace, profile_id), None)

    def _of(self, namespace: str, profile_id: str) -> Observed:
        return self._seen.setdefault((namespace, profile_id), Observed())


_lock = threading.Lock()
_of_store: WeakKeyDictionary[Engine, Passive] = WeakKeyDictionary()


def of(engine: Engine) -> Passive:
    """What this process saw of an open store."""
    with _lock:
        return _of_store.setdefault(engine, Passive())


def observe_recall(engine: Engine, namespace: str, served: Served, latency_us: int, top_id: str | None) -> None:
    """Note a recall on the profile that served it, else on the built-in one; an unattributed one on none."""
    if served.attribution != "unattributed":
        of(engine).recall(namespace, served.profile_id or BUILTIN_PROFILE, latency_us, top_id)


def observe_feedback(engine: Engine, namespace: str, signal: str, target_id: str) -> None:
    """Note feedback that no profile takes, on the built-in one."""
    of(engine).feedback(namespace, BUILTIN_PROFILE, signal, target_id)
