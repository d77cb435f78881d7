"""Organizations and the people in them, each with the brains that come with them; and the actors they become."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.text import slugify

from accounts.actor import Actor, BrainRef, Door, Scope
from accounts.errors import Forbidden, Invalid
from accounts.models import Agent, Brain, BrainKey, Membership, Organization, User

CURATORS = (Membership.Role.OWNER, Membership.Role.CURATOR)
WRITERS = (*CURATORS, Membership.Role.MEMBER)


def create_organization(name: str, *, slug: str | None = None) -> Organization:
    """An organization with its corporate and its agent brain. Raises Invalid when the slug is taken or empty."""
    slug = slug or slugify(name)
    if not slug:
        raise Invalid("The name needs at least one letter or digit.", field="name")
    with transaction.atomic():
        organization, created = Organization.objects.get_or_create(slug=slug, defaults={"name": name})
        if not created:
            raise Invalid(f"The organization {slug} exists.", field="slug")
        for scope in (Scope.CORPORATE, Scope.AGENT):
            Brain.objects.create(organization=organization, scope=scope)
    return organization


def ensure_person(
    organization: Organization, email: str, *, role: str = Membership.Role.MEMBER, password: str | None = None
) -> User:
    """The person with this e-mail address, a member with a personal brain; made where missing, else left as it is."""
    with transaction.atomic():
        user = User.objects.filter(email__iexact=email).first() or User.objects.create_user(email, password)
        Membership.objects.get_or_create(organization=organization, user=user, defaults={"role": role})
        Brain.objects.get_or_create(organization=organization, owner=user, scope=Scope.PERSONAL)
    return user


def person_actor(user: User, organization_id: UUID, *, source: str, key_id: UUID | None = None) -> Actor:
    """A person in one organization: the own personal brain, and the corporate one by role. Raises Forbidden."""
    role = (
        Membership.objects.filter(user=user, organization_id=organization_id, user__is_active=True)
        .values_list("role", flat=True)
        .first()
    )
    if role is None:
        raise Forbidden("Not a member of this organization.")
    refs = _brains(organization_id, owner_id=user.id)
    own = tuple(ref for ref in refs if ref.scope == Scope.PERSONAL)
    shared = tuple(ref for ref in refs if ref.scope == Scope.CORPORATE)
    return Actor(
        door=Door.PERSON,
        organization_id=organization_id,
        user_id=user.id,
        key_id=key_id,
        source=source,
        readable=own + shared,
        writable=own + (shared if role in WRITERS else ()),
        curates=role in CURATORS,
    )


def first_organization_of(user: User) -> UUID:
    """The organization a person acts in when none is named: the one joined first. Raises Forbidden."""
    found = Membership.objects.filter(user=user).order_by("created_at", "id").values_list("organization_id", flat=True)
    if (organization_id := found.first()) is None:
        raise Forbidden("Not a member of any organization.")
    return organization_id


def actor_for_key(key: BrainKey) -> Actor:
    """Whom a key lets in. Raises Forbidden when its holder is no longer active."""
    if key.kind == BrainKey.Kind.PERSON:
        assert key.user is not None  # kept by accounts_brainkey_principal
        return person_actor(key.user, key.organization_id, source=key.label, key_id=key.id)
    if key.agent is not None and not key.agent.is_active:
        raise Forbidden("This agent is switched off.")
    refs = _brains(key.organization_id)
    corporate = tuple(ref for ref in refs if ref.scope == Scope.CORPORATE)
    agents = tuple(ref for ref in refs if ref.scope == Scope.AGENT)
    readable, writable = {
        Door.AGENT: ((), corporate + agents),
        Door.CONTEXT: (corporate + agents, ()),
        Door.INTENT: (corporate + agents, agents),
    }[Door(key.kind)]
    return Actor(
        door=Door(key.kind),
        organization_id=key.organization_id,
        agent_id=key.agent_id,
        key_id=key.id,
        source=key.label,
        readable=readable,
        writable=writable,
    )


def curator_actor(user: User) -> Actor:
    """The admin's actor: shared brains of the organizations this person curates (all of them for a superuser)."""
    shared = Brain.objects.exclude(scope=Scope.PERSONAL)
    if not user.is_superuser:
        curated = Membership.objects.filter(user=user, role__in=CURATORS)
        shared = shared.filter(organization__in=curated.values("organization"))
    refs = tuple(BrainRef(brain.id, Scope(brain.scope)) for brain in shared.order_by("id"))
    return Actor(door=Door.ADMIN, user_id=user.id, source="admin", readable=refs, writable=refs)


def _brains(organization_id: UUID, *, owner_id: UUID | None = None) -> list[BrainRef]:
    """The shared brains of an organization, and the personal one of `owner_id`."""
    mine = ~Q(scope=Scope.PERSONAL) | Q(owner_id=owner_id) if owner_id else ~Q(scope=Scope.PERSONAL)
    rows = Brain.objects.filter(mine, organization_id=organization_id).order_by("id").values_list("id", "scope")
    return [BrainRef(brain_id, Scope(scope)) for brain_id, scope in rows]


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks, for show. `id`, `name` and `email` are the person's or the agent's; None for a key of neither."""

    kind: str
    id: UUID | None
    name: str
    email: str | None
    role: str | None
    organization_id: UUID
    organization_slug: str
    organization_name: str
    key_id: UUID | None
    key_label: str | None
    key_expires_at: datetime | None


def who_is(actor: Actor) -> Identity:
    """The names behind an actor that a key or a sign-in made. Raises Forbidden for any other."""
    if actor.organization_id is None:
        raise Forbidden("Nobody asks.")
    organization = Organization.objects.get(id=actor.organization_id)
    user = User.objects.filter(id=actor.user_id).first() if actor.user_id else None
    agent = Agent.objects.filter(id=actor.agent_id).first() if actor.agent_id else None
    key = BrainKey.objects.filter(id=actor.key_id).first() if actor.key_id else None
    membership = Membership.objects.filter(user=user, organization=organization).first() if user else None
    return Identity(
        kind="user" if user else "agent",
        id=actor.principal_id,
        name=user.name if user else agent.name if agent else "",
        email=user.email if user else None,
        role=membership.role if membership else None,
        organization_id=organization.id,
        organization_slug=organization.slug,
        organization_name=organization.name,
        key_id=key.id if key else None,
        key_label=key.label if key else None,
        key_expires_at=key.expires_at if key else None,
    )
