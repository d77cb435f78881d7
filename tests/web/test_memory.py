"""One memory: its words, where it comes from, changing it, deleting it and taking it back."""

from typing import Any

import pytest
from django.test import Client

from accounts.actor import Actor
from memory.capture import capture, capture_files
from memory.edit import Changes, edit
from memory.erase import trash
from memory.memories import get_memory, list_memories, list_revisions
from memory.types import Memory, NewMessage, NewRecallFile
from tests.cast import Cast
from tests.web.conftest import Browser
from tests.web.pages import page


@pytest.fixture
def thought(cast: Cast) -> Memory:
    return capture(cast.ann.actor, content="twice a day", tags=["medicine"], node="Health").memory


def talk(actor: Actor, count: int, *, scope: str = "personal") -> Memory:
    messages = tuple(NewMessage("user", f"message {i}", speaker="Ann") for i in range(count))
    return capture_files(actor, scope=scope, files=[NewRecallFile(kind="conversation", messages=messages)])[0].memory


def form_of(client: Client, memory: Memory) -> dict[str, str]:
    """What the edit form of a thought sends when nothing is changed."""
    shown = page(client.get(f"/m/{memory.id}/"))
    return {name: shown.value(name) for name in ("content", "tags", "node")} | {"revision": revision_in(shown)}


def revision_in(shown: Any) -> str:
    return str(shown.all("input", name="revision")[0].attributes["value"])


def notes(client: Client) -> list[str]:
    return [str(message) for message in client.get("/").context["messages"]]


def words_of(actor: Actor, memory: Memory) -> str:
    (message,) = get_memory(actor, str(memory.id)).messages or ()
    return message.content


def without_request_id(response: Any) -> str:
    return str(response.content.decode().replace(response["X-Request-ID"], "…"))


# -- reading ----------------------------------------------------------------------------------------------------------


def test_a_thought_with_its_origin(ann: Client, thought: Memory) -> None:
    shown = page(ann.get(f"/m/{thought.id}/"))

    facts = [" ".join(element.text.split()) for element in shown.elements if element.tag in ("dt", "dd")]
    assert shown.words == ["twice a day"]
    assert shown.one("title").text == "twice a day · Brain"
    assert shown.one("ul", class_="tags").text.split() == ["medicine"]
    assert facts[:6] == ["Kept by", "you", "Through", "test", "Trust", "written by a person"]
    assert facts[-4:] == ["Name", thought.recall_id, "Id", str(thought.id)]
    assert "Health" in shown.one("p", class_="place").text


def test_by_its_slug_it_is_the_same_page(ann: Client, thought: Memory) -> None:
    by_slug, by_id = (page(ann.get(f"/m/{ref}/")) for ref in (thought.recall_id, thought.id))

    assert (by_slug.words, by_slug.structure) == (by_id.words, by_id.structure)


def test_a_transcript_has_an_anchor_for_each_message(cast: Cast, ann: Client) -> None:
    memory = talk(cast.ann.actor, 3)

    shown = page(ann.get(f"/m/{memory.id}/"))

    assert [li.attributes["id"] for li in shown.all("li", class_="user")] == ["m0", "m1", "m2"]
    assert shown.words == ["message 0", "message 1", "message 2"]
    assert shown.all("textarea") == []


def test_a_long_transcript_comes_in_pages(cast: Cast, ann: Client) -> None:
    memory = talk(cast.ann.actor, 450)

    pages = {at: page(ann.get(f"/m/{memory.id}/", {"from": at})) for at in ("0", "210", "99999999", "-1", "x")}

    assert {at: (shown.words[0], len(shown.words)) for at, shown in pages.items()} == {
        "0": ("message 0", 200),
        "210": ("message 200", 200),
        "99999999": ("message 400", 50),
        "-1": ("message 0", 200),
        "x": ("message 0", 200),
    }
    around = pages["210"].all("nav")[-1]
    assert " ".join(around.text.split()) == "Earlier messages Later messages"
    assert pages["210"].one("a", rel="next").attributes["href"] == "?from=400"


def test_a_hit_links_to_its_page_of_the_transcript(cast: Cast, ann: Client) -> None:
    messages = tuple(NewMessage("user", "zebra" if i == 301 else f"message {i}") for i in range(303))
    new = NewRecallFile(kind="conversation", messages=messages)
    memory = capture_files(cast.ann.actor, scope="personal", files=[new])[0].memory

    links = page(ann.get("/", {"q": "zebra"})).all("a", class_="open")

    assert links[0].attributes["href"] == f"/m/{memory.id}/?from=200#m301"


def test_a_memory_that_is_not_there(ann: Client) -> None:
    for ref in ("nothing-here", "%00", "0198a0f0-0000-7000-8000-000000000000", "a b", "..%2f", "é"):
        assert "There is nothing here" in page(ann.get(f"/m/{ref}/"), status=404).text


