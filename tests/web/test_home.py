"""The first page: keep a thought, find memories with the reasons, leaf through the newest."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client

from accounts.actor import Actor
from accounts.models import Membership
from accounts.people import ensure_person, person_actor
from memory.capture import capture, capture_files
from memory.memories import get_memory, list_memories
from memory.types import Memory, NewMessage, NewRecallFile
from memory.work import work_jobs
from tests.cast import Cast, Person
from tests.web.conftest import Browser, keep
from tests.web.pages import Page, page


def kept(actor: Actor, scope: str = "both") -> list[tuple[str, str, tuple[str, ...], str]]:
    """Everything there is: scope, words, tags and place."""
    found = list_memories(actor, scope=scope, with_messages=True)
    return [(m.scope, m.messages[0].content, m.tags, m.node.path) for m in found if m.messages]


def notes(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


# -- keep -------------------------------------------------------------------------------------------------------------


def test_a_thought_is_kept_word_for_word(cast: Cast, ann: Client) -> None:
    typed = "\r\n  The key hangs\r\nbehind the blue door.  \r\n"

    answer = keep(ann, typed, tags="keys, Studio ,", node="Home/Studio")

    assert (answer.status_code, answer["Location"]) == (303, "/")
    words = "\n  The key hangs\nbehind the blue door.  \n"
    assert kept(cast.ann.actor) == [("personal", words, ("keys", "Studio"), "Home/Studio")]
    home = ann.get("/")
    assert notes(home) == ["Kept. Personal, filed in Home/Studio."]
    assert page(home).words == [words]


def test_a_corporate_thought_says_who_kept_it(cast: Cast, ann: Client, browser: Browser) -> None:
    keep(browser(cast.bob), "We price it at 480.", scope="corporate")

    card = page(ann.get("/")).one("article")
    assert " ".join(card.text.split()).startswith("Corporate Inbox")
    assert "by bob@acme.test" in " ".join(card.text.split())
    assert get_memory(cast.bob.actor, str(list_memories(cast.bob.actor)[0].id)).source == "web"


def test_sending_one_form_twice_keeps_it_once(cast: Cast, ann: Client) -> None:
    form_id = page(ann.get("/")).value("form_id")
    sent = {"form_id": form_id, "content": "once", "scope": "personal"}

    answers = [ann.post("/", sent) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [303, 303]
    assert [words for _, words, _, _ in kept(cast.ann.actor)] == ["once"]
    assert notes(ann.get("/")) == ["Kept. Personal, filed in Inbox.", "Kept already. Personal, filed in Inbox."]


def test_the_same_form_with_other_words_is_another_thought(cast: Cast, ann: Client) -> None:
    """As after the browser's Back button."""
    form_id = page(ann.get("/")).value("form_id")

    for words in ("first", "second"):
        ann.post("/", {"form_id": form_id, "content": words, "scope": "personal"})

    assert [words for _, words, _, _ in kept(cast.ann.actor)] == ["second", "first"]


@pytest.mark.parametrize(
    ("sent", "field", "cause"),
    [
        ({"content": ""}, "content", "There is nothing to keep yet."),
        ({"content": " \u200b\r\n"}, "content", "This has no visible character."),
        ({"content": "nul\0"}, "content", "Null characters are not allowed."),
        ({"node": "Business//Sales"}, "node", "A path has a name between every two slashes."),
        ({"node": "0198a0f0-0000-7000-8000-000000000000"}, "node", "No such node."),
        ({"tags": "x" * 101}, "tags", "At most 100 characters; this has 101."),
        ({"scope": "agent"}, "scope", "Select a valid choice. agent is not one of the available choices."),
    ],
)
def test_what_is_refused_stays_in_the_form(
    cast: Cast, ann: Client, sent: dict[str, str], field: str, cause: str
) -> None:
    typed = {"content": "keep me", "scope": "corporate", "tags": "one, two", "node": "Business", **sent}

    answer = keep(ann, **typed)

    shown = page(answer, status=400)
    assert answer.context["composer"].errors == {field: [cause]}
    assert cause in shown.text
    assert {**typed, **{name: shown.value(name) for name in ("content", "tags", "node")}} == typed
    assert answer["X-Request-ID"] in shown.text
    assert kept(cast.ann.actor) == []


def test_a_form_that_lost_its_id_is_refused(cast: Cast, ann: Client) -> None:
    answer = keep(ann, "keep me", form_id="")

    assert page(answer, status=400).value("content") == "keep me"
    assert kept(cast.ann.actor) == []


