"""Conversations, one a line, in the shape that benchmarks of this field share.

{id, dataset?, meta?, sessions: [{id, date?, title?, meta?, turns: [{id?, role, speaker?, text, timestamp?,
image_caption?}]}]}. A session becomes one recall file, known by dataset, conversation and session: importing again
changes nothing, and a session that has grown is continued. What cannot be kept is reported by line; the rest goes in.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from accounts.actor import Actor
from accounts.errors import BrainError
from memory.capture import capture_bulk
from memory.models import Message, RecallFile
from memory.text import is_visible
from memory.types import Captured, NewMessage, NewRecallFile

LINE_BYTES = 256 * 2**20
BATCH_MESSAGES = 400
PROBLEMS_KEPT = 200
ALSO_CALLED = {"human": "user", "other": "user", "ai": "assistant", "model": "assistant"}  # other: another person


class Lines(Protocol):
    """An open file, or what behaves like one."""

    def readline(self, size: int = -1, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Problem:
    """Why something on a line (from 1) was left out. No content is quoted."""

    line: int
    reason: str


@dataclass(slots=True)
class Report:
    bytes_read: int = 0
    conversations: int = 0
    recall_files: int = 0
    unchanged: int = 0
    messages: int = 0
    problem_count: int = 0
    problems: list[Problem] = field(default_factory=list)

    def note(self, line: int, reason: str) -> None:
        self.problem_count += 1
        if len(self.problems) < PROBLEMS_KEPT:
            self.problems.append(Problem(line, reason))


@dataclass(frozen=True, slots=True)
class Conversation:
    line: int
    id: str
    dataset: str
    sessions: tuple[NewRecallFile, ...]


class Unusable(Exception):
    """A record that cannot be kept, with the reason."""


def import_jsonl(
    file: Lines,
    *,
    scope: str,
    actor_for: Callable[[Conversation], Actor],
    on_progress: Callable[[Report], bool] = lambda report: True,
    dry_run: bool = False,
) -> Report:
    """Import a stream of conversations. `on_progress` is called after each batch and stops the import by False.

    dry_run: check and count everything, keep nothing.
    """
    report = Report()
    for conversation in read_conversations(file, report):
        actor = actor_for(conversation)
        report.conversations += 1
        for batch in _batches(conversation.sessions):
            if dry_run:
                report.recall_files += len(batch)
                report.messages += sum(len(new.messages) for new in batch)
            else:
                _keep(actor, scope, conversation, batch, report)
            if not on_progress(report):
                return report
    on_progress(report)
    return report


def read_conversations(file: Lines, report: Report) -> Iterator[Conversation]:
    """One conversation at a time; what is wrong goes into the report."""
    number = 0
    while line := file.readline(LINE_BYTES):
        number += 1
        report.bytes_read += len(line)
        if len(line) == LINE_BYTES and not line.endswith(b"\n"):
            report.note(number, f"longer than {LINE_BYTES:,} bytes; the rest of the file is not read")
            return
        if not line.strip():
            continue
        try:
            yield _conversation(_json(line), number, report)
        except Unusable as error:
            report.note(number, str(error))


def _keep(actor: Actor, scope: str, conversation: Conversation, batch: list[NewRecallFile], report: Report) -> None:
    for new, result in zip(batch, capture_bulk(actor, scope=scope, files=batch), strict=True):
        if isinstance(result, Captured):
            report.recall_files += result.created
            report.unchanged += not result.created
            report.messages += len(new.messages) if result.created else 0
        elif isinstance(result, BrainError):
            report.note(conversation.line, f"session {new.metadata['session']}: {result.field}: {result.message}")


def _batches(sessions: Iterable[NewRecallFile]) -> Iterator[list[NewRecallFile]]:
    batch: list[NewRecallFile] = []
    for new in sessions:
        batch.append(new)
        if sum(len(each.messages) for each in batch) >= BATCH_MESSAGES:
            yield batch
            batch = []
    if batch:
        yield batch


def _json(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unusable("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise Unusable(f"broken JSON at column {error.colno}: {error.msg}") from None
    except (RecursionError, ValueError):
        raise Unusable("nested too deeply, or a number of too many digits") from None
    if not isinstance(value, dict):
        raise Unusable("not a JSON object")
    return value


def _conversation(value: Mapping[str, Any], line: int, report: Report) -> Conversation:
    name = _text(value, "id", "conversation")
    sessions = value.get("sessions")
    if not isinstance(sessions, list):
        raise Unusable("sessions: expected a list")
    dataset = str(value.get("dataset") or "conversations")
    kept: list[NewRecallFile] = []
    for index, session in enumerate(sessions):
        try:
            kept.append(_session(session, name, dataset, line, report))
        except Unusable as error:
            report.note(line, f"sessions.{index}: {error}")
    return Conversation(line, name, dataset, tuple(kept))


def _session(value: Any, conversation: str, dataset: str, line: int, report: Report) -> NewRecallFile:
    if not isinstance(value, dict):
        raise Unusable("expected an object")
    name = _text(value, "id", "session")
    turns = value.get("turns")
    if not isinstance(turns, list):
        raise Unusable("turns: expected a list")
    date = _time(value.get("date"), "date")
    messages: list[NewMessage] = []
    for index, turn in enumerate(turns):
        try:
            messages.append(_message(turn, date))
        except Unusable as error:
            report.note(line, f"session {name}: turns.{index}: {error}")
    if not messages:
        raise Unusable("no turn can be kept")
    meta = value.get("meta")
    return NewRecallFile(
        kind=RecallFile.Kind.CONVERSATION,
        messages=tuple(messages),
        title=str(value.get("title") or ""),
        platform=dataset[:50],
        conversation_type="text",
        occurred_at=date,
        source_key=f"{dataset}:{conversation}:{name}",
        metadata={"conversation": conversation, "session": name, **(meta if isinstance(meta, dict) else {})},
        trust=RecallFile.Trust.IMPORTED,
    )


def _message(value: Any, date: datetime | None) -> NewMessage:
    if not isinstance(value, dict):
        raise Unusable("expected an object")
    text = value.get("text")
    if not isinstance(text, str) or not is_visible(text):
        raise Unusable("text: missing or blank")
    role = ALSO_CALLED.get(str(value.get("role")), value.get("role"))
    if role not in Message.Role.values:
        raise Unusable(f"role: must be one of {', '.join([*Message.Role.values, *ALSO_CALLED])}")
    speaker = str(value.get("speaker") or "")
    details: dict[str, Any] = {"id": str(value["id"])} if value.get("id") is not None else {}
    if isinstance(value.get("image_caption"), str):
        details["attachments"] = [{"kind": "image", "caption": value["image_caption"]}]
    return NewMessage(
        role=role,
        content=text,
        speaker="" if speaker == role else speaker,  # a speaker called "user" names nobody
        timestamp=_time(value.get("timestamp"), "timestamp") or date,
        details=details,
    )


def _text(value: Mapping[str, Any], name: str, what: str) -> str:
    found = value.get(name)
    if not isinstance(found, str | int) or not str(found).strip():
        raise Unusable(f"{name}: the {what} has none")
    return str(found)


def _time(value: Any, name: str) -> datetime | None:
    """ISO 8601; without an offset it counts as UTC."""
    if value is None or value == "":
        return None
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Unusable(f"{name}: not a date in ISO 8601") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
