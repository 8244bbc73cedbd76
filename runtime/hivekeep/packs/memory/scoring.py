"""From fused scores to the order of an answer: relevance, composite, penalties.

Invariant: pure arithmetic. The order depends only on the numbers given here and on the ids, never on the order in which
candidates arrive.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hivekeep_contract import limits
from hivekeep_contract.models.memory import Breakdown

MICROSECONDS_A_DAY = 86_400_000_000
EPISODIC = "episodic"
RRF = "rrf"
_SAME = 1e-12
"""Fused scores that differ by less are the same."""


class Weights(NamedTuple):
    """How much relevance, salience and recency count."""

    relevance: float
    salience: float
    temporal: float


DEFAULT_WEIGHTS = Weights(**limits.RECALL_WEIGHTS)


class Facts(NamedTuple):
    """What the composite asks of a memory. `decay_factor` is a day's, `age_days` is not negative."""

    relevance: float
    salience: float
    decay_factor: float
    age_days: float
    memory_type: str
    mentioned: bool
    posterior_mean: float | None


class Scored(NamedTuple):
    """A memory with its place in the order."""

    id: str
    rank_score: float
    content: str


def age_days(now_us: int, created_at: int) -> float:
    """Age in days; a memory of the future has none."""
    return max(0, now_us - created_at) / MICROSECONDS_A_DAY


def relevance(fused: Mapping[str, float], strategy: str) -> dict[str, float]:
    """The fused scores on the scale from recall_relevance_floor to recall_relevance_ceiling.

    A score that is not finite or below zero has no place, and without a score above zero nothing has one. Where scores
    are not ranks, a best score below recall_full_confidence lowers all of them.
    """
    kept = {key: score for key, score in fused.items() if math.isfinite(score) and score >= 0.0}
    high = max(kept.values(), default=0.0)
    if high <= 0.0:
        return {}
    low = min(kept.values())
    floor, ceiling = limits.RECALL_RELEVANCE_FLOOR, limits.RECALL_RELEVANCE_CEILING
    confidence = 1.0 if strategy == RRF else min(high / limits.RECALL_FULL_CONFIDENCE, 1.0)
    if high - low < _SAME:
        alike = ceiling if strategy == RRF else min(max(high, floor), ceiling)
        return dict.fromkeys(kept, alike * confidence)
    spread = (ceiling - floor) / (high - low)
    return {key: (floor + (score - low) * spread) * confidence for key, score in kept.items()}


def composite(facts: Facts, weights: Weights) -> float:
    """The rank_score of a memory; from 0 to recall_posterior_max."""
    decay = min(facts.decay_factor, limits.RECALL_DECAY_CAP)
    recency = math.exp(-decay * facts.age_days)
    score = weights.relevance * facts.relevance
    score *= (1 + weights.temporal * recency) * (1 + weights.salience * facts.salience)
    if facts.memory_type == EPISODIC and facts.age_days <= limits.RECALL_FRESH_DAYS:
        score += limits.RECALL_FRESH_BONUS
    if facts.mentioned:
        score *= limits.RECALL_ENTITY_BOOST
    return min(max(score, 0.0), 1.0) * posterior_factor(facts.posterior_mean)


def posterior_factor(mean: float | None) -> float:
    """What the feedback on a memory multiplies its score by; exactly 1 when there is none."""
    if mean is None:
        return 1.0
    factor = 1 + limits.RECALL_POSTERIOR_GAIN * (mean - 0.5)
    return min(max(factor, limits.RECALL_POSTERIOR_MIN), limits.RECALL_POSTERIOR_MAX)


def breakdown(facts: Facts, weights: Weights) -> Breakdown:
    """What a score is made of; the contributions use the default weights whatever profile served."""
    decayed = effective_salience(facts.salience, facts.decay_factor, facts.age_days)
    temporal = 0.5 ** (facts.age_days / limits.RECALL_TEMPORAL_HALF_LIFE_DAYS)
    default = composite(facts, DEFAULT_WEIGHTS)
    return {
        "relevance": facts.relevance,
        "salience_raw": facts.salience,
        "salience_decayed": decayed,
        "temporal": temporal,
        "weighted": {
            "relevance_contribution": DEFAULT_WEIGHTS.relevance * facts.relevance,
            "salience_contribution": DEFAULT_WEIGHTS.salience * decayed,
            "temporal_contribution": DEFAULT_WEIGHTS.temporal * temporal,
        },
        "profile_component": composite(facts, weights) / default if default else 1.0,
        "entity_posterior_mean": facts.posterior_mean,
    }


def effective_salience(salience: float, decay_factor: float, days: float) -> float:
    """What is left of a salience after its whole decay."""
    return salience * math.exp(-decay_factor * days)


def best_first(scored: Iterable[Scored]) -> list[Scored]:
    """By rank_score, the higher first, then by id."""
    return sorted(scored, key=lambda one: (-one.rank_score, one.id))


def without_echoes(scored: Sequence[Scored]) -> list[Scored]:
    """The same, best first, each near duplicate of a better one a penalty lower (not below zero)."""
    seen: set[str] = set()
    told: list[Scored] = []
    for one in best_first(scored):
        beginning = one.content[: limits.RECALL_DUPLICATE_CHARS]
        if beginning in seen:
            one = one._replace(rank_score=max(0.0, one.rank_score - limits.RECALL_DUPLICATE_PENALTY))
        seen.add(beginning)
        told.append(one)
    return best_first(told)
