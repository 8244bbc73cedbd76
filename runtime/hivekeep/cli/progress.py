"""How far a long command is, on standard error.

What it keeps true: standard output is untouched; a terminal gets a bar, anything else a line every few seconds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import click

LINE_EVERY_S = 5.0

T = TypeVar("T")


def watched(label: str, items: Sequence[T]) -> Iterator[T]:
    """The items one by one, and meanwhile what is done (`label`) and how far it is."""
    if sys.stderr is not None and sys.stderr.isatty():
        with click.progressbar(items, label=label, file=sys.stderr) as bar:
            yield from bar
    else:
        yield from _with_lines(label, items)


def _with_lines(label: str, items: Sequence[T]) -> Iterator[T]:
    tell = _lines(label)
    for done, item in enumerate(items):
        tell(done, len(items))
        yield item


def _lines(label: str) -> Callable[[int, int], None]:
    """Tells how far the work is, now and then, in a line of its own."""
    told = time.monotonic()

    def tell(taken: int, in_all: int) -> None:
        nonlocal told
        if time.monotonic() - told >= LINE_EVERY_S:
            told = time.monotonic()
            click.echo(f"{label}: {taken} of {in_all}", err=True)

    return tell


@contextmanager
def counted(label: str) -> Iterator[Callable[[int, int], None]]:
    """The same for work whose length shows on the way; it is told `(steps taken, steps in all)`."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _lines(label)
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def tell(taken: int, in_all: int) -> None:
            bar.length = max(in_all, 1)
            bar.update(taken - bar.pos)

        yield tell
