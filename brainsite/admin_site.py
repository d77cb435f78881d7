"""The administration: what curators see of tenant rows, and how. Personal brains are no part of it, for nobody.

Django's own admin would read tenant tables as the web's login, which has no right on them. Here every view of a tenant
model runs inside the session of the curator's actor, where the database shows shared brains alone; everything else
(people, keys, organizations, passwords, the index) runs outside, where tenant tables are closed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import ProgrammingError
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import SimpleTemplateResponse
from django.urls import reverse
from psycopg.errors import InsufficientPrivilege

from accounts.actor import Actor
from accounts.models import User
from accounts.people import curator_actor
from accounts.tenant import TenantModel

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin

View = Callable[..., HttpResponse]
NOT_ALLOWED = "The database does not let you do this. Nothing was changed."


class BrainAdminSite(admin.AdminSite):
    site_title = "Brain"
    site_header = "Brain administration"
    index_title = "Administration"

    def admin_view(self, view: View, cacheable: bool = False) -> View:  # type: ignore[override]
        """Everything of the admin goes through here, after the check that it is staff who asks."""
        owner = getattr(view, "__self__", None)
        if isinstance(owner, ScopedAdmin) or view == self.autocomplete_view:
            view = in_curators_session(view)
        return super().admin_view(denied_is_403(view), cacheable)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """People sign in at one place."""
        if self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index"))
        if request.user.is_authenticated:
            raise PermissionDenied("The administration is for staff.")
        return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME) or reverse("admin:index"))


def in_curators_session(view: View) -> View:
    def inside(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        actor = curator_actor(cast(User, request.user))  # admin_view let staff in
        request.actor = actor  # type: ignore[attr-defined]
        with actor.session():
            response = view(request, *args, **kwargs)
            if isinstance(response, SimpleTemplateResponse) and not response.is_rendered:
                response.render()  # while its querysets can still be evaluated
            return response

    return inside


def denied_is_403(view: View) -> View:
    def inside(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except ProgrammingError as error:
            if isinstance(error.__cause__, InsufficientPrivilege):
                raise PermissionDenied(NOT_ALLOWED) from error
            raise

    return inside


def actor_of(request: HttpRequest) -> Actor:
    """The curator whose session is open. Raises AttributeError outside of one."""
    actor: Actor = request.actor  # type: ignore[attr-defined]
    return actor


class ScopedAdmin(ModelAdmin):
    """Base of the admin of every tenant model: the curator's rows only, read-only, in lists, choices and searches."""

    ordering = ("-created_at", "-id")
    show_full_result_count = False
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        model: type[TenantModel] = self.model
        return model.objects.visible_to(actor_of(request)).order_by(*self.get_ordering(request))

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> "ModelChoiceField[Any] | None":
        related = db_field.remote_field.model
        if issubclass(related, TenantModel):
            kwargs["queryset"] = related.objects.visible_to(actor_of(request))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
