"""The one tokeniser: stored text and queries become the same numbers here.

A term is the 32-bit hash of a stem. Scripts that put spaces between words give one term per word; scripts that do not
(Chinese, Japanese, Thai, and Korean, whose particles stick to the noun) give one term per pair of neighbouring
characters; an emoji is a term of its own. Everything here takes time linear in the length of the text.

Every Latin word is stemmed as English, whatever its language: question and memory have that in common even when one of
them is too short to tell its language. A text that is certainly in another language has the stems of that language
beside them; an English one has nothing beside them. What is stored, not what is asked, also has the beginnings of long
words of languages that join words (Versicherung finds Versicherungsvertrag) and single Chinese characters and Korean
syllables.

Beside the terms there are two lists for people to read: the keywords of a text and the names in it.
"""

import re
import threading
import unicodedata
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import Stemmer

from graph.languages import language_of_script, latin_language, script_of, small_words

# Longer words are hashed whole and not remembered: nobody types them twice, and the memory of words must stay small.
LONGEST_WORD_CHARS = 40
REMEMBERED_WORDS = 32_768

_STOP_WORDS_TEXT = """
a about above after again against ain't all also am an and any are aren't as at be because been before being below
between both but by can can't cannot could could've couldn't did didn't do does doesn't doing don't down during each
few for from further had hadn't has hasn't have haven't having he he'd he'll her here hers herself him himself his
how i i'd i'll i'm i've if in into is isn't it it'd it'll its itself just let me might more most must mustn't my
myself no nor not of off on once only or other our ours ourselves out over own same shall shan't she she'd she'll
should should've shouldn't so some such than that that'd that'll the their theirs them themselves then there these
they they'd they'll they're they've this those through to too under until up upon us very was wasn't we we'd we'll
we're we've were weren't what when where which while who whom whose why will with won't would would've wouldn't you
you'd you'll you're you've your yours yourself yourselves
"""
# A possessive or contracted 's is dropped before words are looked up here.
STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())

_SMALL_TALK_TEXT = """
absolutely actually ah always amazing anything anyway around aw awesome aww back best better big bit bring btw bye
check cheers come congrats congratulations cool day dear definitely didnt dont else even ever every everyone
everything exactly feel feeling find fine first fyi get gets getting give glad go goes going gonna good goodbye got
great guess ha haha happy hear hello helps hey hi hmm hope huh idea im ive keep kind know last lately later like
little lol long look looking looks lot lots made make makes making many maybe mean means much nah need never new
next nice nope now oh ok okay old omg one others perhaps please pretty probably put really regards right said say
see seeing seem since someone something soon sorry sound sounds still stuff super sure take taking tell thank thanks
thing things think though thought time times today tomorrow tonight took totally tried try trying two understand use
used wait want wanted wants way well went whatever whoa woah wonderful work working works wow yeah year years yep
yes yesterday yet yup
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
morning afternoon evening night week weekend weeks month months days hour hours minute minutes
"""
# Greetings, small talk and words for time: searched like any other, but no keywords and no names.
SMALL_TALK = frozenset(_SMALL_TALK_TEXT.split())


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of one text.

    `counts`: hash of the stem (0 ≤ hash < 2³²) → number of occurrences, stop words included.
    `length`: number of tokens that are no stop words, the document length of BM25.
    """

    counts: Mapping[int, int]
    length: int


@dataclass(frozen=True, slots=True)
class PackedTerms:
    """What `pack` stored, as arrays of one length: `hashes` uint32, ascending; `counts` uint16, saturated."""

    hashes: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.uint16]
    length: int


def terms(text: str) -> Terms:
    """Count the terms of a stored text; stop words are kept, but `length` leaves them out."""
    counts: dict[int, int] = {}
    length = 0
    tokens = _tokens(text)
    language = _language(tokens)
    small = small_words(language) if language else ()
    for token in tokens:
        for term, is_content in _terms_of(token):
            counts[term] = counts.get(term, 0) + 1
            length += is_content and token not in small
    if language or not text.isascii():
        for token in tokens:
            for term in _beside(token, language, stored=True):
                counts[term] = counts.get(term, 0) + 1
    return Terms(counts, length)


def query_terms(text: str) -> tuple[int, ...]:
    """The distinct terms of a question in order of appearance; stop words only when it holds nothing else."""
    tokens = _tokens(text)
    language = _language(tokens)
    small = small_words(language) if language else ()
    every: dict[int, None] = {}
    content: dict[int, None] = {}
    for token in tokens:
        for term, is_content in _terms_of(token):
            every[term] = None
            if is_content and token not in small:
                content[term] = None
                content.update(dict.fromkeys(_beside(token, language, stored=False) if language else ()))
    return tuple(content or every)


def language_of(text: str) -> str | None:
    """The language a text is in (its English name in lower case) when its script, words or letters tell; None when
    they do not. English is told by its small words."""
    tokens = _tokens(text)
    return (
        language_of_script(" ".join(tokens))
        or _language(tokens)
        or ("english" if not STOP_WORDS.isdisjoint(tokens) else None)
    )


# -- the stored form ---------------------------------------------------------------------------------------------------
# Little-endian: length uint32, n hashes uint32 (ascending), n counts uint16; n follows from the size.

_HEADER_BYTES, _TERM_BYTES = 4, 6
_MOST_COUNT = 2**16 - 1


def pack(terms: Terms) -> bytes:
    """The stored form of a text's terms: 4 bytes and 6 more per distinct term. Counts above 65,535 saturate."""
    pairs = sorted(terms.counts.items())
    hashes = np.array([term for term, _ in pairs], dtype="<u4")
    counts = np.array([min(count, _MOST_COUNT) for _, count in pairs], dtype="<u2")
    return terms.length.to_bytes(_HEADER_BYTES, "little") + hashes.tobytes() + counts.tobytes()


