import io
import json
from collections import Counter
from typing import Any

import pytest
from django.core.management import call_command

from accounts.actor import Actor
from accounts.models import Membership, Organization, User
from brainsite.demo.load import COMPANIES, FOLDER, MARA, TOBIN, VERA, load_demo
from brainsite.demo.read import read_memories
from brainsite.management.commands import demo
from graph.tree import list_nodes
from memory.edit import Changes, edit
from memory.memories import list_memories
from memory.recall import recall
from tests.conftest import ALIASES

in_database = pytest.mark.django_db(transaction=True, databases=ALIASES)

SALES = "Business/Sales"
CORPORATE_TREE = {
    "Business": 97,
    "Business/Marketing": 6,
    "Business/Marketing/Campaigns": 2,
    "Business/Marketing/Case Studies": 2,
    "Business/Marketing/Trade Fairs": 2,
    "Business/Operations": 5,
    "Business/Operations/Hiring": 1,
    "Business/Operations/Logistics": 2,
    "Business/Operations/Suppliers": 2,
    "Business/Product Development": 10,
    "Business/Product Development/Firmware": 5,
    "Business/Product Development/Product Roadmap": 5,
    "Business/Support": 7,
    "Business/Support/Connectivity": 2,
    "Business/Support/Installation": 3,
    "Business/Support/Returns": 2,
    SALES: 69,
    f"{SALES}/Competitor Info": 5,
    f"{SALES}/Customer Preferences": 5,
    f"{SALES}/Objections": 14,
    f'{SALES}/Objections/"Need to Think About It"': 4,
    f"{SALES}/Objections/Competitor Comparisons": 4,
    f"{SALES}/Objections/Price Objections": 6,
    f"{SALES}/Pricing": 8,
    f"{SALES}/Product Knowledge": 37,
    f"{SALES}/Product Knowledge/Enterprise Suite": 15,
    f"{SALES}/Product Knowledge/Widget Lite": 8,
    f"{SALES}/Product Knowledge/Widget Pro": 12,
}
MARAS_TREE = {"Inbox": 3, "Me": 7, "Me/Negotiations": 2, "Me/Preferences": 2, "Me/Private": 3}
TOBINS_TREE = {"Inbox": 2, "Self": 6, "Self/How I work": 2, "Self/Private": 4}
CLINICS_TREE = {
    "Practice": 6,
    "Practice/Office": 2,
    "Practice/Purchasing": 4,
    "Practice/Purchasing/Prices": 2,
    "Practice/Purchasing/Products": 2,
}
SECRETS = {
    MARA.email: "Trundlesense has offered me head of sales",
    TOBIN.email: "Mother moves to the care home",
    VERA.email: "Dr. Halloway-Pike will retire in summer",
}


def out(*, no_wait: bool = True, **options: Any) -> str:
    stream = io.StringIO()
    call_command("demo", stdout=stream, no_wait=no_wait, **options)
    return stream.getvalue()


def tree(actor: Actor, scope: str) -> dict[str, int]:
    return {node.path: node.memory_count for node in list_nodes(actor, scope=scope)}


def words(actor: Actor) -> list[str]:
    """Every message that this actor may read."""
    memories = [
        memory
        for scope in ("personal", "corporate")
        for memory in list_memories(actor, scope=scope, limit=100, with_messages=True)
    ]
    return [message.content for memory in memories for message in memory.messages or ()]


def test_the_files_are_well_formed() -> None:
    for person in (person for company in COMPANIES for person in company.people):
        assert person.email.endswith((".example", ".invalid"))
        shared = [new for name in person.shared for new in read_memories(FOLDER / name)]
        for memories in (shared, read_memories(FOLDER / person.private)):
            assert [key for key, n in Counter(m.source_key for m in memories).items() if n > 1] == []
            assert {m.source_key for m in memories if not 1 <= len(m.messages) <= 14} == set()
            assert {m.source_key for m in memories if m.title == "" and m.kind == "conversation"} == set()


@in_database
def test_two_companies_are_filled() -> None:
    report = load_demo()
    mara, tobin, vera = (report.actors[person.email] for person in (MARA, TOBIN, VERA))
    assert (report.created, report.unchanged, report.changed) == (123, 0, 0)
    assert tree(mara, "corporate") == tree(tobin, "corporate") == CORPORATE_TREE
    assert (tree(mara, "personal"), tree(tobin, "personal")) == (MARAS_TREE, TOBINS_TREE)
    assert (tree(vera, "corporate"), tree(vera, "personal")) == (CLINICS_TREE, {"Inbox": 1, "Private": 1})
    names = {memory.recall_id for memory in list_memories(mara, scope="corporate", limit=100)}
    assert names >= {
        "widget-pro-specs-2025-01-08",
        "widget-pro-demo-prep-2025-01-12",
        "widget-pro-customer-question-2025-01-15",
    }
    assert [user.has_usable_password() for user in User.objects.all()] == [False] * 3


@in_database
def test_again_changes_nothing_and_says_so() -> None:
    first = json.loads(out(json=True))
    assert (first["created"], first["unchanged"], first["messages_waiting"]) == (123, 0, first["messages_created"])
    actor = load_demo().actors[MARA.email]
    before = words(actor)
    assert out().splitlines()[-1] == "nothing new: all 123 were there already"
    assert words(actor) == before
    assert (Organization.objects.count(), User.objects.count(), Membership.objects.count()) == (2, 3, 3)


@in_database
def test_without_a_worker_the_wait_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "WAIT_SECONDS", 0.02)
    monkeypatch.setattr(demo, "POLL_SECONDS", 0.01)
    waiting, summary = out(no_wait=False).splitlines()[-2:]
    assert waiting.split(" and are found")[0] == "390 messages have no vector yet"
    assert summary.startswith("kept 123 memories with 390 messages in 2 organizations (0 were there already) in ")


@in_database
def test_what_somebody_edited_stays_edited() -> None:
    actor = load_demo().actors[TOBIN.email]
    thought = list_memories(actor, scope="personal", kind="thought")[0]
    edit(actor, str(thought.id), Changes(content="My own words."))
    report = load_demo()
    assert (report.created, report.unchanged, report.changed) == (0, 122, 1)
    assert "My own words." in words(actor)


@in_database
@pytest.mark.parametrize("asker", [MARA.email, TOBIN.email, VERA.email])
def test_nobody_meets_the_secrets_of_others(asker: str) -> None:
    actor = load_demo().actors[asker]
    own = SECRETS[asker]
    assert [text for text in words(actor) for secret in SECRETS.values() if secret in text] == [
        text for text in words(actor) if own in text
    ]
    assert own in recall(actor, own, limit=1).hits[0].text
    others = [secret for secret in SECRETS.values() if secret != own]
    found = [hit.text for secret in others for hit in recall(actor, secret, threshold=0.0).hits]
    assert [text for text in found for secret in others if secret in text] == []


@in_database
def test_the_clinic_and_the_company_share_words_and_nothing_else() -> None:
    actors = load_demo().actors
    asked = "Enterprise Suite too expensive"
    company = {hit.text for hit in recall(actors[MARA.email], asked, threshold=0.0, limit=100).hits}
    clinic = {hit.text for hit in recall(actors[VERA.email], asked, threshold=0.0, limit=100).hits}
    assert clinic <= set(words(actors[VERA.email]))
    assert company <= set(words(actors[MARA.email]))
    assert clinic & company == set()
    assert any("too expensive for a clinic" in text for text in clinic)
    assert any("too expensive for us" in text for text in company)
