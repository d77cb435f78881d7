"""An organization of many invented people, to see what a brain costs beside others. It can be dropped again.

Brains that are measured are filled through the product's verbs; the others are copies of one of them, made inside the
database: ids are unique within a brain only.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import connections, transaction
from pgvector import HalfVector

from accounts.actor import Actor, job_actor
from accounts.ids import uuid7
from accounts.models import Organization
from accounts.people import create_organization, ensure_person, person_actor
from accounts.walls import TENANT_TABLES
from benchmarks.synthetic import Memories, invent
from memory.capture import capture_files
from memory.embedding import calibrated_model
from memory.jobs import enqueue
from memory.models import Job, Message, RagEmbedding, RagEntry, RecallFile
from memory.types import NewRecallFile

ORGANIZATION = "benchmark-scale"
BATCH_FILES, BATCH_VECTORS = 25, 1_000
COPIES_AT_ONCE = 10
FILING_SECONDS, POLL_SECONDS = 900.0, 0.5
COPIED = (
    "graph_node", "graph_nodememory", "memory_recallfile", "memory_message", "memory_ragentry", "memory_ragembedding",
    "memory_corpusversion",
)  # fmt: skip
OWNER = "migrator"  # the tables' owner: the only login that writes to many brains at once


@dataclass(frozen=True, slots=True)
class Brain:
    """A person's brain, with what is in it."""

    actor: Actor
    memories: Memories

    @property
    def id(self) -> UUID:
        return self.actor.readable[0].id

    @property
    def size(self) -> int:
        return len(self.memories.vectors)


def organization() -> Organization:
    return Organization.objects.filter(slug=ORGANIZATION).first() or create_organization(ORGANIZATION)


def person(name: str) -> Actor:
    found = organization()
    user = ensure_person(found, f"{name}@{ORGANIZATION}.invalid")
    return person_actor(user, found.id, source="benchmark")


def filled(size: int) -> Brain:
    """A brain of so many entries with their vectors, filed by the worker; made where missing."""
    model = calibrated_model()
    brain = Brain(person(f"measured-{size}"), invent(size, model.dimensions, seed=size))
    with brain.actor.session():
        have = RagEmbedding.objects.visible_to(brain.actor).filter(brain_id=brain.id).count()
    if have < size:
        drop([brain.id])  # what an interrupted run left
        keep(brain.actor, brain.memories.files)
        _add_vectors(brain, model.id)
        _wait_for_filing(brain)
    return brain


def keep(actor: Actor, files: Sequence[NewRecallFile]) -> None:
    """As an import does, in batches of 500 messages, but in one transaction at whose end no vectors are asked for."""
    with actor.session():
        for start in range(0, len(files), BATCH_FILES):
            capture_files(actor, scope="personal", files=files[start : start + BATCH_FILES])
        Job.objects.writable_by(actor).filter(kind=Job.Kind.EMBED).update(state=Job.State.DONE)


def _add_vectors(brain: Brain, model_id: int) -> None:
    worker = job_actor(brain.id, brain.actor.readable[0].scope)
    with worker.session():
        texts = Message.objects.visible_to(worker).filter(brain_id=brain.id)
        entries = RagEntry.objects.visible_to(worker).filter(brain_id=brain.id)
        nodes = dict(entries.values_list("id", "node_id"))
        vector_of = dict(zip(brain.memories.texts, brain.memories.vectors, strict=True))
        rows = [
            RagEmbedding(
                brain_id=brain.id,
                scope=brain.actor.readable[0].scope,
                entry_id=entry_id,
                piece=0,
                node_id=nodes[entry_id],
                embedding_model_id=model_id,
                embedding=HalfVector(vector_of[text]),
            )
            for entry_id, text in texts.values_list("id", "content")
        ]
        RagEmbedding.objects.writable_by(worker).bulk_create(rows, batch_size=BATCH_VECTORS)
        files = RecallFile.objects.writable_by(worker).filter(brain_id=brain.id)
        files.update(embedding_state=RecallFile.EmbeddingState.EMBEDDED)
        enqueue(worker, brain.actor.readable[0], Job.Kind.FILE, [brain.id])


