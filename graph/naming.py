"""Names for groups of memories, made of the key phrases that set a group apart from its siblings.

A name holds no more of a text than two short phrases, and nothing that identifies or unlocks: the phrases are the key
words and names that entries already carry. Pure functions, deterministic.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log

from graph.words import LONGEST_SHOWN_CHARS, SMALL_TALK, UNSPACED, WORD, keywords, normalised, stem

MOST_WORDS = 3  # with the "and" between two phrases four in a row: five could be a quotation

_GENERAL_TEXT = """
ability able absolute accept accepted access accomplish accomplished accomplishment achieve achieved achievement
achievements achieving act action actions active actual add added adding additional address adds adjust adjusted
adjusting adjustment adjustments admire adorable advance advantage advice affect affected affects afford agree agreed
ahead aim aiming align alive allocate allocated allow allowing allows almost alone along already alright alternative
amount analysis anchor anger annual annually another answer anxious anymore anytime appeal apply applying appointment
appreciate appreciated approach approaches appropriate area areas args arrange article ask asked asking aspect aspects
assess assignment assist assistance async atmosphere attached attempt attend attended attending attention available
average avoid avoiding await awareness away balance balancing base based basic basics beautiful beauty became become
becomes becoming began begin beginning behind believe believing beneficial benefit benefits bet beyond biggest bit biz
blast bless blessed bliss block blown blue bool boost boosts bought boundaries break breaking breaks breathtaking
bright brings bro broad brought buddies buddy bugging build building built bummer busy buy buying call called calling
calls calm calming captivating capture captured care careful case cases catch catching category caught cause causes
celebrate celebrating center centralized certain challenge challenges challenging chance change changed changes
changing chasing chat chatted chatting cheer cherish cherished child chill chilling choice choices choose choosing
chose chosen city clarity class clear clearer clearly close closer co code color colors com combine come comes comfort
comfortable comforting comfy comment comments commit commitment common communicate community compare compared complete
completed completely completing complex component components concept concern concerned concerns conduct confidence
confident confirm confused connect connected connecting connection connections cons consider considerate considering
considers consistency consistent const constant contact contain content context continue continued continuing
contribute control convenient conversation conversations cope correct correctly cost could count couple courage course
cover covered covering crazy create created creates creating creation creative creativity crossing crucial curious
currently custom cut cute daily data date dates days deadline deadlines deal dealing dear decide decided deciding
decision decisions declined declining dedicate dedicated dedication deep deeper deeply def definite delicious deliver
depend depending describe deserve deserves design desire detail detailed details determination determine determined
develop developed developing development difference differences different differently difficult direct direction
directly discover discovered discuss discussed discussing discussion discussions div doable document door double doubt
drawn dream dreamed dreaming dreams drew drive driven due duration earlier early ease easier easily easy edge effect
effective effectively effects effort efforts either element elements else email emails embrace emotion emotional
emotions emphasize enable encounter encourage encouragement encouraging end ended ending energy engage engaged
engaging enhance enhanced enhancing enjoy enjoyable enjoyed enjoying enough ensure ensures ensuring entire environment
epic escape especially essential establish estimate estimated evaluate evaluating event events eventually everyday
evidence exact exactly example examples excellent except excited excitement exciting expect expectations expected
expense experience experienced experiences explain explaining explore explored exploring express expressing extend
extra eye eyes face faced faces facing fact factor factors fam familiar fantastic far fast faster favorite favorites
fear feature features feedback feels felt fetching figure figured file fill filled final finalize finalized finally
finding finish finished finishing fit fits five flexible flow focus focused focusing folder folks follow followed
following follows forever forget form formal format forward foster found four free freedom fresh friend friendly
friends frustrating fulfilling full fully fun function functions funny furry further future gain gained gather
gathering gave general generally gentle genuine gift given gives giving goal goals gone gorgeous gotta grateful
gratitude greatest green grew group groups grow growing growth guess guidance guide guiding guy guys half hand handle
handled handling hands hang hanging happen happened happening happens happiness hard heard hearing heart hectic held
help helped helpful helping helps hey hiccups high higher highlight highlighting highlights hit hitting hobbies hobby
hold holding home honest honestly honor hopefully hopes hoping href html http https huge human hurt idea ideal ideas
identify image images imagine immediate impact implement implementing import importance important impressed impression
impressive improve improved improvement improvements improving inch include included includes including incorporate
incorporating increase increased increasing incredible incredibly indeed individual individuals influence info inform
information informed initial input inside insight insights inspiration inspire inspired inspires inspiring instance
instead int integrate integrating intended intense interest interested interesting introduce invite invited involve
involved involves issue issues item items january job join joined joining journey joy judge keeping keeps kept key kid
kinda kinds knew knowing knowledge label lack large larger later latest laugh lead leading leads learn learned
learning least leave leaving left less let letting level levels leverage li life light likely limit limited limits
line link list listed listen listening listing live lived lives living load local location losing loss lost lots loud
love loved lovely loves loving low lower luck lucky magical main maintain maintaining major makes manage manageable
managed management managing manner mark match matter matters mature maybe meaning meaningful means meant measure media
medium meet meeting meetings member members memories memory men mention mentioned message messages messed met method
methods middle mind mine minor minute miss missed missing mix mode model moment moments monitor montag monthly mood
morning motivate motivated motivating motivation move moved moving multiple myself name named natural nature near
nearby nearly neat necessary needed needing needs negative nervous news non none normal normally note notes nothing
notice noticed null number numbers obvious offer offered offering offers official often oh onto open opened opening
opportunities opportunity opposite option options order organize organized organizing original others otherwise ought
outcome outcomes outside overall overcome overview overwhelmed overwhelming page paid pair paper part participants
participate particular particularly partner parts party pass passed passion passionate passions past patience pay
peace peaceful people per perfect perfectly perform performance perhaps period person personal personally perspective
perspectives phase phone photo photos phrase pic pick picked pics picture pictures piece pieces place placed places
plan planned planning plans play played playing pleased pleasure plenty plus pm point points position positive
positivity possibility possible possibly post posted potential potentially power powerful practical practice practices
practicing precious prefer preference preferences prep prepare prepared preparing present pressure prevent previous
previously pride primary prior priorities prioritize prioritizing priority private problem problems proceed process
processes produce product productive professional profound program progress project projects promise promising promote
proper properly property propose pros protect proud prove provide provided provides providing public pull pumped
purpose purposes pursue pursuing push pushed pushing px quality quarter question questions quick quickly quiet quit
quite quote quotes raise raising ran range rate rather rating rd reach reached reaching react read reading ready real
realistic reality realize realized reason reasonable reasons recap receive received receiving recent recently recharge
recharging recommend recommendation recommendations recommended record reduce reduced reducing ref refer reference
refine reflect reflecting reflection refresh refreshing regarding regards regular regularly relate related relates
relationship relax relaxed relaxing relevant reliable relief rely remain remaining remember remind reminded reminder
reminders reminding reminds remove repeat replace reply report represent request require required requirement
requirements requires research reset resilience resource resources respect respond response responses responsibilities
responsibility rest result results return reveal review reviewed reviewing reviews rewarding rid ride rise risk rock
role roles room rough roughly round routine run running rush sad safe sample satisfied satisfying save saved saving
saw scenario scenarios schedule scheduled scheduling scope score search seat second section sections seek seem seemed
seems seen select selected self send sense sent sentence separate serene series serious serve session sessions set
sets setting settings setup several shape share shared shares sharing shine short shot show showed showing shown shows
side sight sign significant significantly similar simple simply single sis site situation situations size skill skills
slow slowly small smaller smile smooth social solid solution solutions solve somehow sometime sometimes somewhat
somewhere song soothing sort soul source space span spark speak speaking special specific specifically spend spending
spent spirit spirits spoke spoken spot spots spread spreading src stage stand standard standing stands start started
starting starts state statement states status stay stayed staying steady step steps stick stoked stop stopped store
stories story str straight strategies strategy strength strengths stress stressed stressful strict strike string
strong stronger structure structured struggle struggles struggling stuck stunning style styles subject submit
submitting succeed success successful successfully suggest suggested suggestion suggestions suit suitable sum summary
sunny support supported supporting supportive supports sure surprise surprised surround surrounded swamped sweet
system systems table tackle taken takes talent talented talk talked talking target task tasks tbh teach teaching team
technical technique techniques tell telling ten tend term terms test text thankful theme themed themes therefore
thinking third thought thoughtful thoughtfully thoughts three thrilled throughout thus tie tight timeline times tip
tips tired title together told ton tone tons took tool tools top topic topics total touch touched touching tough
towards track tracking transform treasure treat trend tricky trip trouble true truly trust truth trying ttyl turn
turned turning turns type types typical typically ugh un unable uncertain unclear undecided undefined underlying
understanding unexpected unforgettable unfortunately unique unit unknown unless unlikely unsure upcoming update
updated updates upon upset urge urgent usage used useful user users uses usual usually valid valuable value values var
varied variety various version via vibe vibes view views visit visited visiting visual vital void walk walks wanna
warm watch watched watching ways weekend weekends weekly weird welcome whatever whenever wherever whether whole wide
wild willing win wise wish wished wishes wishing without woman women won wonder wondering word words world worried
worries worry worst worth worthwhile wow write wrong wrote www ya yay young yum yummy
"""
# Words that could be said in any conversation: alone they name nothing.
GENERAL = frozenset(_GENERAL_TEXT.split())

_PARTS_TEXT = """
ability action activities activity address amount analysis application approach area article aspects awareness balance
base benefits block board boundaries break budget building call care case category center challenge change chart chat
child choice city class club code color comments commitment community component concept connection content context
control conversation cost course cover creation creativity data date deadlines decision design detail development
direction discussion document drive effect element emotions energy environment estimate event events evidence
experience eye face factor fear feature features feedback file flow focus folder form format friend friends function
gift goals group groups growth guidance guide hand heart hobby home html image impact information input instance issue
item items job journey judge kid label level line link list loss management manner mark match measure media meeting
member members memories message method mode model moments mood movie name nature needs news notes number option order
original outcome overview page paper parts party peace people performance period person perspective phase phone photo
photos piece place plan planning plans play point points policy position power practice present pressure priorities
problem process product program progress project projects property public quality question questions range rate
reading reality record reference relationship relationships report request requirements research resource resources
response responsibilities results return review reviews ride rights risk role room routine run running sample schedule
scheduling score search section series service session sessions set setting setup shape show site situation size skill
skills social song source space speaking spirit stage standard statement status steps store story strategies strategy
strength stress structure style styles subject support system systems table talk target task tasks teaching team
technique techniques test text theme themes time title tool tools topic tour track tracking training trip type types
unit update user value version view visit walk watch week weekend women word words world writing year young
"""
# Of those, the nouns that can be part of a name of two words: "support group". With any other one a pair is no name.
PARTS = frozenset(_PARTS_TEXT.split())
_NO_PART = (GENERAL | SMALL_TALK) - PARTS
_GENERAL_STEMS = frozenset(stem(word) for word in GENERAL)

# A phrase of two words says more than a word as frequent, two words that say little alone say less; a proper name that
# is frequent is what a group is about.
PAIR_WORTH, GENERAL_PAIR_WORTH, NAME_WORTH = 1.5, 0.8, 1.2
# A word that mostly occurs as part of a phrase gives way to the phrase.
INSIDE_SHARE = 0.4
# The second phrase joins when it says at least this share of what the first says, which is one word or two.
SECOND_SHARE, SECOND_SHARE_OF_PAIR = 0.3, 0.6
# A proper name in at least this share of the groups distinguishes none: the speakers, or what all of them are about.
EVERYWHERE_SHARE = 0.5

LONGEST_ACRONYM = 5
MOST_PAIRS = 6
MOST_TRIED = 12
_MOST_DIGITS = 2

_TEXT_WORD = re.compile(rf"{WORD}|[{UNSPACED}]++")
_NAME_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['’&+#.-]?[^\W_]+)*[+#]{0,2}")
# Endings of words that are no nouns: messed, actively, curious.
_NO_NOUN = re.compile("[a-z]{2}[^e]ed$|(?:al|ant|ed|ent|ful|ive|ous)ly$|[a-z]{2}(?:ful|less|ous)$")
_CODE_WORD = re.compile("[a-z]{2,}[A-Z]")
_DIGIT = re.compile(r"\d")
_LINKS = {"and", "de", "del", "der", "di", "du", "for", "in", "la", "le", "of", "on", "the", "van", "von", "&"}

Key = tuple[str, ...]
"""The stems of a phrase's words: what is counted as one phrase."""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A phrase that could name a group. `worth`: how much it says about the group and not about the others."""

    key: Key
    words: tuple[str, ...]
    worth: float