def test_a_viewer_keeps_personal_thoughts_only(cast: Cast, browser: Browser) -> None:
    user = ensure_person(cast.acme, "vi@acme.test", role=Membership.Role.VIEWER)
    actor = person_actor(user, cast.acme.id, source="test")
    vi = browser(Person(user, actor, ""))

    offered = [radio.attributes["value"] for radio in page(vi.get("/")).all("input", type="radio")]
    refused = keep(vi, "to all", scope="corporate")
    keep(vi, "to me")

    assert offered == ["personal"]
    assert refused.status_code == 400
    assert kept(actor) == [("personal", "to me", (), "Inbox")]


# -- the newest -------------------------------------------------------------------------------------------------------


def test_pages_show_everything_once_newest_first(cast: Cast, ann: Client) -> None:
    new = [NewRecallFile(kind="thought", messages=(NewMessage("user", f"thought {i}"),)) for i in range(43)]
    capture_files(cast.ann.actor, scope="personal", files=new)
    expected = [
        m.messages[0].content for m in list_memories(cast.ann.actor, limit=100, with_messages=True) if m.messages
    ]

    first = page(ann.get("/"))
    second = page(ann.get(f"/{first.one('a', rel='next').attributes['href']}"))
    third = page(ann.get(f"/{second.one('a', rel='next').attributes['href']}"))

    assert [len(p.words) for p in (first, second, third)] == [20, 20, 3]
    assert first.words + second.words + third.words == expected
    assert third.all("a", rel="next") == []


def test_a_made_up_cursor_is_refused(ann: Client) -> None:
    memory_id = "0198a0f0-0000-7000-8000-000000000000"
    made_up = ["x", "2025-01-01_x", f"2025-01-01T00:00:00_{memory_id}", f"0001-01-01T00:00:00+14:00_{memory_id}"]

    assert [ann.get("/", {"after": after}).status_code for after in made_up] == [404, 404, 400, 400]


def test_the_first_page_says_what_to_do(ann: Client) -> None:
    assert "Nothing is kept yet" in page(ann.get("/")).text


@pytest.mark.parametrize("rows", [1, 3])
def test_a_page_of_memories_costs_the_same_whatever_is_on_it(
    cast: Cast, ann: Client, rows: int, django_assert_num_queries: Any
) -> None:
    for i in range(rows):
        capture(cast.bob.actor, content=f"thought {i}", scope="corporate", node="Same/Place")

    # session, user; organization, role, brains; begin, list, nodes (2 levels), openings, commit; names of people and of
    # agents; the organization's name
    with django_assert_num_queries(14):
        ann.get("/")


def test_long_memories_are_cut_in_lists(cast: Cast, ann: Client) -> None:
    words = "abcdefghi " * 100
    memory = capture(cast.ann.actor, content=words).memory

    assert page(ann.get("/")).words == [words[:480] + "…"]
    assert page(ann.get(f"/m/{memory.id}/")).words == [words]


# -- search -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def conversation(cast: Cast) -> Memory:
    at = datetime(2025, 8, 4, 9, 15, tzinfo=UTC)
    new = NewRecallFile(
        kind="conversation",
        title="The autumn exhibition",
        node="Business/Exhibitions",
        trust="imported",
        messages=(
            NewMessage("user", "Which room suits the large prints?", speaker="Bob", timestamp=at),
            NewMessage("assistant", "The north room: even light, the longest wall.", speaker="Claude", timestamp=at),
        ),
    )
    captured = capture_files(cast.bob.actor, scope="corporate", files=[new])[0].memory
    work_jobs(20)
    return captured


def test_a_search_shows_hits_with_the_reasons(ann: Client, conversation: Memory) -> None:
    answer = ann.get("/", {"q": "light in the north rooms", "scope": "corporate"})

    shown = page(answer)
    best = shown.all("article")[0]
    text = " ".join(best.text.split())
    assert text.startswith("Corporate Business/Exhibitions 4 Aug 2025, 09:15 UTC The north room: even light")
    assert [mark.text for mark in shown.all("mark")][:3] == ["north", "room", "light"]
    reasons = [" ".join(e.text.split()) for e in shown.elements if e.tag in ("dt", "dd")]
    reasons = reasons[reasons.index("Similarity") :][:8]
    assert re.fullmatch(r"0\.\d+ 0\.\d\d", reasons.pop(1))
    assert reasons[:3] == ["Similarity", "Words matched", "light, north, rooms"]
    assert reasons[3:] == ["Who", "Claude, kept by bob@acme.test", "Trust", "imported"]
    assert best.text.count("message 2") == 1
    assert shown.all("a", class_="open")[0].attributes["href"] == f"/m/{conversation.id}/#m1"
    assert shown.all("time")[0].attributes["datetime"] == "2025-08-04T09:15:00+00:00"
    assert shown.value("q") == "light in the north rooms"
    assert shown.one("option", selected="").attributes["value"] == "corporate"
    trace = " ".join(shown.one("p", class_="trace fine").text.split())
    assert trace.startswith("Read 2 of 2 entries in ")
    assert "searched corporate, not personal" in trace
    (place,) = {link.attributes["href"] for link in shown.all("a", class_="place")}
    assert place == f"/n/{conversation.node.id}/"


