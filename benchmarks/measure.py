"""Pairs of runs that take turns, so that a slow moment of the machine hits both sides alike."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

Run = Callable[[], float]
"""Does the work once and answers seconds for one operation."""

Better = Literal["at least", "at most"]


class Result(NamedTuple):
    """A measured figure; `floor` and `ours` are in `unit`, `ratio` is what the target is about. None is no target."""

    suite: str
    case: str
    floor: float | None
    ours: float
    unit: str
    ratio: float
    shown: str
    better: Better
    target: float | None

    @property
    def met(self) -> bool:
        """Whether the target, if there is one, is reached."""
        if self.target is None:
            return True
        return self.ratio >= self.target if self.better == "at least" else self.ratio <= self.target


def pairs(floor: Run, ours: Run, count: int, turns: int = 1) -> list[tuple[float, float]]:
    """`count` pairs (floor, ours) of seconds for one operation, after one pair that is thrown away.

    Within a pair the two sides take `turns` turns; the pair holds the mean of each side's turns.
    """
    measured = []
    for _ in range(count + 1):
        taken = [(_quiet(floor), _quiet(ours)) for _ in range(turns)]
        measured.append((statistics.mean(by_hand for by_hand, _ in taken), statistics.mean(us for _, us in taken)))
    return measured[1:]


def share(suite: str, case: str, measured: Iterable[tuple[float, float]], target: float) -> Result:
    """The speed that is left of the floor's: median over the pairs of floor time / our time, at least `target`."""
    times = list(measured)
    ratio = statistics.median(floor / ours for floor, ours in times)
    return _result(suite, case, times, ratio, f"{ratio:.0%}", "at least", target)


def faster(suite: str, case: str, measured: Iterable[tuple[float, float]], target: float) -> Result:
    """How many times as fast as the floor: median of floor time / our time, at least `target`."""
    times = list(measured)
    ratio = statistics.median(floor / ours for floor, ours in times)
    return _result(suite, case, times, ratio, f"{ratio:.1f}x", "at least", target)


def slower(suite: str, case: str, measured: Iterable[tuple[float, float]], target: float | None) -> Result:
    """How many times the floor's time: median of our time / floor time, at most `target` if there is one."""
    times = list(measured)
    ratio = statistics.median(ours / floor for floor, ours in times)
    return _result(suite, case, times, ratio, f"{ratio:.1f}x", "at most", target)


def _result(
    suite: str,
    case: str,
    times: list[tuple[float, float]],
    ratio: float,
    shown: str,
    better: Better,
    target: float | None,
) -> Result:
    floor = statistics.median(time for time, _ in times) * 1e6
    ours = statistics.median(time for _, time in times) * 1e6
    return Result(suite, case, floor, ours, "us", ratio, shown, better, target)


def _quiet(run: Run) -> float:
    """One run without the garbage that the other side left behind."""
    gc.collect()
    return run()
