"""Traits of a message, told apart by rule when it is captured: what no similarity finds.

Standing: what a person wants always ("always show worked examples" shares no word with "what is the chance of two
sixes?"); it is read beside the ranked hits. Question: it asks, so the message after it answers. Timed: it says when.
"""

import re
from enum import IntFlag

MOST_WORDS = 120  # a longer text that says "always" somewhere is a story, not an instruction

_STANDING = re.compile(
    r"""
    (?:^ | [.!?:;,\n-]\ ? | \b(?:you|please|must|should|to|and|but|i)\ )(?:always|never)\b
    | \b(?:
        from\ now\ on | going\ forward | as\ a\ rule | my\ preference | i\ favou?r
      | (?:whenever | every\ time | each\ time)\ (?:you|i|we)\b | (?:when|if)\ i\ (?:ever\ )?(?:ask|say|mention|talk)
      | i(?:'d|\ would)?\ (?:really\ |much\ |strongly\ )?(?:prefer | rather)
      | i(?:'d|\ would)?\ (?:really\ )?(?:like|love|want|need)\ (?:you|it|things|responses|answers|my\ \w+)\ to
      | i(?:\ don't|\ do\ not|\ can't|\ cannot)\ (?:like|want|eat|stand|drink|use)
      | please\ (?:do\ not|don't|remember|make\ sure|keep|use|avoid|include|refrain|ensure)
      | (?:remember|make\ sure|be\ sure)\ (?:to|that)
      | (?:do\ not|don't)\ (?:ever\ )?(?:use|call|mention|include|suggest|assume|send|show)
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_FOR = re.compile(r"\b(?:(?:can|could|would|will)\ you|please|i\ (?:prefer|like|want|need))\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_TIME = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|since|recently|weeks?|weekends?|months?|years?|mornings?|evenings?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december)\b|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)


class Trait(IntFlag):
    STANDING = 1
    QUESTION = 2
    TIMED = 4


def traits_of(text: str, *, is_person: bool) -> Trait:
    """What a message is, by rules for English. A text of more than 120 words asks nothing and wants nothing always."""
    found = Trait(0)
    if _TIME.search(text):
        found |= Trait.TIMED
    if len(text.split(None, MOST_WORDS)) > MOST_WORDS:
        return found
    text = "\n".join(
        " ".join(line.split()) for line in text.splitlines() if line.strip()
    )  # long blanks take long to match
    sentences = _SENTENCE_END.split(text)
    if 2 * sum(sentence.endswith("?") for sentence in sentences) >= len(sentences):
        found |= Trait.QUESTION
    is_bare_question = found & Trait.QUESTION and len(sentences) == 1 and not _ASKS_FOR.search(text)
    if is_person and not is_bare_question and _STANDING.search(text.replace("\u2019", "'")):
        found |= Trait.STANDING
    return found
