"""When something is due: RFC 3339 text outside, microseconds with the offset that the text had inside.

Invariant: `parse(render(m)) == m` for every moment that `parse` answers; a moment keeps the offset it was written with,
because its later occurrences are shown in the same one.
"""

import re
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from hivekeep.times import parse_iso

LAST_US = parse_iso("9999-12-31T23:59:59.999999")
"""The last moment that can be written down in UTC."""

ACCEPTED = "an RFC 3339 timestamp with a zone, such as 2026-07-05T09:00:00Z or 2026-07-05T11:00:00+02:00"

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_EPOCH = datetime(1970, 1, 1)
_DAY_S = 86_400
_US = timedelta(microseconds=1)


class Moment(NamedTuple):
    """A moment in microseconds, the offset it is written in, in seconds, and whether UTC is written as Z."""

    us: int
    offset_s: int
    zulu: bool

    @property
    def local(self) -> datetime:
        """What a clock in the offset shows; raises OverflowError outside of the years 1 to 9999."""
        return _EPOCH + timedelta(microseconds=self.us, seconds=self.offset_s)

    def at(self, us: int) -> "Moment":
        """Another moment, written in the same offset."""
        return self._replace(us=us)


def parse(text: str) -> Moment:
    """The moment of an RFC 3339 timestamp with a zone; raises ValueError."""
    plain = text.strip().upper()
    if not _RFC_3339.fullmatch(plain):
        raise ValueError(text)
    offset = datetime.fromisoformat(plain).utcoffset()
    assert offset is not None
    us = parse_iso(plain)
    if us > LAST_US:
        raise ValueError(text)
    return Moment(us, offset.days * _DAY_S + offset.seconds, plain.endswith("Z"))


def of_local(local: datetime, like: Moment) -> Moment:
    """The moment at which a clock in the offset of `like` shows `local`."""
    return like.at((local - _EPOCH) // _US - like.offset_s * 1_000_000)


def render(moment: Moment) -> str:
    """RFC 3339 text in the moment's offset, with a fraction only where there is one."""
    if moment.zulu:
        return moment.local.isoformat() + "Z"
    # A clock in the offset may show a year that does not exist; UTC never does.
    try:
        return moment.local.replace(tzinfo=timezone(timedelta(seconds=moment.offset_s))).isoformat()
    except OverflowError:
        return Moment(moment.us, 0, True).local.isoformat() + "Z"