def pairs(text: str, words: Collection[str], most: int = MOST_PAIRS) -> list[str]:
    """Up to `most` pairs of key words that stand side by side in a text, lower case: "support group".

    words: the keywords of the text. A pair holds nothing else, so it is as safe to show as they are.
    """
    stems = {stem(word) for word in words}
    text = normalised(text).lower()
    tokens = [(token, stem(token[0])) for token in _TEXT_WORD.finditer(text)]
    counts: Counter[str] = Counter()
    for (left, first), (right, second) in pairwise(tokens):
        if first == second or first not in stems or second not in stems:
            continue
        around = text[max(0, left.start() - 1) : left.start()] + text[right.end() : right.end() + 1]
        # Not out of a hyphenated word: step-by-step guidance is no step guidance.
        if text[left.end() : right.start()] == " " and "-" not in around:
            counts[" ".join(word[0].removesuffix("'s") for word in (left, right))] += 1
    return [pair for pair, _ in counts.most_common(most)]


def names(
    groups: Sequence[Mapping[str, int]],
    *,
    taken: Collection[str] = (),
    most_words: int = MOST_WORDS,
    background: Mapping[str, int] | None = None,
    speakers: Collection[str] = (),
) -> list[str]:
    """A name for each group of entries, none twice (in any case) and none that is `taken`.

    groups: for each, phrase → number of its entries that have it: their keywords, entities and `pairs`. They are
    siblings: what sets one apart from the others names it. background: the same for the whole brain, so that a group
    with few siblings is not named by what is said everywhere. speakers: people whose names name nothing.
    One phrase, or two joined by "and": at most `most_words` words (never above 3) and links. "Topic 3" where no phrase
    says anything.
    """
    vocabulary = _Vocabulary([*groups, background or {}])
    people = {part.lower() for name in speakers for part in name.split()}
    counted = [vocabulary.counts(group) for group in groups]
    siblings: Counter[Key] = Counter()
    for counts in counted:
        siblings.update(counts)
    wholes = [siblings, vocabulary.counts(background or {})]
    ignored = _everywhere(counted, vocabulary) | {key for key in siblings if _is_of(key, people)}
    used = {name.casefold() for name in taken}
    found: list[str] = []
    for position, own in enumerate(counted):
        phrases = _ranked(own, wholes, vocabulary, ignored)
        name = _first_free(_candidates(phrases, min(most_words, MOST_WORDS)), used, position + 1)
        used.add(name.casefold())
        found.append(name)
    return found


