import io
import json
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from accounts.errors import Forbidden, Invalid
from accounts.models import Organization
from memory.importers.job import start_import
from memory.importers.jsonl import Problem, Report, import_jsonl
from memory.memories import get_memory, list_memories
from memory.recall import recall
from memory.stats import get_job
from memory.work import work_jobs
from tests.cast import Cast

QUIET = 30.0


def turn(text: str, role: str = "user", **more: object) -> dict[str, object]:
    return {
        "id": f"t-{text[:8]}",
        "role": role,
        "speaker": "Ann",
        "text": text,
        "timestamp": "2024-05-01T10:00:00",
        **more,
    }


def conversation(name: str = "c1", *sessions: dict[str, object]) -> dict[str, object]:
    default = {"id": "s1", "date": "2024-05-01T10:00:00", "turns": [turn("hello"), turn("the zorkmid", "assistant")]}
    return {"id": name, "dataset": "demo", "meta": {"topic": "x"}, "sessions": list(sessions or [default])}


def jsonl(*records: object) -> bytes:
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)


def run(cast: Cast, content: bytes, **options: object) -> Report:
    return import_jsonl(
        io.BytesIO(content),
        scope="personal",
        actor_for=lambda c: cast.ann.actor,
        **options,  # type: ignore[arg-type]
    )


def test_a_session_becomes_a_recall_file_with_its_words_and_times(cast: Cast) -> None:
    photo = turn("Look!", image_caption="a quagga on a hill")
    report = run(
        cast, jsonl(conversation("c1", {"id": "s1", "date": "2024-05-01T09:00:00", "turns": [turn("hi"), photo]}))
    )
    assert (report.conversations, report.recall_files, report.messages, report.problem_count) == (1, 1, 2, 0)
    (memory,) = list_memories(cast.ann.actor)
    full = get_memory(cast.ann.actor, str(memory.id))
    assert (full.kind, full.platform, full.trust, full.source_key) == ("conversation", "demo", "imported", "demo:c1:s1")
    assert full.occurred_at.isoformat() == "2024-05-01T09:00:00+00:00"
    assert [(m.role, m.speaker, m.content, m.details) for m in full.messages or ()] == [
        ("user", "Ann", "hi", {"id": "t-hi"}),
        (
            "user",
            "Ann",
            "Look!",
            {"id": "t-Look!", "attachments": [{"kind": "image", "caption": "a quagga on a hill"}]},
        ),
    ]
    assert [hit.first_message for hit in recall(cast.ann.actor, "quagga").hits] == [1]


def test_importing_again_changes_nothing_and_a_grown_session_goes_on(cast: Cast) -> None:
    first = jsonl(conversation())
    run(cast, first)
    again = run(cast, first)
    assert (again.recall_files, again.unchanged, again.messages) == (0, 1, 0)
    grown = conversation("c1", {"id": "s1", "turns": [turn("hello"), turn("the zorkmid", "assistant"), turn("more")]})
    run(cast, jsonl(grown))
    (memory,) = list_memories(cast.ann.actor)
    assert memory.message_count == 3


def test_what_is_broken_is_told_by_line_and_the_rest_goes_in(cast: Cast) -> None:
    content = jsonl(
        conversation("good-1"),
        b'{"id": "half',
        b"\xff\xfe broken",
        b"[1, 2]",
        b"",
        {"sessions": []},
        {"id": "no-sessions"},
        b"[" * 100_000,
        b'{"id": ' + b"9" * 5_000 + b"}",
        conversation(
            "mixed",
            {
                "id": "ok",
                "turns": [
                    turn("fine"),
                    turn(" "),
                    turn("x", role="robot"),
                    turn("nul \0"),
                    turn("late", timestamp="soon"),
                ],
            },
            {"id": "none", "turns": []},
            {"turns": [turn("no id")]},
            {"id": "date", "date": "yesterday", "turns": [turn("x")]},
        ),
        conversation("good-2"),
    )
    report = run(cast, content)
    assert report.problems[:7] == [
        Problem(2, "broken JSON at column 13: Invalid control character at"),
        Problem(3, "not UTF-8"),
        Problem(4, "not a JSON object"),
        Problem(6, "id: the conversation has none"),
        Problem(7, "sessions: expected a list"),
        Problem(8, "nested too deeply, or a number of too many digits"),
        Problem(9, "nested too deeply, or a number of too many digits"),
    ]
    assert [p.reason for p in report.problems[7:]] == [
        "session ok: turns.1: text: missing or blank",
        "session ok: turns.2: role: must be one of user, assistant, system, tool, human, other, ai, model",
        "session ok: turns.4: timestamp: not a date in ISO 8601",
        "sessions.1: no turn can be kept",
        "sessions.2: id: the session has none",
        "sessions.3: date: not a date in ISO 8601",
        "session ok: transcript.1.content: A NUL character cannot be stored.",
    ]
    assert sorted(m.source_key or "" for m in list_memories(cast.ann.actor)) == ["demo:good-1:s1", "demo:good-2:s1"]


