"""People, keys and organizations in the administration; who gets in; and what the database refuses."""

from typing import Any

import pytest
from django.contrib.admin import site
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.db import ProgrammingError, connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.urls import reverse

from accounts.actor import BrainRef, Scope
from accounts.keys import find_key
from accounts.models import Agent, Brain, BrainKey, Membership, Organization, User
from accounts.people import first_organization_of, person_actor
from brainsite.admin_site import actor_of, denied_is_403, in_curators_session
from graph.models import Node
from memory.capture import capture
from memory.memories import list_memories
from memory.models import RecallFile
from tests.admin.conftest import Rows, make_staff, signed_in
from tests.cast import PASSWORD, Cast
from tests.web.pages import Page, page

LONG = "a long new password"


def path(model: Any, name: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=args)


# -- who gets in ------------------------------------------------------------------------------------------------------


def test_people_sign_in_at_one_place(cast: Cast) -> None:
    answer = Client().get("/admin/accounts/user/", follow=True)

    assert answer.redirect_chain[-1][0] == "/login/?next=/admin/accounts/user/"
    assert (
        Client()
        .post("/admin/login/", {"username": "ann@acme.test", "password": PASSWORD})["Location"]
        .startswith("/login/")
    )
    assert signed_in(make_staff(cast.bob.user)).get("/admin/login/")["Location"] == "/admin/"


def test_who_is_no_staff_is_told_so(cast: Cast) -> None:
    answer = signed_in(cast.bob.user).get("/admin/", follow=True)

    assert "The administration is for staff." in page(answer, status=403).text


def test_staff_without_permissions_see_no_rows(cast: Cast, rows: Rows) -> None:
    User.objects.filter(id=cast.ann.user.id).update(is_staff=True)  # an owner, so a curator
    client = signed_in(User.objects.get(id=cast.ann.user.id))

    assert client.get("/admin/").status_code == 200
    assert [client.get(path(model, "changelist")).status_code for model in (RecallFile, Node, User, BrainKey)] == [
        403
    ] * 4


# -- people -----------------------------------------------------------------------------------------------------------


def test_a_person_is_added_and_signs_in(cast: Cast, root: Client) -> None:
    sent = {"email": "New@Acme.test", "usable_password": "true", "password1": LONG, "password2": LONG}

    answer = root.post(path(User, "add"), sent)

    new = User.objects.get(email="new@acme.test")
    assert answer["Location"] == path(User, "change", new.id)
    assert (new.check_password(LONG), new.is_staff) == (True, False)
    assert Client().login(username="NEW@acme.test", password=LONG)
    again = root.post(path(User, "add"), sent | {"email": "NEW@acme.test"})
    assert again.context["adminform"].form.errors["email"] == ["User with this Email already exists."]


def test_a_membership_comes_with_a_personal_brain(cast: Cast, root: Client) -> None:
    new = User.objects.create_user("new@acme.test", LONG)

    root.post(path(Membership, "add"), {"organization": cast.acme.id, "user": new.id, "role": "member"})

    actor = person_actor(new, first_organization_of(new), source="test")
    assert [brain.scope for brain in actor.writable] == ["personal", "corporate"]
    assert capture(actor, content="mine").memory.scope == "personal"


def test_a_password_is_set_and_its_hash_not_shown(cast: Cast, root: Client) -> None:
    shown = root.get(path(User, "change", cast.bob.user.id))
    assert cast.bob.user.password.rsplit("$", 1)[-1] not in shown.content.decode()
    sent = {"usable_password": "true", "password1": LONG, "password2": LONG}

    answer = root.post(reverse("admin:auth_user_password_change", args=[cast.bob.user.id]), sent)

    assert answer.status_code == 302
    assert User.objects.get(id=cast.bob.user.id).check_password(LONG)


