"""Moments: integer microseconds since the Unix epoch (UTC) inside, ISO 8601 text outside.

Invariant: `parse_iso(iso(us)) == us` for every moment between the years 1 and 9999; no float is ever involved. Every
integer that a column holds has a text, so that no record is unreadable for the unit another program wrote.
"""

import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST_SECOND = "0001-01-01T00:00:00"
_LAST_SECOND = "9999-12-31T23:59:59"


def now_us() -> int:
    """The present moment in microseconds."""
    return time.time_ns() // 1000


def iso(us: int) -> str:
    """`YYYY-MM-DDTHH:MM:SS.ffffffZ` of a moment in microseconds; the nearest year of the calendar for one beyond it."""
    seconds, rest = divmod(us, 1_000_000)
    return f"{_whole_second(seconds)}.{rest:06d}Z"


@lru_cache(maxsize=256)
def _whole_second(seconds: int) -> str:
    """Kept because the moments of one operation, and of records made together, fall into few seconds."""
    try:
        return (_EPOCH + timedelta(seconds=seconds)).isoformat(timespec="seconds")
    except OverflowError:
        return _FIRST_SECOND if seconds < 0 else _LAST_SECOND


def iso_or_none(us: int | None) -> str | None:
    """As `iso`, with None for None."""
    return None if us is None else iso(us)


def parse_iso(text: str) -> int:
    """Microseconds of an ISO 8601 timestamp; one without an offset is UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH_UTC) // _MICROSECOND
