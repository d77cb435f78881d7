"""System checks of the doors: the administration's scope, and the secrets of a process that serves."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.contrib.admin.options import InlineModelAdmin
from django.contrib.admin.sites import AdminSite, all_sites
from django.core.checks import CheckMessage, Error, Tags, register

from accounts.checks import is_tenant
from brainsite.admin_site import BrainAdminSite, ScopedAdmin

PLACEHOLDER = "unset-"  # what settings.SECRET_KEY starts with before there is one


@register(Tags.admin)
def check_admin_is_scoped(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    return unscoped_admins(all_sites)


def unscoped_admins(sites: Iterable[AdminSite]) -> list[CheckMessage]:
    """Admin classes that would show tenant rows without asking whose they are."""
    found: list[CheckMessage] = []
    for site in sites:
        for model, model_admin in site._registry.items():
            if is_tenant(model) and not isinstance(site, BrainAdminSite):
                found.append(_error(model_admin, "E402", "Tenant models are registered with BrainAdminSite alone."))
            if is_tenant(model) and not isinstance(model_admin, ScopedAdmin):
                found.append(_error(model_admin, "E401", "The admin of a tenant model must be a ScopedAdmin."))
            found += [
                _error(inline, "E403", "Tenant rows are not edited inline: nothing scopes them there.")
                for inline in model_admin.inlines
                if issubclass(inline, InlineModelAdmin) and is_tenant(inline.model)
            ]
    return found


@register(Tags.security, deploy=True)
def check_secrets(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    found: list[CheckMessage] = []
    if settings.SECRET_KEY.startswith(PLACEHOLDER):
        found.append(Error("BRAIN_SECRET_KEY is not set: sessions could be forged.", id="brain.E404"))
    if not settings.KEY_PEPPER:
        found.append(Error("BRAIN_KEY_PEPPER is not set: stolen key hashes could be guessed.", id="brain.E405"))
    return found


def _error(subject: Any, code: str, message: str) -> Error:
    return Error(message, obj=subject, id=f"brain.{code}")
