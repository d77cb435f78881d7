"""JSON bodies, read once and strictly: what two readers could understand differently is refused."""

import json
import math
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.utils.http import parse_header_parameters
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from brainsite.api.refusal import Refusal

NUMBER_CHARACTERS = 300
BOM = b"\xef\xbb\xbf"


class StrictJSONParser(BaseParser):
    """UTF-8 without content coding, an object at the top, no key twice, no NaN, not too deep, at most BODY_BYTES."""

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        headers = (parser_context or {})["request"].headers
        if headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            raise ParseError("Content-Encoding: send the body as it is.")
        charset = parse_header_parameters(media_type or "")[1].get("charset", "utf-8")
        if charset.lower() not in ("utf-8", "utf8"):
            raise ParseError("JSON is UTF-8.")
        return parse_object(read_body(stream, headers.get("Content-Length")))


def read_body(stream: IO[bytes], length: str | None) -> bytes:
    """The whole body. Raises a 413, without reading further, as soon as it is known to be too large."""
    most: int = settings.BODY_BYTES
    if length is not None and length.isdecimal() and int(length[:20]) > most:
        raise too_large(most)
    body = stream.read(most + 1)
    if len(body) > most:
        raise too_large(most)
    return body


def too_large(most: int) -> Refusal:
    return Refusal(413, "too_large", f"At most {most:,} bytes in a body.")


def parse_object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(
            body.removeprefix(BOM).decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except UnicodeDecodeError:
        raise ParseError("The body is not UTF-8.") from None
    except json.JSONDecodeError as error:
        raise ParseError(f"Broken JSON at line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise ParseError("This JSON is nested too deeply.") from None
    if not isinstance(value, dict):
        raise ParseError("A JSON object is expected.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ParseError(f"The key {twice} is there twice.")
    return found


def _constant(name: str) -> Any:
    raise ParseError(f"{name} is no JSON.")


def _float(text: str) -> float:
    number = float(text) if len(text) <= NUMBER_CHARACTERS else math.inf
    if math.isinf(number):
        raise ParseError("A number has too many digits.")
    return number


def _int(text: str) -> int:
    if len(text) > NUMBER_CHARACTERS:
        raise ParseError("A number has too many digits.")
    return int(text)
