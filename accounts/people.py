"""Organizations and the people in them, each with the brains that come with them; and the actors they become."""

from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.text import slugify

from accounts.actor import Actor, BrainRef, Door, Scope
from accounts.errors import Forbidden, Invalid
from accounts.models import Brain, BrainKey, Membership, Organization, User

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
