"""The figures against values worked out by hand, and against a second computation of them."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.evaluation import metrics

IDS = [f"d{number}" for number in range(12)]
ranked_ids = st.lists(st.sampled_from(IDS), unique=True)
graded = st.dictionaries(st.sampled_from(IDS), st.sampled_from([1.0, 2.0, 3.0]), min_size=1)


def test_recall_is_the_share_of_what_is_relevant() -> None:
    """Of three relevant ids one stands among the first two and two among the first four."""
    assert metrics.recall(["a", "x", "b", "y"], {"a", "b", "c"}, 2) == 1 / 3
    assert metrics.recall(["a", "x", "b", "y"], {"a", "b", "c"}, 4) == 2 / 3
    assert metrics.recall([], {"a"}, 10) == 0.0


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    """Grades 2 and 1 in the wrong order with a miss between: (1 + 2/2) / (2 + 1/log2(3))."""
    found = metrics.ndcg(["b", "x", "a"], {"a": 2.0, "b": 1.0}, 10)
    assert found == (1 + 2 / 2) / (2 + 1 / math.log2(3))
    assert metrics.ndcg(["a", "b"], {"a": 2.0, "b": 1.0}, 10) == 1.0
    assert metrics.ndcg(["x", "a"], {"a": 1.0}, 1) == 0.0


def test_the_reciprocal_rank_is_that_of_the_first_relevant_id() -> None:
    """Third place is a third; without a relevant id it is nothing."""
    assert metrics.reciprocal_rank(["x", "y", "a", "b"], {"a", "b"}) == 1 / 3
    assert metrics.reciprocal_rank(["x"], {"a"}) == 0.0


@pytest.mark.parametrize(
    ("share", "value"), [(0.0, 1.0), (0.25, 1.0), (0.5, 2.0), (0.51, 3.0), (0.95, 4.0), (1.0, 4.0)]
)
def test_a_percentile_is_a_value_that_was_measured(share: float, value: float) -> None:
    """The smallest of 4, 1, 3, 2 that so large a share does not exceed."""
    assert metrics.percentile([4.0, 1.0, 3.0, 2.0], share) == value


def test_the_figures_of_nothing_are_nothing() -> None:
    """No value, no mean and no percentile."""
    assert (metrics.mean([]), metrics.percentile([], 0.5)) == (0.0, 0.0)


@settings(derandomize=True, max_examples=200)
@given(ranked_ids, graded, st.integers(1, 12))
def test_ndcg_equals_a_second_computation(ranked: list[str], grades: dict[str, float], k: int) -> None:
    """The same figure with the gain of every place summed over a table of discounts, natural logarithms divided."""
    discounts = [math.log(2) / math.log(place + 2) for place in range(k)]
    gained = sum(grades[item] * discounts[place] for place, item in enumerate(ranked) if place < k and item in grades)
    best = sum(grade * discount for grade, discount in zip(sorted(grades.values())[::-1], discounts, strict=False))
    found = metrics.ndcg(ranked, grades, k)
    assert math.isclose(found, gained / best, rel_tol=1e-12)
    assert 0.0 <= found <= 1.0 + 1e-12


@settings(derandomize=True, max_examples=200)
@given(ranked_ids, st.frozensets(st.sampled_from(IDS), min_size=1))
def test_the_figures_agree_with_each_other(ranked: list[str], relevant: frozenset[str]) -> None:
    """Recall grows with k up to the share of all that was found, and is 0 before the first relevant rank only."""
    shares = [metrics.recall(ranked, relevant, k) for k in range(1, len(IDS) + 1)]
    assert shares == sorted(shares)
    assert shares[-1] == len(relevant.intersection(ranked)) / len(relevant)
    first = metrics.reciprocal_rank(ranked, relevant)
    assert [share > 0 for share in shares] == [first > 0 and k >= round(1 / first) for k in range(1, len(IDS) + 1)]
