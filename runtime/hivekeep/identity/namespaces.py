"""Namespaces: the grammar of their names, and the set that a read of several records looks into.

What stays true: `local` is always visible and always first, and no namespace stands twice.
"""

import re
from collections.abc import Iterable

from hivekeep_contract.limits import NAMESPACE_MAX_BYTES

LOCAL = "local"
"""The namespace of every write that names none."""

GRAMMAR = f"1 to {NAMESPACE_MAX_BYTES} bytes without white space or control characters"
"""The grammar in words; fits behind "must be"."""

_FORBIDDEN = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")


def is_namespace(text: str) -> bool:
    """Whether `text` may name a namespace (see GRAMMAR; bytes are those of UTF-8)."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:  # a lone surrogate cannot be stored
        return False
    return 0 < size <= NAMESPACE_MAX_BYTES and not _FORBIDDEN.search(text)


def visible_set(primary: str, configured: Iterable[str], actor_id: str | None) -> tuple[str, ...]:
    """Return the namespaces that reads of several records filter by.

    That is `local`, the caller's primary namespace (what it writes it can list), the configured ones, and the
    id of a configured principal when it may name a namespace. Duplicates are removed, the order is kept.
    """
    names = [LOCAL, primary, *configured]
    if actor_id is not None and is_namespace(actor_id):
        names.append(actor_id)
    return tuple(dict.fromkeys(names))
