"""The sentences that rules say when their file says none."""

from __future__ import annotations

from typing import Any

When = tuple[str, tuple[Any, ...]]


def rule_sentence(sort: str, params: tuple[str, ...], when: When | None) -> str:
    """What a rule of this sort says about its parameters."""
    if when is not None:
        return f"'{params[0]}' is required {when_text(when)}"
    names = [f"'{name}'" for name in params]
    return {
        "exactly_one_of": f"give exactly one of {_joined(names, 'or')}",
        "at_least_one_of": f"give at least one of {_joined(names, 'or')}",
        "mutually_exclusive": f"give at most one of {_joined(names, 'or')}",
        "together": f"give {_joined(names, 'and')} together or not at all",
    }[sort]


def when_text(when: When) -> str:
    """`when 'kind' is 'a' or 'b'`."""
    values = [f"'{value}'" if isinstance(value, str) else str(value).lower() for value in when[1]]
    return f"when '{when[0]}' is {_joined(values, 'or')}"


def _joined(words: list[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
