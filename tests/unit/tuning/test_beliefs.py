"""Beta distributions: numbers of a belief, evidence, and joining."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.tuning.beliefs import RELEVANCE, SALIENCE, TARGET, TEMPORAL, Belief

weights = st.floats(-3, 3, allow_nan=False)


def test_the_priors_have_the_means_that_rank_without_a_profile() -> None:
    """Relevance 0.7, salience 0.2, recency 0.1, a record one half."""
    means = [belief.mean for belief in (RELEVANCE, SALIENCE, TEMPORAL, TARGET)]
    assert means == [0.7, 0.2, 0.1, 0.5]


def test_a_belief_has_the_moments_of_its_distribution() -> None:
    """Mean a/n, variance ab/(n^2 (n+1)), evidence n, compared with exact fractions."""
    belief = Belief(3.0, 5.0)
    a, b = Fraction(3), Fraction(5)
    n = a + b
    assert belief.mean == float(a / n)
    assert belief.variance == pytest.approx(float(a * b / (n * n * (n + 1))), abs=1e-15)
    assert belief.evidence == 8.0


@pytest.mark.parametrize("belief", [Belief(1e-320, 1e-320), Belief(1e-200, 1e-200), Belief(1e200, 1e-200)])
def test_extreme_evidence_has_finite_moments(belief: Belief) -> None:
    """The square of the evidence leaves the range of a float, to 0 or to infinity; the moments must not."""
    assert belief.is_sound
    a, b = Fraction(belief.alpha), Fraction(belief.beta)
    n = a + b
    assert belief.mean == pytest.approx(float(a / n), abs=1e-12)
    assert belief.variance == pytest.approx(float(a * b / (n * n * (n + 1))), abs=1e-12)


@pytest.mark.parametrize(
    ("weight", "after"), [(1.5, Belief(3.5, 3.0)), (-2.0, Belief(2.0, 5.0)), (0.0, Belief(2.0, 3.0))]
)
def test_evidence_adds_to_one_side(weight: float, after: Belief) -> None:
    """A positive weight speaks for, a negative one against, none changes nothing."""
    assert Belief(2.0, 3.0).after(weight) == after


@given(st.lists(weights, max_size=8), st.lists(weights, max_size=8))
@settings(max_examples=60, derandomize=True)
def test_two_beliefs_join_to_what_all_the_evidence_gives(one: list[float], other: list[float]) -> None:
    """The prior counts once, whichever of the two saw which evidence."""
    first, second, all_of_it = SALIENCE, SALIENCE, SALIENCE
    for weight in one:
        first, all_of_it = first.after(weight), all_of_it.after(weight)
    for weight in other:
        second, all_of_it = second.after(weight), all_of_it.after(weight)
    assert first.joined(second, SALIENCE) == pytest.approx(all_of_it, abs=1e-9)
    assert first.joined(second, SALIENCE) == pytest.approx(second.joined(first, SALIENCE), abs=1e-9)


@pytest.mark.parametrize(
    "belief",
    [Belief(0.0, 1.0), Belief(1.0, -1.0), Belief(float("inf"), 1.0), Belief(1.0, float("nan")), Belief(1e308, 1e308)],
)
def test_numbers_that_are_no_distribution_are_told_apart(belief: Belief) -> None:
    """Nothing but numbers above zero with a finite sum is sound."""
    assert not belief.is_sound
    assert Belief(0.001, 900.0).is_sound
