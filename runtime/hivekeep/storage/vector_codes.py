"""The code of a vector: one bit for each of some directions, so that vectors at a small angle differ in few bits.

Keeps true: codes of two vectors can be compared whenever and wherever they were made; a change here needs all codes in
all files made anew. A bit is not the sign of one float but of a sum of all of them with random signs: an even share of
everything the vector says, also where a model leaves most floats zero (ADR 0018).
"""

from __future__ import annotations

import sys
from array import array
from functools import lru_cache
from hashlib import blake2b
from operator import add, mul, sub
from typing import Final

_BITS_A_BYTE: Final = 8
_SIGNS_A_DIGEST: Final = 512


def code_bits(dims: int) -> int:
    """How many bits the codes of vectors of `dims` floats have: one for each float, in whole bytes."""
    return -(-dims // _BITS_A_BYTE) * _BITS_A_BYTE


def code_of(embedding: bytes) -> bytes:
    """The code of a vector of little-endian 32-bit floats. About 0.3 ms for 384 floats."""
    numbers = floats_of(embedding)
    bits = code_bits(len(numbers))
    rounds = (bits - 1).bit_length()
    turned = [*map(mul, numbers, _signs(len(numbers))), *[0.0] * (2**rounds - len(numbers))]
    # A Walsh-Hadamard transform, one halving a round. Its first directions are as good as any others.
    for _ in range(rounds):
        even, odd = turned[::2], turned[1::2]
        turned = [*map(add, even, odd), *map(sub, even, odd)]
    return int("".join(["1" if value > 0 else "0" for value in turned[:bits]]), 2).to_bytes(bits // _BITS_A_BYTE)


def floats_of(embedding: bytes) -> array[float]:
    """The floats of a vector as it is stored."""
    numbers = array("f", embedding)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


@lru_cache(maxsize=8)
def _signs(count: int) -> list[float]:
    """The same random signs in every process."""
    signs: list[float] = []
    while len(signs) < count:
        digest = int.from_bytes(blake2b(len(signs).to_bytes(8)).digest())
        signs += [1.0 if digest >> bit & 1 else -1.0 for bit in range(_SIGNS_A_DIGEST)]
    return signs[:count]
