"""Organizations, people, agents, brains and keys: global rows, without keys to tenant rows. And operations."""

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower, Now
from django.utils import timezone

from accounts.actor import Door, Scope
from accounts.ids import uuid7
from accounts.tenant import TenantModel, tenant_link


class Organization(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    slug = models.SlugField(max_length=63, unique=True)
    name = models.CharField(max_length=200)
    settings = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.name


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)


class User(AbstractBaseUser, PermissionsMixin):
    """A person, who signs in by e-mail address."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=200, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="accounts_user_email_any_case")]

    def __str__(self) -> str:
        return self.email


class Membership(models.Model):
    class Role(models.TextChoices):
        OWNER = "owner"
        CURATOR = "curator"
        MEMBER = "member"
        VIEWER = "viewer"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.MEMBER)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="accounts_membership_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=["owner", "curator", "member", "viewer"]), name="accounts_membership_role"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


class Agent(models.Model):
    """A program that acts by itself. Its name is one name whatever its case."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="agents")
    name = models.CharField(max_length=100)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [models.UniqueConstraint("organization", Lower("name"), name="accounts_agent_name_any_case")]

    def __str__(self) -> str:
        return self.name


class Brain(models.Model):
    """One memory space, and the tenant key of every memory row."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="brains")
    scope = models.CharField(max_length=16, choices=Scope.choices)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="brains", null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["id", "scope"], name="accounts_brain_scope_key"),
            models.UniqueConstraint(
                fields=["organization", "owner"],
                condition=models.Q(scope="personal"),
                name="accounts_brain_one_personal",
            ),
            models.CheckConstraint(
                condition=models.Q(scope="personal", owner__isnull=False)
                | models.Q(scope__in=["corporate", "agent"], owner__isnull=True),
                name="accounts_brain_owner_if_personal",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.id}"


class BrainKey(models.Model):
    """A key of a person or an agent: `brk_<kind>_<public_id>_<secret>`, of which only a keyed hash is stored."""

    class Kind(models.TextChoices):
        PERSON = Door.PERSON.value
        AGENT = Door.AGENT.value
        CONTEXT = Door.CONTEXT.value
        INTENT = Door.INTENT.value

    class Permission(models.TextChoices):
        PROMOTE = "promote"
        FEED = "feed"
        ALLOW_IN_URL = "allow_in_url"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="keys")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="keys", null=True, blank=True)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="keys", null=True, blank=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    label = models.CharField(max_length=100)
    permissions = ArrayField(models.CharField(max_length=32, choices=Permission.choices), default=list, blank=True)
    public_id = models.CharField(max_length=16, unique=True, editable=False)
    secret_hash = models.BinaryField(max_length=32, editable=False)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="person", user__isnull=False, agent__isnull=True)
                | models.Q(kind="agent", user__isnull=True, agent__isnull=False)
                | models.Q(kind__in=["context", "intent"], user__isnull=True),
                name="accounts_brainkey_principal",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.public_id}"

    def is_usable(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())


class Operation(TenantModel):
    """One change: who, through which door and key, did what to what. Append-only; what it changed is in the payload."""

    door = models.CharField(max_length=16)
    user_id = models.UUIDField(null=True)
    agent_id = models.UUIDField(null=True)
    key_id = models.UUIDField(null=True)
    source = models.CharField(max_length=100, blank=True)
    verb = models.CharField(max_length=50)
    target_kind = models.CharField(max_length=50)
    target_id = models.UUIDField()
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [
            models.Index(
                fields=["brain", "-created_at", "-id"], name="accounts_operation_newest"
            ),  # activity of a brain
            models.Index(fields=["brain", "target_id"], name="accounts_operation_target"),  # history of one thing
        ]


class OperationPayload(TenantModel):
    """What an operation changed: ids, names and settings before and after. Erasure removes it, the operation stays."""

    operation = tenant_link("accounts.Operation")
    data = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["brain", "operation"], name="accounts_operationpayload_once")]
