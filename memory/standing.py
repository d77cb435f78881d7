"""Standing instructions and preferences: what a person wants always, whatever the question.

No similarity finds them ("always show worked examples" shares no word with "what is the chance of two sixes?"), so they
are told apart by rule when they are captured, and read beside the ranked hits.
"""

import re

MOST_WORDS = 120  # a longer text that says "always" somewhere is a story, not an instruction

_STANDING = re.compile(
    r"""
    \b(?:
        always | never | from\ now\ on | going\ forward | whenever | every\ time | each\ time | at\ all\ times
      | i(?:'d|\ would)?\ (?:really\ |much\ |strongly\ )?(?:prefer | rather) | my\ preference | i\ favou?r
      | i(?:'d|\ would)?\ (?:really\ )?(?:like|love|want|need)\ (?:you|it|things|responses|answers|my\ \w+)\ to
      | i(?:\ don't|\ do\ not|\ can't|\ cannot|\ can't)\ (?:like|want|eat|stand|drink|use)
      | please\ (?:do\ not|don't|remember|make\ sure|keep|use|avoid|include|refrain|ensure)
      | (?:remember|make\ sure|be\ sure)\ (?:to|that)
      | (?:do\ not|don't)\ (?:ever\ )?(?:use|call|mention|include|suggest|assume|send|show)
      | when\ i\ ask | if\ i\ (?:ever\ )?ask | as\ a\ rule | by\ default
    )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


def says_how_it_is_wanted(text: str) -> bool:
    """Whether a person's line reads like a standing instruction or preference."""
    return len(text.split(None, MOST_WORDS)) <= MOST_WORDS and _STANDING.search(text.replace("\u2019", "'")) is not None
