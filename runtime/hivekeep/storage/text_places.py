"""Where the text of a record lies in the full-text indexes: one range of places a namespace, one within it a kind.

Invariant: a place follows from the namespace, the kind and the `seq` of a record and from nothing else, and its last
bits are the `seq`. So an index that is asked for a scope reads the part of each word's list that lies in the ranges of
the scope, however many records of other namespaces have the word. Namespaces and kinds are numbered by a hash: two of
them may share a range, so a range is where to look, and whether a record is in the scope the record alone says.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Final

_SEQ_BITS: Final = 36
_KIND_BITS: Final = 10
_NAMESPACE_BITS: Final = 17
_PLACE_BITS: Final = _NAMESPACE_BITS + _KIND_BITS + _SEQ_BITS
"""63: a place is a rowid that is not negative."""

_RANGES_MAX: Final = 4
"""More namespaces are looked for everywhere: each range is a search of its own, which costs what a word or two cost."""

SEQ_OF: Final = f"& {2**_SEQ_BITS - 1}"
"""SQL behind a place: its `seq`."""

Range = tuple[int, int]
"""The first and the last place."""


def place(namespace: str, kind: str, seq: int) -> int:
    """The rowid of a record in the indexes of its substrate."""
    return _first(namespace, kind) + seq


def seq_of(place: int) -> int:
    """The `seq` of the record at a place."""
    return place & (1 << _SEQ_BITS) - 1


def ranges(namespaces: Sequence[str], kind: str | None) -> list[Range]:
    """Ranges without a common place that hold every record of a scope; `kind` None is every kind."""
    if len(namespaces) > _RANGES_MAX:
        return [(0, 2**_PLACE_BITS - 1)]
    size = 2 ** (_SEQ_BITS if kind is not None else _SEQ_BITS + _KIND_BITS)
    firsts = {_first(namespace, kind) for namespace in namespaces}
    return [(first, first + size - 1) for first in sorted(firsts)]


@lru_cache(maxsize=1024)
def _first(namespace: str, kind: str | None) -> int:
    within = 0 if kind is None else _number(kind, _KIND_BITS)
    return (_number(namespace, _NAMESPACE_BITS) << _KIND_BITS | within) << _SEQ_BITS


def _number(name: str, bits: int) -> int:
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest) >> (32 - bits)
