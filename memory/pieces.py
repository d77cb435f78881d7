"""What is embedded: long texts in pieces, short ones with what was said before.

A model reads some 500 tokens and a vector of a long text is a vector of nothing in particular, so a long message is
searched by its best piece. A short one ("Yes, on Friday!") says little without the message it answers.
"""

import re
import unicodedata
from dataclasses import dataclass

PIECE_CHARS = 900
PREVIOUS_CHARS = 300

# A grapheme may hold any number of marks; past this many a cut inside it does less harm than a search for its start.
_MOST_STEPS_BACK = 64

_BLANK = re.compile(r"\s*+")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*+\n\s*+")
_SENTENCE_END = re.compile("[.!?…][\"'”’)\\]]{0,3}\\s++|[。！？][」』”）]{0,3}\\s*+|\\n\\s*+")
_WORD_END = re.compile(r"\s++")

_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Piece:
    """`text[start:end]` of the text it was cut from, offsets in characters; neither end is blank."""

    start: int
    end: int
    text: str


def pieces(text: str, limit: int = PIECE_CHARS) -> list[Piece]:
    """Cut a text into pieces of at most `limit` characters that together hold every non-blank character, in order.

    Cuts fall between paragraphs, else between lines or sentences, else between words, else between characters as a
    reader sees them. A text that fits is one piece, a blank one none. ValueError when `limit` is not positive.
    """
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    found: list[Piece] = []
    start, stop = _skip_blank(text, 0), len(text.rstrip())
    while start < stop:
        end = start + _cut(text, start, stop, limit)
        piece = text[start:end].rstrip()
        found.append(Piece(start, start + len(piece), piece))
        start = _skip_blank(text, end)
    return found


def embedded_texts(
    text: str, *, speaker: str = "", previous: str = "", previous_speaker: str = "", limit: int = PIECE_CHARS
) -> list[str]:
    """The texts to embed for one message, one per piece.

    A message of one piece carries its speaker and the message before it in the same conversation: "Ann: Which day?"
    newline "Ben: Friday". Of a message before it that is longer than 300 characters it carries nothing: the start of a
    long answer would drown the question that follows. A longer message speaks for itself, a blank one has no text.
    """
    own = [piece.text for piece in pieces(text, limit)]
    if len(own) != 1:
        return own
    line = _line(speaker, own[0])
    before = previous.strip()
    return [f"{_line(previous_speaker, before)}\n{line}" if before and len(before) <= PREVIOUS_CHARS else line]


def _line(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text


def _skip_blank(text: str, start: int) -> int:
    blank = _BLANK.match(text, start)
    return blank.end() if blank else start


def _cut(text: str, start: int, stop: int, limit: int) -> int:
    """How many characters from `start` on the next piece takes (1 to `limit`, blanks at its end aside)."""
    rest = stop - start
    if rest <= limit:
        return rest
    # Two thirds of a short rest, or a sentence would be left over as a piece of its own.
    reach = max(1, min(limit, rest * 2 // 3))
    for boundary in (_PARAGRAPH_END, _SENTENCE_END):
        cut = _last_cut(boundary, text, start, start + reach)
        if cut * 2 >= reach:
            return cut
    return (
        _last_cut(_WORD_END, text, start, start + reach)
        or _last_cut(_WORD_END, text, start, start + limit)
        or _between_characters(text, start, start + limit) - start
    )


def _last_cut(boundary: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Distance from `start` to the last boundary whose text fits before `end`, 0 when there is none."""
    # One character more than fits: the blank behind the last word.
    last = 0
    for match in boundary.finditer(text, start, end + 1):
        if start + len(text[start : match.end()].rstrip()) <= end:
            last = match.end() - start
    return last


def _between_characters(text: str, start: int, end: int) -> int:
    """The last position up to `end` that does not tear a character as readers see it, or `end` itself."""
    for at in range(end, max(start, end - _MOST_STEPS_BACK), -1):
        if not _is_inside_cluster(text, at):
            return at
    return end


def _is_inside_cluster(text: str, at: int) -> bool:
    """Whether the characters on both sides of a position belong together: marks, joined emoji, flags, surrogates."""
    left, right = text[at - 1], text[at]
    if unicodedata.category(right).startswith("M") or _JOINER in (left, right) or ord(right) in _SKIN_TONES:
        return True
    if "\ud800" <= left <= "\udbff" and "\udc00" <= right <= "\udfff":
        return True
    if ord(left) not in _FLAG_LETTERS or ord(right) not in _FLAG_LETTERS:
        return False
    letters = 0
    while letters < min(at, _MOST_STEPS_BACK) and ord(text[at - 1 - letters]) in _FLAG_LETTERS:
        letters += 1
    return letters % 2 == 1
