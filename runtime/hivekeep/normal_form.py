"""Unicode normal forms in time that grows with the text.

Invariant: `normal_form` answers what `unicodedata.normalize` does. That one sorts the marks behind a letter by
insertion, so 63,000 marks in changing order keep it busy for seconds; here they are sorted before it sees them.
"""

import unicodedata
from collections.abc import Iterator
from typing import Literal

Composed = Literal["NFC", "NFKC"]

_SHORT = 512
"""Characters up to which no order of marks costs anything."""


def normal_form(form: Composed, text: str) -> str:
    """The text in composition, canonical (NFC) or compatible (NFKC)."""
    if text.isascii() or unicodedata.is_normalized(form, text):
        return text
    if len(text) <= _SHORT:
        return unicodedata.normalize(form, text)
    apart: Literal["NFD", "NFKD"] = "NFD" if form == "NFC" else "NFKD"
    in_order = text if unicodedata.is_normalized(apart, text) else "".join(_ordered(apart, text))
    return unicodedata.normalize(form, in_order)


def _ordered(apart: Literal["NFD", "NFKD"], text: str) -> Iterator[str]:
    """The characters taken apart, and those that combine with one before them in their canonical order."""
    marks: list[str] = []
    for char in text:
        for part in unicodedata.normalize(apart, char):
            if unicodedata.combining(part):
                marks.append(part)
                continue
            if marks:
                yield from sorted(marks, key=unicodedata.combining)
                marks.clear()
            yield part
    yield from sorted(marks, key=unicodedata.combining)
