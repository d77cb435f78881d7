"""The demo's memories, written to be read: Markdown with one heading for a node and one for each memory.

    # Business/Sales/Pricing                                      where everything below it is filed

    ## 2025-01-08 14:30 | claude.ai | Widget Pro specs | product  a conversation: time (UTC), platform, title, tags

    Mara: What are the system requirements?                       a message: a paragraph with its speaker

    assistant: 4GB RAM.

    ## 2025-01-09 08:00 | idea | naming                           a thought: time, category, tags; then its words

Below `# Inbox` nobody has chosen a node. Lines within a paragraph are joined. The messages of a conversation are a
minute apart. A memory is known by its time, which therefore occurs once in a brain.
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from graph.tree import INBOX
from memory.models import RecallFile
from memory.types import NewMessage, NewRecallFile

HEADING = re.compile(r"^(?=#{1,2} )", re.MULTILINE)
PARAGRAPH_END = re.compile(r"\n\s*\n")
SPOKEN = ("phone", "meeting")
BETWEEN_MESSAGES = timedelta(minutes=1)


def read_memories(path: Path) -> list[NewRecallFile]:
    """Every memory of a file, in its order. ValueError for what is not in the format above."""
    node: str | None = None
    found: list[NewRecallFile] = []
    for block in HEADING.split(path.read_text(encoding="utf-8")):
        heading, _, body = block.partition("\n")
        if heading.startswith("## "):
            found.append(_memory(node, heading.removeprefix("## "), _paragraphs(body)))
        else:
            named = heading.removeprefix("# ").strip()
            node = None if named == INBOX else named
    return found


def _memory(node: str | None, heading: str, paragraphs: list[str]) -> NewRecallFile:
    when, what, *rest = (part.strip() for part in heading.split("|"))
    moment = datetime.strptime(when, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
    key = f"demo:{when}"
    if what in RecallFile.Category.values:
        return NewRecallFile(
            kind=RecallFile.Kind.THOUGHT,
            messages=(NewMessage(role="user", content="\n\n".join(paragraphs)),),
            category=what,
            tags=_tags(rest),
            node=node,
            occurred_at=moment,
            source_key=key,
        )
    title, *tags = rest
    return NewRecallFile(
        kind=RecallFile.Kind.CONVERSATION,
        messages=tuple(_message(text, moment + i * BETWEEN_MESSAGES) for i, text in enumerate(paragraphs)),
        title=title,
        platform=what,
        conversation_type="voice" if what in SPOKEN else "text",
        tags=_tags(tags),
        node=node,
        occurred_at=moment,
        source_key=key,
        trust=RecallFile.Trust.IMPORTED,
    )


def _message(paragraph: str, moment: datetime) -> NewMessage:
    speaker, colon, content = paragraph.partition(": ")
    if not colon:
        raise ValueError(f"Nobody says: {paragraph}")
    if speaker == "assistant":
        return NewMessage(role="assistant", content=content, timestamp=moment)
    return NewMessage(role="user", speaker=speaker, content=content, timestamp=moment)


def _paragraphs(body: str) -> list[str]:
    return [" ".join(paragraph.split()) for paragraph in PARAGRAPH_END.split(body) if paragraph.strip()]


def _tags(parts: list[str]) -> tuple[str, ...]:
    return tuple(tag.strip() for part in parts for tag in part.split(","))