def unpack(packed: bytes | memoryview) -> PackedTerms:
    """Read what `pack` wrote, without copying: the arrays are read-only views. ValueError when the size is wrong."""
    count, rest = divmod(len(packed) - _HEADER_BYTES, _TERM_BYTES)
    if count < 0 or rest:
        raise ValueError(f"packed terms of {len(packed)} bytes: expected 4 + 6 n")
    return PackedTerms(
        hashes=np.frombuffer(packed, dtype="<u4", count=count, offset=_HEADER_BYTES),
        counts=np.frombuffer(packed, dtype="<u2", count=count, offset=_HEADER_BYTES + 4 * count),
        length=int.from_bytes(packed[:_HEADER_BYTES], "little"),
    )


# -- tokens ------------------------------------------------------------------------------------------------------------

# Marks continue a word (vowel signs, accents that have no composed form). Variation selectors and the keycap belong to
# emoji instead.
_MARKS = "".join(
    chr(code)
    for code in range(0x300, 0x10000)
    if unicodedata.category(chr(code)).startswith("M") and not 0xFE00 <= code <= 0xFE0F and code != 0x20E3
)
UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Myanmar, Khmer
    "\u1100-\u11ff\uac00-\ud7a3"  # Hangul
    "\u3005\u3007\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"  # Kana, Bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_LETTER = rf"[^\W_{UNSPACED}]"
_PICTURE = "[\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b1b\u2b1c\u2b50\u2b55\U0001f000-\U0001f1e5\U0001f200-\U0001faff]"
_SKIN = "\U0001f3fb-\U0001f3ff"
# No alternative can start where another one could go on, so a scan never goes back.
WORD = rf"{_LETTER}++(?:(?:[{_MARKS}]|'(?={_LETTER})){_LETTER}*+)*+"
_EMOJI = rf"[\U0001f1e6-\U0001f1ff]{{1,2}}|{_PICTURE}[\ufe0f{_SKIN}]*+(?:\u200d{_PICTURE}[\ufe0f{_SKIN}]*+)*+"
_TOKEN = re.compile(rf"{WORD}|[{UNSPACED}]++|{_EMOJI}")
_ASCII_TOKEN = re.compile("[a-z0-9]++(?:'[a-z0-9]++)*+")

