"""Dates in a question: "on 14 January", "last summer", "three weeks ago" as spans of time, and how well a moment fits.

A range grammar of our own: a parser for single dates misreads ranges, and a year of notes is mostly asked for by date.
Days are UTC days. English words, and numbers as in 2025-01-14.
"""

import calendar
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

DAY = 86_400.0
FADES_AFTER_DAYS, FADES_BEFORE_DAYS = 10.0, 2.5  # an event is spoken of after it rather than before
EARLIER_YEAR = 0.8  # what each year back counts when the question names none
MOST_YEARS = 5
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
           "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}  # fmt: skip
MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
WEEKDAYS = {name.lower(): number for number, name in enumerate(calendar.day_name)}
SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 2)}
PARTS = {"early": (1, 10), "beginning": (1, 10), "start": (1, 10), "mid": (10, 20), "middle": (10, 20),
         "late": (20, 31), "end": (20, 31)}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Span:
    """From `start` until before `end`, seconds since 1970. `weight`: how much a match says, 0..1."""

    start: float
    end: float
    weight: float


@dataclass(frozen=True, slots=True)
class Known:
    """What a date without a year may mean: the moment of asking, and the years the memories are of."""

    asked_at: datetime
    years: tuple[int, ...]  # latest first


# Words that are months only when they are written like names.
_MONTH = (
    r"(?P<month>(?-i:May(?!\s+(?:I|we|you|they|he|she|it|be|not)\b)|March|Mar|Jan|Feb|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)\b\.?|january|february|april|june|july|"
    r"august|september|october|november|december)"
)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_TO = r"(?:\s*(?:-|–|to|and|until|through)\s*(?:the\s+)?(?P<last>[0-3]?\d)(?:st|nd|rd|th)?)?"
_COUNT = r"(?P<count>\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_UNIT = r"(?P<unit>day|week|month|year)s?"


def find_spans(text: str, known: Known) -> tuple[Span, ...]:
    """The spans of time that a text names; none when it names none."""
    found: list[Span] = []
    for pattern, read in _RULES:

        def take(match: re.Match[str], read: "Rule" = read) -> str:
            try:
                found.extend(_span(start, end, weight) for start, end, weight in read(match, known))
            except (ValueError, OverflowError):  # 31 February
                return match[0]
            return " ; "  # what one rule has read is not read again

        text = pattern.sub(take, text)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class FromEvent:
    """So many days after (or, negative, before) something that the question names: "two weeks before the trip"."""

    days: float
    slack_days: float
    event: str

    def span(self, event_at: float, weight: float) -> Span:
        middle, slack = event_at + self.days * DAY, (self.slack_days / 2 + 0.5) * DAY
        return Span(middle - slack, middle + slack, weight)


_FROM_EVENT = re.compile(
    rf"\b{_COUNT}\s+{_UNIT}\s+(?P<way>before|after|prior\s+to)\s+(?P<event>[^,.;?!]{{3,80}})", re.IGNORECASE
)


def find_from_event(text: str) -> FromEvent | None:
    match = _FROM_EVENT.search(text)
    if match is None:
        return None
    days = UNIT_DAYS[match["unit"].lower()]
    sign = 1 if match["way"].lower() == "after" else -1
    return FromEvent(sign * days * _count(match), days, match["event"])


def date_fit(moments: npt.NDArray[np.float64], spans: Iterable[Span]) -> Floats:
    """How well moments (seconds since 1970) fit the best of the spans: its weight inside, less before and after."""
    fit = np.zeros(len(moments), np.float64)
    for span in spans:
        after = np.maximum(moments - span.end, 0.0) / (DAY * FADES_AFTER_DAYS)
        before = np.maximum(span.start - moments, 0.0) / (DAY * FADES_BEFORE_DAYS)
        np.maximum(fit, span.weight * np.exp(-after - before), out=fit)
    return fit.astype(np.float32)


