"""States: what a lesson changes, what is forgotten, and the moment of a change."""

from typing import Any

import pytest

from hivekeep.storage import brain_states
from hivekeep.storage.brain_states import Mass, SectionRow
from hivekeep.storage.engine import Tx
from hivekeep.tuning import states
from hivekeep.tuning.states import Lesson

HERE = ("local", "team")


def teach(tx: Tx, signal: str, weight: float, target: str = "a", now: int = 100, **sections: str) -> Any:
    """One lesson of the profile `team`."""
    return states.teach(tx, *HERE, Lesson(signal, weight, target, sections), {"signal": signal}, now)


def target(tx: Tx, name: str) -> tuple[float, float] | None:
    """What is believed of a record."""
    row = brain_states.target(tx, *HERE, name)
    return None if row is None else row[1:]


def test_a_state_begins_at_the_priors(tx: Tx) -> None:
    """Reading writes nothing."""
    state = states.read(tx, *HERE)
    assert state[2:8] == (7.0, 3.0, 2.0, 8.0, 1.0, 9.0)
    assert (state.total_events, state.exploration_epoch, state.section_epoch, state.updated_at) == (0, 0, 50, 0)
    assert brain_states.get(tx, *HERE) is None


def test_a_correction_also_speaks_against_relevance(tx: Tx) -> None:
    """Salience and record as for every signal, relevance for this one; recency never."""
    teach(tx, "useful", 1.0)
    state = teach(tx, "correction", -2.0)
    assert state[2:8] == (7.0, 5.0, 3.0, 10.0, 1.0, 9.0)
    assert target(tx, "a") == (2.0, 3.0)
    assert (state.total_events, state.target_count) == (2, 1)


def test_a_signal_without_weight_is_counted_and_teaches_nothing(tx: Tx) -> None:
    """No record is remembered for it."""
    state = teach(tx, "implicit_positive", 0.0)
    assert state[2:8] == (7.0, 3.0, 2.0, 8.0, 1.0, 9.0)
    assert (state.total_events, state.target_count, target(tx, "a")) == (1, 0, None)


def test_the_record_that_was_met_first_gives_way(tx: Tx, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the one that was judged longest ago."""
    monkeypatch.setattr(states, "POSTERIOR_TARGETS_MAX", 2)
    for name in ("a", "b", "a", "c"):
        state = teach(tx, "useful", 1.0, name)
    assert [target(tx, name) for name in "abc"] == [None, (2.0, 1.0), (2.0, 1.0)]
    assert state.target_count == 2
    assert [row.target_id for row in brain_states.newest_targets(tx, *HERE, 9)] == ["c", "b"]


def test_every_change_is_later_than_the_one_before(tx: Tx) -> None:
    """Also when the clock stands still or goes backwards; the history has the same moments."""
    moments = [teach(tx, "useful", 1.0, now=now).updated_at for now in (100, 100, 40, 500)]
    moments.append(states.reset(tx, *HERE, 90).updated_at)
    assert moments == [100, 101, 102, 500, 501]
    history = tx.all("SELECT event_kind, created_at FROM brain_events ORDER BY seq")
    assert history == [*(("feedback", moment) for moment in moments[:4]), ("reset", 501)]


def test_a_reset_forgets_all_but_the_history(tx: Tx) -> None:
    """Beliefs, records, mass and sections begin anew; the epoch counts the resets."""
    teach(tx, "correction", -2.0, examples="wrong")
    brain_states.put_mass(tx, *HERE, "a", Mass(1.0, 100))
    state = states.reset(tx, *HERE, 200)
    assert state[2:8] == (7.0, 3.0, 2.0, 8.0, 1.0, 9.0)
    assert (state.total_events, state.exploration_epoch, state.section_epoch, state.target_count) == (0, 1, 50, 0)
    assert (target(tx, "a"), brain_states.mass(tx, *HERE, "a")) == (None, None)
    assert SectionRow("examples", 5.0, 2.0, 5.0, 2.0) in brain_states.sections(tx, *HERE)
    assert states.reset(tx, *HERE, 201).exploration_epoch == 2


def test_sections_learn_beside_the_rest(tx: Tx) -> None:
    """The first signal about sections begins them at their defaults; each such feedback lowers their epoch."""
    teach(tx, "useful", 1.0)
    assert brain_states.sections(tx, *HERE) == []
    state = teach(tx, "useful", 1.0, examples="useful", formalism="wrong")
    believed = {row.section: row[1:3] for row in brain_states.sections(tx, *HERE)}
    assert (believed["examples"], believed["formalism"], believed["other"]) == ((6.0, 2.0), (1.5, 6.0), (2.0, 2.0))
    assert (state.section_events, state.section_epoch, state.total_events) == (1, 49, 2)


def test_the_epoch_of_sections_ends_at_zero(tx: Tx) -> None:
    """It never becomes negative."""
    epochs = [teach(tx, "useful", 1.0, other="useful").section_epoch for _feedback in range(52)]
    assert epochs == [*range(49, -1, -1), 0, 0]


@pytest.mark.parametrize("number", ["0.0", "-1.0", "9e999"])
def test_a_damaged_state_is_refused_and_can_be_reset(tx: Tx, number: str) -> None:
    """Numbers that are no belief are never used; a reset mends them."""
    teach(tx, "useful", 1.0)
    tx.run(f"UPDATE brain_states SET salience_beta = {number}")
    with pytest.raises(states.Unreadable, match="team"):
        states.read(tx, *HERE)
    with pytest.raises(states.Unreadable):
        teach(tx, "useful", 1.0)
    states.reset(tx, *HERE, 300)
    assert states.read(tx, *HERE).salience_beta == 8.0


def test_states_of_namespaces_are_apart(tx: Tx) -> None:
    """The same profile learns here and there separately."""
    teach(tx, "useful", 1.0)
    assert states.read(tx, "elsewhere", "team").total_events == 0
    assert states.section_rows(tx, "elsewhere", "team", "local") == []


def test_sections_elsewhere_begin_where_the_profile_began(tx: Tx) -> None:
    """The seed of a profile counts in every namespace, what it learned at home does not."""
    brain_states.put_sections(tx, *HERE, [SectionRow("other", 9.0, 4.0, 3.0, 4.0)])
    assert states.section_rows(tx, "elsewhere", "team", "local") == [SectionRow("other", 3.0, 4.0, 3.0, 4.0)]
    assert states.section_rows(tx, "local", "team", "local") == [SectionRow("other", 9.0, 4.0, 3.0, 4.0)]
