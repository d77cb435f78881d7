"""The doorbell: Celery wakes the worker, the job table says what there is to do."""

import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_init, worker_process_init, worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainsite.settings")
app = Celery("brain")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["brainsite"])


def _ready(**_: Any) -> None:
    if path := os.environ.get("BRAIN_READY_FILE"):
        Path(path).touch(mode=0o600)


worker_ready.connect(_ready, weak=False)
beat_init.connect(_ready, weak=False)


@worker_init.connect(weak=False)
def _check_login(**_: Any) -> None:
    from brainsite.startup import refuse_if_unsafe

    refuse_if_unsafe()


@worker_process_init.connect(weak=False)
def _own_connections(**_: Any) -> None:
    """A forked child shares no socket with its parent."""
    from django.db import connections

    connections.close_all()
