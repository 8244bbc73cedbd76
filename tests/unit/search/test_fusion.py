"""Scores by reciprocal ranks, exactly as published."""

from __future__ import annotations

import pytest

from hivekeep.search.fusion import entity_score, note_score, reciprocal_ranks
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