def test_only_a_superuser_hands_out_rights(cast: Cast, root: Client) -> None:
    staff = signed_in(make_staff(cast.bob.user))
    eve, ann = cast.eve.user.id, cast.ann.user.id
    sent = {"email": "eve@globex.test", "name": "Eve", "is_active": "on", "is_staff": "on", "is_superuser": "on"}

    refused = [
        staff.post(path(User, "change", ann), sent | {"email": "ann@acme.test"}),
        staff.post(reverse("admin:auth_user_password_change", args=[ann]), {"password1": LONG, "password2": LONG}),
    ]
    staff.post(path(User, "change", eve), sent)

    assert [answer.status_code for answer in refused] == [403, 403]
    assert User.objects.get(id=ann).check_password(PASSWORD)
    assert User.objects.values_list("name", "is_staff", "is_superuser").get(id=eve) == ("Eve", False, False)
    root.post(path(User, "change", eve), sent)
    assert User.objects.values_list("name", "is_staff", "is_superuser").get(id=eve) == ("Eve", True, True)


def test_nothing_is_deleted_for_good(cast: Cast, root: Client) -> None:
    models: list[Any] = [User, Organization, Agent, Brain, BrainKey]

    for model in models:
        before = set(model.objects.values_list("id", flat=True))
        (one, *_) = before

        answers = [root.post(path(model, "delete", one), {"post": "yes"}), root.get(path(model, "delete", one))]
        root.post(path(model, "changelist"), {"action": "delete_selected", "_selected_action": str(one), "post": "yes"})

        assert [answer.status_code for answer in answers] == [403, 403]
        assert set(model.objects.values_list("id", flat=True)) == before


# -- organizations, agents, keys --------------------------------------------------------------------------------------


def test_an_organization_comes_with_its_brains(cast: Cast, root: Client) -> None:
    answer = root.post(path(Organization, "add"), {"name": "Initech", "slug": "initech"})

    made = Organization.objects.get(slug="initech")
    assert answer["Location"] == path(Organization, "changelist")
    assert sorted(made.brains.values_list("scope", flat=True)) == ["agent", "corporate"]
    assert LogEntry.objects.get().object_id == str(made.id)
    taken = root.post(path(Organization, "add"), {"name": "Acme", "slug": "acme"})
    assert list(taken.context["adminform"].form.errors) == ["slug"]


def test_an_agent_is_added_and_switched_off(cast: Cast, root: Client) -> None:
    root.post(path(Agent, "add"), {"organization": cast.acme.id, "name": "scout", "is_active": "on"})
    scout = Agent.objects.get(name="scout")

    root.post(path(Agent, "change", scout.id), {"name": "scout"})

    assert Agent.objects.values_list("organization_id", "is_active").get(name="scout") == (cast.acme.id, False)


def test_keys_are_seen_without_their_hash_and_revoked(cast: Cast, root: Client) -> None:
    key = find_key(cast.bob.key)
    assert key is not None
    shown = [root.get(path(BrainKey, "changelist")), root.get(path(BrainKey, "change", key.id))]
    assert [key.public_id in answer.content.decode() for answer in shown] == [True, True]
    secret, hashed = cast.bob.key.rsplit("_", 1)[1], bytes(key.secret_hash)
    for text in (secret, hashed.hex(), str(hashed)):
        assert [text in answer.content.decode() for answer in shown] == [False, False]
    assert [root.get(path(BrainKey, "add")).status_code, root.post(path(BrainKey, "change", key.id)).status_code] == [
        403
    ] * 2

    root.post(path(BrainKey, "changelist"), {"action": "revoke", "_selected_action": [str(key.id)]})

    assert (find_key(cast.bob.key), find_key(cast.ann.key) is None) == (None, False)
    assert LogEntry.objects.values_list("object_id", "change_message").get() == (str(key.id), "Revoked.")


def test_revoking_wants_the_permission(cast: Cast) -> None:
    bob = make_staff(cast.bob.user)
    bob.user_permissions.set(bob.user_permissions.exclude(codename="change_brainkey"))
    client = signed_in(bob)
    key = BrainKey.objects.get(user=cast.eve.user)

    client.post(path(BrainKey, "changelist"), {"action": "revoke", "_selected_action": [str(key.id)]})

    assert client.get(path(BrainKey, "change", key.id)).status_code == 200
    assert find_key(cast.eve.key) is not None