# -- phrases -----------------------------------------------------------------------------------------------------------


class _Vocabulary:
    """How the phrases of all groups are written, and which of them are proper names."""

    def __init__(self, groups: Iterable[Mapping[str, int]]) -> None:
        self._lower: dict[Key, Counter[str]] = {}
        self._written: dict[Key, Counter[str]] = {}
        for group in groups:
            for phrase, count in group.items():
                if key := _key(phrase):
                    forms = self._lower if phrase == phrase.lower() else self._written
                    forms.setdefault(key, Counter())[phrase] += count

    def counts(self, group: Mapping[str, int]) -> Counter[Key]:
        """Entries by phrase. A name is also a keyword in lower case: it counts once; words of one stem add up."""
        lower: Counter[Key] = Counter()
        written: Counter[Key] = Counter()
        for phrase, count in group.items():
            if key := _key(phrase):
                (lower if phrase == phrase.lower() else written)[key] += count
        return lower | written

    def is_name(self, key: Key) -> bool:
        """Whether it is mostly written with capitals."""
        return 3 * self._written.get(key, Counter()).total() >= 2 * self._lower.get(key, Counter()).total()

    def lower(self, key: Key) -> list[str]:
        """The words of a phrase that is no name as they are written most often."""
        forms = self._lower[key]
        return min(forms, key=lambda form: (-forms[form], form)).split()

    def shown(self, key: Key) -> tuple[str, ...]:
        """The words of a phrase in title case, names as they are written."""
        forms = (self._written if self.is_name(key) else self._lower)[key]
        most = max(forms.values())
        # Hiking rather than hike: of a verb the form that is a noun.
        phrase = min(
            forms, key=lambda form: (not (form.endswith("ing") and 4 * forms[form] >= most), -forms[form], form)
        )
        return tuple(_titled(word, place) for place, word in enumerate(phrase.removesuffix("'s").split()))


