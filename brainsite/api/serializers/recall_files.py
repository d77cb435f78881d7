"""Recall files, in the shape of the specification, beside what this system adds."""

from typing import Any

from rest_framework import serializers

from accounts.actor import Scope
from brainsite.api.fields import Boolean, Choice, JSONObject, Moment, StrictSerializer, Text
from brainsite.api.serializers.common import ListParameters, NodeRef
from brainsite.api.serializers.thoughts import CATEGORIES, VISIBILITIES
from memory.models import FiledBy, Message, RecallFile
from memory.types import Memory, MessageView, NewMessage

DETAILS = ("kind", "visible", "branch", "attachments")
GIVEN_KINDS = (RecallFile.Kind.CONVERSATION.value, RecallFile.Kind.DOCUMENT.value)


class RecallFileListParameters(ListParameters):
    kind = Choice(RecallFile.Kind.values, required=False)


class MessageInput(StrictSerializer):
    role = Choice(Message.Role.values)
    content = Text()
    speaker = Text(default="", allow_blank=True, allow_null=True)
    timestamp = Moment(default=None, allow_null=True)
    kind = Text(required=False)
    visible = Boolean(required=False)
    branch = Text(required=False)
    attachments = serializers.ListField(child=JSONObject(), required=False)


def message_from(given: dict[str, Any]) -> NewMessage:
    return NewMessage(
        role=given["role"],
        content=given["content"],
        speaker=given["speaker"] or "",
        timestamp=given["timestamp"],
        details={name: given[name] for name in DETAILS if name in given},
    )


class MessagesInput(StrictSerializer):
    messages = MessageInput(many=True, allow_empty=False)


class RecallFileInput(StrictSerializer):
    scope = Choice(Scope.values, default="personal")
    kind = Choice(GIVEN_KINDS, default="conversation")
    title = Text(default="", allow_blank=True)
    platform = Text(default="", allow_blank=True, help_text="Where it took place, such as claude.ai.")
    conversation_type = Text(default="", allow_blank=True, help_text="text, voice …")
    category = Choice(CATEGORIES, default="thought")
    visibility = Choice(VISIBILITIES, default="team")
    tags = serializers.ListField(child=Text(), default=list)
    node = Text(default=None, allow_null=True, help_text="An id, or a path, made where missing.")
    occurred_at = Moment(default=None, allow_null=True)
    source_key = Text(
        default=None, allow_null=True, help_text="The same one again continues the transcript, or makes nothing new."
    )
    metadata = JSONObject(default=dict)
    transcript = MessageInput(many=True, allow_empty=False)


class MessageOutput(serializers.Serializer[MessageView]):
    position = serializers.IntegerField(help_text="Numbered from 0.")
    role = serializers.ChoiceField(Message.Role.values)
    speaker = serializers.CharField()
    content = serializers.CharField()
    timestamp = serializers.DateTimeField(allow_null=True)
    start = serializers.IntegerField(required=False, help_text="Of a part: where it begins in the message.")
    characters = serializers.IntegerField(required=False, help_text="Of a part: how long the whole message is.")
    id = serializers.CharField(required=False, help_text="Of the source it was imported from.")
    kind = serializers.CharField(required=False)
    visible = serializers.BooleanField(required=False)
    branch = serializers.CharField(required=False)
    attachments = serializers.ListField(child=JSONObject(), required=False)

    def to_representation(self, instance: MessageView) -> dict[str, Any]:
        """By hand: a transcript may have tens of thousands of messages."""
        return {
            "position": instance.position,
            "role": instance.role,
            "speaker": instance.speaker,
            "content": instance.content,
            "timestamp": self.fields["timestamp"].to_representation(instance.timestamp) if instance.timestamp else None,
            **({"start": instance.start, "characters": instance.characters} if instance.characters else {}),
            **{name: instance.details[name] for name in ("id", *DETAILS) if name in instance.details},
        }


class MetadataOutput(serializers.Serializer[Memory]):
    """These four, beside whatever the source gave."""

    duration_minutes = serializers.FloatField(allow_null=True)
    message_count = serializers.IntegerField()
    defining_memory = serializers.BooleanField()
    tags = serializers.ListField(child=serializers.CharField())

    def to_representation(self, instance: Memory) -> dict[str, Any]:
        return {
            "duration_minutes": None,
            "defining_memory": False,
            **instance.metadata,
            "message_count": instance.message_count,
            "tags": list(instance.tags),
        }


class RecallFileRow(serializers.Serializer[Memory]):
    id = serializers.UUIDField()
    recall_id = serializers.CharField(help_text="A slug; taken wherever an id is.")
    node_id = serializers.UUIDField(source="node.id")
    node = NodeRef()
    scope = serializers.ChoiceField(Scope.values)
    kind = serializers.ChoiceField(RecallFile.Kind.values)
    title = serializers.CharField()
    platform = serializers.CharField()
    conversation_type = serializers.CharField()
    category = serializers.ChoiceField(CATEGORIES)
    visibility = serializers.ChoiceField(VISIBILITIES)
    tags = serializers.ListField(child=serializers.CharField())
    metadata = MetadataOutput(source="*")
    summary = serializers.CharField()
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


class RecallFileOutput(RecallFileRow):
    transcript = MessageOutput(many=True, source="messages")


class TrashedOutput(RecallFileRow):
    purge_after = serializers.DateTimeField(help_text="When it is erased for good.")
