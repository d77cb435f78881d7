"""Serializer fields that take what they are given or refuse it: a number is no string, "true" no boolean."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts.errors import Invalid
from memory.text import SURROGATE, check_time

# RFC 3339; fractions of a second up to microseconds
MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
INTEGER_MOST = 2**31 - 1


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not have, each by name."""

    default_error_messages = {"unknown": "There is no such field.", "invalid": "A JSON object is expected."}

    def to_internal_value(self, data: Any) -> Any:
        unknown: dict[str, Any] = {}
        if isinstance(data, Mapping):
            cause = [serializers.ErrorDetail(str(self.error_messages["unknown"]), "unknown")]
            unknown = {str(name): cause for name in data if name not in self.fields}
        try:
            value = super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError({**unknown, **cast(dict[str, Any], error.detail)}) from error
        if unknown:
            raise serializers.ValidationError(unknown)
        return value


class Text(serializers.CharField):
    """Kept character for character. How long it may be is the verb's matter."""

    default_error_messages = {
        "nul": "A NUL character cannot be stored.",
        "surrogate": "A lone surrogate is no character.",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)
        self.validators = []  # the two that are there look at each character in Python

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if "\0" in data:
            self.fail("nul")
        if SURROGATE.search(data):
            self.fail("surrogate")
        return data


class Choice(serializers.ChoiceField):
    """One of some words. The message names them, and not what was given."""

    def __init__(self, choices: Iterable[str], **options: Any) -> None:
        names = [str(name) for name in choices]
        super().__init__(names, **options)
        self.error_messages["invalid_choice"] = f"Must be one of {', '.join(names)}."

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice")
        return data


class Integer(serializers.IntegerField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_value": INTEGER_MOST, **options})

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class QueryInteger(serializers.IntegerField):
    """An integer in a query string: digits alone."""

    def to_internal_value(self, data: Any) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", str(data)):
            self.fail("invalid")
        return int(data)


class Uuid(serializers.UUIDField):
    """An id as answers have it: no number that could be read as one."""

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str):
            self.fail("invalid", value="this")
        return super().to_internal_value(data)


class Number(serializers.FloatField):
    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, int | float) or isinstance(data, bool):
            self.fail("invalid")
        return super().to_internal_value(data)


class Boolean(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input="this")
        return data


class Moment(serializers.DateTimeField):
    """A date and time with its offset (or Z)."""

    default_error_messages = {"moment": "A date and time with its offset is expected, such as 2025-03-01T09:30:00Z."}

    def to_internal_value(self, value: Any) -> datetime:
        if not isinstance(value, str) or not MOMENT.fullmatch(value):
            self.fail("moment")
        try:
            return check_time(datetime.fromisoformat(value.upper()), self.field_name or "") or self.fail("moment")
        except ValueError:
            self.fail("moment")
        except Invalid as error:
            raise serializers.ValidationError(error.message, "invalid") from error


@extend_schema_field({"type": "object", "additionalProperties": True})
class JSONObject(serializers.Field[dict[str, Any], Any, dict[str, Any], Any]):
    """Any JSON object. How large and how deep it may be is the verb's matter."""

    default_error_messages = {"invalid": "A JSON object is expected."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("invalid")
        return data

    def to_representation(self, value: dict[str, Any]) -> dict[str, Any]:
        return dict(value)