_STARTS_UNSPACED = re.compile(f"[{UNSPACED}]")
_STARTS_EMOJI = re.compile(_EMOJI)
_TONE = re.compile(f"[\ufe0f{_SKIN}]")

# Normalising sorts the marks of one character in quadratic time: a text of stacked marks would take minutes. No
# language stacks more than a handful.
_SORTED_MARKS = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code)))
_STACKED_MARKS = re.compile(f"([{_SORTED_MARKS}]{{8}})[{_SORTED_MARKS}]++")
_APOSTROPHES_AND_INVISIBLES = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "\u00ad": None, "\u200b": None, "\u2060": None}
)


def normalised(text: str) -> str:
    """NFKC with straight apostrophes and without invisible characters; linear also for stacked marks."""
    if text.isascii():
        return text
    # Invisible characters go first, they may stand between marks.
    text = text.translate(_APOSTROPHES_AND_INVISIBLES)
    return text if text.isascii() else unicodedata.normalize("NFKC", _STACKED_MARKS.sub(r"\1", text))


def _tokens(text: str) -> list[str]:
    """Folded words, runs of unspaced characters and emoji, in order."""
    text = normalised(text).casefold()
    if text.isascii():
        return _ASCII_TOKEN.findall(text)
    # Folding may have taken a composed character apart.
    return _TOKEN.findall(unicodedata.normalize("NFC", text))


# -- stems -------------------------------------------------------------------------------------------------------------

_Terms = tuple[tuple[int, bool], ...]
"""(hash, is no stop word) of each term of a token."""

# The first word of a letter's Unicode name is its script.
_STEMMERS = {
    "LATIN": "english",
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "ARMENIAN": "armenian",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
}
_UNACCENTED = {"LATIN", "GREEK"}
_NO_ACCENT_TO_DROP = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "æ": "ae", "œ": "oe"})
# French and Italian articles that lean on the next word: l'eau, dell'arte.
_ELISIONS = {"l", "d", "j", "m", "n", "s", "t", "c", "qu", "dell", "all", "nell", "sull", "dall"}


# Languages of Latin letters, and two that write the letters of another one; each has a stemmer of its name.
_OF_OTHER_SCRIPTS = frozenset(("persian", "serbian"))
_LANGUAGES_TEXT = """
german french spanish italian portuguese dutch swedish danish norwegian finnish hungarian polish czech romanian turkish
indonesian
"""
_LANGUAGES = frozenset(_LANGUAGES_TEXT.split())


class _Stemmers(threading.local):
    """A Snowball stemmer holds state while it works: every thread has its own."""

    def __init__(self) -> None:
        # The words are remembered below, with their hashes.
        self.by_script = {script: Stemmer.Stemmer(name, 0) for script, name in _STEMMERS.items()}
        self.by_language = {name: Stemmer.Stemmer(name, 0) for name in _LANGUAGES | _OF_OTHER_SCRIPTS}


_stemmers = _Stemmers()


def stem(word: str) -> str:
    """The stem of one folded word of a script with spaces; accents of Latin and Greek letters are dropped.

    Latin words are stemmed as English whatever their language: question and memory are cut alike, which is what counts.
    """
    word = word.removesuffix("'s")
    script = "LATIN" if word.isascii() else script_of(word[0])
    word = _without_article(_unaccented(word) if script in _UNACCENTED else word)
    stemmer = _stemmers.by_script.get(script)
    return stemmer.stemWord(word) if stemmer else word


def _unaccented(word: str) -> str:
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFKD", word).translate(_NO_ACCENT_TO_DROP)
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def _without_article(word: str) -> str:
    if "'" not in word or word in STOP_WORDS:
        return word
    article, _, noun = word.partition("'")
    return noun if article in _ELISIONS else word


