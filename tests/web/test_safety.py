"""What holds for every page: who gets in, what cannot run, what is said when something goes wrong."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern
from django.utils.html import escape

from accounts.models import User
from brainsite.web import views
from brainsite.web.urls import urlpatterns
from memory.capture import capture, capture_files
from memory.erase import trash
from memory.memories import list_memories
from memory.nodes import rename_node
from memory.types import NewMessage, NewRecallFile
from tests.cast import PASSWORD, Cast
from tests.web.conftest import Browser, keep
from tests.web.pages import Page, page

UNKNOWN = "0198a0f0-0000-7000-8000-000000000000"
OPEN_TO_ALL = {"login", "logout"}


def path_of(pattern: URLPattern) -> str:
    return "/" + re.sub("<[^>]+>", UNKNOWN, str(pattern.pattern))


def csp(response: Any) -> dict[str, str]:
    parts = (directive.partition(" ") for directive in response["Content-Security-Policy"].split("; "))
    return {name: value for name, _, value in parts}


# -- who gets in ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("pattern", [p for p in urlpatterns if p.name not in OPEN_TO_ALL], ids=lambda p: str(p.name))
def test_every_page_wants_to_know_who_asks(pattern: URLPattern, method: str) -> None:
    answer = getattr(Client(), method)(path_of(pattern))

    allowed = {"get": (302, 405), "post": (302, 405)}[method]
    assert answer.status_code in allowed
    assert answer.get("Location", "/login/").startswith("/login/")
    assert answer.content.decode().strip() == ""


def test_signing_in_and_out(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    form = page(client.get("/login/?next=/trash/"))
    sent = {
        "username": "Ann@Acme.test",
        "password": PASSWORD,
        "next": form.value("next"),
        "csrfmiddlewaretoken": form.value("csrfmiddlewaretoken"),
    }

    answer = client.post("/login/", sent)

    assert (answer.status_code, answer["Location"]) == (302, "/trash/")
    token = page(client.get("/trash/")).all("input", name="csrfmiddlewaretoken")[0].attributes["value"]
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/", {"csrfmiddlewaretoken": token})["Location"] == "/login/"
    assert client.get("/trash/")["Location"] == "/login/?next=/trash/"


def test_a_wrong_password_tells_nothing_about_the_address(cast: Cast) -> None:
    emails = ["ann@acme.test", "nobody@acme.test"]
    answers = [Client().post("/login/", {"username": email, "password": "wrong"}) for email in emails]

    shown = [page(answer) for answer in answers]
    assert answers[0].context["form"].errors == answers[1].context["form"].errors
    assert [(p.value("username"), p.value("password")) for p in shown] == [(email, "") for email in emails]


def test_signing_in_leads_to_no_other_site(cast: Cast) -> None:
    sent = {"username": "ann@acme.test", "password": PASSWORD, "next": "https://evil.test/"}

    assert Client().post("/login/", sent)["Location"] == "/"


def test_somebody_without_an_organization_is_told_what_to_do(cast: Cast) -> None:
    client = Client()
    client.force_login(User.objects.create_user("lost@acme.test", PASSWORD))

    shown = page(client.get("/"), status=403)

    assert shown.one("h1").text == "You are not in an organization yet"
    assert "lost@acme.test" in shown.text


def test_words_sent_after_the_session_ended_are_handed_back(cast: Cast) -> None:
    answer = Client().post("/", {"content": "\nnot <b>lost</b>", "scope": "personal"})

    shown = page(answer, status=401)
    assert shown.one("textarea").text == "\n\nnot <b>lost</b>"
    assert list_memories(cast.ann.actor) == []


def test_no_form_of_another_site_gets_through(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.ann.user)

    for path in ("/", f"/m/{UNKNOWN}/", f"/n/{UNKNOWN}/", f"/m/{UNKNOWN}/delete/", f"/trash/{UNKNOWN}/restore/"):
        answer = client.post(path, {"content": "forged", "scope": "personal"})
        shown = page(answer, status=403)
        assert shown.one("h1").text == "This form has expired"
        assert answer["X-Request-ID"] in shown.text
    assert list_memories(cast.ann.actor) == []


# -- what cannot run --------------------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>click</a>",
    "<details open ontoggle=alert(1)>",
    "<math><mtext></p><img src=x onerror=alert(1)></math>",
    "<!--><script>alert(1)</script>-->",
    "<style>@import 'https://evil.test/'</style>",
    "<meta http-equiv=refresh content='0;url=https://evil.test/'>",
    "<form action=https://evil.test/><button>Keep</button>",
    "{{ request.user.password }}{% load static %}{% debug %}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "\u202egnp.exe \u2066hidden\u2069 ${alert(1)} `alert(1)`",
]


def shelf(cast: Cast, words: str) -> dict[str, str]:
    """These words in every place where people and programs can put some; the paths of all pages that show them."""
    place = "".join(c for c in words.replace("/", "∕") if c.isprintable())
    mine = cast.ann.actor
    thought = capture(mine, content=words, tags=[words], node=f"Hostile/{place}").memory
    deleted = capture(mine, content=words, tags=[words], node=f"Hostile/{place}").memory
    message = NewMessage("user", words, speaker=words)
    new = NewRecallFile(
        kind="conversation", messages=(message,), title=words, platform=words[:50], source_key=words, tags=(words,)
    )
    talk = capture_files(mine, scope="personal", files=[new])[0].memory
    trash(mine, str(deleted.id))
    User.objects.filter(id=cast.ann.user.id).update(name=words)
    node = f"/n/{thought.node.id}/"
    return {"home": "/", "node": node, "thought": f"/m/{thought.id}/", "talk": f"/m/{talk.id}/", "trash": "/trash/"}


def scripted(shown: Page) -> list[str]:
    """Anything on a page that could run, style or load something that is not ours."""
    found = [e.tag for e in shown.elements if e.tag in ("script", "style", "iframe", "object", "embed", "base", "math")]
    found += [name for e in shown.elements for name in e.attributes if name.startswith("on") or name == "style"]
    links = [e.attributes.get(name, "/") for e in shown.elements for name in ("href", "src", "action", "formaction")]
    return found + [link for link in links if not re.match(r"/(?!/)|#|\?", link)]


def test_hostile_words_are_shown_not_obeyed(cast: Cast, ann: Client) -> None:
    """A memory's own page has the same elements as with harmless words; no page has any that could run."""
    harmless = {name: page(ann.get(path)) for name, path in shelf(cast, "harmless words").items()}

    for words in HOSTILE:
        hostile = {name: page(ann.get(path)) for name, path in shelf(cast, words).items()}
        assert hostile["thought"].structure == harmless["thought"].structure, words
        assert hostile["talk"].structure == harmless["talk"].structure, words
        assert hostile["node"].structure == harmless["node"].structure, words
        for shown in hostile.values():
            assert words in shown.words
            assert escape(words) in shown.html
            assert scripted(shown) == [], words