def _span(start: datetime, end: datetime, weight: float) -> Span:
    """A day says more than a year does."""
    days = max((end - start).total_seconds() / DAY, 1.0)
    breadth = 1.0 if days <= 1 else min(1.0, 1.5 / math.log2(3 + days / 15))
    return Span(start.timestamp(), end.timestamp(), weight * breadth)


Spans = Iterator[tuple[datetime, datetime, float]]
Rule = Callable[[re.Match[str], Known], Spans]


def _years(match: re.Match[str], known: Known) -> Iterator[tuple[int, float]]:
    year = match.groupdict().get("year")
    if year:
        yield int(year), 1.0
        return
    for back, candidate in enumerate(known.years[:MOST_YEARS]):
        yield candidate, EARLIER_YEAR**back


def _day_at(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, tzinfo=UTC)


def _month_after(year: int, month: int) -> datetime:
    return _day_at(year + month // 12, month % 12 + 1, 1)


def _month_of(match: re.Match[str]) -> int:
    return MONTHS[match["month"].lower().rstrip(".")]


def _iso(match: re.Match[str], known: Known) -> Spans:
    year, month = int(match["year"]), int(match["number"])
    if match["day"]:
        start = _day_at(year, month, int(match["day"]))
        yield start, start + timedelta(days=1), 1.0
    else:
        yield _day_at(year, month, 1), _month_after(year, month), 1.0


def _slashes(match: re.Match[str], known: Known) -> Spans:
    year = int(match["year"])
    for month, day in {(int(match["a"]), int(match["b"])), (int(match["b"]), int(match["a"]))}:
        if 1 <= month <= 12 and 1 <= day <= 31:
            start = _day_at(year, month, day)
            yield start, start + timedelta(days=1), 1.0


def _days(match: re.Match[str], known: Known) -> Spans:
    for year, weight in _years(match, known):
        start = _day_at(year, _month_of(match), int(match["day"]))
        last = match.groupdict().get("last")
        end = _day_at(year, _month_of(match), int(last)) if last and int(last) >= int(match["day"]) else start
        yield start, end + timedelta(days=1), weight


def _months(match: re.Match[str], known: Known) -> Spans:
    month = _month_of(match)
    part = PARTS.get((match.groupdict().get("part") or "").lower())
    for year, weight in _years(match, known):
        if part:
            last = min(part[1], calendar.monthrange(year, month)[1])
            yield _day_at(year, month, part[0]), _day_at(year, month, last) + timedelta(days=1), weight
        else:
            yield _day_at(year, month, 1), _month_after(year, month), weight


def _seasons(match: re.Match[str], known: Known) -> Spans:
    first, last = SEASONS[match["season"].lower()]
    for year, weight in _years(match, known):
        yield _day_at(year, first, 1), _month_after(year + (last < first), last), weight


def _quarters(match: re.Match[str], known: Known) -> Spans:
    first = 3 * int(match["quarter"]) - 2
    for year, weight in _years(match, known):
        yield _day_at(year, first, 1), _month_after(year, first + 2), weight


def _whole_years(match: re.Match[str], known: Known) -> Spans:
    year = int(match["year"])
    yield _day_at(year, 1, 1), _day_at(year + 1, 1, 1), 1.0


def _today(known: Known) -> datetime:
    return known.asked_at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _near_days(match: re.Match[str], known: Known) -> Spans:
    today = _today(known)
    word = match[0].lower()
    start = today - timedelta(days="yesterday" in word or "last night" in word) - timedelta(days=word.startswith("the"))
    yield start, start + timedelta(days=1), 1.0


def _last(match: re.Match[str], known: Known) -> Spans:
    today, unit = _today(known), match["unit"].lower()
    back = match["which"].lower() != "this"
    if unit == "week":
        start = today - timedelta(days=today.weekday() + 7 * back)
        yield start, start + timedelta(days=7), 1.0
    elif unit == "weekend":
        start = today - timedelta(days=today.weekday() + 2 if back else today.weekday() - 5)
        yield start, start + timedelta(days=2), 1.0
    elif unit == "month":
        first = today.replace(day=1)
        start = (first - timedelta(days=1)).replace(day=1) if back else first
        yield start, _month_after(start.year, start.month), 1.0
    else:
        yield _day_at(today.year - back, 1, 1), _day_at(today.year - back + 1, 1, 1), 1.0


def _weekday(match: re.Match[str], known: Known) -> Spans:
    today = _today(known)
    back = (today.weekday() - WEEKDAYS[match["weekday"].lower()]) % 7 or 7
    start = today - timedelta(days=back)
    yield start, start + timedelta(days=1), 1.0


def _count(match: re.Match[str]) -> int:
    return NUMBERS.get(match["count"].lower()) or int(match["count"])


UNIT_DAYS = {"day": 1.0, "week": 7.0, "month": 30.4, "year": 365.25}


def _ago(match: re.Match[str], known: Known) -> Spans:
    days = UNIT_DAYS[match["unit"].lower()]
    middle = _today(known) - timedelta(days=round(days * _count(match)))
    slack = timedelta(days=days // 2)
    yield middle - slack, middle + slack + timedelta(days=1), 1.0


def _past(match: re.Match[str], known: Known) -> Spans:
    days = UNIT_DAYS[match["unit"].lower()] * _count(match)
    yield _today(known) - timedelta(days=round(days)), known.asked_at + timedelta(days=1), 1.0


def _lately(match: re.Match[str], known: Known) -> Spans:
    yield _today(known) - timedelta(days=30), known.asked_at + timedelta(days=1), 0.5


def _rule(pattern: str, read: Rule) -> tuple[re.Pattern[str], Rule]:
    return re.compile(rf"\b(?:{pattern})(?!\w)", re.IGNORECASE), read


_OF_YEAR = rf"(?:,?\s*(?:of\s+)?{_YEAR})?"
_RULES = (
    _rule(rf"{_YEAR}-(?P<number>[01]\d)(?:-(?P<day>[0-3]\d))?", _iso),
    _rule(rf"(?P<a>[0-3]?\d)[/.](?P<b>[0-3]?\d)[/.]{_YEAR}", _slashes),
    _rule(rf"{_DAY}{_TO}\s+(?:of\s+)?{_MONTH}{_OF_YEAR}", _days),
    _rule(rf"{_MONTH}\s+(?:the\s+)?{_DAY}{_TO}(?!\s*:)(?!\d){_OF_YEAR}", _days),
    _rule(rf"(?P<part>early|mid|late|beginning|middle|end|start)(?:-|\s+)(?:of\s+)?{_MONTH}{_OF_YEAR}", _months),
    _rule(rf"{_MONTH}{_OF_YEAR}", _months),
    _rule(rf"(?:last|this|past|in|the)\s+(?P<season>spring|summer|autumn|fall|winter){_OF_YEAR}", _seasons),
    _rule(rf"(?P<season>spring|summer|autumn|fall|winter)\s+(?:of\s+)?{_YEAR}", _seasons),
    _rule(rf"q(?P<quarter>[1-4]){_OF_YEAR}", _quarters),
    _rule(rf"(?:in|during|since|from|year)\s+{_YEAR}", _whole_years),
    _rule(r"(?:the\s+day\s+before\s+)?yesterday|last\s+night|today|this\s+(?:morning|afternoon|evening)", _near_days),
    _rule(r"(?P<which>last|this|previous)\s+(?P<unit>weekend|week|month|year)", _last),
    _rule(rf"(?:last|on|this\s+past)\s+(?P<weekday>{'|'.join(WEEKDAYS)})", _weekday),
    _rule(rf"{_COUNT}\s+{_UNIT}\s+(?:ago|back|earlier)", _ago),
    _rule(rf"(?:past|last|previous)\s+{_COUNT}\s+{_UNIT}", _past),
    _rule(r"recently|lately|these\s+days", _lately),
)
