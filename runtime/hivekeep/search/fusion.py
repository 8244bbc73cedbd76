"""From ranked arms to one score: reciprocal ranks and their modifiers for search, five strategies for recall.

Invariant: a score depends only on what the arms say about this one query, so scores of one query are comparable with
each other and with nothing else. Nothing depends on the order in which a mapping lists its entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from hivekeep_contract.limits import NOTE_RRF_K

EXACT_TITLE_BOOST = 0.5
DEFAULT_SALIENCE = 0.5

Strategy = Literal["weighted", "rrf", "union", "vector_only", "keyword_only"]
Leg = Literal["text", "neighbours", "vector"]
Scores = Mapping[str, float]
"""The scores of one leg by id; larger is better."""

PARTICIPANTS: Final[dict[Strategy, tuple[Leg, ...]]] = {
    "weighted": ("text", "neighbours", "vector"),
    "rrf": ("text", "vector"),
    "union": ("text", "vector"),
    "vector_only": ("vector",),
    "keyword_only": ("text",),
}
"""The legs that a strategy looks at. Neighbours borrow the scores of the text leg, so only weights make them fit."""


def reciprocal_ranks(arms: Iterable[Iterable[str]], constant: int) -> dict[str, float]:
    """The sum over the arms of 1 / (constant + rank) for every id, ranks counted from 1."""
    scores: dict[str, float] = {}
    for arm in arms:
        for rank, record_id in enumerate(arm, start=1):
            scores[record_id] = scores.get(record_id, 0.0) + 1.0 / (constant + rank)
    return scores


def entity_score(fused: float, *, exact_title: bool) -> float:
    """The fused score, raised when the title is the query (both trimmed, case ignored)."""
    return fused + EXACT_TITLE_BOOST if exact_title else fused


def note_score(fused: float, salience: float | None) -> float:
    """The fused score times 0.5 to 1.0 by salience; a note without one counts as salience 0.5."""
    return fused * (0.5 + 0.5 * (DEFAULT_SALIENCE if salience is None else salience))


def fuse(strategy: Strategy, legs: Mapping[Leg, Scores], weights: Mapping[Leg, float]) -> dict[str, float]:
    """One score for each id that the strategy's legs found; an absent or empty leg takes no part.

    `rrf` adds 1 / (60 + rank), equal scores ranked by id. The others place each leg between 0 and 1: `weighted` is
    the mean by `weights`, shared out among the legs that found something (a leg of weight 0 is switched off), an id
    that a leg lacks counting 0 there; `union` is the best, and `vector_only` and `keyword_only` are one leg alone.
    """
    found = {leg: legs[leg] for leg in PARTICIPANTS[strategy] if legs.get(leg)}
    if strategy == "rrf":
        return reciprocal_ranks(map(_ranked, found.values()), NOTE_RRF_K)
    placed = {leg: _placed(scores) for leg, scores in found.items()}
    return _mean(placed, weights) if strategy == "weighted" else _best(placed.values())


def _ranked(scores: Scores) -> list[str]:
    return sorted(scores, key=lambda record_id: (-scores[record_id], record_id))


def _placed(scores: Scores) -> dict[str, float]:
    """The scores between 0 (weakest) and 1 (strongest); equal ones are all 1."""
    low, high = min(scores.values()), max(scores.values())
    if low == high:
        return dict.fromkeys(scores, 1.0)
    return {record_id: (score - low) / (high - low) for record_id, score in scores.items()}


def _mean(placed: Mapping[Leg, Scores], weights: Mapping[Leg, float]) -> dict[str, float]:
    counted = {leg: weights[leg] for leg in placed if weights.get(leg, 0.0) > 0}
    total = sum(counted.values())
    fused: dict[str, float] = {}
    for leg, weight in counted.items():
        for record_id, score in placed[leg].items():
            fused[record_id] = fused.get(record_id, 0.0) + weight / total * score
    return fused


def _best(placed: Iterable[Scores]) -> dict[str, float]:
    fused: dict[str, float] = {}
    for leg in placed:
        for record_id, score in leg.items():
            fused[record_id] = max(score, fused.get(record_id, score))
    return fused
