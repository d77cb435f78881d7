"""Reading sets, and LongMemEval's own file, from tiny invented ones."""

import hashlib
import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data import KNOWN, asked_at, longmemeval_date, read_set, status_of
from memory.importers.jsonl import Report, read_conversations

HAYSTACK = [
    {
        "question_id": "kite_1",
        "question_type": "single-session-user",
        "question": "What colour is my kite?",
        "answer": "Red",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["noise", "answer_kite", "noise"],
        "haystack_dates": ["2023/05/01 (Mon) 08:05", "2023/05/02 (Tue) 09:00", "2023/05/03 (Wed) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "How do I boil an egg?"}, {"role": "assistant", "content": " "}],
            [
                {"role": "user", "content": "My new kite is red.", "has_answer": True},
                {"role": "assistant", "content": "Lovely!", "has_answer": False},
            ],
            [{"role": "user", "content": "And a potato?"}],
        ],
        "answer_session_ids": ["answer_kite"],
    },
    {
        "question_id": "kite_2_abs",
        "question_type": "single-session-user",
        "question": "What colour is my boat?",
        "answer": "You never told.",
        "question_date": "2023/06/01 (Thu) 00:01",
        "haystack_session_ids": ["other"],
        "haystack_dates": ["2023/05/01 (Mon) 08:05"],
        "haystack_sessions": [[{"role": "user", "content": "Hello there."}]],
        "answer_session_ids": ["other"],
    },
]


def question(name: str, **fields: Any) -> str:
    row = {"id": name, "conversation": "c", "question": "Which?", "category": 2, "question_date": None}
    return json.dumps({**row, "evidence": [], "evidence_sessions": [], **fields})


def test_longmemevals_own_file_becomes_conversations_and_questions(tmp_path: Path) -> None:
    (tmp_path / "longmemeval_s_cleaned.json").write_text(json.dumps(HAYSTACK))
    work = tmp_path / "work"
    work.mkdir()

    data = read_set(tmp_path, "longmemeval", every=1, work=work)

    assert data is not None
    (asked,) = data.questions  # one without an answer is not asked
    assert (asked.id, asked.conversation, asked.category) == ("kite_1", "kite_1", "single-session-user")
    assert asked.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert asked.evidence == {
        "turn": frozenset({"kite_1/answer_kite:0"}),
        "session": frozenset({"kite_1/answer_kite"}),
    }
    assert [(file.name, file.status) for file in data.files] == [("longmemeval_s_cleaned.json", "differs")]

    report = Report()
    first, second = read_conversations(BytesIO(data.conversations.read_bytes()), report)
    assert (report.problems, first.id, second.id) == ([], "kite_1", "kite_2_abs")
    assert [(s.metadata["session"], s.occurred_at) for s in first.sessions] == [
        ("noise", datetime(2023, 5, 1, 8, 5, tzinfo=UTC)),
        ("answer_kite", datetime(2023, 5, 2, 9, tzinfo=UTC)),
        ("noise#2", datetime(2023, 5, 3, 10, tzinfo=UTC)),
    ]
    assert [(m.details["id"], m.role, m.content) for s in first.sessions for m in s.messages] == [
        ("noise:0", "user", "How do I boil an egg?"),
        ("answer_kite:0", "user", "My new kite is red."),
        ("answer_kite:1", "assistant", "Lovely!"),
        ("noise#2:0", "user", "And a potato?"),
    ]


def test_of_longmemevals_own_file_only_the_asked_haystacks_are_converted(tmp_path: Path) -> None:
    (tmp_path / "longmemeval_s_cleaned.json").write_text(json.dumps(HAYSTACK))
    data = read_set(tmp_path, "longmemeval", every=2, work=tmp_path)
    assert data is not None
    assert len(data.conversations.read_text().splitlines()) == 1


def test_questions_without_evidence_in_the_sets_unit_are_not_asked(tmp_path: Path) -> None:
    folder = tmp_path / "locomo"
    folder.mkdir()
    (folder / "conversations.jsonl").write_text("")
    rows = [question("none"), question("one", evidence=["t1"], evidence_sessions=["s1"])]
    rows += [question("two", evidence=["t2", "t3"]), question("session", evidence_sessions=["s1"])]
    (folder / "questions.jsonl").write_text("\n".join(rows))

    data = read_set(tmp_path, "locomo", every=1, work=tmp_path)
    sampled = read_set(tmp_path, "locomo", every=2, work=tmp_path)

    assert data is not None
    assert sampled is not None
    assert [(q.id, q.category, q.evidence["turn"]) for q in data.questions] == [
        ("one", "2", frozenset({"c/t1"})),
        ("two", "2", frozenset({"c/t2", "c/t3"})),
    ]
    assert [q.id for q in sampled.questions] == ["one"]
    assert [(file.name, file.status) for file in data.files] == [
        ("locomo/conversations.jsonl", "differs"),
        ("locomo/questions.jsonl", "differs"),
    ]
    assert data.files[0].sha256 == hashlib.sha256(b"").hexdigest()


def test_a_set_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_set(tmp_path, "beam100k", every=1, work=tmp_path) is None


def test_files_are_known_differ_or_are_unknown() -> None:
    name, digest = next(iter(KNOWN.items()))
    assert [status_of(name, digest), status_of(name, "0" * 64), status_of("my/own.jsonl", digest)] == [
        "known",
        "differs",
        "unknown",
    ]


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        (None, None),
        ("", None),
        ("2025-02", datetime(2025, 2, 28, 23, 59, 59, tzinfo=UTC)),
        ("2024-12", datetime(2024, 12, 31, 23, 59, 59, tzinfo=UTC)),
        ("2023-05-30T23:40:00", datetime(2023, 5, 30, 23, 40, tzinfo=UTC)),
        ("2023-05-30T00:00:00+00:00", datetime(2023, 5, 30, tzinfo=UTC)),
    ],
)
def test_the_moment_a_question_is_asked(date: str | None, moment: datetime | None) -> None:
    assert asked_at(date) == moment


def test_longmemeval_writes_dates_in_its_own_way() -> None:
    assert longmemeval_date("2023/05/30 (Tue) 23:40") == "2023-05-30T23:40:00"
