"""The JSON Lines shape that benchmarks of this field share: conversations and the questions asked of them.

A set is a folder with conversations.jsonl and questions.jsonl, or LongMemEval's own file, which is converted.
"""

import calendar
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LONGMEMEVAL_FILE = "longmemeval_s_cleaned.json"
ABSTENTION = "_abs"  # LongMemEval marks questions that have no answer by the end of their id


@dataclass(frozen=True, slots=True)
class Kind:
    """A set of questions. unit: what its figures count, a turn or a session; folders: where it may lie, first match."""

    title: str
    unit: str
    folders: tuple[str, ...]


SETS = {
    "locomo": Kind("LoCoMo", "turn", ("locomo",)),
    "beam100k": Kind("BEAM-100K", "turn", ("beam100k",)),
    "lifebench": Kind("LifeBench", "session", ("lifebench",)),
    "longmemeval": Kind("LongMemEval", "session", ("longmemeval", "longmemeval_lite20")),
}

# SHA-256 of the files that figures are told of, by folder and name.
KNOWN = {
    "locomo/conversations.jsonl": "cbfc23b9782637c78d779e636f779b54a9f7505616ac908a5def527357f53c59",
    "locomo/questions.jsonl": "2fbf8e0adf86ece44307f0ac7f8b914eed2a1bbe9e6ea38f2e1bac597fff80b7",
    "beam100k/conversations.jsonl": "d649c20b8a83297dfa23d0684c536deeb461071b2f6758a4e1946820498b8a19",
    "beam100k/questions.jsonl": "7ff28592f1cc15686278c44e7afb81d75b09a95228e3680b4f63c5eddade7d85",
    "lifebench/conversations.jsonl": "2eacaca3c8bd5a95afc8e71ff143b39892249069b320ba92c4d3b3483a2aa478",
    "lifebench/questions.jsonl": "5bd0cc44126924f8fb9980f3395893e66e9a13fea8783fae0187e1ae5721f2f0",
    "longmemeval_s_cleaned.json": "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
    "longmemeval_lite20/conversations.jsonl": "cee2c81334967f0d7dd05d53a34491333b7280216084160d1ac747f65f8dca84",
    "longmemeval_lite20/questions.jsonl": "db511fc3cbd937e486d02c20502aefcf94b3e7d2c524b432ee089d704b2657cf",
}


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence`: unit (turn or session) → conversation/unit of what answers it. `asked_at`: None where not told."""

    id: str
    conversation: str
    text: str
    category: str
    asked_at: datetime | None
    evidence: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class File:
    """`status`: known, differs (from the known file of that name) or unknown."""

    name: str
    sha256: str
    status: str


@dataclass(frozen=True, slots=True)
class Data:
    """A set on this machine. `source`: names its brains; `questions`: those with evidence in the set's unit."""

    name: str
    source: str
    kind: Kind
    conversations: Path
    questions: tuple[Question, ...]
    files: tuple[File, ...]


def read_set(folder: Path, name: str, *, every: int, work: Path) -> Data | None:
    """A set below a folder, every Nth of its questions; None when it is not there.

    work: where what LongMemEval's own file is converted to may lie; of that, only the asked questions' haystacks.
    """
    kind = SETS[name]
    own = folder / LONGMEMEVAL_FILE
    if name == "longmemeval" and own.exists():
        conversations, questions = convert_longmemeval(own, work, every=every)
        source = f"{name}-s-1-in-{every}"  # other haystacks are in other brains
        return Data(
            name, source, kind, conversations, tuple(read_questions(questions, kind.unit)), (file_of(own, folder),)
        )
    found = next((folder / each for each in kind.folders if (folder / each / "questions.jsonl").exists()), None)
    if found is None:
        return None
    paths = [found / "conversations.jsonl", found / "questions.jsonl"]
    asked = read_questions(paths[1], kind.unit)[::every]
    return Data(name, name, kind, paths[0], tuple(asked), tuple(file_of(path, folder) for path in paths))


def file_of(path: Path, folder: Path) -> File:
    name = path.relative_to(folder).as_posix()
    digest = sha256(path)
    return File(name, digest, status_of(name, digest))


def status_of(name: str, digest: str) -> str:
    if name not in KNOWN:
        return "unknown"
    return "known" if KNOWN[name] == digest else "differs"


def read_questions(path: Path, unit: str) -> list[Question]:
    """Questions that have evidence in this unit."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    questions = [
        Question(
            row["id"],
            row["conversation"],
            row["question"],
            str(row["category"]),
            asked_at(row.get("question_date")),
            {
                "turn": frozenset(f"{row['conversation']}/{each}" for each in row["evidence"]),
                "session": frozenset(f"{row['conversation']}/{each}" for each in row["evidence_sessions"]),
            },
        )
        for row in rows
    ]
    return [question for question in questions if question.evidence[unit]]


def asked_at(date: str | None) -> datetime | None:
    """ISO 8601, UTC without an offset; of a month alone, such as 2025-05, its end."""
    if not date:
        return None
    if len(date) == len("2025-05"):
        year, month = map(int, date.split("-"))
        return datetime(year, month, calendar.monthrange(year, month)[1], 23, 59, 59, tzinfo=UTC)
    moment = datetime.fromisoformat(date)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def convert_longmemeval(path: Path, work: Path, *, every: int = 1) -> tuple[Path, Path]:
    """LongMemEval's own file as conversations and questions, in a folder; every Nth question with its haystack."""
    rows = json.loads(path.read_text())[::every]
    conversations, questions = work / "conversations.jsonl", work / "questions.jsonl"
    with conversations.open("w") as haystacks, questions.open("w") as asked:
        for row in rows:
            sessions, evidence = _haystack(row)
            line = {"id": row["question_id"], "dataset": "longmemeval_s", "sessions": sessions}
            haystacks.write(json.dumps(line) + "\n")
            answered = not str(row["question_id"]).endswith(ABSTENTION)
            question = {
                "id": row["question_id"],
                "conversation": row["question_id"],
                "question": row["question"],
                "answer": row["answer"],
                "evidence": evidence if answered else [],
                "evidence_sessions": row["answer_session_ids"] if answered else [],
                "category": row["question_type"],
                "question_date": longmemeval_date(row["question_date"]),
            }
            asked.write(json.dumps(question) + "\n")
    return conversations, questions


def _haystack(row: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """A question's sessions, and the ids of the turns that hold its answer. Blank turns are left out."""
    sessions: list[dict[str, Any]] = []
    evidence: list[str] = []
    names = _unique(row["haystack_session_ids"])
    for name, date, turns in zip(names, row["haystack_dates"], row["haystack_sessions"], strict=True):
        moment = longmemeval_date(date)
        kept = []
        for number, turn in enumerate(turns):
            if not turn["content"].strip():
                continue
            turn_id = f"{name}:{number}"
            kept.append({"id": turn_id, "role": turn["role"], "text": turn["content"], "timestamp": moment})
            if turn.get("has_answer"):
                evidence.append(turn_id)
        if kept:
            sessions.append({"id": name, "date": moment, "turns": kept})
    return sessions, evidence


def _unique(names: Sequence[str]) -> Iterator[str]:
    """A session that occurs twice in a haystack is two sessions."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name}#{seen[name]}"


def longmemeval_date(text: str) -> str:
    """2023/05/30 (Tue) 23:40 → 2023-05-30T23:40:00"""
    day, _, rest = text.partition(" ")
    return datetime.strptime(f"{day} {rest.rpartition(' ')[2]}", "%Y/%m/%d %H:%M").isoformat()
