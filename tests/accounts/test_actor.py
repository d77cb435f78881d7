from dataclasses import replace
from uuid import UUID

import pytest
from django.db import connections, transaction

from accounts.actor import CLAIMER, Actor, BrainRef, Door, Scope, literal_ids
from accounts.errors import Forbidden
from accounts.ids import uuid7
from accounts.keys import find_key
from accounts.models import Membership
from accounts.people import actor_for_key, create_organization, curator_actor, ensure_person, person_actor
from graph.models import Node
from tests.cast import Cast


def test_a_session_of_the_same_actor_is_joined(cast: Cast) -> None:
    actor = cast.ann.actor
    with actor.session(), replace(actor).session():
        assert list(Node.objects.visible_to(actor)) == []


def test_a_session_of_another_actor_raises(cast: Cast) -> None:
    with cast.ann.actor.session(), pytest.raises(RuntimeError, match="another actor"), cast.bob.actor.session():
        pass


def test_a_session_inside_a_transaction_raises(cast: Cast) -> None:
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"), cast.ann.actor.session():
        pass


def test_a_failed_session_leaves_nothing_behind(cast: Cast) -> None:
    with pytest.raises(ZeroDivisionError), cast.ann.actor.session():
        raise ZeroDivisionError
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT current_user, current_setting('brain.readable', true)")
        assert cursor.fetchone() in [("brain_app", None), ("brain_app", "")]
    with cast.bob.actor.session():
        assert list(Node.objects.visible_to(cast.bob.actor)) == []


def test_objects_refuse_everything_but_an_actor() -> None:
    for call in (Node.objects.all, Node.objects.count, Node.objects.first, lambda: Node.objects.filter(name="x")):
        with pytest.raises(RuntimeError, match="visible_to"):
            call()


def test_only_uuids_reach_the_settings() -> None:
    one = UUID("01890000-0000-7000-8000-000000000001")
    assert literal_ids([BrainRef(one, Scope.PERSONAL)]) == "'{01890000-0000-7000-8000-000000000001}'"
    assert literal_ids([]) == "'{}'"
    with pytest.raises(AttributeError):
        literal_ids([BrainRef("'; DROP TABLE x; --", Scope.PERSONAL)])  # type: ignore[arg-type]


def test_ids_are_version_7_and_ordered_by_time() -> None:
    made = [uuid7() for _ in range(1_000)]
    assert {(each.version, each.variant) for each in made} == {(7, "specified in RFC 4122")}
    assert len(set(made)) == 1_000
    assert [each.int >> 64 for each in made] == sorted(each.int >> 64 for each in made)


def scopes(actor: Actor) -> tuple[list[str], list[str]]:
    return sorted(b.scope for b in actor.readable), sorted(b.scope for b in actor.writable)


def test_what_each_kind_of_key_opens(cast: Cast) -> None:
    opened = {}
    for kind in ("agent", "context", "intent"):
        key = find_key(cast.key_of(kind))
        assert key is not None
        actor = actor_for_key(key)
        opened[kind] = (actor.door, actor.role, actor.alias, *scopes(actor))
    person = find_key(cast.ann.key)
    assert person is not None
    actor = actor_for_key(person)
    opened["person"] = (actor.door, actor.role, actor.alias, *scopes(actor))
    shared = ["agent", "corporate"]
    assert opened == {
        "agent": (Door.AGENT, "brain_agent", "agent", [], shared),
        "context": (Door.CONTEXT, "brain_agent", "agent", shared, []),
        "intent": (Door.INTENT, "brain_agent", "agent", shared, ["agent"]),
        "person": (Door.PERSON, "brain_person", "default", ["corporate", "personal"], ["corporate", "personal"]),
    }


def test_a_viewer_reads_the_corporate_brain_and_writes_only_the_own(cast: Cast) -> None:
    viewer = ensure_person(cast.acme, "vic@acme.test", role=Membership.Role.VIEWER)
    actor = person_actor(viewer, cast.acme.id, source="test")
    assert scopes(actor) == (["corporate", "personal"], ["personal"])
    assert not actor.curates


def test_two_organizations_of_one_person_never_mix(cast: Cast) -> None:
    ensure_person(cast.globex, cast.ann.user.email)
    at_acme = person_actor(cast.ann.user, cast.acme.id, source="test")
    at_globex = person_actor(cast.ann.user, cast.globex.id, source="test")
    assert {b.id for b in at_acme.readable} & {b.id for b in at_globex.readable} == set()
    assert scopes(at_globex) == (["corporate", "personal"], ["corporate", "personal"])


def test_a_stranger_gets_no_actor(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        person_actor(cast.eve.user, cast.acme.id, source="test")


def test_a_curator_sees_shared_brains_of_own_organizations_only(cast: Cast) -> None:
    other = create_organization("Initech")
    actor = curator_actor(cast.ann.user)
    assert scopes(actor) == (["agent", "corporate"], ["agent", "corporate"])
    assert not {b.id for b in actor.readable} & set(other.brains.values_list("id", flat=True))


def test_the_claimer_sees_no_memory(cast: Cast) -> None:
    with CLAIMER.session():
        assert list(Node.objects.visible_to(CLAIMER)) == []
