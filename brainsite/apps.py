from typing import Any

from django.apps import AppConfig, apps
from django.contrib.admin.apps import AdminConfig
from django.db.models.signals import post_migrate


def _apply_walls(*, using: str, **signal: Any) -> None:
    from accounts.walls import apply_walls

    if "plan" in signal:  # `flush` sends this signal too, but takes no wall down
        apply_walls(using)


class BrainsiteConfig(AppConfig):
    name = "brainsite"

    def ready(self) -> None:
        from brainsite import checks  # noqa: F401  (registers the system checks)

        # once per migrate, when all tables are there; the signal skips apps that have no models, such as this one
        post_migrate.connect(_apply_walls, sender=apps.get_app_config("memory"))


class BrainAdminConfig(AdminConfig):
    default_site = "brainsite.admin_site.BrainAdminSite"
