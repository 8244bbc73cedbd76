"""The sentences that rules say when their file says none."""

from __future__ import annotations

from typing import Any


def rule_sentence(sort: str, params: tuple[str, ...], when: tuple[str, tuple[Any, ...]] | None) -> str:
    names = join_words([f"'{name}'" for name in params])
    if when is not None:
        return f"'{params[0]}' is required {when_text(when)}"
    return {
        "exactly_one_of": f"give exactly one of {names.replace(' and ', ' or ')}",
        "at_least_one_of": f"give at least one of {names.replace(' and ', ' or ')}",
        "mutually_exclusive": f"give at most one of {names.replace(' and ', ' or ')}",
        "together": f"give {names} together or not at all",
    }[sort]


def when_text(when: tuple[str, tuple[Any, ...]]) -> str:
    """`when 'kind' is 'a' or 'b'`."""
    values = join_words([f"'{value}'" if isinstance(value, str) else str(value).lower() for value in when[1]])
    return f"when '{when[0]}' is {re.sub(r' and ', ' or ', values)}"


def join_words(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
