"""The text of a record that its vector is made of.

Invariant: one rule for the write path, the worker and reindex, so that the same record always has the same text.
"""

from __future__ import annotations

from typing import Final

_SEPARATOR: Final = "\n\n"


def embedding_text(title: str | None, body: str | None) -> str:
    """Name and then description or content, those that are not blank; empty when both are: such a record has no vector.

    A note whose author gave a beginning of the content for embedding has that as its body.
    """
    return _SEPARATOR.join(part for part in (title, body) if part and not part.isspace())