# They write as one word what others write as several.
_JOINS_WORDS = frozenset(("german", "dutch", "swedish", "danish", "norwegian", "finnish", "hungarian"))
_TOKENS_LOOKED_AT = 100
_LEAST_BEGINNING_CHARS, _LEAST_REST_CHARS, _LONGEST_BEGINNING_CHARS = 4, 3, 16
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_CHARACTER_IS_WORD = re.compile("[\uac00-\ud7a3\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def _language(tokens: list[str]) -> str | None:
    """The language of a text that is certainly not English and whose words need another stemmer."""
    found = latin_language(tokens, STOP_WORDS)
    if found is None and any(not token.isascii() for token in tokens[:_TOKENS_LOOKED_AT]):
        found = language_of_script(" ".join(tokens[:_TOKENS_LOOKED_AT]))
    return found if found in _stemmers.by_language else None


def _beside(token: str, language: str | None, *, stored: bool) -> tuple[int, ...]:
    if len(token) > LONGEST_WORD_CHARS:
        return _characters(token, stored=stored)
    return _beside_remembered(token, language, stored)


@lru_cache(REMEMBERED_WORDS)
def _beside_remembered(token: str, language: str | None, stored: bool) -> tuple[int, ...]:
    """The terms that a word has beside its own in a text of this language."""
    if not token[0].isalpha() or _STARTS_UNSPACED.match(token):
        return _characters(token, stored=stored)
    if language is None:
        return ()
    is_latin = token.isascii() or script_of(token[0]) == "LATIN"
    if is_latin == (language in _OF_OTHER_SCRIPTS):
        return ()
    word = _without_article(token)
    stemmed = _stemmers.by_language[language].stemWord(word)
    found = {_unaccented(stemmed) if is_latin else stemmed}
    if language == "german" and stored:  # asked by someone without these letters
        found.add(stem(word.translate(_SPELLED_OUT)))
    if stored and language in _JOINS_WORDS:
        plain = _unaccented(word)
        longest = min(len(plain) - _LEAST_REST_CHARS, _LONGEST_BEGINNING_CHARS)
        found.update(plain[:end] for end in range(_LEAST_BEGINNING_CHARS, longest + 1))
    return tuple(sorted(_hash(one) for one in found - {stem(token), ""}))


def _characters(token: str, *, stored: bool) -> tuple[int, ...]:
    if not stored or len(token) == 1:
        return ()
    return tuple(_hash(one) for one in _CHARACTER_IS_WORD.findall(token))


def _terms_of(token: str) -> _Terms:
    return _remembered(token) if len(token) <= LONGEST_WORD_CHARS else _computed(token)


def _computed(token: str) -> _Terms:
    if _STARTS_UNSPACED.match(token):
        if len(token) == 1:
            return ((_hash(token), True),)
        return tuple((_hash(token[at : at + 2]), True) for at in range(len(token) - 1))
    if _STARTS_EMOJI.match(token):
        return ((_hash(_TONE.sub("", token)), True),)
    if len(token) > LONGEST_WORD_CHARS:
        return ((_hash(token), True),)
    is_content = token not in STOP_WORDS and token.removesuffix("'s") not in STOP_WORDS
    return ((_hash(stem(token)), is_content),)


_remembered = lru_cache(REMEMBERED_WORDS)(_computed)


def _hash(stem: str) -> int:
    return zlib.crc32(stem.encode())


# -- words for people --------------------------------------------------------------------------------------------------
# Keywords and names are shown on maps and in index files, so nothing that identifies or unlocks may be among them.

LONGEST_SHOWN_CHARS = 30
MOST_WORDS_IN_A_NAME = 4

# Seven digits or more with at most three separators between two of them: phones, cards, accounts, dates.
_DIGITS_IN_A_ROW = re.compile(r"(?<!\d)\d(?:[ ().\-‐–/]{0,3}\d){6,}+")
_SECRET_WITH_LABEL = re.compile(
    r"\b(?:password|passphrase|passwd|pwd|secret|token|pin|api[ _-]?key)\b\s{0,3}(?:is\b|[:=])\s{0,3}\S{1,200}",
    re.IGNORECASE,
)
_CHUNK = re.compile(rf"[^\s{UNSPACED}\u3001-\u3020\uff01-\uff20]++")
_UNSHOWN = re.compile(
    r"\w@\w"  # e-mail
    r"|://|^www\."
    r"|\d:\d\d"  # time of day, offset in a recording
    r"|\d{5}"
    r"|^\W*\[[^\[\]]{0,24}\]\W*$"  # check box, placeholder
    r"|(?:^|\W)(?:(?:sk|pk|rk|hf|gh[opsu]|github_pat|glpat|xox[a-z])[-_]|AKIA|ASIA|AIza|eyJ)[\w-]{8}"
)
_ALNUM = re.compile(r"[^\W_]++")
_HEX = re.compile(r"[0-9a-fA-F]{7,}")
_LETTERS_BETWEEN_DIGITS = re.compile(r"\d[^\W\d_]++\d|[^\W\d_]\d++[^\W\d_]")
_CASE_CHANGE = re.compile("[a-z][A-Z]")

_YEAR = re.compile("(?:19|20)[0-9]{2}")
_UNSPACED_WORD = re.compile("[\u30a1-\u30fa\u30fc-\u30ff]{2,}+|[\uac00-\ud7a3]{2,}+|[\u4e00-\u9fff]{2,}+")
_LONGEST_UNSPACED_WORD = 6


def keywords(text: str, most: int) -> list[str]:
    """Up to `most` lower-case key words of a text, the most frequent first, then in order of appearance.

    Words of one stem count together and are shown as first written. No stop words, small talk, e-mail addresses,
    times, keys or hashes; of the numbers only years.
    """
    counts: dict[str, int] = {}
    shown: dict[str, str] = {}
    for token in _TOKEN.findall(_without_noise(text).lower()):
        for word in _readable(token):
            key = stem(word)
            shown.setdefault(key, word)
            counts[key] = counts.get(key, 0) + 1
    return [shown[key] for key in sorted(counts, key=counts.__getitem__, reverse=True)[:most]]


def _readable(token: str) -> list[str]:
    """The words to show for a lower-case token: none, itself, or the words of an unspaced run."""
    if _STARTS_UNSPACED.match(token):
        return [part for run in _UNSPACED_WORD.findall(token) for part in _parts(run)]
    word = token.removesuffix("'s")
    if not 2 <= len(word) <= LONGEST_SHOWN_CHARS or word in STOP_WORDS or word in SMALL_TALK:
        return []
    return [word] if word[0].isalpha() or _YEAR.fullmatch(word) else []


def _parts(run: str) -> list[str]:
    if len(run) <= _LONGEST_UNSPACED_WORD:
        return [run]
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _without_noise(text: str) -> str:
    """The normalised text with a bar in place of whatever must not be shown."""
    text = _DIGITS_IN_A_ROW.sub("|", _SECRET_WITH_LABEL.sub("|", normalised(text)))
    return _CHUNK.sub(lambda chunk: "|" if _is_noise(chunk[0]) else chunk[0], text)


def _is_noise(chunk: str) -> bool:
    """Whether text without spaces is an address, a time, a number or looks like a key."""
    if len(chunk) < 20 and chunk.isalpha():
        return False
    if _UNSHOWN.search(chunk):
        return True
    if len(chunk) >= 20 and len(_CASE_CHANGE.findall(chunk)) >= 3:
        return True
    return any(_is_key(run) for run in _ALNUM.findall(chunk) if len(run) >= 7 and not run.isalpha())


def _is_key(run: str) -> bool:
    """Whether letters and digits in one run are mixed as no name mixes them."""
    if run.isdigit():
        return False
    return bool(_HEX.fullmatch(run)) or (len(run) >= 8 and bool(_LETTERS_BETWEEN_DIGITS.search(run)))


# -- names -------------------------------------------------------------------------------------------------------------

_NAME_TOKEN = re.compile(rf"[0-9]{{1,4}}(?:\.[0-9]{{1,4}}){{1,3}}(?!\w)|{WORD}")
_NUMBER = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){0,3}")
_JOINS = {" ", "-", " & "}
_ABBREVIATED = {"dr", "mr", "mrs", "ms", "prof", "st"}
_LINKS = {"of", "de", "del", "della", "di", "da", "du", "la", "le", "van", "von", "der", "den", "al", "bin", "ibn"}
# Small talk that also begins names: New York, Great Britain.
_MAY_BEGIN_NAMES = {"new", "great", "old", "good"}
_SENTENCE_ENDS = frozenset('.!?:;…。！？\n\r"“”„«»()[]{}|•*#>')


