"""Doors: settings, urls, web, REST, admin, commands and tasks."""

from brainsite.celery import app as celery_app

__all__ = ["celery_app"]
