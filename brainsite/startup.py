"""What a serving process checks before its first request."""

import os
import sys

from django.db import connections

from accounts.startup import unsafe_login
from brainsite.checks import check_secrets

EX_CONFIG = 78


def refuse_if_unsafe() -> None:
    """Exit with status 78 when a secret is missing, or a database login is stronger than the walls allow."""
    if missing := check_secrets(None):
        stop(" ".join(str(error.msg) for error in missing))
    causes = [f"{alias}: {cause}" for alias in ("default", "agent") for cause in unsafe_login(alias)]
    connections.close_all()
    if causes:
        stop("\n  ".join(["the database is not prepared, or its login is not safe.", *causes]))


def stop(cause: str) -> None:
    sys.stderr.write(f"Brain does not start: {cause}\n")
    sys.stderr.flush()
    os._exit(EX_CONFIG)
