"""The JSON Lines shape that benchmarks of this field share: conversations and the questions asked of them."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """`evidence`: conversation/turn (or conversation/session, where that is the unit) of what answers it."""

    id: str
    conversation: str
    text: str
    category: str
    evidence: frozenset[str]


def read_questions(path: Path, *, unit: str) -> list[Question]:
    """Questions that have evidence in this unit."""
    field = "evidence" if unit == "turn" else "evidence_sessions"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    questions = [
        Question(
            row["id"],
            row["conversation"],
            row["question"],
            str(row["category"]),
            frozenset(f"{row['conversation']}/{unit_id}" for unit_id in row[field]),
        )
        for row in rows
    ]
    return [question for question in questions if question.evidence]


def read_conversations(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as file:
        for line in file:
            yield json.loads(line)


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