# -- what the database refuses ----------------------------------------------------------------------------------------


def test_tenant_rows_are_closed_outside_of_a_session(cast: Cast, rows: Rows, root: Client) -> None:
    """Django's own page that looks a row up by its type: as the web's login, which has no right on the table."""
    kind = ContentType.objects.get_for_model(RecallFile).id

    answer = root.get(reverse("admin:view_on_site", args=[kind, rows.shared.id]))

    shown = page(answer, status=403)
    assert "The database does not let you do this." in shown.text
    assert answer["X-Request-ID"] in shown.text


def test_a_write_that_the_database_denies_is_a_403(cast: Cast, rows: Rows) -> None:
    def rename(request: HttpRequest) -> HttpResponse:
        Node.objects.writable_by(actor_of(request)).update(name="renamed")
        return HttpResponse()

    request = RequestFactory().get("/admin/")
    request.user = cast.ann.user

    with pytest.raises(PermissionDenied, match="The database does not let you do this"):
        denied_is_403(in_curators_session(rename))(request)

    assert {memory.node.path for memory in list_memories(cast.ann.actor)} == {
        "zanzibar/zanzibar",
        "kilimanjaro/kilimanjaro",
    }


def test_another_error_of_the_database_is_not_a_403(cast: Cast) -> None:
    def wrong(request: HttpRequest) -> HttpResponse:
        with connection.cursor() as cursor:
            cursor.execute("SELECT no_such_column FROM accounts_user")
        return HttpResponse()

    with pytest.raises(ProgrammingError, match="no_such_column"):
        denied_is_403(wrong)(RequestFactory().get("/admin/"))


def test_a_session_never_names_a_personal_brain(cast: Cast) -> None:
    seen: list[tuple[BrainRef, ...]] = []

    def look(request: HttpRequest) -> HttpResponse:
        seen.append(actor_of(request).readable + actor_of(request).writable)
        return HttpResponse()

    request = RequestFactory().get("/admin/")
    request.user = User.objects.create_superuser("root@acme.test", PASSWORD)
    in_curators_session(look)(request)

    assert {brain.scope for brain in seen[0]} == {Scope.CORPORATE, Scope.AGENT}
    assert {brain.id for brain in seen[0]} == set(Brain.objects.exclude(scope="personal").values_list("id", flat=True))


@pytest.mark.parametrize("count", [1, 3])
def test_a_list_costs_the_same_whatever_is_on_it(
    cast: Cast, root: Client, count: int, django_assert_num_queries: Any
) -> None:
    for i in range(count):
        capture(cast.ann.actor, content=f"thought {i}", scope="corporate")

    # session, user; brains; begin, count, list, commit
    with django_assert_num_queries(7):
        root.get(path(RecallFile, "changelist"))


# -- what cannot run --------------------------------------------------------------------------------------------------


def test_the_admin_needs_nothing_that_the_policy_forbids(cast: Cast, rows: Rows, root: Client) -> None:
    """Scripts and styles come from files of ours; data for scripts is no script."""
    addresses = ["/admin/", "/admin/password_change/"]
    addresses += [path(model, "changelist") for model in site._registry]
    addresses += [path(model, "add") for model in (User, Organization, Membership, Agent)]
    addresses += [path(User, "change", cast.bob.user.id), path(RecallFile, "change", rows.shared.id)]
    addresses += [reverse("admin:auth_user_password_change", args=[cast.bob.user.id])]

    for address in addresses:
        answer = root.get(address)
        shown = Page(answer.content.decode())
        assert answer.status_code == 200
        assert [
            e
            for e in shown.all("script")
            if "src" not in e.attributes and e.attributes.get("type") != "application/json"
        ] == []
        assert [e for e in shown.elements if e.tag == "style" or "style" in e.attributes] == [], address
        assert [e for e in shown.elements for name in e.attributes if name.startswith("on")] == [], address
        sources = [e.attributes.get(name, "/") for e in shown.elements for name in ("src", "href")]
        assert [source for source in sources if source.startswith(("http", "//", "javascript:", "data:"))] == []
