"""`hivekeep eval retrieval`: how well the product finds, measured through its own verbs.

What it keeps true: a store is filled and asked with operations of the request language and in no other way, so a
figure says what a caller would see. Reading a data set and computing a figure know nothing of the store.
"""

from typing import Final, Literal

Shape = Literal["turns", "loose", "sessions"]
SHAPES: Final[tuple[Shape, ...]] = ("turns", "loose", "sessions")
"""How a conversation is stored: turns that share the source of their session, turns alone, or whole sessions."""

VERBS: Final = {"search": ("search",), "recall": ("memory.recall",), "both": ("search", "memory.recall")}
"""The verbs that are asked, by what the command line calls them."""