# -- who may ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "/m/{}/"),
        ("post", "/m/{}/"),
        ("post", "/m/{}/delete/"),
        ("post", "/trash/{}/restore/"),
    ],
)
def test_another_ones_memory_looks_like_none(
    cast: Cast, browser: Browser, thought: Memory, method: str, path: str
) -> None:
    """A colleague and a stranger get the same page for it as for an id that never was, and change nothing."""
    deleted = capture(cast.ann.actor, content="deleted").memory
    trash(cast.ann.actor, str(deleted.id))
    sent = {"content": "mine now", "tags": "", "node": "Inbox", "revision": "1"}
    before = list_memories(cast.ann.actor, with_messages=True)

    answers = [
        getattr(browser(who), method)(path.format(ref), sent)
        for who in (cast.bob, cast.eve)
        for ref in ("0198a0f0-0000-7000-8000-000000000000", thought.id, deleted.id, thought.recall_id)
    ]

    assert {(answer.status_code, without_request_id(answer)) for answer in answers} == {
        (404, without_request_id(answers[0]))
    }
    assert list_memories(cast.ann.actor, with_messages=True) == before
    assert [m.id for m in list_memories(cast.ann.actor, state="trashed")] == [deleted.id]


def test_a_colleagues_contribution_is_read_not_changed(cast: Cast, browser: Browser) -> None:
    memory = capture(cast.ann.actor, content="ours", scope="corporate").memory
    bob = browser(cast.bob)

    shown = page(bob.get(f"/m/{memory.id}/"))
    answers = [
        bob.post(f"/m/{memory.id}/", {"content": "mine", "tags": "", "node": "Inbox", "revision": "1"}),
        bob.post(f"/m/{memory.id}/delete/"),
    ]

    assert shown.words == ["ours"]
    assert shown.all("input", name="revision") == []
    for answer in answers:
        assert "Only its contributor or a curator may change this." in page(answer, status=403).text
    assert words_of(cast.ann.actor, memory) == "ours"


def test_a_curator_changes_what_others_contributed(cast: Cast, ann: Client, browser: Browser) -> None:
    memory = capture(cast.bob.actor, content="ours", scope="corporate").memory

    ann.post(f"/m/{memory.id}/", form_of(ann, memory) | {"content": "ours, corrected"})

    assert words_of(cast.bob.actor, memory) == "ours, corrected"
    assert "replaced by ann@acme.test" in page(browser(cast.bob).get(f"/m/{memory.id}/")).text


# -- changing ---------------------------------------------------------------------------------------------------------


def test_an_edit_keeps_the_earlier_words(cast: Cast, ann: Client, thought: Memory) -> None:
    sent = form_of(ann, thought) | {
        "content": "three times a day",
        "tags": "medicine, Haddad",
        "node": "Health/Doctors",
    }

    answer = ann.post(f"/m/{thought.id}/", sent)

    assert (answer.status_code, answer["Location"]) == (303, f"/m/{thought.id}/")
    now = get_memory(cast.ann.actor, str(thought.id))
    assert (now.tags, now.node.path, now.revision) == (("medicine", "Haddad"), "Health/Doctors", 2)
    assert page(ann.get(f"/m/{thought.id}/")).words == ["three times a day", "twice a day"]


def test_only_what_was_changed_is_sent_on(cast: Cast, ann: Client) -> None:
    """A tag with a comma, and line breaks that no browser can send, survive a change of something else."""
    memory = capture(cast.ann.actor, content="\r\none\rtwo ", tags=["a, b"]).memory

    ann.post(f"/m/{memory.id}/", form_of(ann, memory) | {"node": "Elsewhere"})

    now = get_memory(cast.ann.actor, str(memory.id))
    assert (words_of(cast.ann.actor, memory), now.tags, now.node.path) == ("\r\none\rtwo ", ("a, b",), "Elsewhere")
    assert list_revisions(cast.ann.actor, str(memory.id)) == []


def test_a_change_meanwhile_is_not_overwritten_unseen(cast: Cast, ann: Client, thought: Memory) -> None:
    sent = form_of(ann, thought) | {"content": "my words"}
    edit(cast.ann.actor, str(thought.id), Changes(content="words from elsewhere"))

    refused = ann.post(f"/m/{thought.id}/", sent)

    shown = page(refused, status=409)
    assert shown.words == ["words from elsewhere", "twice a day"]
    assert shown.value("content") == "my words"
    assert "Somebody changed this while you were writing." in " ".join(shown.text.split())
    assert refused["X-Request-ID"] in shown.text
    assert words_of(cast.ann.actor, thought) == "words from elsewhere"

    again = sent | {"revision": revision_in(shown)}
    assert ann.post(f"/m/{thought.id}/", again).status_code == 303
    assert words_of(cast.ann.actor, thought) == "my words"
    assert [r["content"] for r in list_revisions(cast.ann.actor, str(thought.id))] == [
        "words from elsewhere",
        "twice a day",
    ]


