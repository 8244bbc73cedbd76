"""From ranked arms to one score: reciprocal rank fusion and the modifiers of each substrate.

The score of a record depends only on its ranks in the arms, its title and its salience, never on raw bm25 or
cosine values, so scores of one query are comparable with each other and with nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

EXACT_TITLE_BOOST = 0.5
DEFAULT_SALIENCE = 0.5


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
