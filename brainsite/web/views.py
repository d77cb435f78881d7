"""The pages: each builds the person's actor, calls a verb, and shows what it answers. Plain forms, no script needed.

What a verb refuses is shown in the form it came from, with everything that was typed; where there is no form, as an
error page. After a change the browser is sent on (303), so that reloading repeats nothing.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.views import LoginView, LogoutView, redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.actor import Actor, Scope
from accounts.errors import BrainError, Forbidden, NotFound, Stale
from accounts.models import Organization, User
from accounts.people import first_organization_of, person_actor
from brainsite.web.cards import Card, HitCard, blocks_beside, cards, hit_cards, name_of, names_of
from brainsite.web.forms import (
    AUTO,
    CaptureForm,
    EditForm,
    RenameForm,
    SearchForm,
    SignInForm,
    show_refusal,
    tags_from,
)
from brainsite.web.how import How, how_found
from brainsite.web.places import NodePage, read_node, read_outlines
from brainsite.web.reading import MemoryPage, read_list, read_memory
from memory import erase
from memory.capture import capture, check_editable
from memory.edit import edit
from memory.memories import Filters, find_memory
from memory.nodes import rename_node
from memory.recall import recall
from memory.types import Memory, Recall

P = ParamSpec("P")
TRASHED = "trashed"


class SignIn(LoginView):
    template_name = "web/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class SignOut(LogoutView):
    http_method_names = ["post", "options"]


class SeeOther(HttpResponseRedirect):
    """Fetch that page now, whatever the method of this request was."""

    status_code = 303


def for_person(
    view: Callable[Concatenate[HttpRequest, Actor, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Only for people who are signed in. The view gets the actor; refusals that it does not show become error pages."""

    @never_cache
    @wraps(view)
    def page(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not isinstance(request.user, User):
            return _signed_out(request)
        try:
            actor = person_actor(request.user, first_organization_of(request.user), source="web")
        except Forbidden:
            return render(request, "web/no_organization.html", status=403)
        try:
            return view(request, actor, *args, **kwargs)
        except NotFound as error:
            raise Http404 from error
        except Forbidden as error:
            raise PermissionDenied(error.message) from error
        except BrainError as error:
            return render(request, "400.html", {"exception": error.message}, status=400)

    return page


def _signed_out(request: HttpRequest) -> HttpResponse:
    """To the sign-in page; but words that were sent after the session had ended are handed back first."""
    if content := request.POST.get("content"):
        return render(request, "web/signed_out.html", {"content": content}, status=401)
    return redirect_to_login(request.get_full_path() if request.method in ("GET", "HEAD") else reverse("home"))


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def home(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Keep a thought; find memories, or leaf through the newest."""
    if request.method != "POST":
        given = request.GET
        return _home(request, actor, CaptureForm(actor, scope=given.get("as", ""), node=given.get("into", "")))
    form = CaptureForm(actor, request.POST)
    if form.is_valid():
        typed = form.cleaned_data
        try:
            captured = capture(
                actor,
                content=typed["content"],
                scope=typed["scope"],
                tags=tags_from(typed["tags"]),
                node=typed["node"] or None,
                idempotency=form.idempotency(),
            )
        except BrainError as error:
            show_refusal(form, error)
        else:
            kept = "Kept" if captured.created else "Kept already"
            memory = captured.memory
            messages.success(request, f"{kept}. {memory.scope.capitalize()}, filed in {memory.node.path}.")
            return SeeOther(reverse("home"))
    return _home(request, actor, form, status=400)


def _home(request: HttpRequest, actor: Actor, composer: CaptureForm, *, status: int = 200) -> HttpResponse:
    search = SearchForm(actor, request.GET)
    newest: tuple[Card, ...] = ()
    hits: tuple[HitCard, ...] = ()
    answer: Recall | None = None
    how: How | None = None
    next_page = ""
    if search.is_valid():
        asked = search.cleaned_data
        query, scope, node = asked["q"], asked["scope"] or search.default_scope, asked["node"]
        try:
            if query:
                answer = recall(
                    actor,
                    query,
                    scope=scope,
                    mode=asked["mode"] or AUTO,
                    filters=Filters(node=node or None),
                    session=_recall_session(request),
                )
                hits = hit_cards(actor, query, answer)
                how = how_found(actor, answer)
            if not query or (node and not hits):
                page = read_list(actor, scope=scope, node=node, after=request.GET.get("after", ""))
                newest, next_page = cards(actor, page), page.next
        except BrainError as error:
            show_refusal(search, error)
    if answer is not None or search.errors:
        composer.fields["content"].widget.attrs.pop("autofocus", None)
    context = {
        "composer": composer,
        "search": search,
        "organization": Organization.objects.get(id=cast(UUID, actor.organization_id)),
        "answer": answer,
        "hits": hits,
        "blocks": blocks_beside(answer) if answer else (),
        "how": how,
        "newest": newest,
        "next": next_page,
        "after": request.GET.get("after", ""),
    }
    return render(request, "web/home.html", context, status=400 if search.errors else status)


def _recall_session(request: HttpRequest) -> str:
    """One for each sign-in, so that what was just discussed stays warm."""
    return str(request.session.setdefault("recall_session", str(uuid4())))


@require_safe
@for_person
def tree_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The outline of the person's brains."""
    return render(request, "web/tree.html", {"outlines": read_outlines(actor)})


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def node_page(request: HttpRequest, actor: Actor, node_id: UUID) -> HttpResponse:
    """One node: what lies in it, what its index knows; and, for whoever may change the tree, a form for its name."""
    page = read_node(actor, node_id, after=request.GET.get("after", ""))
    if request.method != "POST":
        return _node(request, actor, page, RenameForm(initial={"name": page.node.name}))
    form = RenameForm(request.POST)
    if not form.is_valid():
        return _node(request, actor, page, form, status=400)
    try:
        node = rename_node(actor, node_id, form.cleaned_data["name"])
    except BrainError as error:
        if isinstance(error, NotFound | Forbidden) or not _may_rename(actor, page):
            raise
        show_refusal(form, error)
        return _node(request, actor, page, form, status=400)
    messages.success(request, "This is its name." if node.name == page.node.name else f"Renamed to {node.name}.")
    return SeeOther(reverse("node", args=[node.id]))


def _node(request: HttpRequest, actor: Actor, page: NodePage, form: RenameForm, *, status: int = 200) -> HttpResponse:
    context = {
        "page": page,
        "node": page.node,
        "cards": cards(actor, page.memories),
        "after": request.GET.get("after", ""),
        "form": form if _may_rename(actor, page) else None,
        "may_keep": any(brain.id == page.node.brain_id for brain in actor.writable),
    }
    return render(request, "web/node.html", context, status=status)


def _may_rename(actor: Actor, page: NodePage) -> bool:
    """Whom the verb would let; the Inbox keeps its name."""
    is_writer = any(brain.id == page.node.brain_id for brain in actor.writable)
    return is_writer and not page.is_inbox and (page.node.scope == Scope.PERSONAL or actor.curates)


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def memory_page(request: HttpRequest, actor: Actor, ref: str) -> HttpResponse:
    """One memory: its words, where it comes from, its earlier words; and, for whoever may change it, a form."""
    page = read_memory(actor, ref, start=_number(request.GET.get("from")))
    if request.method != "POST":
        return _memory(request, actor, page, EditForm(page.memory, page.content))
    form = EditForm(page.memory, page.content, request.POST)
    if not form.is_valid():
        return _memory(request, actor, page, form, status=400)
    here = SeeOther(reverse("memory", args=[page.memory.id]))
    changes = form.changes()
    if changes is None:  # or a repeated click on Save
        messages.info(request, "This is what is kept.")
        return here
    try:
        edit(actor, str(page.memory.id), changes, expected_revision=form.cleaned_data["revision"])
    except Stale:
        return _memory(request, actor, page, _for_now(request.POST, page), status=409, stale=True)
    except (NotFound, Forbidden):
        raise
    except BrainError as error:
        show_refusal(form, error)
        return _memory(request, actor, page, form, status=400)
    messages.success(request, "Saved.")
    return here


def _for_now(typed: QueryDict, page: MemoryPage) -> EditForm:
    """What was typed, in a form for the revision that the page shows beside it."""
    data = typed.copy()
    data["revision"] = str(page.memory.revision)
    return EditForm(page.memory, page.content, data)


def _memory(
    request: HttpRequest, actor: Actor, page: MemoryPage, form: EditForm, *, status: int = 200, stale: bool = False
) -> HttpResponse:
    memory = page.memory
    names = names_of(actor, [memory.contributed_by, *(earlier.edited_by for earlier in page.revisions)])
    context = {
        "page": page,
        "memory": memory,
        "who": name_of(memory.contributed_by, names),
        "revisions": [(earlier, name_of(earlier.edited_by, names)) for earlier in page.revisions],
        "form": form if _may_edit(actor, memory) else None,
        "is_stale": stale,
    }
    return render(request, "web/memory.html", context, status=status)


def _may_edit(actor: Actor, memory: Memory) -> bool:
    try:
        check_editable(actor, memory)
    except Forbidden:
        return False
    return True


@require_POST
@for_person
def delete(request: HttpRequest, actor: Actor, ref: str) -> HttpResponse:
    """To the trash; the next page offers to take it back."""
    revision = _number(request.POST.get("revision"))
    try:
        memory = erase.trash(actor, ref, expected_revision=revision or None)
    except Stale:
        messages.error(request, "Not deleted: it was changed after you opened it. Here is how it is now.")
        return SeeOther(reverse("memory", args=[ref]))
    except NotFound:
        memory = _trashed(actor, ref)  # a repeated click
    messages.success(request, "Moved to the trash.", extra_tags=str(memory.id))  # what Undo restores
    return SeeOther(reverse("home"))


@require_safe
@for_person
def trash_page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """What was deleted in the last 30 days, and can be brought back."""
    scope = SearchForm(actor, {}).default_scope
    page = read_list(actor, scope=scope, state=TRASHED, after=request.GET.get("after", ""))
    shown = [(card, _may_edit(actor, card.memory)) for card in cards(actor, page)]
    context = {"trashed": shown, "next": page.next, "days": erase.GRACE.days}
    return render(request, "web/trash.html", context)


@require_POST
@for_person
def restore(request: HttpRequest, actor: Actor, ref: str) -> HttpResponse:
    try:
        memory = erase.restore(actor, ref)
    except NotFound:
        memory = _live(actor, ref)  # a repeated click
    messages.success(request, "Back from the trash.")
    return SeeOther(reverse("memory", args=[memory.id]))


def _trashed(actor: Actor, ref: str) -> Memory:
    with actor.session():
        return find_memory(actor, ref, state=TRASHED)


def _live(actor: Actor, ref: str) -> Memory:
    with actor.session():
        return find_memory(actor, ref)


def _number(text: Any) -> int:
    """0 for what is none."""
    return int(text) if isinstance(text, str) and text.isdecimal() and len(text) < 10 else 0