def how(shown: Page) -> str:
    return " ".join(shown.one("details", class_="how").text.split())


def test_how_an_answer_was_found(ann: Client, conversation: Memory) -> None:
    answer = ann.get("/", {"q": "light in the north rooms", "scope": "corporate"})

    shown = page(answer)
    steps = [" ".join(li.text.split()) for li in shown.all("li", class_="warm") + shown.all("li", class_="cold")]
    assert steps == [
        "Business 1.0 1.00 1 memory, read",
        "Business/Exhibitions 1.0 1.00 1 memory, read",
        "Business/Exhibitions 1.0 1.00 2 entries, read",
    ]
    tokens = answer.context["answer"].trace.tokens
    told = how(shown)
    assert "Categories Business" in told
    assert "Concepts Business/Exhibitions" in told
    assert "Read, because their indexes fit the question best Business/Exhibitions" in told
    for label, count in [
        ("This answer", tokens.handed_over),
        ("The warmed nodes, whole", tokens.warmed_nodes),
        ("The nodes above them, whole", tokens.parent_nodes),
        ("Everything", tokens.everything),
    ]:
        assert f"{label}{count} {count}" in told
    assert [stage for stage in answer.context["answer"].trace.stages_ms if stage.capitalize() not in told] == []


def test_what_stayed_cold_is_told(cast: Cast, ann: Client) -> None:
    for name in ("Clay", "Harbour", "Kiln", "Tax"):
        capture(cast.ann.actor, content=f"About {name}", node=name)
    work_jobs(20)

    shown = page(ann.get("/", {"q": "Which kiln burns clay?", "scope": "personal"}))

    warm = [li.text.split()[0] for li in shown.all("li", class_="warm")]
    cold = [li.text.split()[0] for li in shown.all("li", class_="cold")]
    assert {"Clay", "Kiln"} <= set(warm)
    assert set(warm) | set(cold) == {"Clay", "Harbour", "Kiln", "Tax"}
    assert cold[-1] not in warm
    assert "Left unread, the likeliest first" in how(shown)


def test_everything_can_be_searched_instead_and_back(ann: Client, conversation: Memory) -> None:
    usual = page(ann.get("/?q=north+rooms&scope=corporate"))
    (instead,) = [a for a in usual.all("a") if a.text == "Search everything instead"]

    shown = page(ann.get(f"/{instead.attributes['href']}"))

    assert instead.attributes["href"] == "?q=north+rooms&scope=corporate&mode=exhaustive"
    trace = " ".join(shown.one("p", class_="trace fine").text.split())
    assert trace.startswith("Everything was searched: read 2 of 2 entries in ")
    assert "Every entry was compared with the question." in how(shown)
    assert sorted(shown.words) == sorted(usual.words)
    (back,) = [a for a in shown.all("a") if a.text == "Let the indexes choose again"]
    assert back.attributes["href"] == "?q=north+rooms&scope=corporate"


@pytest.fixture
def products(cast: Cast) -> None:
    for name in ("Anvil", "Bellows"):
        capture(
            cast.ann.actor, content=f"Our {name} was sold out in spring", scope="corporate", node=f"Products/{name}"
        )
    work_jobs(20)


def test_an_open_question_is_asked_back(ann: Client, products: None) -> None:
    shown = page(ann.get("/", {"q": "Tell me about the products", "scope": "corporate"}))

    assert "Which one do you mean: Anvil or Bellows?" in shown.text
    choices = [a for a in shown.all("a") if "node=" in a.attributes["href"]]
    assert [" ".join(a.text.split()) for a in choices] == ["Anvil 1", "Bellows 1"]
    chosen = page(ann.get(f"/{choices[1].attributes['href']}"))
    assert chosen.words == ["Our Bellows was sold out in spring"]
    assert "The newest in Products/Bellows" not in chosen.text
    assert chosen.one("input", type="hidden", name="node").attributes["value"] == "Products/Bellows"
    assert how(chosen).startswith(
        "How this was found Corporate Read, because you narrowed the search to it Products/Bel"
    )
    assert "Confidence is" not in how(chosen)
    assert "Confidence is" in how(shown)
    (everywhere,) = [a for a in chosen.all("a") if a.text == "Look everywhere"]
    assert everywhere.attributes["href"] == "?q=Tell+me+about+the+products&scope=corporate"


