import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from brainsite.environment import CHECKOUT


class Command(BaseCommand):
    help = "Start everything: the embedded database and queue, the web server, the worker and the clock."
    requires_system_checks: list[str] = []  # the secrets that they look for are made by what starts here

    def handle(self, *args: Any, **options: Any) -> None:
        # the supervisor takes this process' place: it stays for long, and needs nothing of Django
        os.environ["BRAIN_DATA_DIR"] = str(settings.DATA_DIR)
        os.chdir(CHECKOUT)
        os.execv(sys.executable, [sys.executable, "-m", "brainsite.supervisor"])  # noqa: S606 (fixed arguments)
