"""The work that an operation asks for, as values: a queued transaction, a quick read, a slow piece.

Invariant: an operation never carries out work that may wait. It yields an item and is given what became of it; an
error of the item is raised at the yield. So one text of an operation serves a loop that awaits and a thread that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from hivekeep.storage.engine import Tx

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Write(Generic[T]):
    """One immediate transaction in the gateway's queue; the result is known after the commit.

    At the yield it raises what the engine does for a full queue or a store that closes (nothing was tried then);
    dispatch turns that into a failure of the contract when the operation lets it through.
    """

    fn: Callable[[Tx], T]


@dataclass(frozen=True, slots=True)
class Read(Generic[T]):
    """A few indexed rows, read on the way: statements over one reader, each with a snapshot of its own."""

    fn: Callable[[Tx], T]


@dataclass(frozen=True, slots=True)
class Slow(Generic[T]):
    """Work that takes long, such as ranking; it runs in a pool and opens its own reader."""

    fn: Callable[[], T]


Item: TypeAlias = Write[Any] | Read[Any] | Slow[Any]
Work: TypeAlias = Generator[Item, Any, T]
"""An operation, or a part of one, that returns T when its items are carried out."""
