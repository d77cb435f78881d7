"""What a serving process checks before its first request."""

import os
import sys

from django.db import connections

from accounts.startup import unsafe_login

EX_CONFIG = 78


def refuse_if_unsafe() -> None:
    """Exit with status 78 when a database login of this process is stronger than the walls allow."""
    causes = [f"{alias}: {cause}" for alias in ("default", "agent") for cause in unsafe_login(alias)]
    connections.close_all()
    if causes:
        print("Brain does not start: the database login is not safe.\n  " + "\n  ".join(causes), file=sys.stderr)  # noqa: T201
        sys.stderr.flush()
        os._exit(EX_CONFIG)
