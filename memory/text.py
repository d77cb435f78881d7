"""What text may be stored: kept byte for byte or refused, never repaired."""

import re
import unicodedata
from datetime import UTC, datetime
from typing import Any

from accounts.errors import Invalid, TooLarge

CONTENT_CHARACTERS = 2_000_000
SURROGATE = re.compile("[\ud800-\udfff]")
BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")  # fillers and the empty Braille cell
BLANK = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))
EARLIEST, LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)


def check_text(text: str, field: str, *, most: int, blank: bool = False) -> str:
    """The text itself. Raises Invalid or TooLarge that names the field."""
    if len(text) > most:
        raise TooLarge(f"At most {most:,} characters; this has {len(text):,}.", field=field)
    if "\0" in text:
        raise Invalid("A NUL character cannot be stored.", field=field)
    if SURROGATE.search(text):
        raise Invalid("A lone surrogate is no character.", field=field)
    if not blank and not is_visible(text):
        raise Invalid("This has no visible character.", field=field)
    return text


def is_visible(text: str) -> bool:
    """Whether any character is more than white space, a control or a zero-width one."""
    return any(unicodedata.category(c) not in BLANK and c not in BLANK_LETTERS for c in text)


def check_content(text: str, field: str = "content") -> str:
    return check_text(text, field, most=CONTENT_CHARACTERS)


def check_time(moment: datetime | None, field: str) -> datetime | None:
    """A moment with its offset, in UTC. Raises Invalid."""
    if moment is None:
        return None
    if moment.tzinfo is None:
        raise Invalid("A time needs its offset (or Z).", field=field)
    if not EARLIEST <= moment <= LATEST:
        raise Invalid("This date is out of range.", field=field)
    return moment.astimezone(UTC)


def check_json(value: Any, field: str, *, most_bytes: int = 65_536, depth: int = 20) -> Any:
    """JSON that Postgres can keep: bounded, not too deep, every string storable. Raises Invalid or TooLarge."""
    size = _check_json(value, field, depth)
    if size > most_bytes:
        raise TooLarge(f"At most {most_bytes:,} characters of JSON.", field=field)
    return value


def _check_json(value: Any, field: str, depth: int) -> int:
    if depth < 0:
        raise Invalid("This is nested too deeply.", field=field)
    if isinstance(value, str):
        return len(check_text(value, field, most=CONTENT_CHARACTERS, blank=True)) + 2
    if isinstance(value, dict):
        return (
            sum(_check_json(str(k), field, depth - 1) + _check_json(v, field, depth - 1) for k, v in value.items()) + 2
        )
    if isinstance(value, list | tuple):
        return sum(_check_json(item, field, depth - 1) for item in value) + 2
    if (isinstance(value, float) and value != value) or value in (float("inf"), float("-inf")):
        raise Invalid("NaN and Infinity are no JSON.", field=field)
    if isinstance(value, int) and abs(value) > 10**300:
        raise Invalid("This number is too large.", field=field)
    return 8
