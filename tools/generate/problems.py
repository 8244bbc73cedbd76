"""A refusal names its file and line. Every check of the generator reports through this one type."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing wrong in one file; `where` is a path relative to the repository root."""

    where: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.where}:{self.line}: {self.message}"


class ContractError(Exception):
    """The registry cannot be printed; `problems` holds everything that was found, sorted by file and line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """`; did you mean 'text'?` for the closest choice, or nothing when none is close."""
    close = difflib.get_close_matches(word, sorted(choices), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""
