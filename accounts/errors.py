"""What a verb may refuse with. Every door maps these to its own error shape; the field names the cause."""


class BrainError(Exception):
    """Base of all refusals. `field` is the argument that caused it, None when no single one did."""

    code = "error"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field


class Invalid(BrainError):
    code = "invalid"


class TooLarge(BrainError):
    code = "too_large"


class Forbidden(BrainError):
    code = "permission_denied"


class NotFound(BrainError):
    """Not there, or not for this actor: both look the same."""

    code = "not_found"

    def __init__(self, message: str = "Not found.", *, field: str | None = None) -> None:
        super().__init__(message, field=field)


class Conflict(BrainError):
    code = "conflict"


class Stale(BrainError):
    """The caller edits a version that is no longer the current one."""

    code = "stale"


class Unavailable(BrainError):
    """A part that Brain depends on does not answer; the same call may succeed later."""

    code = "unavailable"
