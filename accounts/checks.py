"""System checks: every tenant model keeps the rules that the walls rely on. `manage.py check` runs them."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.apps import apps
from django.apps.config import AppConfig
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import models

from accounts.tenant import ScopedManager, TenantModel
from accounts.walls import TENANT_TABLES

LAYERS = ("accounts", "graph", "memory", "brainsite")
Model = type[models.Model]


@register(Tags.models)
def check_tenant_models(app_configs: Sequence[AppConfig] | None, **options: Any) -> list[CheckMessage]:
    return problems(apps.get_models(include_auto_created=True), [table.name for table in TENANT_TABLES])


def problems(every: Iterable[Model], walled: Iterable[str]) -> list[CheckMessage]:
    """What is wrong with these models, which are all there are. `walled`: the tables that the walls name."""
    every, walled = list(every), set(walled)
    tenants = [model for model in every if is_tenant(model)]
    found: list[CheckMessage] = []
    for model in tenants:
        found += _base(model)
        found += _managers(model)
        if model._meta.db_table not in walled:
            found.append(_error(model, "E305", f"{model._meta.db_table} is not named in accounts.walls.TENANT_TABLES."))
    for name in sorted(walled - {model._meta.db_table for model in tenants}):
        found.append(Error(f"accounts.walls.TENANT_TABLES names {name}, which no tenant model has.", id="brain.E306"))
    for model in every:
        found += _links(model)
        if model._meta.app_label in LAYERS:
            found += _names(model)
    return found


def is_tenant(model: Any) -> bool:
    """Whether its rows belong to a brain, by its base or by a field."""
    return isinstance(model, type) and (
        issubclass(model, TenantModel) or any(field.name == "brain" for field in _fields(model))
    )


def _fields(model: Any) -> list[Any]:
    return [*model._meta.local_fields, *model._meta.local_many_to_many]


def _base(model: Model) -> list[CheckMessage]:
    if issubclass(model, TenantModel):
        return []
    return [_error(model, "E301", "It has a field `brain`, so it must be a TenantModel.")]


def _managers(model: Model) -> list[CheckMessage]:
    """Django's own forms and checks take the first manager, which must be plain; ours must refuse."""
    found: list[CheckMessage] = []
    first = model._meta.managers[0] if model._meta.managers else None
    if type(first) is not models.Manager:
        found.append(_error(model, "E302", "Its first manager must be the plain one of TenantModel."))
    manager = getattr(model, "objects", None)
    try:
        refuses = isinstance(manager, ScopedManager) and manager.all() is None
    except RuntimeError:
        refuses = True
    if not refuses:
        found.append(_error(model, "E303", "`objects` must be a ScopedManager, which refuses .all()."))
    return found


def _links(model: Model) -> list[CheckMessage]:
    """No way to tenant rows but through a manager that asks for the actor; and keys that start with the brain."""
    found: list[CheckMessage] = []
    for field in _fields(model):
        remote = field.remote_field
        if remote is None:
            continue
        to_tenant = is_tenant(remote.model)
        if not to_tenant and not is_tenant(model):
            continue
        if not remote.hidden:
            found.append(_error(field, "E304", 'A link from or to a tenant model needs related_name="+".'))
        if to_tenant and field.many_to_many:
            found.append(_error(field, "E308", "Tenant models are linked by a tenant model of their own."))
        elif to_tenant and (getattr(field, "db_constraint", True) or field.db_index):
            found.append(
                _error(field, "E307", "Use tenant_link: its key and index, led by brain_id, come from the migration.")
            )
    return found


def _names(model: Model) -> list[CheckMessage]:
    prefix = f"{model._meta.app_label}_{model._meta.model_name}_"
    named = [*model._meta.constraints, *model._meta.indexes]
    return [
        _error(model, "E309", f"The name {rule.name} must start with {prefix}.")
        for rule in named
        if not rule.name.startswith(prefix)
    ]


def _error(subject: Any, code: str, message: str) -> Error:
    return Error(message, obj=subject, id=f"brain.{code}")
