"""The grammar of `repeat` and the next times, against computations that share nothing with the program."""

import random
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hivekeep.packs.schedule import cron, moments, recurrence
from hivekeep.packs.schedule.moments import Moment
from hivekeep_contract.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIXED = settings(derandomize=True, max_examples=300, deadline=None)
ACCEPTED = [
    "daily",
    "weekly",
    "monthly",
    "every:1s",
    "every:15m",
    "every:36h",
    "every:400d",
    "* * * * *",
    "0 9 * * 1-5",
    "*/5 8-18/2 1,15 * *",
    "0 0 L * *",
    "0 0 1,L 2 *",
    "0 0 31 1,2,3 *",
    "0 0 29 2 *",
    "30 6 * jan,JUL mon-fri",
    "0 0 * * 7",
    "0\t0  *  *\n0",
    "10/15 * * * *",
    "0 0 30 2 MON",
]
REFUSED = [
    "",
    "Daily",
    "hourly",
    "yearly",
    "@daily",
    "every:0s",
    "every:-1m",
    "every:1w",
    "every:1.5h",
    "every:1",
    "every:m",
    "every: 5m",
    "every:١m",
    "every:9223372036855d",
    "every:99999999999999999999s",
    "* * * *",
    "* * * * * *",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * 32 * *",
    "* * * 0 *",
    "* * * 13 *",
    "* * * * 8",
    "5-1 * * * *",
    "*/0 * * * *",
    "1,,2 * * * *",
    "* * 30 2 *",
    "* * 31 4,6,9,11 */2",
    "* * * * 1#2",
    "* * * * 5L",
    "L * * * *",
    "* * L-3 * *",
    "* * LW * *",
    "* * 15W * *",
    "* * ? * *",
    "MON * * * *",
    "* * * MONDAY *",
    "* * * * FRI-MON",
    "0 0 * * mon-",
    "+1 * * * *",
]