@dataclass(slots=True)
class _Name:
    """One name while a text is read. `is_certain`: seen where the sentence does not explain the capital letter."""

    shown: str
    count: int = 0
    is_certain: bool = False


def entities(text: str, most: int) -> list[str]:
    """Up to `most` names in a text as first written, the most frequent first, then in order of appearance.

    By rule: up to four capitalised words in a row (with a number behind them: "Version 2.0"), acronyms, and words
    with a capital inside. One capitalised word that only ever begins sentences is no name. Scripts without capitals
    have none.
    """
    text = _without_noise(text)
    tokens = list(_NAME_TOKEN.finditer(text))
    small_words = {token[0] for token in tokens if token[0].islower()}
    loud_count = sum(1 for token in tokens if len(token[0]) > 1 and token[0].isupper())
    is_shouted = loud_count >= 5 and loud_count * 3 > len(tokens)

    names: dict[str, _Name] = {}
    for run, begins_sentence in _runs(text, tokens, is_shouted=is_shouted):
        if begins_sentence and run[0][0].lower() in small_words:
            run = run[1:]
        if run[:1] and (len(run) > 1 or run[0][0].lower() not in _MAY_BEGIN_NAMES):
            shown = text[run[0].start() : run[:MOST_WORDS_IN_A_NAME][-1].end()].removesuffix("'s")
            if 2 <= len(shown) <= 2 * LONGEST_SHOWN_CHARS:
                name = names.setdefault(shown.casefold(), _Name(shown))
                name.count += 1
                name.is_certain |= not begins_sentence or len(run) > 1 or not shown[1:].islower()
    certain = [name for name in names.values() if name.is_certain]
    return [name.shown for name in sorted(certain, key=lambda name: name.count, reverse=True)[:most]]