def _titled(word: str, place: int) -> str:
    if place and word.lower() in _LINKS:
        return word.lower()
    if word.isupper() and len(word) > LONGEST_ACRONYM:
        return word.capitalize()
    return "-".join(part[:1].upper() + part[1:] if part == part.lower() else part for part in word.split("-"))


@lru_cache(65_536)
def _key(phrase: str) -> Key:
    """What a phrase is counted under; empty when it must not or cannot be part of a name."""
    words = phrase.split()
    if not 1 <= len(words) <= MOST_WORDS + 1 or len(_DIGIT.findall(phrase)) > _MOST_DIGITS:
        return ()
    if any(len(word) > LONGEST_SHOWN_CHARS or not _is_name_word(word) for word in words):
        return ()
    # What looks like an address or a key is no keyword. Names may hold words that are none: New York.
    if not keywords(phrase, len(words)):
        return ()
    folded = [word.lower() for word in words]
    # Two letters are a word only as an acronym (AI, UI), and everywhere in scripts that need no more.
    if len(folded) == 1 and (folded[0] in GENERAL or (len(phrase) < 3 and phrase.isascii() and not phrase.isupper())):
        return ()
    if phrase == phrase.lower() and not _is_noun_like(folded):
        return ()
    return tuple(stem(word) for word in folded)


