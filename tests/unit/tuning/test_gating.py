"""The gate on implicit feedback: its half-life and its cap."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.tuning.gating import Passage, admit, decayed
from hivekeep_contract.limits import IMPLICIT_MASS_CAP, IMPLICIT_MASS_TOLERANCE

DAY = 24 * 60 * 60 * 1_000_000


@pytest.mark.parametrize(
    ("days", "left"), [(0, 1.2), (-3, 1.2), (7, 0.6), (14, 0.3), (3.5, 1.2 / 2**0.5), (70, 1.2 / 1024)]
)
def test_half_of_a_mass_is_left_after_a_week(days: float, left: float) -> None:
    """Exponential decay; a clock that goes backwards takes nothing away."""
    assert decayed(1.2, int(days * DAY)) == pytest.approx(left, abs=1e-12)


def test_fifteen_signals_pass_at_once_and_the_sixteenth_does_not() -> None:
    """0.1 each up to 1.5: the rounding of fifteen additions is forgiven, the next signal weighs nothing."""
    mass = 0.0
    for _signal in range(15):
        passage = admit(mass, 0.1)
        assert passage == Passage(0.1, mass, mass + 0.1)
        mass = passage.mass_after
    assert admit(mass, 0.1) == Passage(0.0, mass, mass)
    assert admit(mass, -0.1) == Passage(0.0, mass, mass)


def test_a_signal_against_uses_up_the_same_mass() -> None:
    """The cap counts how much was said, not in which direction."""
    assert admit(1.0, -0.1) == Passage(-0.1, 1.0, 1.1)


steps = st.tuples(st.sampled_from((0.1, -0.1)), st.integers(-DAY, 40 * DAY))


@given(st.lists(steps, max_size=60))
@settings(max_examples=60, derandomize=True)
def test_no_sequence_of_signals_gets_past_the_cap(sequence: list[tuple[float, int]]) -> None:
    """However signals and pauses follow each other, the mass stays within the cap; a blocked one counts nothing."""
    mass = 0.0
    for weight, pause in sequence:
        before = decayed(mass, pause)
        passage = admit(before, weight)
        assert passage.mass_before == before <= mass or pause <= 0
        assert passage.effective_weight in (0.0, weight)
        assert passage.mass_after == before + abs(passage.effective_weight)
        mass = passage.mass_after
        assert mass <= IMPLICIT_MASS_CAP + IMPLICIT_MASS_TOLERANCE
