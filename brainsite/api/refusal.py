"""The exception of this door, apart from what handles it: the framework imports parsers before its own views."""

from rest_framework.exceptions import APIException


class Refusal(APIException):
    """An answer with a status of its own, which may name the field that caused it."""

    def __init__(
        self, status: int, code: str, detail: str, *, attr: str | None = None, wait: int | None = None
    ) -> None:
        super().__init__(detail, code)
        self.status_code = status
        self.code = code
        self.attr = attr
        self.wait = wait
