"""What a process saw without being told."""

from dataclasses import astuple

import pytest

from hivekeep.storage.connections import MEMORY
from hivekeep.storage.sqlite import open_store
from hivekeep.tuning import passive, serving
from hivekeep.tuning.passive import Passive
from support.stores import OPTIONS

SERVED = serving.defaults()


def test_a_quick_hit_a_slow_hit_and_a_miss() -> None:
    """A hit speaks for relevance and its first record, only a quick one for recency; a miss against both."""
    seen = Passive()
    seen.recall("local", "team", 50_000, "a")
    seen.recall("local", "team", 50_001, "a")
    seen.recall("local", "team", 10, None)
    assert astuple(seen.seen("local", "team")) == ((9.0, 4.0), (2.0, 8.0), (2.0, 11.0), 3, {"a": (3.0, 1.0)})
    assert seen.seen("local", "other").total_events == 0
    assert seen.seen("elsewhere", "team").total_events == 0


def test_unrouted_feedback_moves_salience_and_a_correction_relevance() -> None:
    """By the same weights as feedback that a profile takes."""
    seen = Passive()
    seen.feedback("local", "team", "explicit_positive", "a")
    seen.feedback("local", "team", "correction", "a")
    assert astuple(seen.seen("local", "team")) == ((7.0, 5.0), (3.5, 10.0), (1.0, 9.0), 2, {"a": (2.5, 3.0)})
    seen.forget("local", "team")
    assert seen.seen("local", "team").total_events == 0


def test_every_other_operation_counts_once_for_the_built_in_profile() -> None:
    """Recalls and feedback have a profile that they count for, so they are left out here."""
    seen = Passive()
    for verb in ("search", "get", "memory.remember", "brain.bind", "memory.recall", "memory.feedback"):
        seen.dispatched(verb, "local")
    for verb in ("brain.feedback", "brain.auto_feedback"):
        seen.dispatched(verb, "local")
    assert astuple(seen.seen("local", "balanced-recall-v1")) == ((7.0, 3.0), (2.0, 8.0), (1.0, 9.0), 4, {})
    assert seen.seen("other", "balanced-recall-v1").total_events == 0


def test_records_that_were_met_first_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory of a process is bounded."""
    monkeypatch.setattr(passive, "POSTERIOR_TARGETS_MAX", 2)
    seen = Passive()
    for name in ("a", "b", "a", "c"):
        seen.recall("local", "team", 10, name)
    assert list(seen.seen("local", "team").targets) == ["b", "c"]


def test_what_was_seen_belongs_to_a_store_and_to_who_served() -> None:
    """Nobody in particular counts as the built-in profile; an unattributed answer counts for none."""
    one, other = open_store(MEMORY, OPTIONS), open_store(MEMORY, OPTIONS)
    passive.observe_recall(one, "local", SERVED, 10, "a")
    passive.observe_recall(one, "local", SERVED._replace(attribution="profile", profile_id="team"), 10, "a")
    passive.observe_recall(one, "local", SERVED._replace(attribution="unattributed"), 10, "a")
    passive.observe_feedback(one, "local", "useful", "a")
    counts = [passive.of(one).seen("local", name).total_events for name in ("balanced-recall-v1", "team")]
    assert counts == [2, 1]
    assert passive.of(other).seen("local", "balanced-recall-v1").total_events == 0
    one.close()
    other.close()
