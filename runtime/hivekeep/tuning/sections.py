"""What is believed of the sections of a piece of knowledge, and the part each gets of a composed text.

Invariant: no section keeps more evidence than the cap, and weights add up to 1 with none below the floor.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp

from hivekeep.storage.brain_states import SectionRow
from hivekeep.tuning.beliefs import Belief, prior
from hivekeep_contract import vocabulary
from hivekeep_contract.limits import (
    SECTION_EPOCH_START,
    SECTION_EVIDENCE_CAP,
    SECTION_EXPLORE_TEMPERATURE,
    SECTION_FILL_PRIOR,
    SECTION_FLOOR_ROUNDS,
    SECTION_PRIOR_ALPHA,
    SECTION_PRIOR_BETA,
    SECTION_SETTLED_TEMPERATURE,
    SECTION_STEP,
    SECTION_TEMPERATURE_MIN,
    SECTION_WEIGHT_FLOOR,
)

SECTIONS = vocabulary.ENUMS["brain.section"]
_FILL = prior(SECTION_FILL_PRIOR)


def default_rows() -> list[SectionRow]:
    """The sections of a profile that was not seeded."""
    return [_fresh(name, Belief(SECTION_PRIOR_ALPHA[name], SECTION_PRIOR_BETA[name])) for name in SECTIONS]


def seeded_rows(seeds: Mapping[str, Belief]) -> list[SectionRow]:
    """The sections of a seeded profile; those that the seed does not name begin even."""
    return [_fresh(name, seeds.get(name, _FILL)) for name in SECTIONS]


def _fresh(name: str, belief: Belief) -> SectionRow:
    return SectionRow(name, *belief, *belief)


def reset(row: SectionRow) -> SectionRow:
    """The section as it began."""
    return row._replace(alpha=row.prior_alpha, beta=row.prior_beta)


def after(row: SectionRow, signal: str) -> SectionRow:
    """The section after one signal. Beyond the cap its evidence on top of the prior shrinks in proportion."""
    learned = Belief(row.alpha, row.beta).after(SECTION_STEP[signal])
    began = Belief(row.prior_alpha, row.prior_beta)
    if learned.evidence > SECTION_EVIDENCE_CAP and learned.evidence > began.evidence:
        kept = max(SECTION_EVIDENCE_CAP - began.evidence, 0.0) / (learned.evidence - began.evidence)
        learned = Belief(
            began.alpha + (learned.alpha - began.alpha) * kept, began.beta + (learned.beta - began.beta) * kept
        )
    return row._replace(alpha=learned.alpha, beta=learned.beta)


def weights(
    rows: Sequence[SectionRow], epoch: int = 0, draw: Callable[[float, float], float] | None = None
) -> dict[str, float]:
    """The part of each section. While `epoch` is above 0 they are drawn with `draw(alpha, beta)`, then computed."""
    if epoch > 0 and draw is not None:
        temperature = max(SECTION_EXPLORE_TEMPERATURE * epoch / SECTION_EPOCH_START, SECTION_TEMPERATURE_MIN)
        shares = {row.section: draw(row.alpha, row.beta) for row in rows}
    else:
        temperature = SECTION_SETTLED_TEMPERATURE
        shares = {row.section: Belief(row.alpha, row.beta).mean for row in rows}
    return _floored(_softmax({name: share / temperature for name, share in shares.items()}))


def _softmax(values: Mapping[str, float]) -> dict[str, float]:
    highest = max(values.values(), default=0.0)
    powers = {name: exp(value - highest) for name, value in values.items()}
    total = sum(powers.values())
    return {name: power / total for name, power in powers.items()}


def _floored(parts: Mapping[str, float]) -> dict[str, float]:
    """Raise what is below the floor to it, and share the rest among the others as they stood to each other."""
    pinned: set[str] = set()
    result = dict(parts)
    for _round in range(SECTION_FLOOR_ROUNDS):
        low = {name for name, part in result.items() if name not in pinned and part < SECTION_WEIGHT_FLOOR}
        if not low:
            break
        pinned |= low
        rest = sum(parts[name] for name in parts if name not in pinned)
        free = 1.0 - SECTION_WEIGHT_FLOOR * len(pinned)
        result = {name: SECTION_WEIGHT_FLOOR if name in pinned else part * free / rest for name, part in parts.items()}
    return result
