"""Thoughts: what a person captured, word for word."""

from typing import Any

from django.conf import settings
from rest_framework import serializers

from accounts.actor import Scope
from brainsite.api.fields import Choice, JSONObject, Moment, StrictSerializer, Text
from brainsite.api.serializers.common import NodeRef
from memory.models import FiledBy, RecallFile
from memory.types import Memory

CATEGORIES, VISIBILITIES = RecallFile.Category.values, RecallFile.Visibility.values


class BulkThoughtInput(StrictSerializer):
    content = Text(help_text=f"At most {settings.CONTENT_CHARACTERS:,} characters, kept as they are.")
    category = Choice(CATEGORIES, default="thought")
    visibility = Choice(VISIBILITIES, default="team")
    tags = serializers.ListField(child=Text(), default=list)
    node = Text(
        default=None,
        allow_null=True,
        help_text='An id, or a path such as "Business/Sales/Pricing", made where missing.',
    )
    occurred_at = Moment(default=None, allow_null=True)
    source_key = Text(default=None, allow_null=True, help_text="The same one again makes nothing new.")
    metadata = JSONObject(default=dict)


class ThoughtInput(BulkThoughtInput):
    scope = Choice(Scope.values, default="personal")


class BulkInput(StrictSerializer):
    scope = Choice(Scope.values, default="personal")
    thoughts = serializers.ListField(
        child=JSONObject(), min_length=1, max_length=settings.BULK_ITEMS, help_text="Checked one by one."
    )


class ChangesInput(StrictSerializer):
    """What is not named stays as it is."""

    tags = serializers.ListField(child=Text(), required=False)
    category = Choice(CATEGORIES, required=False)
    visibility = Choice(VISIBILITIES, required=False)
    node = Text(required=False, help_text="An id, or a path, made where missing.")


class ThoughtChangesInput(ChangesInput):
    content = Text(required=False, help_text="Only of a thought; its earlier words stay readable under revisions/.")


class ThoughtOutput(serializers.Serializer[Memory]):
    id = serializers.UUIDField()
    recall_id = serializers.CharField(help_text="A slug; taken wherever an id is.")
    scope = serializers.ChoiceField(Scope.values)
    kind = serializers.ChoiceField(RecallFile.Kind.values)
    content = serializers.SerializerMethodField(help_text="null for what is no thought: see recall-files/.")
    category = serializers.ChoiceField(CATEGORIES)
    tags = serializers.ListField(child=serializers.CharField())
    visibility = serializers.ChoiceField(VISIBILITIES)
    node = NodeRef()
    metadata = JSONObject()
    source = serializers.CharField(help_text="From the key or the door it came through.")  # type: ignore[assignment]
    source_key = serializers.CharField(allow_null=True)
    contributed_by = serializers.UUIDField(allow_null=True)
    trust = serializers.ChoiceField(RecallFile.Trust.values)
    embedding_state = serializers.ChoiceField(RecallFile.EmbeddingState.values)
    filed_by = serializers.ChoiceField(FiledBy.values, help_text="Who chose its node.")
    filing_suggestion = JSONObject(allow_null=True, help_text="While it waits in the Inbox: node_id and confidence.")
    revision = serializers.IntegerField(help_text="Also the ETag.")
    occurred_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()

    def get_content(self, memory: Memory) -> str | None:
        return memory.messages[0].content if memory.kind == RecallFile.Kind.THOUGHT and memory.messages else None


class RevisionOutput(serializers.Serializer[dict[str, Any]]):
    revision = serializers.IntegerField(help_text="The one that had these words.")
    content = serializers.CharField()
    edited_by = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField(help_text="When these words were replaced.")


class BulkError(serializers.Serializer[Any]):
    code = serializers.CharField()
    detail = serializers.CharField()
    attr = serializers.CharField(allow_null=True)


class BulkResult(serializers.Serializer[Any]):
    """Either id and embedding_state, or error."""

    id = serializers.UUIDField(required=False)
    embedding_state = serializers.ChoiceField(RecallFile.EmbeddingState.values, required=False)
    error = BulkError(required=False)


class BulkOutput(serializers.Serializer[Any]):
    results = BulkResult(many=True, help_text="In the order of the thoughts.")