def _wait_for_filing(brain: Brain) -> None:
    deadline = time.monotonic() + FILING_SECONDS
    while time.monotonic() < deadline:
        with brain.actor.session():
            jobs = Job.objects.visible_to(brain.actor).filter(brain_id=brain.id, kind=Job.Kind.FILE)
            if not jobs.filter(state__in=[Job.State.PENDING, Job.State.RUNNING]).exists():
                return
        time.sleep(POLL_SECONDS)
    raise TimeoutError(f"the brain of {brain.size:,} entries is not filed after {FILING_SECONDS:.0f} s")


def entries_in_installation() -> int:
    with connections[OWNER].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memory_ragentry")
        return int(cursor.fetchone()[0])


def crowd(template: Brain, entries: int, until: float) -> int:
    """Copy a brain to people of their own until the installation has so many entries, or `until` (monotonic) has come;
    how many it has then."""
    have = entries_in_installation()
    organization_id = organization().id
    while have + template.size <= entries and time.monotonic() < until:
        count = min(COPIES_AT_ONCE, (entries - have) // template.size)
        copy_brain(template.id, organization_id, count)
        have += count * template.size
    with connections[OWNER].cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(COPIED)}")
    return have


def copy_brain(brain_id: UUID, organization_id: UUID, count: int) -> None:
    """A personal brain with all that a search reads of it, for so many new people."""
    brains, people = [uuid7() for _ in range(count)], [uuid7() for _ in range(count)]
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        cursor.execute(
            "INSERT INTO accounts_user (id, email, name, password, is_active, is_staff, is_superuser) "
            "SELECT id, id || '@' || %s, '', '!', true, false, false FROM unnest(%s::uuid[]) AS id",
            [f"{ORGANIZATION}.invalid", people],
        )
        cursor.execute(
            "INSERT INTO accounts_membership (id, organization_id, user_id, role) "
            "SELECT gen_random_uuid(), %s, id, 'member' FROM unnest(%s::uuid[]) AS id",
            [organization_id, people],
        )
        cursor.execute(
            "INSERT INTO accounts_brain (id, organization_id, owner_id, scope) "
            "SELECT brain, %s, owner, 'personal' FROM unnest(%s::uuid[], %s::uuid[]) AS made (brain, owner)",
            [organization_id, brains, people],
        )
        for table in COPIED:
            cursor.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped "
                "AND attgenerated = ''",
                [table],
            )
            columns = [name for (name,) in cursor.fetchall()]
            own = {"brain_id": "made.id", **({"id": "made.id"} if table == "memory_corpusversion" else {})}
            chosen = ", ".join(own.get(name, f"row.{name}") for name in columns)
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} "  # noqa: S608  (names of our own)
                f"FROM {table} row CROSS JOIN unnest(%s::uuid[]) AS made (id) WHERE row.brain_id = %s",
                [brains, brain_id],
            )


def drop(brain_ids: Sequence[UUID] | None = None) -> None:
    """Some brains of the organization with all that is in them; without a list the organization itself."""
    mine = "SELECT id FROM accounts_organization WHERE slug = %s"
    with transaction.atomic(using=OWNER), connections[OWNER].cursor() as cursor:
        if brain_ids is None:
            cursor.execute(f"SELECT id FROM accounts_brain WHERE organization_id IN ({mine})", [ORGANIZATION])  # noqa: S608
            brain_ids = [brain_id for (brain_id,) in cursor.fetchall()]
            people = f"SELECT user_id FROM accounts_membership WHERE organization_id IN ({mine})"  # noqa: S608
            cursor.execute(f"CREATE TEMPORARY TABLE dropped ON COMMIT DROP AS {people}", [ORGANIZATION])
            last = [
                f"DELETE FROM accounts_membership WHERE organization_id IN ({mine})",  # noqa: S608
                f"DELETE FROM accounts_brain WHERE organization_id IN ({mine})",  # noqa: S608
                "DELETE FROM accounts_user WHERE id IN (SELECT user_id FROM dropped) "
                "AND email LIKE '%%@' || %s || '.invalid'",
                "DELETE FROM accounts_organization WHERE slug = %s",
            ]
        else:
            last = []
        for table in reversed(TENANT_TABLES):
            cursor.execute(f"DELETE FROM {table.name} WHERE brain_id = ANY(%s)", [list(brain_ids)])  # noqa: S608
        for statement in last:
            cursor.execute(statement, [ORGANIZATION])
