"""The arithmetic of recall against computations written out here."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.packs.memory import scoring
from hivekeep.packs.memory.scoring import DEFAULT_WEIGHTS, Facts, Scored, Weights

FACTS = Facts(
    relevance=0.5,
    salience=0.4,
    decay_factor=0.02,
    age_days=10.0,
    memory_type="semantic",
    mentioned=False,
    posterior_mean=None,
)
UNIT = st.floats(0, 1)


def test_the_default_weights_are_seven_two_and_one_tenths() -> None:
    """Relevance 0.7, salience 0.2, recency 0.1."""
    assert Weights(0.7, 0.2, 0.1) == DEFAULT_WEIGHTS


# relevance


def test_the_weakest_and_strongest_candidates_are_put_at_the_ends_of_the_scale() -> None:
    """0.15 for the weakest, 0.82 for the strongest, the others between in proportion."""
    found = scoring.relevance({"a": 2.0, "b": 1.0, "c": 0.0}, "weighted")
    assert found == pytest.approx({"a": 0.82, "b": 0.485, "c": 0.15}, abs=1e-12)


def test_a_best_score_below_full_confidence_lowers_all() -> None:
    """A best fused score of 0.01 counts 0.01 / 0.025 of its place; ranks are not scores and count in full."""
    assert scoring.relevance({"a": 0.01, "b": 0.0}, "weighted") == pytest.approx({"a": 0.82 * 0.4, "b": 0.15 * 0.4})
    assert scoring.relevance({"a": 1 / 61, "b": 1 / 62}, "rrf") == pytest.approx({"a": 0.82, "b": 0.15})


def test_equal_scores_take_the_score_itself_within_the_scale() -> None:
    """1.0 is lowered to 0.82, 0.5 stays, 0.1 is raised to 0.15; equal ranks are 0.82."""
    assert scoring.relevance({"a": 1.0, "b": 1.0}, "union") == {"a": 0.82, "b": 0.82}
    assert scoring.relevance({"a": 0.5}, "weighted") == {"a": 0.5}
    assert scoring.relevance({"a": 0.1}, "vector_only") == {"a": 0.15}
    assert scoring.relevance({"a": 0.016}, "rrf") == {"a": 0.82}
    assert scoring.relevance({"a": 0.01}, "keyword_only") == pytest.approx({"a": 0.15 * 0.4})


def test_scores_that_are_no_scores_have_no_place() -> None:
    """Not finite, or below zero; and nothing has one when no score is above zero."""
    kept = scoring.relevance({"a": 1.0, "b": math.nan, "c": math.inf, "d": -0.1, "e": 0.0}, "weighted")
    assert kept == {"a": 0.82, "e": 0.15}
    assert scoring.relevance({"a": 0.0}, "weighted") == {}
    assert scoring.relevance({}, "rrf") == {}


# composite


def test_the_composite_of_a_lasting_fact() -> None:
    """0.7 * relevance * (1 + 0.1 * recency) * (1 + 0.2 * salience)."""
    recency = math.exp(-0.02 * 10)
    assert scoring.composite(FACTS, DEFAULT_WEIGHTS) == pytest.approx(
        0.7 * 0.5 * (1 + 0.1 * recency) * (1 + 0.2 * 0.4), abs=1e-15
    )


def test_a_ranking_decays_by_no_more_than_a_twentieth_a_day() -> None:
    """A decay of 3.0 ranks as one of 0.05."""
    fast, capped = (scoring.composite(FACTS._replace(decay_factor=decay), DEFAULT_WEIGHTS) for decay in (3.0, 0.05))
    assert fast == capped
    assert capped == pytest.approx(0.35 * (1 + 0.1 * math.exp(-0.5)) * 1.08, abs=1e-15)


def test_an_episode_of_the_last_seven_days_gains_a_twentieth() -> None:
    """At 7 days it does, behind them it does not; a fact never does."""
    for days, kind, gain in ((7.0, "episodic", 0.05), (7.001, "episodic", 0.0), (1.0, "semantic", 0.0)):
        facts = FACTS._replace(age_days=days, memory_type=kind)
        base = 0.35 * (1 + 0.1 * math.exp(-0.02 * days)) * 1.08
        assert scoring.composite(facts, DEFAULT_WEIGHTS) == pytest.approx(base + gain, abs=1e-15)


def test_a_mention_counts_behind_the_bonus_and_before_the_clamp() -> None:
    """(base + 0.05) * 1.3, at most 1."""
    facts = FACTS._replace(memory_type="episodic", age_days=0.0, mentioned=True)
    base = 0.35 * 1.1 * 1.08
    assert scoring.composite(facts, DEFAULT_WEIGHTS) == pytest.approx((base + 0.05) * 1.3, abs=1e-15)
    strong = facts._replace(relevance=0.82, salience=1.0)
    assert (0.7 * 0.82 * 1.1 * 1.2 + 0.05) * 1.3 > 1
    assert scoring.composite(strong, DEFAULT_WEIGHTS) == 1.0


def test_feedback_moves_a_score_by_at_most_fifteen_percent_behind_the_clamp() -> None:
    """1 + 0.3 * (mean - 0.5) within 0.85 and 1.15; without feedback exactly 1."""
    strong = FACTS._replace(relevance=0.82, salience=1.0, age_days=0.0, memory_type="episodic", mentioned=True)
    for mean, factor in ((None, 1.0), (0.5, 1.0), (1.0, 1.15), (0.0, 0.85), (0.75, 1.075)):
        told = scoring.composite(strong._replace(posterior_mean=mean), DEFAULT_WEIGHTS)
        assert told == pytest.approx(factor, abs=1e-15)
    assert scoring.posterior_factor(None) == 1.0


def test_a_profile_replaces_the_three_weights() -> None:
    """With 0.5, 0.4 and 0.3 the same formula holds."""
    recency = math.exp(-0.2)
    told = scoring.composite(FACTS, Weights(relevance=0.5, salience=0.4, temporal=0.3))
    assert told == pytest.approx(0.5 * 0.5 * (1 + 0.3 * recency) * (1 + 0.4 * 0.4), abs=1e-15)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(UNIT, UNIT, st.floats(0, 10), st.floats(0, 4000), st.sampled_from(["episodic", "semantic"]), st.booleans(), UNIT)
def test_a_rank_score_stays_within_zero_and_the_largest_factor(
    relevance: float, salience: float, decay: float, days: float, kind: str, mentioned: bool, mean: float
) -> None:
    """From 0 to 1.15, and more relevance never ranks lower."""
    facts = Facts(relevance, salience, decay, days, kind, mentioned, mean)
    told = scoring.composite(facts, DEFAULT_WEIGHTS)
    assert 0.0 <= told <= 1.15
    assert scoring.composite(facts._replace(relevance=1.0), DEFAULT_WEIGHTS) >= told


# breakdown


def test_a_breakdown_says_the_parts_with_the_default_weights() -> None:
    """The salience decays in full, the temporal part halves in 30 days, the contributions ignore the profile."""
    facts = FACTS._replace(age_days=60.0, decay_factor=0.2, posterior_mean=0.6)
    weights = Weights(relevance=0.35, salience=0.2, temporal=0.1)
    told = scoring.breakdown(facts, weights)
    decayed = 0.4 * math.exp(-0.2 * 60)
    assert told["relevance"] == 0.5
    assert told["salience_raw"] == 0.4
    assert told["salience_decayed"] == pytest.approx(decayed, abs=1e-15)
    assert told["temporal"] == pytest.approx(0.25, abs=1e-15)
    assert told["weighted"] == pytest.approx(
        {
            "relevance_contribution": 0.35,
            "salience_contribution": 0.2 * decayed,
            "temporal_contribution": 0.025,
        },
        abs=1e-15,
    )
    assert told["profile_component"] == pytest.approx(0.5, abs=1e-12)
    assert told["entity_posterior_mean"] == 0.6


def test_without_a_profile_its_component_is_one() -> None:
    """Also for a memory that scores nothing at all."""
    assert scoring.breakdown(FACTS, DEFAULT_WEIGHTS)["profile_component"] == 1.0
    nothing = FACTS._replace(relevance=0.0)
    assert scoring.breakdown(nothing, Weights(0.1, 0.1, 0.1))["profile_component"] == 1.0


# near duplicates


def test_the_weaker_of_two_near_duplicates_loses_a_tenth() -> None:
    """Equal first 100 characters make them; only the weaker one pays, and not below zero."""
    same = "x" * 100
    told = scoring.without_echoes(
        [
            Scored("b", 0.9, same + "b"),
            Scored("a", 0.95, same + "a"),
            Scored("c", 0.85, "other"),
            Scored("d", 0.05, same),
        ]
    )
    assert [one.id for one in told] == ["a", "c", "b", "d"]
    assert [one.rank_score for one in told] == [0.95, 0.85, pytest.approx(0.8), 0.0]


def test_texts_that_differ_within_the_first_hundred_characters_are_no_duplicates() -> None:
    """The hundredth character still counts, the next one does not."""
    alike = [Scored("a", 0.5, "x" * 99 + "a"), Scored("b", 0.4, "x" * 99 + "b")]
    assert scoring.without_echoes(alike) == alike


def test_equal_scores_are_ordered_by_id() -> None:
    """Whatever the order in which they arrive."""
    one, two, three = Scored("1", 0.5, "a"), Scored("2", 0.5, "b"), Scored("3", 0.7, "c")
    assert scoring.best_first([two, one, three]) == scoring.best_first([three, one, two]) == [three, one, two]


def test_a_memory_of_the_future_has_no_age() -> None:
    """Clocks of several machines differ; a day is 86,400,000,000 microseconds."""
    assert scoring.age_days(0, 10) == 0.0
    assert scoring.age_days(3 * 86_400_000_000, 86_400_000_000) == 2.0