def us(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def later(expression: str, current: str, after: str | None = None, anchor: str | None = None) -> str:
    """The next time as text."""
    now = moments.parse(current)
    after_us = now.us if after is None else moments.parse(after).us
    return moments.render(recurrence.next_after(expression, moments.parse(anchor or current), now, after_us))


@pytest.mark.parametrize("expression", ACCEPTED)
def test_it_is_understood(expression: str) -> None:
    """White space around and between is free, names have any case."""
    recurrence.rule(f"  {expression} ")


@pytest.mark.parametrize("expression", REFUSED)
def test_it_is_refused_with_the_forms_that_are_accepted(expression: str) -> None:
    """The message begins with the expression and names every form."""
    with pytest.raises(InvalidInput) as caught:
        recurrence.rule(expression)
    assert caught.value.message == f'invalid repeat expression "{expression}"; accepted: {recurrence.ACCEPTED}'


@pytest.mark.parametrize(
    ("expression", "current", "following"),
    [
        ("daily", "2026-03-28T12:00:00+01:00", "2026-03-29T12:00:00+01:00"),
        ("weekly", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"),
        ("every:90m", "2026-01-01T23:00:00.5Z", "2026-01-02T00:30:00.500000Z"),
        ("monthly", "2028-01-31T10:00:00Z", "2028-02-29T10:00:00Z"),
        # On the 31st in UTC, on the 1st where it was written.
        ("monthly", "2026-02-01T01:00:00+02:00", "2026-03-01T01:00:00+02:00"),
    ],
)
def test_the_next_time(expression: str, current: str, following: str) -> None:
    """Days are 24 hours in the offset that was written; months are those of that offset."""
    assert later(expression, current) == following


def test_a_month_is_counted_from_the_first_time() -> None:
    """A short month does not shorten the ones behind it."""
    times = ["2026-01-31T08:00:00Z"]
    for _ in range(4):
        times.append(later("monthly", times[-1], anchor=times[0]))
    assert times[1:] == [
        "2026-02-28T08:00:00Z",
        "2026-03-31T08:00:00Z",
        "2026-04-30T08:00:00Z",
        "2026-05-31T08:00:00Z",
    ]


@pytest.mark.parametrize("expression", ["daily", "weekly", "monthly", "every:3000000d"])
def test_a_series_ends_with_the_calendar(expression: str) -> None:
    """Behind the year 9999 there is no next time."""
    with pytest.raises(OverflowError):
        later(expression, "9999-12-31T12:00:00Z")


MOMENTS = st.integers(us(datetime(1999, 1, 1, tzinfo=UTC)), us(datetime(2060, 1, 1, tzinfo=UTC)))
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: minutes * 60)


@FIXED
@given(
    first=MOMENTS,
    step=st.integers(1, 999),
    unit=st.sampled_from(["s", "m", "h", "d"]),
    late=st.integers(0, 100),
    more=st.integers(0, 999_999),
)
def test_steps_never_shift(first: int, step: int, unit: str, late: int, more: int) -> None:
    """However late, the next time is the first one of the series behind now, found by counting on."""
    length = step * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[unit] * 1_000_000
    after = first + late * length + more % length
    wanted = first + length
    while wanted <= after:
        wanted += length
    begin = Moment(first, 0, True)
    assert recurrence.next_after(f"every:{step}{unit}", begin, begin, after).us == wanted


@FIXED
@given(first=MOMENTS, offset=OFFSETS, months=st.integers(0, 60), more=st.integers(0, 40 * 86_400_000_000))
def test_months_are_those_that_a_walk_by_days_finds(first: int, offset: int, months: int, more: int) -> None:
    """The next time is the first day behind now that has the day of the first time, or is the last of its month."""
    anchor = Moment(first, offset, False)
    after = first + months * 31 * 86_400_000_000 + more
    found = recurrence.next_after("monthly", anchor, anchor, after)
    local = EPOCH + timedelta(microseconds=first + offset * 1_000_000)
    day = max(local, EPOCH + timedelta(microseconds=after + offset * 1_000_000) - timedelta(days=32))
    day = day.replace(hour=local.hour, minute=local.minute, second=local.second, microsecond=local.microsecond)
    while (
        us(day) - offset * 1_000_000 <= after
        or not fits(day, local)
        or (day.year, day.month)
        == (
            local.year,
            local.month,
        )
    ):
        day += timedelta(days=1)
    assert found == Moment(us(day) - offset * 1_000_000, offset, False)


def fits(day: datetime, first: datetime) -> bool:
    """Whether a day stands for the day of the first one in its month."""
    last = (day + timedelta(days=1)).month != day.month
    return day.day == first.day or (last and day.day < first.day)


FIELD_RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def random_field(chance: random.Random, place: int) -> tuple[str, set[int]]:
    """A field as text, and the numbers that it stands for; 0 as the day is the last one of the month."""
    low, high = FIELD_RANGES[place]
    if chance.random() < 0.35:
        return "*", set(range(low, high + 1))
    texts, numbers = [], set()
    for _ in range(chance.randint(1, 3)):
        form = chance.choice(["one", "range", "step", "range step", "from step", "last"])
        a, b = sorted(chance.sample(range(low, high + 1), 2))
        step = chance.randint(1, 9)
        if form == "last" and place == 2:
            texts.append("L")
            numbers.add(0)
        elif form == "range":
            texts.append(f"{a}-{b}")
            numbers |= set(range(a, b + 1))
        elif form == "step":
            texts.append(f"*/{step}")
            numbers |= set(range(low, high + 1, step))
        elif form == "range step":
            texts.append(f"{a}-{b}/{step}")
            numbers |= set(range(a, b + 1, step))
        elif form == "from step":
            texts.append(f"{a}/{step}")
            numbers |= set(range(a, high + 1, step))
        else:
            texts.append(str(a))
            numbers.add(a)
    return ",".join(texts), numbers


def matches(day: datetime, fields: list[tuple[str, set[int]]]) -> bool:
    """Whether a day is one of the fields: both day fields when one begins with a star, otherwise either."""
    (days_text, days), (_, months), (weekdays_text, weekdays) = fields
    if day.month not in months:
        return False
    last = (day + timedelta(days=1)).month != day.month
    of_month = day.day in days or (last and 0 in days)
    of_week = day.isoweekday() in weekdays or day.isoweekday() % 7 in weekdays
    if days_text.startswith("*") or weekdays_text.startswith("*"):
        return of_month and of_week
    return of_month or of_week


def first_match(fields: list[tuple[str, set[int]]], begin: datetime) -> datetime | None:
    """The first match behind a moment within 50 years."""
    midnight = begin.replace(hour=0, minute=0, second=0, microsecond=0)
    for number in range(50 * 366):
        day = midnight + timedelta(days=number)
        if matches(day, fields[2:]):
            times = (day + timedelta(hours=h, minutes=m) for h in sorted(fields[1][1]) for m in sorted(fields[0][1]))
            found = next((time for time in times if time > begin), None)
            if found is not None:
                return found
    return None


def test_cron_finds_what_a_walk_over_days_finds() -> None:
    """Of 400 random expressions each is accepted, and its next match is the first one that the walk meets."""
    chance = random.Random(7)
    for _ in range(400):
        fields = [random_field(chance, place) for place in range(5)]
        expression = " ".join(text for text, _ in fields)
        begin = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=chance.uniform(0, 4 * 366 * 86_400))
        wanted = first_match(fields, begin)
        assert wanted is not None
        assert cron.next_after(expression, us(begin)) == us(wanted), expression


