"""Who is asking, through which door, and which brains that opens. The first argument of every verb.

The first wall is this object: verbs narrow every query to its brains. The second is the database: a session enters the
door's role and names the brains in settings that the row level security policies (walls.py) test.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import TextChoices
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, TransactionStatus

from accounts.errors import Forbidden, Invalid


class Scope(TextChoices):
    PERSONAL = "personal"
    CORPORATE = "corporate"
    AGENT = "agent"


class Door(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    CONTEXT = "context"
    INTENT = "intent"
    JOB = "job"
    ADMIN = "admin"


# door -> (database role, connection alias). The agent doors use a login that can become no other role.
DOOR_ROLES = {
    Door.PERSON: ("brain_person", "default"),
    Door.AGENT: ("brain_agent", "agent"),
    Door.CONTEXT: ("brain_agent", "agent"),
    Door.INTENT: ("brain_agent", "agent"),
    Door.JOB: ("brain_worker", "default"),
    Door.ADMIN: ("brain_curator", "default"),
}


# A job's commit need not wait for the disk: what a crash takes away (in order, the last first) is the end of the work,
# and a job that is not marked as done is done again.
NOT_WAITING = "; SET LOCAL synchronous_commit=off"


@dataclass(frozen=True, slots=True)
class BrainRef:
    id: UUID
    scope: Scope


@dataclass(frozen=True, slots=True)
class Actor:
    """`source` is the label that provenance shows (the key's, or the door's); it never comes from a request's body.

    `curates`: may edit and delete what others contributed to the corporate brain.
    """

    door: Door
    readable: tuple[BrainRef, ...] = ()
    writable: tuple[BrainRef, ...] = ()
    organization_id: UUID | None = None
    user_id: UUID | None = None
    agent_id: UUID | None = None
    key_id: UUID | None = None
    source: str = ""
    curates: bool = False

    @property
    def role(self) -> str:
        return DOOR_ROLES[self.door][0]

    @property
    def alias(self) -> str:
        return DOOR_ROLES[self.door][1]

    @property
    def principal_id(self) -> UUID | None:
        return self.user_id or self.agent_id

    def brains_to_read(self, scope: str) -> tuple[BrainRef, ...]:
        """Brains of one scope, or of `both` (personal and corporate). Raises Invalid for no scope, Forbidden for what
        may not be read."""
        if scope != "both" and scope not in Scope.values:
            raise Invalid(f"Must be one of {', '.join([*Scope.values, 'both'])}.", field="scope")
        wanted = (Scope.PERSONAL, Scope.CORPORATE) if scope == "both" else (Scope(scope),)
        found = tuple(brain for brain in self.readable if brain.scope in wanted)
        if not {brain.scope for brain in found}.issuperset(wanted):
            raise Forbidden(f"This key may not read {scope}.", field="scope")
        return found

    def brain_to_write(self, scope: str) -> BrainRef:
        """The one brain of this scope that is written to. Raises Invalid, Forbidden."""
        if scope not in Scope.values:
            raise Invalid(f"Must be one of {', '.join(Scope.values)}.", field="scope")
        for brain in self.writable:
            if brain.scope == scope:
                return brain
        raise Forbidden(f"This key may not write to {scope}.", field="scope")

    @contextmanager
    def session(self) -> Iterator["Actor"]:
        """One durable transaction as the door's role. A session of the same actor is joined, another one's raises.

        Evaluate every queryset inside; outside of it the login has no right on any tenant table.
        """
        connection = connections[self.alias]
        current: Actor | None = getattr(connection, "brain_actor", None)
        if current is not None:
            if current != self:
                raise RuntimeError("a session of another actor is open")
            yield self
            return
        with transaction.atomic(using=self.alias, durable=True):
            _send(
                connection,
                f"SET LOCAL ROLE {self.role}; SET LOCAL brain.readable={literal_ids(self.readable)}; "
                f"SET LOCAL brain.writable={literal_ids(self.writable)}{NOT_WAITING if self.door is Door.JOB else ''}",
            )
            connection.brain_actor = self  # type: ignore[attr-defined]
            try:
                yield self
            finally:
                connection.brain_actor = None  # type: ignore[attr-defined]
        if connection.in_atomic_block:  # only inside a TestCase, whose outer transaction keeps SET LOCAL alive
            _send(connection, "SET LOCAL ROLE NONE; SET LOCAL brain.readable=''; SET LOCAL brain.writable=''")


def _send(connection: BaseDatabaseWrapper, statements: str) -> None:
    """Statements without an answer, and BEGIN where no transaction is open yet, in one round trip.

    The driver would send BEGIN by itself first: a third of a session's whole cost.
    """
    connection.ensure_connection()
    libpq = connection.connection.pgconn
    begin = "BEGIN; " if libpq.transaction_status == TransactionStatus.IDLE else ""
    with connection.wrap_database_errors:
        result = libpq.exec_((begin + statements).encode())
        if result.status != ExecStatus.COMMAND_OK:
            raise error_from_result(result)


def literal_ids(brains: Iterable[BrainRef]) -> str:
    """A quoted uuid[] literal. Only UUID objects are formatted, so nothing can be smuggled in."""
    return "'{" + ",".join(str(UUID(int=brain.id.int)) for brain in brains) + "}'"


CLAIMER = Actor(door=Door.JOB, source="job")
"""Sees the job table of all brains (ids only) and nothing else."""


def job_actor(brain_id: UUID, scope: str) -> Actor:
    """The worker on behalf of one brain."""
    brain = (BrainRef(brain_id, Scope(scope)),)
    return Actor(door=Door.JOB, readable=brain, writable=brain, source="job")
