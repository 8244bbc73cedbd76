"""The figures of retrieval, from ranked ids and what is relevant; ranks count from 1.

What it keeps true: every figure lies between 0 and 1, and no order of the same ids does better than falling grades.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence


def recall(ranked: Sequence[str], relevant: Collection[str], k: int) -> float:
    """The share of the relevant ids that stand among the first k."""
    return len(set(ranked[:k]).intersection(relevant)) / len(relevant)


def ndcg(ranked: Sequence[str], grades: Mapping[str, float], k: int) -> float:
    """Normalised discounted cumulative gain at k: gain = grade, discount = log2(rank + 1), as trec_eval has it.

    1 is the order of falling grades, cut at k.
    """
    ideal = _gain(sorted(grades.values(), reverse=True)[:k])
    return _gain([grades.get(item, 0.0) for item in ranked[:k]]) / ideal


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """1 / the rank of the first relevant id, 0 when there is none."""
    return next((1 / rank for rank, item in enumerate(ranked, start=1) if item in relevant), 0.0)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, 0 of nothing; exact whatever the order."""
    return math.fsum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of the values does not exceed (nearest rank), 0 of nothing."""
    if not values:
        return 0.0
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def _gain(grades: Sequence[float]) -> float:
    return math.fsum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))
