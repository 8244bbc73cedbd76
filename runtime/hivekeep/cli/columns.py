"""Rows for a person at a terminal.

Invariant: one line a row, whatever the texts hold; a character that a terminal would act on is shown as a blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

CELL_CHARS: Final = 60
_GAP: Final = "  "


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The rows under their headings, each column as wide as its widest cell; longer cells are cut."""
    lines = [list(headings), *([_cell(text) for text in row] for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(headings))]
    padded = (_GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)


def _cell(text: str) -> str:
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return plain if len(plain) <= CELL_CHARS else plain[: CELL_CHARS - 3] + "..."