def test_hostile_names_are_shown_not_obeyed(cast: Cast, ann: Client) -> None:
    """Of a node: in the tree, on its page, in its index file, in a search and in the form for another name."""
    nodes = {
        place: capture(cast.ann.actor, content=f"word {place}", tags=[place], node=f"{place}/Below").memory.node.id
        for place in {"".join(c for c in words.replace("/", "∕") if c.isprintable()) for words in HOSTILE}
    }
    tree = page(ann.get("/tree/"))

    assert scripted(tree) == []
    for place, node_id in nodes.items():
        rename_node(cast.ann.actor, node_id, f"Now {place}"[:80])
        pages = [ann.get(f"/n/{node_id}/"), ann.get("/", {"q": "word", "node": place})]
        refused = page(ann.post(f"/n/{node_id}/", {"name": f"{place}/"}), status=400)
        shown = [page(answer) for answer in pages]
        assert place in tree.text
        assert [scripted(each) for each in (*shown, refused)] == [[], [], []], place
        assert all(escape(place) in each.html for each in (*shown, refused)), place
        assert refused.value("name") == f"{place}/"


def test_a_hostile_question_is_shown_not_obeyed(cast: Cast, ann: Client) -> None:
    for words in HOSTILE:
        capture(cast.ann.actor, content=words)
        shown = page(ann.get("/", {"q": words}))
        refused = page(keep(ann, words, node="//", tags=words), status=400)
        assert (scripted(shown), scripted(refused)) == ([], []), words
        assert (shown.value("q"), refused.value("content")) == (words, words)


@pytest.fixture
def every_page(cast: Cast, ann: Client) -> dict[str, Any]:
    """One answer of each kind."""
    memory = capture(cast.ann.actor, content="a thought").memory
    lost = Client()
    lost.force_login(User.objects.create_user("lost@acme.test", PASSWORD))
    return {
        "login": Client().get("/login/"),
        "home": ann.get("/"),
        "search": ann.get("/?q=thought"),
        "memory": ann.get(f"/m/{memory.id}/"),
        "everything": ann.get("/?q=thought&mode=exhaustive"),
        "tree": ann.get("/tree/"),
        "node": ann.get(f"/n/{memory.node.id}/"),
        "not renamed": ann.post(f"/n/{memory.node.id}/", {"name": ""}),
        "trash": ann.get("/trash/"),
        "refused": keep(ann, ""),
        "not found": ann.get("/nowhere/"),
        "forged": Client(enforce_csrf_checks=True).post("/login/"),
        "signed out": Client().post("/", {"content": "late"}),
        "no organization": lost.get("/"),
        "admin": ann.get("/admin/"),
    }


