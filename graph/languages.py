"""Which language a text is in, by its script, its small words, its letters and its endings. Linear, and cheap.

Only good enough to choose a stemmer and to say that a model cannot read a question: a wrong guess costs a few terms.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

# Words that carry no meaning of their own, folded. What is also an English word is left out below.
_SMALL_WORDS_TEXT = {
    "german": """
        aber alle als am an auch auf aus bei beim bin bis bist bitte da damit dann das dass dein deine dem den der
        des dich die dir doch dort du durch ein eine einem einen einer eines einmal er es euch euer für gegen geht
        gemacht gesagt gestern gibt habe haben hast hat hatte heute hier ich ihm ihn ihr ihre ihrem ihren im in ist
        ja jede jeder kann kein keine kommt können macht mal man mein meine meinem meinen meiner mich mir mit morgen
        muss nach nicht noch nur ob oder ohne schon sehr sein seine seit sich sie sind so um und uns unser unsere
        unter viel vom von vor wann war warum was weil welche welcher wenn wer werden wie wieder will wir wird wo
        worden wurde zu zum zur zwischen über
    """,
    "french": """
        de a an as au aussi aux avait avec avez bien c'est c'etait c'était ce ces cet cette chez comme comment d'un
        d'une dans des donc du elle elles en entre est est-ce et eu faire fait il ils j'ai j'avais je l'a l'on la le
        les leur leurs lui mais mes moi mon n'a n'est ne nos notre nous on ou où par parce pas plus pourquoi puis qu
        qu'elle qu'est-ce qu'il qu'on quand que quel quelle quelles quels qui s'est sa sans se ses si son sont sous
        sur ta te tes toi ton tout très tu un une vos votre vous y été être
    """,
    "spanish": """
        a al algo como con cual cuando cuál cuándo cuánto cuántos de del desde donde dónde e el ella ellos en entre
        era es esa ese eso esta este esto está están fue fuera ha había hace hacer han hasta hay hemos la las le les
        lo los me mi mis mucho muy más no nos nuestra nuestro o para pero por porque que quien quién qué se ser sin
        sobre son soy su sus sí también te tiene tu tus un una unos y ya yo él
    """,
    "italian": """
        a ai al all alla alle anche c'è che chi ci come con cosa cui da dal dalla degli dei del dell della delle di
        dov'è dove e era fare fatto gli ha hanno ho i il in io la le lei lo loro lui ma mi mia mio molto ne nel nell
        nella nelle no noi non nostra nostro o ogni per perché più poi quale quali quando quanto quella quello
        quest'anno questa questo se sei si sono stato sua sul sulla suo tra tu tua tuo un una uno voi è
    """,
    "portuguese": """
        a amanhã ao aos as até com como da das de dela dele do dos e ela ele eles em entre era essa esse esta este
        está eu fazer fiz foi hoje há isso isto já lhe mais mas me meu minha muito na nas nem no nos nossa nosso não
        nós o onde ontem os ou para pela pelo por porque qual quando quanto que quem se sem ser seu sua são também
        te tem tenho um uma você vocês à às é
    """,
    "dutch": """
        gisteren vandaag morgen
        aan al alle als an ben bent bij dan dat de der deze die dit doch door een en er gaan gaat ge geen haar had
        heb hebben heeft heel het hier hij hoe hun iets ik in is ja je jij jouw kan komt kunnen maar mee meer met
        mij mijn moet na naar niet nog nou nu of om omdat onder ons onze ook op over te tegen toch toen tot u uit
        van veel voor waar waarom wanneer waren was wat we wel welke werd wie wij wordt zal ze zich zij zijn zo
        zonder zou
    """,
    "swedish": """
        alla att av blev bli de dem den denna deras dess det detta dig din dina du där efter ej eller en er ett från
        för ha hade han hans har hej henne hennes hon honom hur här i icke igår inte jag kan kommer man med mellan
        men mig min mina mitt mycket måste nu när någon något och om oss på sedan sig sin sina ska skulle som så
        till under upp ut vad var vara varför vem vi vid vilken vill vår våra än är
    """,
    "danish": """
        af alle at blev bliver da de dem den denne der deres det dette dig din dine dit du efter eller en end er et
        for fra ham han hans har havde hende hendes her hun hvad hvem hvis hvor hvorfor hvornår i igår ikke ind jeg
        jo kan kunne man med meget men mig min mine mit mod noget nogle nu når og også om op os over på sig sin sit
        skal som så til ud under var vi vil være været
    """,
    "norwegian": """
        alle at av ble bli blir da de deg dem den denne der deres det dette din dine ditt du eller en enn er et
        etter for fra før går hadde ham han hans har henne hennes her hun hva hvem hvis hvor hvordan hvorfor i ikke
        inn jeg kan kunne man med meg mellom men min mine mitt mot mye noe noen nå når og også om opp oss over på
        seg sin sitt skal som så til under ut var ved vi vil vår være
    """,
    "finnish": """
        ei eivät emme en et että he hän hänen ja jo joka jos jotka kanssa kuin kuinka kuka kun me miksi mikä milloin
        minun minä missä mitä mutta myös ne niin nyt olen oli olivat olla on ovat se sen siellä sinä sitä tai te
        tämä vain voi
    """,
    "hungarian": """
        a az azt csak de egy el ez ezt fel ha hogy hol hova is itt ki lehet lesz meg mert mi mikor minden mint mit
        miért most már még nagyon nekem neki nem ott sem te vagy van volt én és ő
    """,
    "polish": """
        a ale bardzo być był była było co czy dla do gdy gdzie go i ich jak jaki jako jego jej jest już kiedy kto
        która które który ma mam mnie moja może mój na nad nasz nie nim o od on ona oni po pod przez przy się są ta
        tak także tego tej ten to tu tylko w we z za ze że żeby
    """,
    "czech": """
        a aby ale ani ať až bez bude by byl byla bylo být co což do i jak jako je jeho její jen ještě jsem jsme jsou
        k kde kdo kdy když která které který mezi moje má můj na nebo není než o od on ona po pod podle pro proto
        proč před při s se si svůj ta tak také ten to u už v ve více však z za ze že
    """,
    "romanian": """
        a această acest al ale am ar are au avea aveți aș ca care ce cel cine cu cum când că da dar de deci din după
        ea ei el este eu fi fost i la lui mai mea meu mi mult nu o ori pe pentru prin sa sau se sunt să te tu un una
        unde unei unui va vor în între și
    """,
    "turkish": """
        ama ancak bana bazı ben beni benim bir biz bu bunu da daha de değil diye en gibi hangi hem hep her ile ise
        için kadar ki kim mi mu mü mı nasıl ne neden nerede o olan olarak oldu on onu onun sen siz var ve veya ya
        yok zaman çok şey şu
    """,
    "indonesian": """
        ada adalah akan aku anda apa atau bagaimana bahwa bisa dalam dan dari dengan di dia dua ini itu jika juga
        kami kamu kapan karena ke kita lagi lebih mana mereka oleh pada pernah saat saya sebagai sebuah siapa sudah
        tidak untuk yang
    """,
}

# Words that ask, and hardly stand in a text of another language: one of them is enough.
_ASKING_TEXT = {
    "german": "wann warum wieso welche welcher welches wohin woher wieviel wem wen",
    "french": "quand pourquoi quel quelle quels quelles combien où comment qu'est-ce",
    "spanish": "cuándo dónde cuánto cuánta cuántos cuántas quién qué cómo cuál",
    "italian": "quando quanto quanta dove dov'è perché quale chi",
    "portuguese": "quando quanto quanta onde quem",
    "dutch": "hoeveel wanneer waarom waar welke",
    "swedish": "hur när varför vem vilken",
    "danish": "hvor hvornår hvem hvorfor hvad",
    "norwegian": "hvor hvordan hvem hvorfor hva",
    "finnish": "kuinka milloin missä mikä miksi paljonko kuka",
    "hungarian": "mennyi mikor miért hány",
    "polish": "kiedy gdzie ile dlaczego kto",
    "czech": "kolik kdy kde proč kdo",
    "romanian": "unde când cât câte",
    "turkish": "nerede nasıl neden kaç",
    "indonesian": "berapa kapan bagaimana dimana siapa",
}
# Letters that few others of these languages write.
_LETTERS = {
    "german": "äöü",
    "french": "èêëçîïôùûœà",
    "spanish": "ñ¿¡",
    "portuguese": "ãõ",
    "italian": "ìò",
    "swedish": "å",
    "danish": "øæ",
    "hungarian": "őű",
    "polish": "łżźśąęń",
    "czech": "řěůťďň",
    "romanian": "ășțâ",
    "turkish": "ışğ",
}
# Endings of longer words that English does not have.
_ENDINGS = {
    "german": ("ungen", "ung", "keit", "keiten", "heit", "heiten", "schaft", "schaften", "lich", "lichen"),
    "spanish": ("ción", "ciones", "dades", "miento", "mientos"),
    "portuguese": ("ção", "ções", "mento", "dade"),
    "italian": ("zione", "zioni", "aggio", "aggi"),
    "french": ("eaux", "euse", "euses", "ément"),
    "dutch": ("heid", "heden", "lijk", "lijke", "ingen", "ij"),
    "polish": ("owych", "owego", "ość", "ości"),
    "finnish": ("issa", "ssä", "inen", "uksen"),
}
_LEAST_CHARS_OF_ENDED = 7
# Articles that lean on the next word: l'eau, dell'arte.
_LANGUAGES_OF_ARTICLE = {
    **dict.fromkeys(("l", "d"), ("french", "italian")),
    **dict.fromkeys(("qu", "j", "n"), ("french", "french")),
    **dict.fromkeys(("dell", "all", "nell", "sull", "dall", "un"), ("italian", "italian")),
}
# English words among the small words of others: they say nothing.
_ENGLISH_TOO_TEXT = """
a ale all am an are as at ben bent bin by come dan die dig do door end era fare for had ham han hat he heel hem her
hier i in is man mas me men met mine most no non of on over par per plus sin sit so son ten till to ton under van war
was we will
"""
_ENGLISH_TOO = frozenset(_ENGLISH_TOO_TEXT.split())

_SMALL_WORDS = {language: frozenset(text.split()) for language, text in _SMALL_WORDS_TEXT.items()}
_LANGUAGES_OF: dict[str, tuple[str, ...]] = {}
for _language, _words in _SMALL_WORDS.items():
    for _word in _words - _ENGLISH_TOO:
        _LANGUAGES_OF[_word] = (*_LANGUAGES_OF.get(_word, ()), _language)
for _language, _text in _ASKING_TEXT.items():
    for _word in _text.split():  # twice: it counts as two
        _LANGUAGES_OF[_word] = (*_LANGUAGES_OF.get(_word, ()), _language, _language)
_TELLING = frozenset(_LANGUAGES_OF)
# Beside words that are English alone these only belong to a name: de la Cruz, Los Angeles.
_OF_NAMES_TEXT = "al da das de del den der des di du el il la las le les los von"
_OF_NAMES = frozenset(_OF_NAMES_TEXT.split())
_SOME_SMALL_WORDS = frozenset().union(*_SMALL_WORDS.values())
_LANGUAGES_OF_LETTER = {letter: language for language, letters in _LETTERS.items() for letter in letters}
_LANGUAGES_OF_ENDING = {ending: language for language, endings in _ENDINGS.items() for ending in endings}
_ENDING = re.compile(f"(?:{'|'.join(sorted(_LANGUAGES_OF_ENDING, key=len, reverse=True))})$")

# Two different small words, or a letter or an ending that no other language has.
LEAST_EVIDENCE = LETTER_EVIDENCE = ENDING_EVIDENCE = 2
MOST_WORDS_READ = 400  # of a long text: its language does not change


def small_words(language: str) -> frozenset[str]:
    return _SMALL_WORDS.get(language, frozenset())


def latin_language(words: Collection[str], english: frozenset[str]) -> str | None:
    """The language of folded words in Latin letters when it is certainly not English; None when nothing says so.

    english: the small words of English. Text in English that quotes another language stays English.
    """
    if len(words) > MOST_WORDS_READ:
        words = list(words)[:MOST_WORDS_READ]
    said = frozenset(words)
    telling = said & _TELLING
    english_said = said & english
    english_alone = english_said - _SOME_SMALL_WORDS
    if english_alone:
        telling -= _OF_NAMES
    evidence = Counter(language for word in telling for language in _LANGUAGES_OF[word])
    if not english_said or (telling and not english_alone) or len(telling) > len(english_said):
        _add_letters_and_endings(said, evidence)
    if not evidence:
        return None
    # Of two that are as likely the one whose small words are more of the text, shared ones with English included.
    # In a fixed order: what is stored must not depend on the process that read it.
    best = max(sorted(evidence), key=lambda language: (evidence[language], len(said & small_words(language))))
    is_certain = evidence[best] >= LEAST_EVIDENCE and evidence[best] > len(english_said - small_words(best))
    return best if is_certain else None


def _add_letters_and_endings(said: Iterable[str], evidence: Counter[str]) -> None:
    for word in said:
        if not word.isascii():
            for letter in set(word) & _LANGUAGES_OF_LETTER.keys():
                evidence[_LANGUAGES_OF_LETTER[letter]] += LETTER_EVIDENCE
        article, apostrophe, _ = word.partition("'")
        if apostrophe:
            evidence.update(_LANGUAGES_OF_ARTICLE.get(article, ()))
        if len(word) >= _LEAST_CHARS_OF_ENDED and (ending := _ENDING.search(word)):
            evidence[_LANGUAGES_OF_ENDING[ending[0]]] += ENDING_EVIDENCE


# -- scripts -----------------------------------------------------------------------------------------------------------

# The first word of a letter's Unicode name is its script.
_BY_SCRIPT = {
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "ARMENIAN": "armenian",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
    "HEBREW": "hebrew",
    "GEORGIAN": "georgian",
    "BENGALI": "bengali",
    "THAI": "thai",
    "LAO": "lao",
    "KHMER": "khmer",
    "MYANMAR": "burmese",
    "HANGUL": "korean",
    "HIRAGANA": "japanese",
    "KATAKANA": "japanese",
    "CJK": "chinese",
}
_UKRAINIAN = frozenset("іїєґ")
_SERBIAN = frozenset("ђћљњџј")
_PERSIAN = frozenset("پچژگکی")
_LETTERS_LOOKED_AT = 200


def language_of_script(text: str) -> str | None:
    """The language that the letters of a folded text suggest: None for Latin ones, or when there are none."""
    letters = [letter for letter in text if letter.isalpha()][:_LETTERS_LOOKED_AT]
    if not letters:
        return None
    scripts = Counter("LATIN" if letter.isascii() else script_of(letter) for letter in letters)
    if scripts["HIRAGANA"] + scripts["KATAKANA"]:  # with the Chinese characters around them
        scripts["HIRAGANA"] += scripts.pop("CJK", 0) + scripts.pop("KATAKANA", 0)
    script = max(scripts, key=scripts.__getitem__)
    language = _BY_SCRIPT.get(script)
    if language == "russian" and not _UKRAINIAN.isdisjoint(letters):
        return "ukrainian"
    if language == "russian" and not _SERBIAN.isdisjoint(letters):
        return "serbian"
    if language == "arabic" and not _PERSIAN.isdisjoint(letters):
        return "persian"
    return language


def script_of(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]
