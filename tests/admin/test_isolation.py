"""Personal brains are no part of the administration: not for curators, not for superusers, on no page of it."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse

from accounts.actor import Scope
from accounts.checks import is_tenant
from accounts.models import Brain, Operation
from accounts.tenant import TenantModel
from brainsite.admin_site import ScopedAdmin
from graph.models import Node
from memory.models import Job, RecallFile
from tests.admin.conftest import CANARY, SHARED, STRANGE, Rows
from tests.cast import Cast

TENANT_MODELS: list[type[TenantModel]] = [RecallFile, Node, Job, Operation]


def path(model: Any, page: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def ids_in(cast: Cast, model: type[TenantModel], who: str, scope: str) -> list[UUID]:
    """Ids of rows in one brain, as its owner reads them."""
    actor = getattr(cast, who).actor
    with actor.session():
        rows = model.objects.visible_to(actor).filter(scope=scope)
        return list(rows.order_by("id").values_list("id", flat=True))


def personal_ids(cast: Cast) -> list[tuple[type[TenantModel], UUID]]:
    return [(model, id) for model in TENANT_MODELS for id in ids_in(cast, model, "ann", "personal")]


def pages(cast: Cast) -> Iterator[str]:
    """Every page of the administration that an address leads to, for every row there is, whoever owns it."""
    yield from (reverse(f"admin:{name}") for name in ("index", "password_change", "jsi18n"))
    for model in site._registry:
        yield reverse("admin:app_list", args=[model._meta.app_label])
        listing = path(model, "changelist")
        yield listing
        yield f"{listing}?q={CANARY[:4]}"
        yield f"{listing}?_facets=True&scope__exact=personal"
        yield path(model, "add")
    yield f"{path(RecallFile, 'changelist')}?q={CANARY}"
    yield f"{path(RecallFile, 'changelist')}?recall_id__startswith={CANARY}"
    yield f"{path(RecallFile, 'changelist')}?node__name={CANARY}"
    rows = personal_ids(cast)
    assert {model for model, _ in rows} == set(TENANT_MODELS)
    for model, id in rows:
        yield from (path(model, page, id) for page in ("change", "history", "delete"))
        yield f"{path(model, 'change', id)}?_to_field=id&_popup=1"
        yield reverse("admin:view_on_site", args=[ContentType.objects.get_for_model(model).id, id])
    for model in apps.get_models():
        for field in [field for field in (*model._meta.fields, *model._meta.many_to_many) if field.is_relation]:
            query = f"app_label={model._meta.app_label}&model_name={model._meta.model_name}&field_name={field.name}"
            yield f"{reverse('admin:autocomplete')}?{query}&term={CANARY[:4]}"


def test_nobody_sees_a_personal_word_anywhere(cast: Cast, rows: Rows, staff: Client) -> None:
    """Nor the id of a personal row; and no page fails on the way."""
    ids = [str(id) for _, id in personal_ids(cast)]
    answers = {address: staff.get(address, follow=True) for address in pages(cast)}

    asked = {address: answer.content.decode() for address, answer in answers.items()}
    shown = {address: text for address, text in asked.items() if CANARY not in address}
    searched = {address: text.replace(f'value="{CANARY}"', "") for address, text in asked.items() if CANARY in address}
    assert len(shown) > 100
    assert [address for address, text in shown.items() if CANARY in text] == []
    assert [address for address, text in searched.items() if f"{CANARY}-" in text or f"{CANARY}</" in text] == []
    unasked = {address: text for address, text in asked.items() if not any(id in address for id in ids)}
    assert [address for address, text in unasked.items() if any(id in text for id in ids)] == []
    assert {answer.status_code for answer in answers.values()} <= {200, 400, 403, 404}


@pytest.mark.parametrize("who", ["root", "curator"])
def test_shared_rows_are_listed_searched_and_opened(
    cast: Cast, rows: Rows, who: str, request: pytest.FixtureRequest
) -> None:
    client: Client = request.getfixturevalue(who)

    for model in TENANT_MODELS:
        ids = ids_in(cast, model, "ann", "corporate")
        listed = client.get(path(model, "changelist")).context["cl"].result_list
        assert {row.id for row in listed} >= set(ids)
        assert client.get(path(model, "change", ids[0])).context["original"].id == ids[0]
        assert client.get(path(model, "history", ids[0])).status_code == 200
    found = client.get(f"{path(RecallFile, 'changelist')}?q={SHARED}").context["cl"].result_list
    assert {row.id for row in found} == set(ids_in(cast, RecallFile, "ann", "corporate"))
    query = "app_label=memory&model_name=recallfile&field_name=node&term=kili"
    offered = client.get(f"{reverse('admin:autocomplete')}?{query}").json()["results"]
    assert {row["id"] for row in offered} == {str(id) for id in ids_in(cast, Node, "ann", "corporate")}


def test_curators_see_the_organizations_they_curate(
    cast: Cast, rows: Rows, root: Client, curator: Client, member: Client
) -> None:
    def words(client: Client) -> list[str]:
        text = client.get(path(RecallFile, "changelist")).content.decode()
        return [word for word in (CANARY, SHARED, STRANGE) if word in text]

    assert {name: words(client) for name, client in [("root", root), ("curator", curator), ("member", member)]} == {
        "root": [SHARED, STRANGE],
        "curator": [SHARED],
        "member": [],
    }


def test_a_personal_row_and_none_look_the_same(cast: Cast, rows: Rows, root: Client) -> None:
    nothing = UUID("0198a0f0-0000-7000-8000-000000000000")

    for model in TENANT_MODELS:
        (personal, *_) = ids_in(cast, model, "ann", "personal")
        for page in ("change", "history", "delete"):
            answers = [root.get(path(model, page, id)) for id in (personal, nothing)]
            assert answers[0].status_code == answers[1].status_code
            assert answers[0].get("Location") == answers[1].get("Location")


def test_tenant_rows_are_read_only(cast: Cast, rows: Rows, root: Client) -> None:
    for model in TENANT_MODELS:
        before = ids_in(cast, model, "ann", "corporate")
        shared = before[0]

        answers = [
            root.post(path(model, "add"), {"name": "x"}),
            root.post(path(model, "change", shared), {"name": "x"}),
            root.post(path(model, "delete", shared), {"post": "yes"}),
            root.post(path(model, "changelist"), {"action": "delete_selected", "_selected_action": str(shared)}),
        ]

        assert [answer.status_code for answer in answers[:3]] == [403, 403, 403]
        assert ids_in(cast, model, "ann", "corporate") == before
        assert root.get(path(model, "change", shared)).status_code == 200


def test_brains_are_told_without_what_is_in_them(cast: Cast, rows: Rows, root: Client) -> None:
    listed = root.get(path(Brain, "changelist")).context["cl"].queryset

    assert {brain.id for brain in listed} == set(Brain.objects.values_list("id", flat=True))
    assert Brain.objects.filter(scope=Scope.PERSONAL).count() == 3


def test_every_tenant_model_has_a_scoped_admin_or_none() -> None:
    registered = {model: model_admin for model, model_admin in site._registry.items() if is_tenant(model)}

    assert set(registered) == set(TENANT_MODELS)
    assert all(isinstance(model_admin, ScopedAdmin) for model_admin in registered.values())
