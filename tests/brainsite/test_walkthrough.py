"""The specification's walk-through, on the demo company, through REST."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.keys import issue_key
from accounts.models import Organization, User
from brainsite.demo.load import MARA, load_demo
from memory.work import work_jobs

AMBIGUOUS = "Hey, can you tell me about that product I was looking for?"
SALES, DEVELOPMENT = "Business/Sales", "Business/Product Development"
PRODUCTS = f"{SALES}/Product Knowledge"


@pytest.fixture
def ask(request: pytest.FixtureRequest) -> Any:
    request.node.add_marker(pytest.mark.django_db(transaction=True, databases=["default", "agent", "migrator"]))
    request.getfixturevalue("transactional_db")
    load_demo()
    work_jobs(120.0)
    mara = User.objects.get(email=MARA.email)
    organization = Organization.objects.get(slug="demo-widgets")
    key = issue_key(organization_id=organization.id, kind="person", label="test", user_id=mara.id).text

    def ask(query: str, session: str) -> dict[str, Any]:
        body = {"query": query, "scope": "corporate", "session": session, "include": ["trace"]}
        answer = APIClient().post("/api/v1/search/", body, format="json", headers={"x-brain-key": key})
        assert answer.status_code == 200
        found: dict[str, Any] = answer.json()
        return found

    return ask


def warmed(answer: dict[str, Any]) -> list[str]:
    return [node["node"]["path"] for node in answer["warmed"]]


def test_the_walk_through(ask: Any) -> None:
    open_question = ask(AMBIGUOUS, "a")
    levels = open_question["trace"]["navigation"]["corporate"]["levels"]
    confidence = {node["node"]["path"]: node["confidence"] for level in levels for node in level}
    assert confidence[SALES] > confidence[DEVELOPMENT]
    assert open_question["clarify"]["question"] == (
        "Which one do you mean: Enterprise Suite, Widget Pro or Widget Lite?"
    )
    assert [choice["node"]["path"] for choice in open_question["clarify"]["choices"]] == [
        f"{PRODUCTS}/Enterprise Suite", f"{PRODUCTS}/Widget Pro", f"{PRODUCTS}/Widget Lite",
    ]  # fmt: skip
    assert open_question["hits"] != []

    chosen = ask("the enterprise one", "a")
    assert warmed(chosen) == [f"{PRODUCTS}/Enterprise Suite"]
    assert chosen["trace"]["navigation"]["corporate"]["reason"] == "your choice"
    assert chosen["clarify"] is None


def test_what_was_discussed_in_a_session_stays_warm_in_that_session_alone(ask: Any) -> None:
    first = ask("Which memory requirements does Widget Pro have, 4 GB or 8 GB of RAM?", "b")
    assert "8 GB" in " ".join(hit["text"] for hit in first["hits"][:3])
    again = ask(AMBIGUOUS, "b")
    assert warmed(again) == [f"{PRODUCTS}/Widget Pro"]
    assert again["trace"]["navigation"]["corporate"]["reason"] == "discussed in this session"
    assert again["clarify"] is None
    assert ask(AMBIGUOUS, "c")["clarify"] is not None
