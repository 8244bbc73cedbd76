"""How something repeats: the grammar of `repeat`, and the next time.

Invariant: the occurrences of a rule are a fixed series that begins at the first time; `next_after` answers the first of
them that is later than a moment, so being late never shifts the series. There is no daylight saving anywhere: days are
24 hours, months are those of the offset that the first time was written in, cron is UTC.
"""

import calendar
import re
from collections.abc import Callable
from functools import partial

from hivekeep.packs.schedule import cron
from hivekeep.packs.schedule.moments import LAST_US, Moment, of_local
from hivekeep_contract.errors import InvalidInput

MONTHLY = "monthly"
_SECOND_US = 1_000_000
_UNITS_US = {"s": _SECOND_US, "m": 60 * _SECOND_US, "h": 3600 * _SECOND_US, "d": 86_400 * _SECOND_US}
_FIXED_US = {"daily": _UNITS_US["d"], "weekly": 7 * _UNITS_US["d"]}
_EVERY = re.compile(r"every:(\d{1,19})([smhd])", re.ASCII)
_MAX_US = (1 << 63) - 1
_MONTHS = 12

ACCEPTED = (
    "daily, weekly, monthly, every:<N><s|m|h|d> with a whole N from 1, or five cron fields in UTC"
    " (minute 0-59, hour 0-23, day 1-31 or L, month 1-12, weekday 0-7) that match at some time"
)

Rule = Callable[[Moment, Moment, int], Moment]
"""Of the first time, a time of the series and a moment in microseconds: the first time that is later than it."""


def rule(expression: str) -> Rule:
    """How an expression repeats; raises InvalidInput that names the accepted forms."""
    found = _rule(expression.strip())
    if found is None:
        raise InvalidInput(f'invalid repeat expression "{expression}"; accepted: {ACCEPTED}')
    return found


def next_after(expression: str, anchor: Moment, current: Moment, after_us: int) -> Moment:
    """The first time of the series that is later than a moment, in the offset of `current`.

    `anchor` is the first time of the series, `current` any of it. Raises InvalidInput for an expression that is not of
    the grammar, and OverflowError when the next time cannot be written down.
    """
    found = rule(expression)(anchor, current, after_us)
    if found.us > LAST_US:
        raise OverflowError(expression)
    return found


def _rule(expression: str) -> Rule | None:
    if expression in _FIXED_US:
        return partial(_by_steps, _FIXED_US[expression])
    if expression == MONTHLY:
        return _by_months
    every = _EVERY.fullmatch(expression)
    if every is not None:
        step = int(every[1]) * _UNITS_US[every[2]]
        return partial(_by_steps, step) if 0 < step <= _MAX_US else None
    try:
        cron.check(expression)
    except ValueError:
        return None
    return partial(_by_cron, expression)


def _by_steps(step: int, _anchor: Moment, current: Moment, after_us: int) -> Moment:
    return current.at(current.us + max((after_us - current.us) // step + 1, 1) * step)


def _by_cron(expression: str, _anchor: Moment, current: Moment, after_us: int) -> Moment:
    return current.at(cron.next_after(expression, max(after_us, current.us)))


def _by_months(anchor: Moment, current: Moment, after_us: int) -> Moment:
    """Each month is counted from the first time on its own, so a short one does not shorten those behind it."""
    after = max(after_us, current.us)
    begun, reached = anchor.local, anchor.at(after).local
    months = max((reached.year - begun.year) * _MONTHS + reached.month - begun.month, 1)
    found = _months_later(anchor, months)
    return found if found.us > after else _months_later(anchor, months + 1)


def _months_later(anchor: Moment, months: int) -> Moment:
    local = anchor.local
    years, month = divmod(local.month - 1 + months, _MONTHS)
    year = local.year + years
    if year > 9999:
        raise OverflowError(MONTHLY)
    day = min(local.day, calendar.monthrange(year, month + 1)[1])
    return of_local(local.replace(year=year, month=month + 1, day=day), anchor)
