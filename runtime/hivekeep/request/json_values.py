"""Questions about JSON values that several modules ask: how deep, of which type, how many bytes."""

from typing import Any

from hivekeep import compact_json

_CONTAINERS = frozenset({dict, list})
_NOUNS = ((bool, "a boolean"), (str, "a string"), (dict, "an object"), (list, "an array"))


def depth_exceeds(value: Any, limit: int) -> bool:
    """Whether more than `limit` containers lie inside one another in `value` (a scalar has depth 0).

    Walks level by level without recursion, so that no value can exhaust the stack.
    """
    level = [value] if isinstance(value, (dict, list)) else []
    depth = 0
    while level:
        depth += 1
        if depth > limit:
            return True
        inner: list[Any] = []
        for container in level:
            members = container.values() if type(container) is dict else container
            # Results and arguments are plain JSON, and most containers hold no other: one pass in C says so.
            if not _CONTAINERS.isdisjoint(map(type, members)):
                inner += [member for member in members if type(member) in _CONTAINERS]
        level = inner
    return False


def type_name(value: Any) -> str:
    """The JSON type of a value as a noun with its article, for messages."""
    if value is None:
        return "null"
    return next((name for kind, name in _NOUNS if isinstance(value, kind)), "a number")


def compact(value: Any) -> str:
    """JSON text without blanks, other scripts as themselves. The value must not be deeper than results may
    be."""
    return compact_json.dump(value)


def size_of(value: Any) -> int:
    """UTF-8 bytes of the compact JSON text."""
    return len(compact_json.encode(value))
