"""Who is in the demo, and putting their memories where they belong. Again as often as you like."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import UUID

from accounts.actor import Actor
from accounts.errors import BrainError, Conflict
from accounts.models import Membership, Organization, User
from accounts.people import create_organization, ensure_person, person_actor
from brainsite.demo.read import read_memories
from memory.capture import capture_bulk

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Person:
    """`shared` are the files that this person brought into the corporate brain; `private` is the own brain's."""

    email: str
    name: str
    role: str
    private: str
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Company:
    slug: str
    name: str
    people: tuple[Person, ...]


MARA = Person(
    email="mara@demo-widgets.example",
    name="Mara Thistlewick",
    role=Membership.Role.OWNER,
    private="widgets/mara.md",
    shared=("widgets/product_knowledge.md", "widgets/selling.md", "widgets/marketing_and_operations.md"),
)
TOBIN = Person(
    email="tobin@demo-widgets.example",
    name="Tobin Fennimar",
    role=Membership.Role.MEMBER,
    private="widgets/tobin.md",
    shared=("widgets/product_development.md",),
)
VERA = Person(
    email="vera@demo-clinic.example",
    name="Vera Nettlebrook",
    role=Membership.Role.OWNER,
    private="clinic/vera.md",
    shared=("clinic/clinic.md",),
)
COMPANIES = (
    Company("demo-widgets", "Pellwick Widgets", (MARA, TOBIN)),
    Company("demo-clinic", "Lindenhollow Clinic", (VERA,)),
)


@dataclass(slots=True)
class Report:
    """`changed`: memories that somebody has edited since; they stay as they are. `actors` by e-mail address.

    `readers`: for each brain an actor who reads that one alone.
    """

    created: int = 0
    unchanged: int = 0
    changed: int = 0
    messages_created: int = 0
    actors: dict[str, Actor] = field(default_factory=dict)
    readers: dict[UUID, Actor] = field(default_factory=dict)

    @property
    def memories(self) -> int:
        return self.created + self.unchanged + self.changed


def load_demo() -> Report:
    """Make what is missing of the companies, their people (who cannot sign in) and their memories."""
    report = Report()
    for company in COMPANIES:
        found = Organization.objects.filter(slug=company.slug).first()
        organization = found or create_organization(company.name, slug=company.slug)
        for person in company.people:
            user = ensure_person(organization, person.email, role=person.role)
            User.objects.filter(id=user.id, name="").update(name=person.name)
            actor = person_actor(user, organization.id, source="demo")
            report.actors[person.email] = actor
            for name in person.shared:
                _keep(actor, "corporate", name, report)
            _keep(actor, "personal", person.private, report)
    return report


def _keep(actor: Actor, scope: str, name: str, report: Report) -> None:
    files = read_memories(FOLDER / name)
    for new, result in zip(files, capture_bulk(actor, scope=scope, files=files), strict=True):
        if isinstance(result, Conflict):
            report.changed += 1
        elif isinstance(result, BrainError):
            raise result
        else:
            report.created += result.created
            report.unchanged += not result.created
            report.messages_created += len(new.messages) if result.created else 0
    (brain,) = actor.brains_to_read(scope)
    report.readers[brain.id] = replace(actor, readable=(brain,), writable=())