def test_a_dry_run_keeps_nothing(cast: Cast) -> None:
    report = run(cast, jsonl(conversation()), dry_run=True)
    assert (report.recall_files, report.messages) == (1, 2)
    assert list_memories(cast.ann.actor) == []


def test_an_interrupted_import_goes_on_where_it_was(cast: Cast) -> None:
    sessions: list[dict[str, object]] = [
        {"id": f"s{n}", "turns": [turn(f"turn {n} {i}") for i in range(150)]} for n in range(9)
    ]
    content = jsonl(conversation("c", *sessions))
    assert run(cast, content, on_progress=lambda report: report.recall_files < 3).recall_files == 3
    rest = run(cast, content)
    assert (rest.unchanged, rest.recall_files) == (3, 6)


def test_an_uploaded_file_is_imported_by_a_job(cast: Cast) -> None:
    actor = cast.ann.actor
    import_id = start_import(actor, io.BytesIO(jsonl(conversation(), b"broken")))
    job = get_job(actor, import_id)
    assert (job.kind, job.state) == ("import", "pending")
    work_jobs(QUIET)
    job = get_job(actor, import_id)
    assert (job.state, job.progress["recall_files"], job.progress["messages"], job.progress["problem_count"]) == (
        "done", 1, 2, 1,
    )  # fmt: skip
    (memory,) = list_memories(actor)
    assert (memory.source, memory.contributed_by, memory.trust) == ("test", cast.ann.user.id, "imported")
    assert not default_storage.exists(f"imports/{import_id}.jsonl")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 a zip", b"\x89PNG\r\n", b"[1]", b"<html>"])
def test_a_file_of_another_kind_is_refused(cast: Cast, content: bytes) -> None:
    with pytest.raises(Invalid) as refused:
        start_import(cast.ann.actor, io.BytesIO(content))
    assert refused.value.field == "file"
    with pytest.raises(Forbidden):
        start_import(cast.ann.actor, io.BytesIO(jsonl(conversation())), scope="agent")


def test_the_command_gives_each_conversation_a_person_of_its_own(
    cast: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(jsonl(conversation("Conv-1"), conversation("conv-1"), conversation("2")))
    call_command("import", str(path), person_per_conversation="bench", no_wait=True)
    people = Organization.objects.get(slug="bench").memberships.order_by("user__email")
    emails = [membership.user.email for membership in people]
    assert emails[0] == "2@demo.invalid"
    assert len(emails) == 2  # e-mail addresses have no case, so Conv-1 and conv-1 are one person
    assert "kept 3 recall files with 6 messages from 3 conversations (0 were there already, 0 problems)" in (
        capsys.readouterr().out
    )


def test_the_command_reports_problems_and_fails(cast: Cast, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file.jsonl"
    path.write_bytes(jsonl(conversation(), b"broken"))
    with pytest.raises(CommandError, match="1 records were left out"):
        call_command("import", str(path), no_wait=True)
    assert "line 2: broken JSON at column 1" in capsys.readouterr().err
    with pytest.raises(CommandError, match="PATH: No such file"):
        call_command("import", str(tmp_path / "missing"))
