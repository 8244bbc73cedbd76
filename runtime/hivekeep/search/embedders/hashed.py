"""The embedder `hashed`: words and letters counted into a fixed number of places, without a model.

Invariant: the same text has the same vector on every machine and in every version of Python. Texts that share words, or
runs of letters, are similar; meaning plays no part. For tests, and where nothing may be installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final

from hivekeep.normal_form import normal_form
from hivekeep.search.embedders.protocol import Prepared, bounded, unit_vector
from hivekeep_contract.limits import EMBEDDING_HASHED_BYTES_MAX, EMBEDDING_HASHED_DIMS

NAME: Final = "hashed"
REVISION: Final = "1"
"""Changes when the same text would get another vector."""

_WORD: Final = re.compile(r"\w+")
_WORD_WEIGHT: Final = 1.0
_TRIGRAM_WEIGHT: Final = 0.4
_TRIGRAM: Final = 3


class HashedEmbedder:
    """See `protocol.Embedder`."""

    name = NAME
    revision = REVISION
    dims = EMBEDDING_HASHED_DIMS

    def is_ready(self, size: int) -> bool:
        """Always: nothing has to be loaded."""
        return True

    def make_ready(self, size: int) -> None:
        """Nothing has to be loaded."""

    def prepare(self, text: str) -> Prepared:
        """The first bytes of a text."""
        return bounded(text, EMBEDDING_HASHED_BYTES_MAX)

    def embed(self, inputs: Sequence[str]) -> list[bytes]:
        """The vectors of the inputs."""
        return [_vector(text) for text in inputs]


def _vector(text: str) -> bytes:
    places = [0.0] * EMBEDDING_HASHED_DIMS
    for feature, weight in _features(text):
        number = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
        # The lowest bit is the sign: features that fall into one place cancel out as often as they add up.
        places[(number >> 1) % EMBEDDING_HASHED_DIMS] += weight if number & 1 else -weight
    if not any(places):
        places[0] = 1.0
    return unit_vector(places)


def _features(text: str) -> Iterator[tuple[str, float]]:
    """Every word, and every run of three characters of it with a blank on both sides; a text without words is one."""
    folded = normal_form("NFKC", text).casefold()
    for word in _WORD.findall(folded) or [folded.strip()]:
        yield f"word {word}", _WORD_WEIGHT
        padded = f" {word} "
        for start in range(len(padded) - _TRIGRAM + 1):
            yield f"run {padded[start : start + _TRIGRAM]}", _TRIGRAM_WEIGHT
