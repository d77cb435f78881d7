"""A question and its answer."""

from typing import Any

from rest_framework import serializers

from accounts.actor import Scope
from brainsite.api.fields import Choice, Integer, JSONObject, Moment, Number, StrictSerializer, Text
from brainsite.api.serializers.common import READ_SCOPES, NodeRef
from brainsite.api.serializers.recall_files import MessageOutput
from brainsite.api.serializers.thoughts import CATEGORIES
from memory.models import Message, RagEntry, RecallFile
from memory.recall import LIMIT_MOST
from memory.types import Hit


class SearchInput(StrictSerializer):
    query = Text()
    scope = Choice(READ_SCOPES, default="both")
    limit = Integer(min_value=1, max_value=LIMIT_MOST, default=10)
    threshold = Number(
        min_value=0, max_value=1, default=0.5, help_text="Least similarity where no word matches; 0 turns it off."
    )
    mode = Choice(("auto", "exhaustive"), default="auto")
    node = Text(default=None, allow_null=True, help_text="An id or a path.")
    since = Moment(default=None, allow_null=True)
    until = Moment(default=None, allow_null=True)
    category = Choice(CATEGORIES, default=None, allow_null=True)
    tags = serializers.ListField(child=Text(), default=list, help_text="All of them.")
    max_tokens = Integer(min_value=1, default=None, allow_null=True)
    session = Text(default=None, allow_null=True, help_text="Any string of the caller's.")
    include = serializers.ListField(child=Choice(("trace", "messages")), default=list, max_length=2)


class ReasonOutput(serializers.Serializer[Any]):
    signal = serializers.CharField()
    gave = serializers.FloatField(help_text="To the score.")
    rank = serializers.IntegerField(help_text="The place among all candidates by this signal alone.")


class HitOutput(serializers.Serializer[Hit]):
    id = serializers.UUIDField(help_text="The memory's.")
    recall_id = serializers.CharField()
    entry_id = serializers.UUIDField()
    kind = serializers.ChoiceField(RecallFile.Kind.values)
    entry_kind = serializers.ChoiceField(RagEntry.EntryKind.values)
    scope = serializers.ChoiceField(Scope.values)
    role = serializers.ChoiceField(Message.Role.values)
    speaker = serializers.CharField()
    text = serializers.CharField()
    score = serializers.FloatField()
    similarity = serializers.FloatField(allow_null=True, help_text="0..1; null without a vector.")
    occurred_at = serializers.DateTimeField()
    node = NodeRef()
    contributed_by = serializers.UUIDField(allow_null=True)
    trust = serializers.ChoiceField(RecallFile.Trust.values)
    first_message = serializers.IntegerField()
    last_message = serializers.IntegerField()
    start = serializers.IntegerField(help_text="Where the text begins in its message: a long one is cut.")
    characters = serializers.IntegerField(help_text="Of the whole message.")
    why = ReasonOutput(many=True)
    repeats = serializers.ListField(child=serializers.UUIDField(), help_text="Entries that say the same.")
    newer = serializers.UUIDField(allow_null=True, help_text="An entry of the same speaker that says so too, later.")
    messages = MessageOutput(many=True, required=False, help_text="The hit's and those around it, when included.")

    def to_representation(self, instance: Hit) -> dict[str, Any]:
        shown = super().to_representation(instance)
        return shown if instance.messages is not None else {k: v for k, v in shown.items() if k != "messages"}


class BlockOutput(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(["standing", "overview", "in_order"])
    hits = HitOutput(many=True)


class NodeWarmthOutput(serializers.Serializer[Any]):
    node = NodeRef()
    confidence = serializers.FloatField(help_text="0..1; among levels, of the whole subtree.")
    memory_count = serializers.IntegerField(help_text="Memories in its subtree.")
    entries = serializers.IntegerField(help_text="Searched entries of its own.")


class ChoiceOutput(serializers.Serializer[Any]):
    node = NodeRef()
    name = serializers.CharField()
    memory_count = serializers.IntegerField()


class ClarifyOutput(serializers.Serializer[Any]):
    question = serializers.CharField()
    choices = ChoiceOutput(many=True)


class NavigationOutput(serializers.Serializer[Any]):
    reason = serializers.CharField(help_text="Why these nodes were warmed.")
    levels = serializers.ListField(child=NodeWarmthOutput(many=True), help_text="The best nodes, level by level.")


class TokensOutput(serializers.Serializer[Any]):
    handed_over = serializers.IntegerField()
    warmed_nodes = serializers.IntegerField(help_text="What the warmed nodes would have cost whole.")
    parent_nodes = serializers.IntegerField(help_text="And the nodes above them.")
    everything = serializers.IntegerField()


class TraceOutput(serializers.Serializer[Any]):
    mode = serializers.CharField(help_text="The one that was used.")
    scopes_searched = serializers.ListField(child=serializers.CharField())
    scopes_skipped = serializers.ListField(child=serializers.CharField())
    not_used = serializers.ListField(child=serializers.CharField())
    navigation = serializers.DictField(child=NavigationOutput(), help_text="By scope; empty in exhaustive mode.")
    indexes_read = serializers.IntegerField()
    index_bytes = serializers.IntegerField(help_text="Postings and sketches that were scanned.")
    entries_total = serializers.IntegerField()
    entries_read = serializers.IntegerField(help_text="Entries whose vector was looked at.")
    entries_loaded = serializers.IntegerField(help_text="Fetched from Postgres; 0 while the brain is warm.")
    cut_by_threshold = serializers.IntegerField()
    tokens = TokensOutput()
    stages_ms = serializers.DictField(child=serializers.FloatField())
    scores = serializers.ListField(child=JSONObject(), help_text="For each hit: its entry and its signals.")


class SearchOutput(serializers.Serializer[Any]):
    hits = HitOutput(many=True)
    blocks = BlockOutput(many=True, help_text="Beside the hits: what is always wanted, an overview, a list in order.")
    warmed = NodeWarmthOutput(many=True)
    cold = NodeWarmthOutput(many=True, help_text="The best that were left out.")
    clarify = ClarifyOutput(allow_null=True, help_text="A question back, when the query leaves too much open.")
    not_used = serializers.ListField(child=serializers.CharField(), help_text="What could not be used, and why.")
    scopes_searched = serializers.ListField(child=serializers.CharField())
    scopes_skipped = serializers.ListField(child=serializers.CharField())
    truncated = serializers.BooleanField(help_text="max_tokens left hits out.")
    trace_id = serializers.UUIDField()
    trace = TraceOutput(required=False)