def test_a_second_click_on_save_changes_nothing_more(cast: Cast, ann: Client, thought: Memory) -> None:
    sent = form_of(ann, thought) | {"content": "three times a day"}

    answers = [ann.post(f"/m/{thought.id}/", sent) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [303, 303]
    assert get_memory(cast.ann.actor, str(thought.id)).revision == 2
    assert notes(ann) == ["Saved.", "This is what is kept."]


@pytest.mark.parametrize(
    ("typed", "errors"),
    [
        ({"content": "\u200b"}, {"content": ["This has no visible character."]}),
        ({"node": ""}, {"node": ["This field is required."]}),
        ({"node": "Inbox/Below"}, {"node": ["The Inbox has no sub-nodes."]}),
        ({"tags": "x" * 101}, {"tags": ["At most 100 characters; this has 101."]}),
    ],
)
def test_a_refused_edit_keeps_what_was_typed(
    cast: Cast, ann: Client, thought: Memory, typed: dict[str, str], errors: dict[str, list[str]]
) -> None:
    sent = form_of(ann, thought) | {"content": "other words", **typed}

    answer = ann.post(f"/m/{thought.id}/", sent)

    shown = page(answer, status=400)
    assert answer.context["form"].errors == errors
    assert {name: shown.value(name) for name in ("content", "tags", "node")} | {"revision": "1"} == sent
    assert answer["X-Request-ID"] in shown.text
    assert "open" in shown.one("details", class_="edit").attributes
    assert get_memory(cast.ann.actor, str(thought.id)).revision == 1


def test_a_transcript_is_never_rewritten(cast: Cast, ann: Client) -> None:
    memory = talk(cast.ann.actor, 2)

    ann.post(f"/m/{memory.id}/", {"content": "rewritten", "tags": "new", "node": "Inbox", "revision": "1"})

    now = get_memory(cast.ann.actor, str(memory.id))
    assert ([m.content for m in now.messages or ()], now.tags) == (["message 0", "message 1"], ("new",))


# -- the trash --------------------------------------------------------------------------------------------------------


def test_deleting_can_be_undone_at_once(cast: Cast, ann: Client, thought: Memory) -> None:
    answer = ann.post(f"/m/{thought.id}/delete/", {"revision": "1"})

    assert (answer.status_code, answer["Location"]) == (303, "/")
    home = page(ann.get("/"))
    assert (home.words, "Moved to the trash." in home.text) == ([], True)
    undo = home.one("form", action=f"/trash/{thought.id}/restore/").attributes["action"]
    answer = ann.post(undo)
    assert (answer.status_code, answer["Location"]) == (303, f"/m/{thought.id}/")
    assert page(ann.get("/")).words == ["twice a day"]


def test_the_trash_lists_what_can_be_restored(cast: Cast, ann: Client, browser: Browser, thought: Memory) -> None:
    ours = capture(cast.ann.actor, content="ours", scope="corporate").memory
    for memory in (thought, ours):
        trash(cast.ann.actor, str(memory.id))

    seen = {name: page(client.get("/trash/")) for name, client in [("ann", ann), ("bob", browser(cast.bob))]}

    restore_ours, restore_thought = f"/trash/{ours.id}/restore/", f"/trash/{thought.id}/restore/"
    forms = {
        name: [form.attributes["action"] for form in shown.all("form") if "restore" in form.attributes["action"]]
        for name, shown in seen.items()
    }
    assert {name: shown.words for name, shown in seen.items()} == {"ann": ["ours", "twice a day"], "bob": ["ours"]}
    assert forms == {"ann": [restore_ours, restore_thought], "bob": []}
    assert "The trash is empty." in page(browser(cast.eve).get("/trash/")).text


def test_repeated_clicks_on_delete_and_restore(cast: Cast, ann: Client, thought: Memory) -> None:
    deleted = [ann.post(f"/m/{thought.id}/delete/", {"revision": "1"}).status_code for _ in range(2)]
    restored = [ann.post(f"/trash/{thought.id}/restore/").status_code for _ in range(2)]

    assert (deleted, restored) == ([303, 303], [303, 303])
    assert words_of(cast.ann.actor, thought) == "twice a day"


def test_what_was_changed_meanwhile_is_not_deleted(cast: Cast, ann: Client, thought: Memory) -> None:
    edit(cast.ann.actor, str(thought.id), Changes(content="words from elsewhere"))

    answer = ann.post(f"/m/{thought.id}/delete/", {"revision": "1"})

    assert (answer.status_code, answer["Location"]) == (303, f"/m/{thought.id}/")
    assert "Not deleted" in page(ann.get(f"/m/{thought.id}/")).text
    assert words_of(cast.ann.actor, thought) == "words from elsewhere"
