"""How SPARQL that can be read is refused: what is wrong, and the character where it stands.

Invariant: a refusal says what to write instead.
"""

from __future__ import annotations

from hivekeep_contract.errors import InvalidQuery, Unsupported


def invalid(message: str, at: int) -> InvalidQuery:
    """For what contradicts itself or stands where it cannot."""
    return InvalidQuery(f"query: at character {at}: {message}", details={"position": at})


def unsupported(message: str, at: int) -> Unsupported:
    """For what SPARQL has and the dialect has not."""
    return Unsupported(f"query: at character {at}: {message}", details={"position": at})
