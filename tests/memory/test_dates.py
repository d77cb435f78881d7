"""What a question's dates mean."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest

from memory.dates import DAY, Known, Span, date_fit, find_spans

ASKED = Known(datetime(2025, 12, 31, 15, tzinfo=UTC), (2025, 2024))


def days(text: str) -> list[tuple[str, str]]:
    """First and last day of each span."""
    found = find_spans(text, ASKED)
    first = [datetime.fromtimestamp(span.start, UTC).date() for span in found]
    last = [(datetime.fromtimestamp(span.end, UTC) - timedelta(seconds=1)).date() for span in found]
    return [(date.isoformat(a), date.isoformat(b)) for a, b in zip(first, last, strict=True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did I buy on 14 January 2025?", [("2025-01-14", "2025-01-14")]),
        ("On January 14th, what happened?", [("2025-01-14", "2025-01-14"), ("2024-01-14", "2024-01-14")]),
        ("between May 3 and 7, 2024", [("2024-05-03", "2024-05-07")]),
        ("2025-02-28 or 2025-03", [("2025-02-28", "2025-02-28"), ("2025-03-01", "2025-03-31")]),
        ("on 30/1/2025", [("2025-01-30", "2025-01-30")]),
        ("In May 2025, during a call", [("2025-05-01", "2025-05-31")]),
        ("in early June of 2024", [("2024-06-01", "2024-06-10")]),
        ("late Feb. 2024", [("2024-02-20", "2024-02-29")]),
        ("last summer", [("2025-06-01", "2025-08-31"), ("2024-06-01", "2024-08-31")]),
        ("in the winter of 2024", [("2024-12-01", "2025-02-28")]),
        ("Q3 2025", [("2025-07-01", "2025-09-30")]),
        ("the sales in 2024", [("2024-01-01", "2024-12-31")]),
        ("yesterday", [("2025-12-30", "2025-12-30")]),
        ("the day before yesterday", [("2025-12-29", "2025-12-29")]),
        ("last Friday", [("2025-12-26", "2025-12-26")]),
        ("last week", [("2025-12-22", "2025-12-28")]),
        ("last month", [("2025-11-01", "2025-11-30")]),
        ("last year", [("2024-01-01", "2024-12-31")]),
        ("three weeks ago", [("2025-12-07", "2025-12-13")]),
        ("in the past two weeks", [("2025-12-17", "2026-01-01")]),
        ("31 February 2025", [("2025-02-01", "2025-02-28")]),  # no such day; the month is meant
        ("May I march with the mark of 2024 pages, second to none?", []),
        ("call 555-2024-17", []),
        ("", []),
    ],
)
def test_a_text_names_spans_of_time(text: str, expected: list[tuple[str, str]]) -> None:
    assert days(text) == expected


def test_a_day_says_more_than_a_month_and_a_month_more_than_a_year() -> None:
    weights = [find_spans(text, ASKED)[0].weight for text in ("14 May 2025", "May 2025", "in 2025")]
    assert weights[0] == 1.0
    assert weights == sorted(weights, reverse=True)


def test_a_moment_fits_inside_and_less_after_and_least_before() -> None:
    span = Span(100 * DAY, 101 * DAY, 1.0)
    fit = date_fit(np.array([100.5, 104, 97, 400]) * DAY, [span])
    assert fit[0] == 1.0
    assert fit[0] > fit[1] > fit[2] > fit[3]
    assert date_fit(np.array([100.5 * DAY]), []).tolist() == [0.0]