def test_every_page_is_framed_against_what_could_run(every_page: dict[str, Any]) -> None:
    policies = [csp(answer) for answer in every_page.values()]

    assert all(policy == policies[0] for policy in policies)
    assert policies[0] == {
        **dict.fromkeys(("default-src", "base-uri", "frame-ancestors"), "'none'"),
        **dict.fromkeys(("script-src", "style-src", "font-src", "connect-src", "form-action"), "'self'"),
        "img-src": "'self' data:",
        "manifest-src": "'self'",
    }
    for answer in every_page.values():
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"


def test_every_page_is_whole(every_page: dict[str, Any]) -> None:
    """One heading, a title, a language, a skip link, a label for every field; nothing of other hosts."""
    del every_page["admin"]
    for name, answer in every_page.items():
        shown = Page(answer.content.decode())
        assert len(shown.all("h1")) == 1, name
        assert shown.one("title").text.endswith("Brain")
        assert shown.one("html").attributes == {"lang": "en"}
        assert shown.all("a")[0].attributes == {"class": "skip", "href": "#main"}
        assert len(shown.all("main", id="main")) == 1
        ids = [element.attributes["id"] for element in shown.elements if "id" in element.attributes]
        assert len(ids) == len(set(ids)), name
        labelled = {label.attributes.get("for") for label in shown.all("label")}
        fields = [e for e in shown.elements if e.tag in ("input", "textarea", "select")]
        visible = [e for e in fields if e.attributes.get("type") not in ("hidden", "radio")]
        assert {field.attributes["id"] for field in visible} <= labelled, name
        assert scripted(shown) == [], name


def test_private_pages_stay_out_of_caches(every_page: dict[str, Any]) -> None:
    for name in ("login", "home", "search", "memory", "tree", "node", "trash", "refused", "signed out"):
        assert "no-store" in every_page[name]["Cache-Control"]


def test_our_files_ask_no_other_host() -> None:
    static = Path(settings.BASE_DIR) / "brainsite" / "static"
    texts = {path.name: path.read_text() for path in static.rglob("*.*") if path.suffix in (".css", ".svg")}

    assert {"brain.css", "favicon.svg"} <= texts.keys()
    assert re.findall(r"url\(|@import|https?:", texts["brain.css"]) == []
    answer = Client().get("/static/brain.css")
    assert (answer.status_code, answer["Content-Type"]) == (200, 'text/css; charset="utf-8"')
    answer.close()


# -- what is said when something goes wrong ---------------------------------------------------------------------------


def test_an_error_of_ours_tells_its_id_and_nothing_else(
    cast: Cast, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **more: Any) -> None:
        raise ZeroDivisionError("the secret cause")

    monkeypatch.setattr(views, "capture", broken)
    ann = browser(cast.ann)
    form_id = page(ann.get("/")).value("form_id")
    ann.raise_request_exception = False

    answer = ann.post("/", {"form_id": form_id, "content": "not <b>lost</b>", "scope": "personal"})

    shown = page(answer, status=500)
    assert shown.one("textarea").text.strip() == "not <b>lost</b>"
    assert answer["X-Request-ID"] in shown.text
    assert all(word not in shown.html for word in ("secret cause", "ZeroDivisionError", "Traceback"))


def test_a_page_that_is_not_there_tells_its_id(ann: Client) -> None:
    answer = ann.get("/nowhere/<b>", headers={"X-Request-ID": "asked-for-by-me"})

    shown = page(answer, status=404)
    assert answer["X-Request-ID"] == "asked-for-by-me"
    assert "asked-for-by-me" in shown.text
    assert "nowhere" not in shown.html


def test_what_people_ask_for_is_in_no_log(cast: Cast, ann: Client, caplog: pytest.LogCaptureFixture) -> None:
    memory = capture(cast.ann.actor, content="zebra crossing").memory
    assert "zebra" in memory.recall_id

    with caplog.at_level("INFO"):
        ann.get("/", {"q": "zebra"})
        ann.get(f"/m/{memory.recall_id}/")
        keep(ann, "zebra")

    logged = [str(record.msg) for record in caplog.records if record.name.startswith("django_structlog")]
    assert len(logged) >= 6
    assert [line for line in logged if "zebra" in line] == []
    assert any("GET /m/<slug:ref>/" in line for line in logged)
