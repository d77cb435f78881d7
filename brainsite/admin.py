"""What the administration lists: tenant rows of shared brains, read-only; people, keys, organizations, to be changed.

Nothing is deleted for good: people and agents are switched off, keys are revoked, a membership ends.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from accounts.keys import revoke_key
from accounts.models import Agent, Brain, BrainKey, Membership, Operation, Organization, User
from accounts.people import create_organization, ensure_person
from brainsite.admin_site import ModelAdmin, ScopedAdmin
from graph.models import Node
from memory.models import Job, RecallFile

if TYPE_CHECKING:
    PeopleAdmin = UserAdmin[User]
    CreationForm = AdminUserCreationForm[User]
else:
    PeopleAdmin, CreationForm = UserAdmin, AdminUserCreationForm


# -- tenant rows ------------------------------------------------------------------------------------------------------


@admin.register(RecallFile)
class RecallFileAdmin(ScopedAdmin):
    list_display = ("recall_id", "scope", "kind", "category", "state", "embedding_state", "message_count", "created_at")
    list_filter = ("scope", "kind", "category", "state", "embedding_state", "trust")
    search_fields = ("recall_id", "title")
    fields = (
        *("id", "brain", "scope", "recall_id", "title", "kind", "category", "visibility", "tags", "node"),
        *("platform", "conversation_type", "source", "trust", "contributed_by", "message_count", "revision", "state"),
        *("embedding_state", "occurred_at", "created_at", "updated_at", "purge_after"),
    )


@admin.register(Node)
class NodeAdmin(ScopedAdmin):
    list_display = ("name", "scope", "type", "category", "memory_count", "created_at", "archived_at")
    list_filter = ("scope", "type")
    search_fields = ("name", "category")
    fields = (
        *("id", "brain", "scope", "name", "aliases", "type", "parent", "category", "memory_count"),
        *("created_at", "last_accessed", "archived_at"),
    )


@admin.register(Job)
class JobAdmin(ScopedAdmin):
    list_display = ("id", "scope", "kind", "state", "attempts", "created_at", "finished_at", "error")
    list_filter = ("scope", "kind", "state")
    fields = (
        *("id", "brain", "scope", "kind", "subject_id", "state", "priority", "attempts", "run_after", "lease_until"),
        *("requested_by", "progress", "error", "created_at", "finished_at"),
    )


@admin.register(Operation)
class OperationAdmin(ScopedAdmin):
    list_display = ("created_at", "scope", "verb", "target_kind", "target_id", "door", "source")
    list_filter = ("scope", "door", "verb")
    fields = (
        *("id", "brain", "scope", "verb", "target_kind", "target_id", "reason", "door", "source"),
        *("user_id", "agent_id", "key_id", "created_at"),
    )


# -- global rows ------------------------------------------------------------------------------------------------------


class GlobalAdmin(ModelAdmin):
    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Organization)
class OrganizationAdmin(GlobalAdmin):
    list_display = ("name", "slug", "created_at")
    ordering = ("name", "id")
    search_fields = ("name", "slug")
    fields = ("name", "slug")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return ("slug",) if obj else ()

    def save_model(self, request: HttpRequest, obj: Organization, form: "forms.ModelForm[Any]", change: bool) -> None:
        """A new one comes with its brains."""
        if change:
            super().save_model(request, obj, form, change)
        else:
            obj.id = create_organization(obj.name, slug=obj.slug).id


class PersonCreationForm(CreationForm):
    class Meta:
        model = User
        fields = ("email",)

    def clean_email(self) -> str:
        return str(self.cleaned_data["email"]).lower()


@admin.register(User)
class PersonAdmin(PeopleAdmin):
    add_form = PersonCreationForm
    list_display = ("email", "name", "is_active", "is_staff", "is_superuser", "created_at")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("email", "name")
    ordering = ("email",)
    fieldsets = (
        (None, {"fields": ("email", "password", "name")}),
        ("May", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Times", {"fields": ("last_login", "created_at")}),
    )
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "usable_password", "password1", "password2")}),)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Only a superuser hands out rights."""
        rights = () if request.user.is_superuser else ("is_staff", "is_superuser", "groups", "user_permissions")
        return ("last_login", "created_at", *rights)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Whoever may set passwords would else become a superuser by setting one's."""
        may = super().has_change_permission(request, obj)
        return may and (request.user.is_superuser or obj is None or not obj.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False


@admin.register(Membership)
class MembershipAdmin(ModelAdmin):
    list_display = ("user", "organization", "role", "created_at")
    ordering = ("organization__name", "user__email")
    list_filter = ("role",)
    list_select_related = ("user", "organization")
    search_fields = ("user__email", "organization__name")
    autocomplete_fields = ("user", "organization")
    fields = ("organization", "user", "role")

    def get_readonly_fields(self, request: HttpRequest, obj: Membership | None = None) -> tuple[str, ...]:
        return ("organization", "user") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: "forms.ModelForm[Any]", change: bool) -> None:
        super().save_model(request, obj, form, change)
        ensure_person(obj.organization, obj.user.email)  # the personal brain that comes with a membership


@admin.register(Agent)
class AgentAdmin(GlobalAdmin):
    list_display = ("name", "organization", "is_active", "created_at")
    ordering = ("name", "id")
    list_filter = ("is_active",)
    list_select_related = ("organization",)
    search_fields = ("name",)
    autocomplete_fields = ("organization",)
    fields = ("organization", "name", "is_active")

    def get_readonly_fields(self, request: HttpRequest, obj: Agent | None = None) -> tuple[str, ...]:
        return ("organization",) if obj else ()


class ReadOnlyAdmin(GlobalAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Brain)
class BrainAdmin(ReadOnlyAdmin):
    """That a brain is there, and whose it is; nothing of what is in it."""

    list_display = ("id", "scope", "organization", "owner")
    ordering = ("organization__name", "scope", "id")
    list_filter = ("scope",)
    list_select_related = ("organization", "owner")
    search_fields = ("organization__name", "owner__email")
    fields = ("id", "scope", "organization", "owner")


@admin.register(BrainKey)
class BrainKeyAdmin(ReadOnlyAdmin):
    """Keys are made where they can be shown once; here they are seen, without their hash, and revoked."""

    list_display = (
        "public_id",
        "kind",
        "label",
        "organization",
        "user",
        "agent",
        "last_used_at",
        "expires_at",
        "revoked_at",
    )
    list_filter = ("kind",)
    list_select_related = ("organization", "user", "agent")
    search_fields = ("public_id", "label", "user__email", "agent__name")
    ordering = ("-created_at", "-id")
    fields = (
        *("id", "public_id", "kind", "label", "organization", "user", "agent", "permissions"),
        *("created_at", "last_used_at", "expires_at", "revoked_at"),
    )
    actions = ("revoke",)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_brainkey")

    @admin.action(description="Revoke the selected keys", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[BrainKey]) -> None:
        keys = list(queryset)
        for key in keys:
            revoke_key(key.id)
            self.log_change(request, key, "Revoked.")
        self.message_user(request, f"Revoked: {', '.join(key.public_id for key in keys)}.", messages.SUCCESS)
