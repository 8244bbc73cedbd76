"""Did you mean ...? One rule for every name a caller can misspell."""

from collections.abc import Iterable

from hivekeep_contract.limits import UNKNOWN_VERB_DISTANCE


def suggest(name: str, choices: Iterable[str]) -> str | None:
    """The choice that `name` was probably meant to be, or None.

    It is the nearest choice within UNKNOWN_VERB_DISTANCE edits (insert, delete, replace, swap of
    neighbours; fewer than the name has characters); failing that, the first whose part after the dot is
    that of `name` (`recall` -> `memory.recall`). Ties go to the first in alphabetical order. Case does not
    matter.
    """
    wanted = name.lower()
    limit = min(UNKNOWN_VERB_DISTANCE, len(wanted) - 1)
    ranked = sorted(choices)
    near = [(distance, choice) for choice in ranked if (distance := _distance(wanted, choice.lower(), limit)) <= limit]
    if near:
        return min(near)[1]
    tail = _after_dot(wanted)
    return next((choice for choice in ranked if _after_dot(choice.lower()) == tail), None)


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """The suggestion as the end of a message: `; did you mean 'x'?`, or nothing."""
    choice = suggest(name, choices)
    return f"; did you mean {choice!r}?" if choice else ""


def _after_dot(name: str) -> str:
    return name.rpartition(".")[2]


def _distance(left: str, right: str, limit: int) -> int:
    """Edit distance with swaps of neighbours; any number above `limit` when it is greater."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if older and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
