import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.keys import find_key
from accounts.models import BrainKey, Organization, User
from memory.memories import list_memories
from memory.work import work_jobs
from tests.cast import Cast


def out(*arguments: str, **options: Any) -> str:
    stream = io.StringIO()
    call_command(*arguments, stdout=stream, **options)
    return stream.getvalue()


def test_capture_and_recall_speak_to_people(cast: Cast) -> None:
    kept = out("capture", "The", "zorkmid", "comes", "on", "Friday.", tags=["coins"], node="Money/Old")
    assert kept.startswith("kept zorkmid-comes-")
    assert kept.endswith("in personal, filed in Money/Old\n")
    work_jobs(30.0)
    found = out("recall", "zorkmid").splitlines()
    assert found[:3] == [
        "personal: Money (1.00, 1 memories)",
        "personal: Money/Old (1.00, 1 memories)",
        "warmed, by confidence: Money/Old (1.00, 1 memories); left cold: nothing",
    ]
    assert found[3] == "1. The zorkmid comes on Friday."
    assert found[4].split("  ")[2:4] == ["personal", "Money/Old"]
    assert found[5] == "   because of coverage +1.50 (#1)"
    assert found[6].startswith(
        "1 hits from personal, corporate: 0 indexes and 1 of 1 entries read, 0 cut by the threshold, about 8 tokens"
    )


def test_capture_and_recall_speak_to_programs(cast: Cast) -> None:
    kept = json.loads(out("capture", "a zorkmid", as_email="BOB@acme.test", json=True))
    assert kept["node"] == "Inbox"
    answer = json.loads(out("recall", "zorkmid", as_email="bob@acme.test", json=True))
    assert [hit["id"] for hit in answer["hits"]] == [kept["id"]]
    assert json.loads(out("recall", "zorkmid", json=True))["hits"] == []


def test_text_may_come_from_standard_input(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("from a pipe\n"))
    out("capture")
    (memory,) = list_memories(cast.ann.actor, with_messages=True)
    assert [m.content for m in memory.messages or ()] == ["from a pipe\n"]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("capture", " "), {}, "content: This has no visible character."),
        (("capture", "x"), {"scope": "agent"}, "scope: This key may not write to agent."),
        (("capture", "x"), {"as_email": "nobody@acme.test"}, "--as: nobody has the e-mail address nobody@acme.test"),
        (("recall", "x"), {"limit": 0}, "limit: Must be between 1 and 100."),
        (("recall", "x"), {"scope": "elsewhere"}, "scope: Must be one of personal, corporate, agent, both."),
    ],
)
def test_refusals_name_their_cause(
    cast: Cast, arguments: tuple[str, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(CommandError) as refused:
        out(*arguments, **options)
    assert str(refused.value) == message


@pytest.mark.django_db(transaction=True, databases=["default", "agent", "migrator"])
def test_prepare_makes_the_first_person_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRAIN_DUMP_PASSWORD", "dump")
    monkeypatch.setenv("BRAIN_OWNER_PASSWORD", "first password")
    first = json.loads(out("prepare", json=True))
    assert (first["login"], first["password"]) == ("owner@brain.localhost", "first password")
    key = find_key(first["person_key"])
    assert key is not None
    assert (key.user, key.kind) == (User.objects.get(), "person")
    monkeypatch.setenv("BRAIN_PERSON_KEY", first["person_key"])
    assert json.loads(out("prepare", json=True)) == first
    monkeypatch.setenv("BRAIN_PERSON_KEY", "")
    assert json.loads(out("prepare", json=True)) == {**first, "person_key": None}
    assert (Organization.objects.count(), User.objects.count(), BrainKey.objects.count()) == (1, 1, 1)
    user = User.objects.get()
    user.set_password("changed by its owner")
    user.save()
    assert json.loads(out("prepare", json=True))["password"] is None