def test_a_chosen_node_without_a_hit_shows_its_newest(cast: Cast, ann: Client) -> None:
    capture(cast.ann.actor, content="The kiln is hot", node="Hobbies/Pottery")  # and no vector yet

    shown = page(ann.get("/", {"q": "sailing", "node": "Hobbies/Pottery"}))

    assert "The newest in Hobbies/Pottery" in shown.text
    assert shown.words == ["The kiln is hot"]


def test_what_was_discussed_stays_warm_for_this_sign_in(
    cast: Cast, ann: Client, browser: Browser, products: None
) -> None:
    ann.get("/", {"q": "Is the Bellows sold out?", "scope": "corporate"})

    asked = {"q": "Tell me about the products", "scope": "corporate"}
    here, elsewhere = page(ann.get("/", asked)), page(browser(cast.ann).get("/", asked))

    assert "because you were just talking about it" in how(here)
    assert "Which one do you mean" not in here.text
    assert "Which one do you mean" in elsewhere.text


def test_the_newest_below_a_node(cast: Cast, ann: Client, products: None) -> None:
    shown = page(ann.get("/", {"node": "products/anvil", "scope": "corporate"}))

    assert shown.words == ["Our Anvil was sold out in spring"]


def test_another_ones_node_is_no_place_to_search(cast: Cast, ann: Client, browser: Browser) -> None:
    capture(cast.ann.actor, content="canary", node="Secret")
    mine = page(ann.get("/", {"q": "canary", "node": "Secret"}))

    answers = [browser(cast.bob).get("/", {"q": "canary", "node": node}) for node in ("Secret", "Never made")]

    assert mine.words == ["canary"]
    for answer in answers:
        shown = page(answer, status=400)
        assert answer.context["search"].errors == {"node": ["No such node."]}
        assert (shown.words, shown.value("q")) == ([], "canary")
        assert answer["X-Request-ID"] in shown.text


def test_a_hit_deep_in_a_long_text_shows_the_place(cast: Cast, ann: Client) -> None:
    capture(cast.ann.actor, content="nothing of note. " * 200 + "The zebra sleeps. " + "more of it. " * 200)

    (words,) = page(ann.get("/", {"q": "zebra"})).words
    assert "zebra sleeps" in words
    assert words.startswith("… ")
    assert words.endswith("…")


def test_without_a_vector_the_page_says_so(cast: Cast, ann: Client) -> None:
    capture(cast.ann.actor, content="a fresh zebra")

    assert "not embedded yet" in page(ann.get("/", {"q": "zebra"})).one("article").text


def test_a_search_with_no_answer(ann: Client) -> None:
    assert "Nothing kept here answers this" in page(ann.get("/", {"q": "zebra"})).text


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"q": "\u200b"}, "q"),
        ({"q": "x" * 20_001}, "q"),
        ({"q": "x", "scope": "agent"}, "scope"),
        ({"q": "x", "mode": "psychic"}, "mode"),
    ],
)
def test_a_search_that_cannot_be_asked_keeps_its_words(ann: Client, asked: dict[str, str], field: str) -> None:
    answer = ann.get("/", asked)

    shown = page(answer, status=400)
    assert list(answer.context["search"].errors) in ([field], ["__all__"])
    assert shown.value("q") == asked["q"]
    assert answer["X-Request-ID"] in shown.text


def test_nobody_finds_what_is_not_theirs(cast: Cast, ann: Client, browser: Browser) -> None:
    capture(cast.ann.actor, content="canary of Ann")
    capture(cast.ann.actor, content="canary of Acme", scope="corporate")
    capture(cast.eve.actor, content="canary of Globex", scope="corporate")

    found = {
        name: (sorted(page(client.get("/", {"q": "canary"})).words), sorted(page(client.get("/")).words))
        for name, client in [("ann", ann), ("bob", browser(cast.bob)), ("eve", browser(cast.eve))]
    }

    assert found == {
        "ann": (["canary of Acme", "canary of Ann"],) * 2,
        "bob": (["canary of Acme"],) * 2,
        "eve": (["canary of Globex"],) * 2,
    }


def test_what_is_always_wanted_stands_beside_the_hits_with_the_reasons_of_each(cast: Cast, ann: Client) -> None:
    capture(cast.ann.actor, content="Never open a letter with dear sir.")
    for number in range(12):
        capture(cast.ann.actor, content=f"The draft number {number} of the report went out.")

    shown = page(ann.get("/", {"q": "Could you write the draft of the report?"}))

    assert "What is always wanted" in shown.text
    assert "Never open a letter with dear sir." in shown.text
    assert "the rare words of the question gave" in " ".join(shown.text.split())
