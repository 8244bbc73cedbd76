"""Rows for a person at a terminal.

Invariant: one line a row, whatever the texts hold; a character that a terminal would act on is shown as a blank.
"""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import Final

CELL_CHARS: Final = 60
NARROWEST: Final = 8
"""What is left of a column that gives way to others, or the length of its heading if that is more."""
_GAP: Final = "  "
_CUT: Final = "..."


def table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], *, elastic: Collection[str], room: int | None = None
) -> str:
    """The rows under their headings, each column as wide as its widest cell; longer cells are cut.

    A line has at most `room` columns of a terminal, by default those of the one that is written to, if it is one. The
    widest of the columns whose headings are `elastic` give way for that; the others are shown whole.
    """
    lines = [list(headings), *([plain(text) for text in row] for row in rows)]
    widths = [min(max(_width(line[column]) for line in lines), CELL_CHARS) for column in range(len(headings))]
    floors = {headings.index(name): max(NARROWEST, len(name)) for name in elastic}
    _give_way(widths, floors, _room() if room is None else room)
    filled = (_GAP.join(_filled(cell, width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in filled)


def _room() -> int | None:
    """The columns of the terminal that is written to; None for a file or a pipe, which has room for everything."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _give_way(widths: list[int], floors: Mapping[int, int], room: int | None) -> None:
    """Narrow the widest of some columns, none below its floor, until a line fits or nothing gives way any more."""
    if room is None:
        return
    left = room - len(_GAP) * (len(widths) - 1)
    while sum(widths) > left:
        elastic = [column for column, floor in floors.items() if widths[column] > floor]
        if not elastic:
            return
        widths[max(elastic, key=widths.__getitem__)] -= 1


def plain(text: str) -> str:
    """The text on one line, without what a terminal would act on."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _filled(text: str, width: int) -> str:
    """A cell of exactly this width, cut where it is longer."""
    if _width(text) > width:
        # A wide letter at the edge leaves a column free.
        fits = sum(reached <= width - len(_CUT) for reached in accumulate(map(_columns, text)))
        text = text[:fits] + _CUT
    return text + " " * (width - _width(text))


def _width(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(letter: str) -> int:
    """How many columns of a terminal a letter takes: East Asian ones two, marks on another letter none."""
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1