def _is_name_word(word: str) -> bool:
    """Letters, at most with a few signs inside (AT&T, C++, co-op); no identifier of a program."""
    return word == "&" or bool(_NAME_WORD.fullmatch(word) and not _CODE_WORD.match(word))


def _is_noun_like(words: Sequence[str]) -> bool:
    """Whether lower-case words can be a name by themselves: nothing general, no "messed", no "motivates"."""
    if _NO_NOUN.search(words[-1]) or any(word in _NO_PART for word in words):
        return False
    return len(words) > 1 or words[0].endswith("ing") or stem(words[0]) not in _GENERAL_STEMS


# -- worth -------------------------------------------------------------------------------------------------------------


def _everywhere(counted: Sequence[Counter[Key]], vocabulary: _Vocabulary) -> set[Key]:
    """Proper names that so many of the groups have that they set none of them apart."""
    if len(counted) < 2:
        return set()
    having = Counter(key for counts in counted for key, count in counts.items() if count > 1)
    least = max(2, EVERYWHERE_SHARE * len(counted))
    return {key for key, groups in having.items() if groups >= least and vocabulary.is_name(key)}


def _is_of(key: Key, people: Collection[str]) -> bool:
    """Whether a word is one of these names, in lower case, or short for one: Mel for Melanie."""
    (word,) = key if len(key) == 1 else ("",)
    return any(word == stem(name) or (len(word) > 2 and name.startswith(word)) for name in people)