@pytest.mark.parametrize(
    ("expression", "after", "following"),
    [
        ("0 0 29 2 *", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"),
        ("0 0 29 2 */7", "2096-03-01T00:00:00Z", "2128-02-29T00:00:00Z"),
        ("0 0 30 2 MON", "2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"),
        ("0 0 L 2 *", "2028-02-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 12 13 * FRI", "2026-11-06T12:00:00Z", "2026-11-13T12:00:00Z"),
        ("* * * * *", "2026-01-01T00:00:59.999999Z", "2026-01-01T00:01:00Z"),
        ("* * * * *", "2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"),
    ],
)
def test_cron_over_long_times_and_at_the_edge(expression: str, after: str, following: str) -> None:
    """Leap days, a day that no month has beside a weekday, and strictly later than the moment."""
    assert later(expression, after) == following


@pytest.mark.parametrize(
    ("text", "us_of"),
    [
        ("2026-07-05T09:00:00Z", "2026-07-05T09:00:00+00:00"),
        ("2026-07-05t09:00:00z", "2026-07-05T09:00:00+00:00"),
        ("2026-07-05 09:00:00+00:00", "2026-07-05T09:00:00+00:00"),
        ("2026-07-05T09:00:00.25-09:30", "2026-07-05T18:30:00.250000+00:00"),
    ],
)
def test_a_time_with_a_zone(text: str, us_of: str) -> None:
    """The moment, and text in the same offset that means it again."""
    found = moments.parse(text)
    assert found.us == us(datetime.fromisoformat(us_of))
    assert moments.parse(moments.render(found)) == found


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-05",
        "2026-07-05T09:00:00",
        "2026-07-05T09:00Z",
        "20260705T090000Z",
        "2026-13-05T09:00:00Z",
        "2026-02-30T09:00:00Z",
        "2026-07-05T24:00:01Z",
        "2026-07-05T09:00:00+25:00",
        "9999-12-31T23:59:59-01:00",
        "tomorrow",
        "2026-W27-7T09:00:00Z",
    ],
)
def test_no_time(text: str) -> None:
    """A date alone, no zone, no such day, and a moment behind the last one."""
    with pytest.raises(ValueError, match=r".*"):
        moments.parse(text)
