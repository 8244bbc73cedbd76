"""Refuses what looks like a credential, wherever it stands in what is about to be stored.

Invariant: the curated memory takes nothing that a verb would refuse, and nothing that the gateway would mask as a
credential: one scanner, both policies (gateway rules, memory model).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hivekeep.gate.credentials import holds_credential
from hivekeep.gate.secrets import scan_fields
from hivekeep_contract.gateway_errors import SecurityRejection

_BREAK: Final = "\n \n"
"""No shape of a credential goes across it, and no escape at the end of a text takes it away."""


def refuse(fields: Iterable[tuple[str, object]]) -> None:
    """Raise SecurityRejection, which names the field alone, when a JSON value or one of its keys holds a credential.

    A field is a JSON pointer with a value.
    """
    fields = tuple(fields)
    hit = scan_fields(fields)
    if hit is not None:
        raise SecurityRejection("secret", field=hit[0])
    for field, value in fields:
        texts = list(_texts(value))
        # Joined they hold whatever one of them does, and most values hold nothing: one look instead of many.
        if holds_credential(_BREAK.join(texts)) and any(map(holds_credential, texts)):
            raise SecurityRejection("secret", field=field)


def _texts(value: object) -> Iterator[str]:
    """Every string and every key of a JSON value, without recursion."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from item
            stack += item.values()
        elif isinstance(item, (list, tuple)):
            stack += item
