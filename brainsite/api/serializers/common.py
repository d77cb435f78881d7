"""Parts that several answers share."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers

from accounts.actor import Scope
from brainsite.api.base import PageParameters
from brainsite.api.fields import Choice, Moment, QueryInteger, Text
from memory.memories import Filters
from memory.models import RecallFile

READ_SCOPES = ("both", *Scope.values)
DAYS_MOST = 36_500


class NodeRef(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    path = serializers.CharField(help_text='Names from the category down, such as "Business/Sales/Pricing".')


class ListParameters(PageParameters):
    scope = Choice(READ_SCOPES, default="both")
    category = Choice(RecallFile.Category.values, required=False)
    tag = serializers.ListField(child=Text(), default=list, help_text="May be given several times: all of them.")
    tags = Text(default="", help_text="Tags separated by commas: all of them.")
    node = Text(required=False, help_text="An id or a path; what lies below it counts too.")
    since = Moment(required=False)
    until = Moment(required=False)
    days = QueryInteger(
        min_value=1, max_value=DAYS_MOST, required=False, help_text="The last so many days, instead of since."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "days" in attrs and "since" in attrs:
            raise serializers.ValidationError({"days": "Either since or days."})
        return attrs


def filters_from(query: dict[str, Any]) -> Filters:
    since: datetime | None = query.get("since")
    if "days" in query:
        since = timezone.now() - timedelta(days=query["days"])
    named = [tag.strip() for tag in query["tags"].split(",")]
    return Filters(
        category=query.get("category"),
        tags=(*query["tag"], *(tag for tag in named if tag)),
        node=query.get("node"),
        since=since,
        until=query.get("until"),
    )
