"""The rules that every tenant model and every source file keeps, and the proof that breaking one is noticed."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.core.checks import Tags, run_checks
from django.db import models
from django.db.models import Q
from django.test.utils import isolate_apps

from accounts.checks import LAYERS, is_tenant, problems
from accounts.models import Brain
from accounts.tenant import TenantModel, tenant_link
from accounts.walls import TENANT_TABLES

ROOT = Path(__file__).resolve().parents[2]


def codes(*every: type[models.Model]) -> list[str]:
    """What the check says of these models, all of whose tables have walls."""
    walled = [model._meta.db_table for model in every if is_tenant(model)]
    return sorted(str(error.id) for error in problems(every, walled))


# -- models -----------------------------------------------------------------------------------------------------------


def test_all_models_keep_the_rules() -> None:
    tenants = [model._meta.db_table for model in apps.get_models() if is_tenant(model)]

    assert sorted(tenants) == sorted(table.name for table in TENANT_TABLES)
    assert run_checks(tags=[Tags.models, Tags.admin]) == []


@isolate_apps("graph")
def test_a_tenant_model_that_keeps_the_rules() -> None:
    class Parent(TenantModel):
        class Meta:
            app_label = "graph"

    class Child(TenantModel):
        parent = tenant_link(Parent)  # type: ignore[arg-type]

        class Meta:
            app_label = "graph"
            constraints = [models.CheckConstraint(condition=~Q(scope=""), name="graph_child_scope")]
            indexes = [models.Index(fields=["brain"], name="graph_child_brain")]

    assert codes(Parent, Child) == []


@isolate_apps("graph")
def test_a_field_brain_without_the_base_is_noticed() -> None:
    class Loose(models.Model):
        brain = models.ForeignKey(Brain, models.CASCADE, related_name="+")

        class Meta:
            app_label = "graph"

    assert codes(Loose) == ["brain.E301", "brain.E303"]


@isolate_apps("graph")
def test_another_manager_in_the_first_place_is_noticed() -> None:
    class Handy(models.Manager["Manned"]):
        pass

    class Manned(TenantModel):
        handy = Handy()

        class Meta:
            app_label = "graph"

    assert codes(Manned) == ["brain.E302"]


@isolate_apps("graph")
def test_objects_that_answer_without_an_actor_are_noticed() -> None:
    class Open(TenantModel):
        objects = models.Manager()  # type: ignore[assignment]

        class Meta:
            app_label = "graph"

    assert codes(Open) == ["brain.E303"]


@isolate_apps("graph")
def test_a_way_back_from_a_global_row_is_noticed() -> None:
    class Kept(TenantModel):
        class Meta:
            app_label = "graph"

    class Pointer(models.Model):
        kept = models.ForeignKey(Kept, models.CASCADE, db_constraint=False, db_index=False)

        class Meta:
            app_label = "graph"

    assert codes(Kept, Pointer) == ["brain.E304"]


@isolate_apps("graph")
def test_a_way_from_a_global_row_to_tenant_rows_is_noticed() -> None:
    class Shelf(models.Model):
        class Meta:
            app_label = "graph"

    class Kept(TenantModel):
        shelf = models.ForeignKey(Shelf, models.CASCADE, related_name="kept")

        class Meta:
            app_label = "graph"

    assert codes(Shelf, Kept) == ["brain.E304"]


@isolate_apps("graph")
def test_keys_that_do_not_start_with_the_brain_are_noticed() -> None:
    class Kept(TenantModel):
        class Meta:
            app_label = "graph"

    class Keyed(TenantModel):
        kept = models.ForeignKey(Kept, models.CASCADE, related_name="+")
        many = models.ManyToManyField(Kept, related_name="+")

        class Meta:
            app_label = "graph"

    assert codes(Kept, Keyed) == ["brain.E307", "brain.E308"]


@isolate_apps("graph")
def test_names_that_do_not_say_whose_they_are_are_noticed() -> None:
    class Named(TenantModel):
        class Meta:
            app_label = "graph"
            constraints = [models.CheckConstraint(condition=~Q(scope=""), name="named_scope")]
            indexes = [models.Index(fields=["brain"], name="named_brain")]

    assert codes(Named) == ["brain.E309", "brain.E309"]


@isolate_apps("graph")
def test_walls_and_models_that_differ_are_noticed() -> None:
    class Forgotten(TenantModel):
        class Meta:
            app_label = "graph"

    assert [error.id for error in problems([Forgotten], ["graph_gone"])] == ["brain.E305", "brain.E306"]


# -- source -----------------------------------------------------------------------------------------------------------

MANAGERS = {"unscoped", "_default_manager", "_base_manager"}
MAY_NAME_THEM = {"accounts/tenant.py"}
# Each builds its statements from constants of its own, uuids, and names from the catalogue.
MAY_BUILD_SQL = {"accounts/walls.py", "accounts/actor.py", "accounts/roles.py", "accounts/startup.py"}


def sources() -> list[Path]:
    found = [path for layer in LAYERS for path in (ROOT / layer).rglob("*.py") if "migrations" not in path.parts]
    return sorted(found)


def offences(source: str, path: str) -> list[str]:
    return sorted(f"{path}:{line} {what}" for line, what in _offences(ast.parse(source), path))


def _offences(tree: ast.Module, path: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)) if name in MANAGERS:
                yield from [(node.lineno, name)] * (path not in MAY_NAME_THEM)
            case ast.ImportFrom(names=names) if "RawSQL" in {alias.name for alias in names}:
                yield node.lineno, "RawSQL"
            case ast.Attribute(attr="RawSQL"):
                yield node.lineno, "RawSQL"
            case ast.Call(func=ast.Attribute(attr="raw" | "extra" as name)):
                yield node.lineno, f".{name}("
            case ast.Call(func=ast.Attribute(attr="execute" | "executemany"), args=[ast.Constant(), *_]):
                pass
            case ast.Call(func=ast.Attribute(attr="execute" | "executemany")) if path not in MAY_BUILD_SQL:
                yield node.lineno, "SQL that is no constant"
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _imports_upwards(node, LAYERS.index(path.split("/")[0]))


def _imports_upwards(function: ast.AST, layer: int) -> Iterator[tuple[int, str]]:
    above = set(LAYERS[layer + 1 :])
    for node in ast.walk(function):
        match node:
            case ast.ImportFrom(module=str(module)):
                yield from ((node.lineno, f"imports {top}") for top in {module.split(".")[0]} & above)
            case ast.Import(names=names):
                yield from ((node.lineno, f"imports {top}") for top in {a.name.split(".")[0] for a in names} & above)


def test_our_source_keeps_the_rules() -> None:
    files = sources()

    assert len(files) > 60
    assert [what for path in files for what in offences(path.read_text(), str(path.relative_to(ROOT)))] == []


@pytest.mark.parametrize(
    ("source", "path", "expected"),
    [
        ("Node.unscoped.all()", "memory/a.py", ["memory/a.py:1 unscoped"]),
        ("type(row)._base_manager", "graph/a.py", ["graph/a.py:1 _base_manager"]),
        ("getattr(Node, '_default_manager')", "brainsite/a.py", ["brainsite/a.py:1 _default_manager"]),
        ("Node._base_manager", "accounts/tenant.py", []),
        ("rows.raw('SELECT 1')", "memory/a.py", ["memory/a.py:1 .raw("]),
        ("rows.extra(where=['1=1'])", "memory/a.py", ["memory/a.py:1 .extra("]),
        ("from django.db.models.expressions import RawSQL", "memory/a.py", ["memory/a.py:1 RawSQL"]),
        ("cursor.execute(f'SELECT {x}')", "memory/a.py", ["memory/a.py:1 SQL that is no constant"]),
        ("cursor.execute('SELECT ' + x)", "memory/a.py", ["memory/a.py:1 SQL that is no constant"]),
        ("cursor.execute('SELECT %s', [x])", "memory/a.py", []),
        ("cursor.execute(f'SET ROLE {x}')", "accounts/actor.py", []),
        ("def f():\n    from memory.recall import recall", "graph/a.py", ["graph/a.py:2 imports memory"]),
        ("def f():\n    import brainsite.urls", "memory/a.py", ["memory/a.py:2 imports brainsite"]),
        ("def f():\n    from accounts.walls import apply_walls", "brainsite/a.py", []),
    ],
)
def test_breaking_a_rule_is_noticed(source: str, path: str, expected: list[str]) -> None:
    assert offences(source, path) == expected
