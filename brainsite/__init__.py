"""Doors: settings, urls, web, REST, admin, commands and tasks."""

import os

# a search is one thread's work; the threads that numpy would bring along only spin beside it
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from brainsite.celery import app as celery_app

__all__ = ["celery_app"]
