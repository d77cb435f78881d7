"""A small fixed cast in two organizations. Ann and Bob work at Acme (Ann owns it), Eve at Globex."""

from dataclasses import dataclass

from accounts.actor import Actor
from accounts.keys import issue_key
from accounts.models import Agent, Membership, Organization, User
from accounts.people import create_organization, ensure_person, person_actor

PASSWORD = "correct horse battery"


@dataclass(frozen=True, slots=True)
class Person:
    user: User
    actor: Actor
    key: str


@dataclass(frozen=True, slots=True)
class Cast:
    acme: Organization
    globex: Organization
    ann: Person
    bob: Person
    eve: Person
    robot: Agent

    def key_of(self, kind: str) -> str:
        """A fresh key of the robot at Acme: agent, context or intent."""
        return issue_key(organization_id=self.acme.id, kind=kind, label="robot", agent_id=self.robot.id).text


def make_cast() -> Cast:
    acme, globex = create_organization("Acme"), create_organization("Globex")
    return Cast(
        acme=acme,
        globex=globex,
        ann=_person(acme, "ann@acme.test", Membership.Role.OWNER),
        bob=_person(acme, "bob@acme.test", Membership.Role.MEMBER),
        eve=_person(globex, "eve@globex.test", Membership.Role.OWNER),
        robot=Agent.objects.create(organization=acme, name="robot"),
    )


def _person(organization: Organization, email: str, role: str) -> Person:
    user = ensure_person(organization, email, role=role, password=PASSWORD)
    key = issue_key(organization_id=organization.id, kind="person", label="test key", user_id=user.id)
    return Person(user, person_actor(user, organization.id, source="test"), key.text)
