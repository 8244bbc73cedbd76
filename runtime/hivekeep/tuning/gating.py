"""The gate on implicit feedback: concluded signals on one record never outweigh one explicit signal.

Invariant: the mass that is stored never exceeds the cap, however many signals come and however the clock moves.
"""

from typing import NamedTuple

from hivekeep_contract.limits import (
    IMPLICIT_HALF_LIFE_DAYS,
    IMPLICIT_KEPT_DAYS,
    IMPLICIT_MASS_CAP,
    IMPLICIT_MASS_TOLERANCE,
)

_DAY_US = 24 * 60 * 60 * 1_000_000
_HALF_LIFE_US = IMPLICIT_HALF_LIFE_DAYS * _DAY_US
KEPT_US = int(IMPLICIT_KEPT_DAYS * _DAY_US)
"""Age from which no mass is worth a row: what is left of it is less than the rounding that the cap forgives."""


class Passage(NamedTuple):
    """What the gate let through: the weight that counts, and the mass before (decayed) and after it."""

    effective_weight: float
    mass_before: float
    mass_after: float


SHUT = Passage(0.0, 0.0, 0.0)
"""The passage of a signal that teaches no profile."""


def decayed(mass: float, elapsed_us: int) -> float:
    """What is left of a mass; a clock that went backwards leaves all of it."""
    return mass if elapsed_us <= 0 else float(mass * 2.0 ** (-elapsed_us / _HALF_LIFE_US))


def admit(mass_before: float, weight: float) -> Passage:
    """Let a weight through when the mass stays within the cap, otherwise none of it."""
    after = mass_before + abs(weight)
    if after <= IMPLICIT_MASS_CAP + IMPLICIT_MASS_TOLERANCE:
        return Passage(weight, mass_before, after)
    return Passage(0.0, mass_before, mass_before)
