"""What an embedder is, and the two things that all of them do: bound a text, and make a vector of length one.

Invariant: a vector is the bytes of little-endian 32-bit floats whose L2 norm is 1.
"""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hivekeep_contract.errors import EmbedderUnavailable


class Prepared(NamedTuple):
    """What of a text an embedder takes: a beginning of it, and how many bytes (UTF-8) of the rest it does not."""

    input: str
    discarded_bytes: int


class InputRefused(EmbedderUnavailable):
    """The embedder works, but takes none of these inputs together: one of them is what it cannot embed."""


class Embedder(Protocol):
    """Makes vectors of texts. Every method may be called from any thread.

    `name` is what settings and callers call it; vectors of two `revision`s cannot be compared. `dims` is how many
    numbers a vector has, None until the first one is made where only the model knows.
    """

    @property
    def name(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def dims(self) -> int | None: ...

    def is_ready(self, size: int) -> bool:
        """Whether `prepare` can bound a text of `size` bytes without reading a file."""
        ...

    def make_ready(self, size: int) -> None:
        """Load what `prepare` needs for a text of `size` bytes; raises EmbedderUnavailable."""
        ...

    def prepare(self, text: str) -> Prepared:
        """Bound a text to what the model takes, at a character; quick, and never asks the model."""
        ...

    def embed(self, inputs: Sequence[str]) -> list[bytes]:
        """The vectors of prepared inputs, in their order; raises EmbedderUnavailable, or InputRefused."""
        ...


def bounded(text: str, bytes_max: int) -> Prepared:
    """The longest beginning of a text that has at most `bytes_max` bytes and ends with a whole character."""
    if len(text) * 4 <= bytes_max:
        return Prepared(text, 0)
    encoded = text.encode()
    if len(encoded) <= bytes_max:
        return Prepared(text, 0)
    kept = encoded[:bytes_max].decode("utf-8", "ignore")
    return Prepared(kept, len(encoded) - len(kept.encode()))


def unit_vector(numbers: Sequence[float]) -> bytes:
    """The vector of length one in the direction of `numbers`; raises ValueError for one without a direction."""
    length = math.sqrt(math.fsum(number * number for number in numbers))
    if not 0 < length < math.inf:
        raise ValueError("the vector is zero, or not finite")
    packed = array("f", [number / length for number in numbers])
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
