"""What a memory is taken for where it does not say: its type, its weight, its decay."""

from typing import NamedTuple, cast

from hivekeep.storage.memory_filter import DEFAULT_TYPE, MEMORY_TYPES
from hivekeep_contract.limits import MEMORY_DECAY, MEMORY_SALIENCE
from hivekeep_contract.models.memory import MemoryType


class Resolved(NamedTuple):
    """Type, weight and decay a day, none of them missing."""

    memory_type: MemoryType
    salience: float
    decay_factor: float


def resolved(memory_type: object, salience: float | None, decay_factor: float | None) -> Resolved:
    """The values used for a memory; a type that is not known is the default one."""
    known = cast("MemoryType", memory_type if memory_type in MEMORY_TYPES else DEFAULT_TYPE)
    return Resolved(
        known,
        MEMORY_SALIENCE[known] if salience is None else salience,
        MEMORY_DECAY[known] if decay_factor is None else decay_factor,
    )
