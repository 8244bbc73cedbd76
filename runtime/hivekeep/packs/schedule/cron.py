"""Five cron fields in UTC: which are accepted, and when they match next.

Invariant: what `check` accepts matches again and again, and the library that evaluates it understands each field as
the contract says: the library alone would also take the fifth weekday of a month, the last Friday, and more.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_DAYS_IN = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ITEM = re.compile(r"(\*|(?P<first>\d{1,2}|[A-Z]{3})(-(?P<last>\d{1,2}|[A-Z]{3}))?)(/(?P<step>\d{1,4}))?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_US = timedelta(microseconds=1)
_LAST_DAY = "L"
FIELDS = 5
_DAY, _MONTH, _WEEKDAY = 2, 3, 4


class _Field(NamedTuple):
    """The numbers a field may name, and the names of the first ones."""

    lowest: int
    highest: int
    names: tuple[str, ...] = ()

    def number(self, word: str) -> int:
        """The number of a word; raises ValueError."""
        number = self.lowest + self.names.index(word) if word in self.names else int(word)
        if not self.lowest <= number <= self.highest:
            raise ValueError(word)
        return number


_FIELDS = (_Field(0, 59), _Field(0, 23), _Field(1, 31), _Field(1, 12, _MONTHS), _Field(0, 7, _WEEKDAYS))


def check(expression: str) -> None:
    """Raise ValueError unless these are five fields that match at some time."""
    _effective(expression)


def next_after(expression: str, us: int) -> int:
    """The first match later than a moment, both in microseconds; raises OverflowError when there is no such year."""
    from cronsim import CronSim  # few stores have a cron expression

    moment = _EPOCH + us * _US
    # Its search ends after 50 years; what `check` accepts matches within 40, the longest time between two 29ths of
    # February on the same weekday. So it ends early only where the calendar does.
    found: datetime | None = next(CronSim(" ".join(_effective(expression)), moment), None)
    if found is None:
        raise OverflowError(expression)
    return (found - _EPOCH) // _US


def _effective(expression: str) -> list[str]:
    """The fields as the library is given them; raises ValueError."""
    fields = expression.upper().split()
    if len(fields) != FIELDS:
        raise ValueError(expression)
    for place, field in enumerate(fields):
        for item in field.split(","):
            _check_item(place, item)
    if not _day_exists(fields):
        # The library refuses a day that no month has. Beside a weekday it only never decides.
        if _is_star(fields[_DAY]) or _is_star(fields[_WEEKDAY]):
            raise ValueError(expression)
        fields[_DAY] = "*"
    return fields


def _is_star(field: str) -> bool:
    """Whether a day field only narrows the other one: classic cron asks for both to match then, else for either."""
    return field.startswith("*")


def _check_item(place: int, item: str) -> None:
    if place == _DAY and item == _LAST_DAY:
        return
    match = _ITEM.fullmatch(item)
    if match is None or int(match["step"] or 1) < 1:
        raise ValueError(item)
    if match["first"] is None:
        return
    first = _FIELDS[place].number(match["first"])
    if match["last"] is not None and _FIELDS[place].number(match["last"]) < first:
        raise ValueError(item)


def _day_exists(fields: list[str]) -> bool:
    """Whether some month of the fields has some day of them."""
    if _LAST_DAY in fields[_DAY].split(","):
        return True
    first_day = min(_first_numbers(_DAY, fields[_DAY]))
    months = {month for item in fields[_MONTH].split(",") for month in _numbers(_MONTH, item)}
    return any(first_day <= _DAYS_IN[month - 1] for month in months)


def _first_numbers(place: int, field: str) -> Iterator[int]:
    for item in field.split(","):
        yield _numbers(place, item)[0]


def _numbers(place: int, item: str) -> range:
    """The numbers of one item that was checked; one number with a step goes on to the end of the field."""
    match = _ITEM.fullmatch(item)
    assert match is not None
    field = _FIELDS[place]
    step = int(match["step"] or 1)
    first = field.lowest if match["first"] is None else field.number(match["first"])
    last = field.highest
    if match["last"] is not None:
        last = field.number(match["last"])
    elif match["first"] is not None and match["step"] is None:
        last = first
    return range(first, last + 1, step)
