"""Scores by reciprocal ranks, exactly as published."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.search.fusion import PARTICIPANTS, Leg, Strategy, entity_score, fuse, note_score, reciprocal_ranks
from hivekeep_contract.limits import ENTITY_RRF_K, NOTE_RRF_K


def test_a_rank_counts_one_over_constant_plus_rank_in_each_arm() -> None:
    """Ranks start at 1 and add up over the arms."""
    scores = reciprocal_ranks([["a", "b"], ["b"]], ENTITY_RRF_K)
    assert scores == {"a": 1 / 11, "b": 1 / 12 + 1 / 11}


def test_an_exact_title_adds_one_half() -> None:
    """First in one arm and named like the query: 1/11 + 0.5; in both arms 2/11 + 0.5."""
    assert entity_score(1 / 11, exact_title=True) == pytest.approx(0.590909, abs=1e-6)
    assert entity_score(2 / 11, exact_title=True) == pytest.approx(0.681818, abs=1e-6)
    assert entity_score(1 / 11, exact_title=False) == 1 / 11


@pytest.mark.parametrize(("salience", "factor"), [(0.0, 0.5), (1.0, 1.0), (None, 0.75), (0.5, 0.75)])
def test_salience_weighs_a_note_between_half_and_whole(salience: float | None, factor: float) -> None:
    """The factor is 0.5 + 0.5 * salience; a note without salience counts as 0.5."""
    first = reciprocal_ranks([["n"]], NOTE_RRF_K)["n"]
    assert note_score(first, salience) == 1 / 61 * factor


TEXT = {"a": 9.0, "b": 5.0, "c": 1.0}
VECTOR = {"b": 0.8, "d": 0.4}
NEIGHBOURS = {"c": 9.0, "e": 4.0, "a": 4.0}
LEGS: dict[Leg, dict[str, float]] = {"text": TEXT, "neighbours": NEIGHBOURS, "vector": VECTOR}
WEIGHTS: dict[Leg, float] = {"text": 0.4, "neighbours": 0.4, "vector": 0.2}


def test_weighted_is_the_mean_of_places_between_nought_and_one() -> None:
    """Each leg is stretched to 0..1, an id that a leg lacks counts 0 there, and the weights multiply."""
    assert fuse("weighted", LEGS, WEIGHTS) == pytest.approx({"a": 0.4, "b": 0.4, "c": 0.4, "d": 0.0, "e": 0.0})


def test_weights_are_shared_out_among_the_legs_that_found_something() -> None:
    """Without vectors the two other legs count a half each; alone a leg counts whole."""
    two: dict[Leg, dict[str, float]] = {"text": TEXT, "neighbours": NEIGHBOURS, "vector": {}}
    assert fuse("weighted", two, WEIGHTS) == pytest.approx({"a": 0.5, "b": 0.25, "c": 0.5, "e": 0.0})
    assert fuse("weighted", {"text": TEXT}, WEIGHTS) == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_a_leg_of_weight_nought_is_switched_off() -> None:
    """It neither lends a score nor lets anything in."""
    assert fuse("weighted", LEGS, {"text": 1.0, "neighbours": 0.0, "vector": 0.0}) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert fuse("weighted", {"vector": VECTOR}, {"text": 1.0}) == {}


def test_equal_scores_are_all_the_best_of_their_leg() -> None:
    """A leg that makes no difference says yes to all it found."""
    assert fuse("weighted", {"text": {"a": 3.0, "b": 3.0}}, WEIGHTS) == {"a": 1.0, "b": 1.0}


def test_rrf_adds_reciprocal_ranks_of_text_and_vector() -> None:
    """1 / (60 + rank) for each of the two legs; neighbours take no part."""
    assert fuse("rrf", LEGS, WEIGHTS) == {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 63, "d": 1 / 62}


def test_rrf_ranks_equal_scores_by_id() -> None:
    """The id decides, not the order in which a mapping lists them."""
    assert fuse("rrf", {"text": {"b": 1.0, "a": 1.0}}, WEIGHTS) == {"a": 1 / 61, "b": 1 / 62}


def test_union_is_the_best_of_both_legs() -> None:
    """Everything that either found, at its better place."""
    assert fuse("union", LEGS, WEIGHTS) == {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}


def test_single_leg_strategies_drop_the_other_leg() -> None:
    """vector_only and keyword_only answer with the places of one leg."""
    assert fuse("vector_only", LEGS, WEIGHTS) == {"b": 1.0, "d": 0.0}
    assert fuse("keyword_only", LEGS, WEIGHTS) == {"a": 1.0, "b": 0.5, "c": 0.0}


scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-5, 50, allow_nan=False, width=32), max_size=8)
legs_of_any_sort = st.fixed_dictionaries(dict.fromkeys(get_args(Leg), scores))


@settings(max_examples=200, derandomize=True, deadline=None)
@given(legs_of_any_sort, st.sampled_from(get_args(Strategy)), st.randoms(use_true_random=False))
def test_fusion_depends_on_no_order_and_answers_what_its_legs_found(legs, strategy, random) -> None:  # type: ignore[no-untyped-def]
    """Mappings listed otherwise give the same scores; every id of a leg that takes part is answered, and no other."""

    def shuffled(mapping: dict[str, object]) -> dict[str, object]:
        keys = list(mapping)
        random.shuffle(keys)
        return {key: mapping[key] for key in keys}

    fused = fuse(strategy, legs, WEIGHTS)
    again = fuse(strategy, shuffled({leg: shuffled(found) for leg, found in legs.items()}), WEIGHTS)  # type: ignore[arg-type]
    assert again == fused
    assert fused.keys() == set().union(*(legs[leg] for leg in PARTICIPANTS[strategy]))
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in fused.values())
