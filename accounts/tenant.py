"""The base of every tenant row: who may see it is decided by its brain, in the query and in the database.

`brain` and `scope` never change (no role holds UPDATE on them). The database's primary key is (brain_id, id) and every
foreign key between tenant rows starts with brain_id; `tenant_keys` makes both in a migration. Django sees `id` alone.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Never, Self, TypeVar
from uuid import UUID

from django.db import models
from django.db.migrations import RunSQL

from accounts.actor import Actor, Scope
from accounts.ids import uuid7

M = TypeVar("M", bound="TenantModel", covariant=True)


class ScopedManager(models.Manager[M]):
    """Refuses everything but `.visible_to(actor)` and `.writable_by(actor)`."""

    def get_queryset(self) -> Never:
        raise RuntimeError(f"{self.model.__name__}.objects needs .visible_to(actor) or .writable_by(actor)")

    def visible_to(self, actor: Actor) -> models.QuerySet[M]:
        return self._of([brain.id for brain in actor.readable], actor.alias)

    def writable_by(self, actor: Actor) -> models.QuerySet[M]:
        return self._of([brain.id for brain in actor.writable], actor.alias)

    def _of(self, brain_ids: list[UUID], alias: str) -> models.QuerySet[M]:
        queryset: models.QuerySet[M] = models.QuerySet(self.model, using=alias)
        # `=` and not IN for the usual single brain: the planner then walks (brain_id, created_at) in order
        return (
            queryset.filter(brain_id=brain_ids[0]) if len(brain_ids) == 1 else queryset.filter(brain_id__in=brain_ids)
        )


class TenantModel(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    brain = models.ForeignKey(
        "accounts.Brain", on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    scope = models.CharField(max_length=16, choices=Scope.choices, editable=False)

    unscoped: ClassVar[models.Manager[Any]] = models.Manager()  # Django's own needs come first; our code never names it
    objects: ClassVar[ScopedManager[Self]] = ScopedManager()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return str(self.pk)  # an id only: lists, logs and admin history must not quote a memory

    def _do_update(  # type: ignore[override]
        self, base_qs: models.QuerySet[Any], using: str | None, pk_val: Any, values: Iterable[Any], *rest: Any
    ) -> bool:
        changing = [value for value in values if value[0].name not in ("brain", "scope")]
        narrowed = base_qs.filter(brain_id=self.brain_id)
        return bool(super()._do_update(narrowed, using, pk_val, changing, *rest))

    def delete(self, using: str | None = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        rows = type(self)._base_manager.using(using or self._state.db)
        return rows.filter(brain_id=self.brain_id, pk=self.pk).delete()

    def refresh_from_db(
        self, using: str | None = None, fields: Any = None, from_queryset: models.QuerySet[Any] | None = None
    ) -> None:
        rows = from_queryset if from_queryset is not None else type(self)._base_manager.using(using or self._state.db)
        super().refresh_from_db(using=using, fields=fields, from_queryset=rows.filter(brain_id=self.brain_id))


def tenant_link(to: str, *, null: bool = False, on_delete: Any = models.CASCADE) -> Any:
    """A foreign key between tenant rows. Its constraint and index, led by brain_id, come from the migration."""
    return models.ForeignKey(
        to,
        on_delete=on_delete,
        related_name="+",
        db_constraint=False,
        db_index=False,
        null=null,
        blank=null,
    )


def tenant_keys(table: str, references: Mapping[str, str]) -> RunSQL:
    """Swap the primary key of a new tenant table to (brain_id, id); tie it to its brain and to its references.

    references: column -> table it points to, both within one brain.
    """
    forward = [
        f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey, ADD CONSTRAINT {table}_pkey PRIMARY KEY (brain_id, id)",
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_brain_scope FOREIGN KEY (brain_id, scope) "
        "REFERENCES accounts_brain (id, scope) DEFERRABLE INITIALLY DEFERRED",
    ]
    backward = [f"ALTER TABLE {table} DROP CONSTRAINT {table}_brain_scope"]
    for column, target in references.items():
        forward.append(
            f"ALTER TABLE {table} ADD CONSTRAINT {table}_{column} FOREIGN KEY (brain_id, {column}) "
            f"REFERENCES {target} (brain_id, id) DEFERRABLE INITIALLY DEFERRED"
        )
        backward.append(f"ALTER TABLE {table} DROP CONSTRAINT {table}_{column}")
    backward.append(f"ALTER TABLE {table} DROP CONSTRAINT {table}_pkey, ADD CONSTRAINT {table}_pkey PRIMARY KEY (id)")
    return RunSQL(sql=";\n".join(forward), reverse_sql=";\n".join(backward))
