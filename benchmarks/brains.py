"""A set's brains: filled through the product's own verbs in an organization that is used for this benchmark only.

Each conversation becomes the personal brain of a person of its own; pooled, all of them one person's.
"""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.core.management import call_command
from tqdm import tqdm

from accounts.actor import Actor
from accounts.models import Organization, User
from accounts.people import create_organization, ensure_person, person_actor
from benchmarks.data import Data, Question
from graph.models import inbox_id
from memory.capture import capture_bulk
from memory.importers.jsonl import Report, read_conversations
from memory.models import Job, Message, RagEntry, RecallFile
from memory.stats import pending_messages
from memory.types import Captured

POOL = "pool-of-{}@benchmark.invalid"  # for each set, since a command acts in the first organization of a person
WAIT_SECONDS, POLL_SECONDS = 1_800.0, 0.25
SESSION_POLL_SECONDS = 0.05
FILINGS = ("import", "single")


@dataclass(frozen=True, slots=True)
class Place:
    """Of an entry: its turn and its session, as conversation/id, and the node that holds it."""

    turn: str
    session: str
    node: UUID


@dataclass(frozen=True, slots=True)
class Brains:
    """Who is asked, and where every entry is from. `seconds`: until all have their vectors, until all are filed."""

    actors: dict[str, Actor]  # by conversation
    places: dict[UUID, Place]
    seconds: dict[str, float]
    filed_share: float

    def unit(self, entry_id: UUID, unit: str) -> str:
        place = self.places[entry_id]
        return place.turn if unit == "turn" else place.session

    def nodes(self, unit: str) -> dict[str, set[UUID]]:
        """Unit → the nodes that hold its entries."""
        found: dict[str, set[UUID]] = {}
        for entry_id, place in self.places.items():
            found.setdefault(self.unit(entry_id, unit), set()).add(place.node)
        return found

    def largest_node(self) -> int:
        """Entries of the fullest node: one larger than the budget is never warmed."""
        return max(Counter(place.node for place in self.places.values()).values(), default=0)

    def node_count(self) -> int:
        return len({place.node for place in self.places.values()})

    def of(self, question: Question) -> Actor:
        return self.actors[question.conversation]


def fill(data: Data, *, pooled: bool, filing: str = "import") -> Brains:
    """What is there already is recognised. filing: by the import as a whole, or session by session."""
    name = f"benchmark-{data.source}{'-pooled' if pooled else ''}{'' if filing == 'import' else '-' + filing}"
    organization = Organization.objects.filter(slug=name).first() or create_organization(name)
    started = time.monotonic()
    if not pooled:
        call_command("import", str(data.conversations), person_per_conversation=name)
    else:
        person = ensure_person(organization, POOL.format(name))
        if filing == "import":
            call_command("import", str(data.conversations), as_email=person.email)
        else:
            capture_one_by_one(data, person_actor(person, organization.id, source="benchmark"))
    embedded = time.monotonic() - started
    people = User.objects.filter(memberships__organization=organization)
    actors = [person_actor(person, organization.id, source="benchmark") for person in people]
    wait_for_filing(actors)
    seconds = {"embedded": round(embedded, 1), "filed": round(time.monotonic() - started, 1)}
    by_conversation, places = where(actors)
    return Brains(by_conversation, places, seconds, filed_share(actors))


def capture_one_by_one(data: Data, actor: Actor) -> None:
    """Session after session, each with its vectors and filed before the next: how a brain grows in daily use."""
    report = Report()
    with data.conversations.open("rb") as file, tqdm(unit="session", desc="filing one by one") as bar:
        for conversation in read_conversations(file, report):
            for session in conversation.sessions:
                (kept,) = capture_bulk(actor, scope="personal", files=[session])
                if not isinstance(kept, Captured):
                    raise kept
                while kept.created and (pending_messages(actor) or is_filing(actor)):
                    time.sleep(SESSION_POLL_SECONDS)
                bar.update()


def wait_for_filing(actors: Iterable[Actor]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    for actor in actors:
        while (pending_messages(actor) or is_filing(actor)) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)


def is_filing(actor: Actor) -> bool:
    with actor.session():
        jobs = Job.objects.visible_to(actor).filter(kind=Job.Kind.FILE)
        return jobs.filter(state__in=[Job.State.PENDING, Job.State.RUNNING]).exists()


def where(actors: Iterable[Actor]) -> tuple[dict[str, Actor], dict[UUID, Place]]:
    """Whose brain each conversation is in, and the place of every entry."""
    owner: dict[str, Actor] = {}
    places: dict[UUID, Place] = {}
    for actor in actors:
        with actor.session():
            files = dict(RecallFile.objects.visible_to(actor).values_list("id", "metadata"))
            nodes = dict(RagEntry.objects.visible_to(actor).values_list("id", "node_id"))
            messages = list(Message.objects.visible_to(actor).values_list("id", "recall_file_id", "details"))
        for message_id, file_id, details in messages:
            conversation, session = str(files[file_id]["conversation"]), str(files[file_id]["session"])
            owner[conversation] = actor
            turn = f"{conversation}/{details.get('id')}"
            places[message_id] = Place(turn, f"{conversation}/{session}", nodes[message_id])
    return owner, places


def filed_share(actors: Iterable[Actor]) -> float:
    """The share of entries that have a place in the tree."""
    filed = total = 0
    for actor in actors:
        with actor.session():
            entries = RagEntry.objects.visible_to(actor)
            total += entries.count()
            filed += entries.exclude(node_id__in=[inbox_id(brain.id) for brain in actor.readable]).count()
    return round(filed / max(total, 1), 4)
