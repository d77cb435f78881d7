"""What the OpenAPI document says of every operation: its errors, its headers, how to prove who asks."""

from typing import Any, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="The same key with the same body makes nothing new; with another body it is a 409.",
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The ETag of the version that is meant; 412 when it is stale."
)


class ErrorItem(serializers.Serializer[Any]):
    code = serializers.CharField()
    detail = serializers.CharField()
    attr = serializers.CharField(allow_null=True, help_text='The field that caused it, such as "transcript.3.content".')


class ErrorOutput(serializers.Serializer[Any]):
    type = serializers.ChoiceField(("validation_error", "client_error", "server_error"))
    errors = ErrorItem(many=True)  # type: ignore[assignment]
    request_id = serializers.CharField(allow_null=True, help_text="Also in the header X-Request-ID and in the log.")


class BrainSchema(AutoSchema):
    """Every operation may answer with the one shape of errors."""

    def _get_response_bodies(self, direction: Literal["request", "response"] = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        return {**bodies, "default": self._get_response_for_code(ErrorOutput, "default")}  # type: ignore[no-untyped-call]

    def get_description(self) -> str:  # type: ignore[override]
        return ""  # what extend_schema gives comes first; the views' own docstrings are for readers of the code

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/api/v1/").partition("/")[0]]


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "brainsite.api.authentication.BrainKeyAuthentication"
    name = ["brainKey", "bearer"]

    def get_security_requirement(self, auto_schema: AutoSchema) -> list[dict[str, list[str]]]:
        return [{name: []} for name in self.name]  # either of them

    def get_security_definition(self, auto_schema: AutoSchema) -> list[dict[str, str]]:
        return [
            {"type": "apiKey", "in": "header", "name": "x-brain-key"},
            {"type": "http", "scheme": "bearer", "bearerFormat": "brk_…"},
        ]


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "brainsite.api.authentication.WebSessionAuthentication"
    name = "webSession"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "brain_session", "description": "With X-CSRFToken."}