def _runs(text: str, tokens: list[re.Match[str]], *, is_shouted: bool) -> Iterator[tuple[list[re.Match[str]], bool]]:
    """Runs of capitalised words, with links and numbers between them, and whether each begins a sentence."""
    run: list[re.Match[str]] = []
    link: list[re.Match[str]] = []
    begins_sentence = False
    end = 0
    for token in tokens:
        word, gap = token[0], text[end : token.start()]
        is_joined = gap in _JOINS or (gap == ". " and bool(run) and run[-1][0].lower() in _ABBREVIATED)
        end = token.end()
        if run and (not is_joined or run[-1][0].endswith("'s")):
            yield run, begins_sentence
            run, link = [], []
        if _is_capitalised(word) and not (is_shouted and word.isupper()):
            if not run:
                begins_sentence = token is tokens[0] or not _SENTENCE_ENDS.isdisjoint(gap)
            run += [*link, token]
            link = []
        elif run and not link and _NUMBER.fullmatch(word):
            run.append(token)
        elif run and not link and word in _LINKS and run[-1][0][0].isalpha():
            link = [token]
        elif run:
            yield run, begins_sentence
            run, link = [], []
    if run:
        yield run, begins_sentence


def _is_capitalised(word: str) -> bool:
    if word.islower() or not word[0].isalpha() or len(word) > LONGEST_SHOWN_CHARS:
        return False
    folded = word.lower().removesuffix("'s")
    return folded not in STOP_WORDS and (folded not in SMALL_TALK or folded in _MAY_BEGIN_NAMES)
