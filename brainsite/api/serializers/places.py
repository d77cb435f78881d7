"""Brains, who is asking, numbers and jobs."""

from typing import Any

from rest_framework import serializers

from accounts.actor import Door, Scope
from accounts.models import Membership
from brainsite.api.base import PageParameters
from brainsite.api.fields import Choice, JSONObject
from brainsite.api.serializers.common import NodeRef
from memory.models import Job
from memory.stats import JobView, Stats


class BrainOutput(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    scope = serializers.ChoiceField(Scope.values)
    may_read = serializers.BooleanField()
    may_write = serializers.BooleanField()


class MePrincipal(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(("user", "agent"))
    id = serializers.UUIDField(allow_null=True)
    name = serializers.CharField()
    email = serializers.EmailField(allow_null=True)
    role = serializers.ChoiceField(Membership.Role.values, allow_null=True)


class MeOrganization(serializers.Serializer[Any]):
    id = serializers.UUIDField(source="organization_id")
    slug = serializers.CharField(source="organization_slug")
    name = serializers.CharField(source="organization_name")


class MeKey(serializers.Serializer[Any]):
    """Never the key itself."""

    id = serializers.UUIDField(source="key_id")
    label = serializers.CharField(source="key_label")  # type: ignore[assignment]
    expires_at = serializers.DateTimeField(source="key_expires_at", allow_null=True)


class MeOutput(serializers.Serializer[Any]):
    who = MePrincipal()
    organization = MeOrganization()
    door = serializers.ChoiceField([door.value for door in Door])
    brains = BrainOutput(many=True)
    key = MeKey(allow_null=True, help_text="null for a web session.")


class RoutingMissesOutput(serializers.Serializer[Any]):
    node = NodeRef()
    wanted = serializers.IntegerField(help_text="Best answers of the repeated searches that lie in the node.")
    missed = serializers.IntegerField(help_text="Of those, how many the first search had not looked at.")


class StatsOutput(serializers.Serializer[Stats]):
    memories = serializers.IntegerField()
    entries = serializers.IntegerField()
    pending = serializers.IntegerField(help_text="Entries not yet embedded.")
    by_scope = serializers.DictField(child=serializers.IntegerField())
    by_category = serializers.DictField(child=serializers.IntegerField())
    top_tags = serializers.DictField(child=serializers.IntegerField())
    top_contributors = serializers.DictField(child=serializers.IntegerField())
    jobs = serializers.DictField(child=serializers.IntegerField())
    routing = RoutingMissesOutput(many=True, help_text="From searches that were repeated over everything.")


class JobParameters(PageParameters):
    kind = Choice(Job.Kind.values, required=False)
    state = Choice(Job.State.values, required=False)


class JobOutput(serializers.Serializer[JobView]):
    id = serializers.UUIDField()
    kind = serializers.ChoiceField(Job.Kind.values)
    subject_id = serializers.UUIDField(help_text="What is worked on.")
    scope = serializers.ChoiceField(Scope.values)
    state = serializers.ChoiceField(Job.State.values)
    attempts = serializers.IntegerField()
    progress = JSONObject()
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class ImportInput(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="JSON Lines: one conversation, a JSON object, on each line.")
    scope = serializers.ChoiceField(Scope.values, default="personal")


class ImportParameters(PageParameters):
    state = Choice(Job.State.values, required=False)


class ImportProblem(serializers.Serializer[Any]):
    line = serializers.IntegerField(help_text="From 1.")
    reason = serializers.CharField()


class ImportProgress(serializers.Serializer[Any]):
    """All 0 until a worker has started."""

    bytes_total = serializers.IntegerField(default=0)
    bytes_read = serializers.IntegerField(default=0)
    conversations = serializers.IntegerField(default=0)
    recall_files = serializers.IntegerField(default=0)
    unchanged = serializers.IntegerField(default=0)
    messages = serializers.IntegerField(default=0)
    problem_count = serializers.IntegerField(default=0)
    problems = ImportProblem(many=True, default=list)


class ImportOutput(serializers.Serializer[JobView]):
    id = serializers.UUIDField(source="subject_id")
    job_id = serializers.UUIDField(source="id")
    scope = serializers.ChoiceField(Scope.values)
    state = serializers.ChoiceField(Job.State.values)
    attempts = serializers.IntegerField()
    progress = ImportProgress()
    error = serializers.CharField()
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
