"""Beta distributions: what is believed of a share, and how evidence moves it.

Invariant: alpha and beta are above zero and their sum is finite; evidence only adds to one of them.
"""

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

from hivekeep_contract import limits


class Belief(NamedTuple):
    """A Beta distribution: evidence for and against."""

    alpha: float
    beta: float

    @property
    def mean(self) -> float:
        """The share to expect."""
        return self.alpha / self.evidence

    @property
    def variance(self) -> float:
        """How far the share may be off."""
        # Shares first: products and squares of very small or large evidence leave the range of a float.
        return self.mean * (self.beta / self.evidence) / (self.evidence + 1)

    @property
    def evidence(self) -> float:
        """All the evidence, also called the effective sample size."""
        return self.alpha + self.beta

    @property
    def is_sound(self) -> bool:
        """Whether this can be a Beta distribution at all."""
        return self.alpha > 0 and self.beta > 0 and isfinite(self.evidence)

    def after(self, weight: float) -> "Belief":
        """The belief after evidence of this weight; a negative weight is evidence against."""
        return Belief(self.alpha + max(weight, 0.0), self.beta + max(-weight, 0.0))

    def joined(self, other: "Belief", prior: "Belief") -> "Belief":
        """Two beliefs that began at one prior as one; the prior counts once."""
        return Belief(self.alpha + other.alpha - prior.alpha, self.beta + other.beta - prior.beta)


def prior(values: Mapping[str, float]) -> Belief:
    """A prior of the contract, given as its `alpha` and `beta`."""
    return Belief(values["alpha"], values["beta"])


RELEVANCE = prior(limits.RELEVANCE_PRIOR)
SALIENCE = prior(limits.SALIENCE_PRIOR)
TEMPORAL = prior(limits.TEMPORAL_PRIOR)
TARGET = prior(limits.TARGET_PRIOR)