def _ranked(
    own: Counter[Key], wholes: Sequence[Counter[Key]], vocabulary: _Vocabulary, ignored: Collection[Key]
) -> list[_Phrase]:
    """The phrases that say most about a group: their number times the logarithm of how much more frequent they are.

    wholes: counts that hold the group's own; the rest of each is what the group is compared with.
    """
    total = own.total()
    rests = [(whole, rest) for whole in wholes if (rest := whole.total() - total) > 0]
    least = 2 if any(count > 1 for count in own.values()) else 1
    phrases = [(key, count) for key, count in own.items() if len(key) > 1]
    inside = {word for key, count in phrases for word in key if count >= INSIDE_SHARE * own[(word,)]}
    found: list[_Phrase] = []
    for key, count in own.items():
        if count < least or key in ignored or any((word,) in ignored for word in key):
            continue
        if len(key) == 1 and key[0] in inside:
            continue
        elsewhere = max(((max(0, whole[key] - count) + 0.5) / (rest + 1) for whole, rest in rests), default=0.0)
        # Fewer than were seen: two of something may be chance.
        surely = count - 0.7 * count**0.5
        gain = log(surely / total / elsewhere) if elsewhere else 1.0
        if gain > 0:
            found.append(_Phrase(key, vocabulary.shown(key), surely * gain * _weight(key, vocabulary)))
    return sorted(found, key=lambda phrase: (-phrase.worth, phrase.key))[:MOST_TRIED]


def _weight(key: Key, vocabulary: _Vocabulary) -> float:
    if vocabulary.is_name(key):
        return NAME_WORTH if len(key) == 1 else PAIR_WORTH
    if len(key) == 1:
        return 1.0
    is_general = all(word in PARTS for word in vocabulary.lower(key))
    return GENERAL_PAIR_WORTH if is_general else PAIR_WORTH


# -- names -------------------------------------------------------------------------------------------------------------


def _candidates(phrases: Sequence[_Phrase], most_words: int) -> Iterator[str]:
    """Names from the best on: a phrase with the one that adds most, the phrase alone, then with any other."""
    for first in phrases:
        share = SECOND_SHARE if len(first.key) == 1 else SECOND_SHARE_OF_PAIR
        seconds = [second for second in phrases if not _overlap(first.key, second.key)]
        joined = [((*first.words, "and", *second.words), second.worth) for second in seconds]
        fitting = [(" ".join(words), worth) for words, worth in joined if _fits(words, most_words)]
        yield from [name for name, worth in fitting if worth >= share * first.worth][:1]
        if _fits(first.words, most_words):
            yield " ".join(first.words)
        yield from (name for name, _ in fitting)


def _fits(words: Sequence[str], most_words: int) -> bool:
    return len(words) <= MOST_WORDS + 1 and sum(word not in _LINKS for word in words) <= most_words


def _overlap(first: Key, second: Key) -> bool:
    """Whether both have a word in common, or one that begins like the other: dance and dancers, app and application."""
    return any(a.startswith(b) or b.startswith(a) for a in first for b in second)


def _first_free(candidates: Iterable[str], used: Collection[str], number: int) -> str:
    for name in candidates:
        if name.casefold() not in used:
            return name
    while f"topic {number}" in used:
        number += 1
    return f"Topic {number}"
