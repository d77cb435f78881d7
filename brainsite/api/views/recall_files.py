"""recall-files/: transcripts, kept as they were and only ever continued. And the trash, where all memories end."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import BrainError
from brainsite.api.base import BrainView, PageParameters, etag, page_of
from brainsite.api.permissions import HasActor, IsPerson
from brainsite.api.schema import IDEMPOTENCY_KEY, IF_MATCH
from brainsite.api.serializers.common import filters_from
from brainsite.api.serializers.recall_files import (
    MessagesInput,
    RecallFileInput,
    RecallFileListParameters,
    RecallFileOutput,
    RecallFileRow,
    TrashedOutput,
    message_from,
)
from brainsite.api.serializers.thoughts import ChangesInput
from brainsite.api.views.thoughts import newest
from memory.capture import append_messages, capture_files
from memory.edit import Changes, edit
from memory.erase import erase, restore, trash
from memory.memories import get_memory, list_memories
from memory.models import RecallFile
from memory.types import Memory, NewRecallFile


class RecallFilesView(BrainView):
    parameters = {"GET": RecallFileListParameters}

    @extend_schema(
        operation_id="list_recall_files",
        summary="Recall files of every kind, newest first, without their transcripts",
        parameters=[RecallFileListParameters],
        responses=page_of("RecallFilePage", RecallFileRow),
    )
    def get(self, request: Request) -> Response:
        rows = list_memories(
            self.actor,
            scope=self.query["scope"],
            kind=self.query.get("kind"),
            filters=filters_from(self.query),
            limit=self.query["limit"] + 1,
            after=self.cursor(),
        )
        return self.page(RecallFileRow, rows, newest)

    @extend_schema(
        operation_id="capture_recall_file",
        summary="Keep a transcript word for word",
        description="201 when it is new, 200 when its source_key or Idempotency-Key was known.",
        parameters=[IDEMPOTENCY_KEY],
        request=RecallFileInput,
        responses={201: RecallFileRow, 200: RecallFileRow},
    )
    def post(self, request: Request) -> Response:
        given = self.body(RecallFileInput)
        scope, transcript = given.pop("scope"), given.pop("transcript")
        new = NewRecallFile(messages=tuple(message_from(message) for message in transcript), **given)
        (made,) = capture_files(self.actor, scope=scope, files=[new], idempotency=self.idempotency())
        response = shown(made.memory, status=201 if made.created else 200)
        response["Location"] = reverse("api:recall-file", args=[made.memory.id])
        return response


class RecallFileView(BrainView):
    @extend_schema(
        operation_id="get_recall_file", summary="One recall file with its transcript", responses=RecallFileOutput
    )
    def get(self, request: Request, ref: str) -> Response:
        memory = get_memory(self.actor, ref)
        return etag(Response(RecallFileOutput(memory).data), memory.revision)

    @extend_schema(
        operation_id="edit_recall_file",
        summary="Change tags, category, visibility or node",
        parameters=[IF_MATCH],
        request=ChangesInput,
        responses=RecallFileRow,
    )
    def patch(self, request: Request, ref: str) -> Response:
        changes = Changes(**self.body(ChangesInput))
        return shown(edit(self.actor, ref, changes, expected_revision=self.expected_revision()))

    @extend_schema(
        operation_id="trash_recall_file", summary="Move to the trash", parameters=[IF_MATCH], responses={204: None}
    )
    def delete(self, request: Request, ref: str) -> Response:
        trash(self.actor, ref, expected_revision=self.expected_revision())
        return Response(status=204)


class MessagesView(BrainView):
    @extend_schema(
        operation_id="append_messages",
        summary="Continue a transcript",
        parameters=[IDEMPOTENCY_KEY, IF_MATCH],
        request=MessagesInput,
        responses=RecallFileRow,
    )
    def post(self, request: Request, ref: str) -> Response:
        messages = [message_from(message) for message in self.body(MessagesInput)["messages"]]
        try:
            memory = append_messages(
                self.actor,
                ref,
                messages,
                expected_revision=self.expected_revision(),
                idempotency=self.idempotency(),
            )
        except BrainError as error:
            if error.field and error.field.partition(".")[0] == "transcript":  # called messages here
                error.field = "messages" + error.field.removeprefix("transcript")
            raise
        return shown(memory)


class TrashView(BrainView):
    permission_classes = (HasActor, IsPerson)
    parameters = {"GET": PageParameters}

    @extend_schema(
        operation_id="list_trash",
        summary="What can still be restored by the caller, newest first",
        parameters=[PageParameters],
        responses=page_of("TrashPage", TrashedOutput),
    )
    def get(self, request: Request) -> Response:
        rows = list_memories(
            self.actor,
            state=RecallFile.State.TRASHED,
            limit=self.query["limit"] + 1,
            after=self.cursor(),
            only_editable=True,
        )
        return self.page(TrashedOutput, rows, newest)


class TrashedView(BrainView):
    permission_classes = (HasActor, IsPerson)

    @extend_schema(operation_id="erase", summary="Delete for good", responses={204: None})
    def delete(self, request: Request, ref: str) -> Response:
        erase(self.actor, ref)
        return Response(status=204)


class RestoreView(BrainView):
    permission_classes = (HasActor, IsPerson)

    @extend_schema(operation_id="restore", summary="Bring back from the trash", request=None, responses=RecallFileRow)
    def post(self, request: Request, ref: str) -> Response:
        return shown(restore(self.actor, ref))


def shown(memory: Memory, **options: Any) -> Response:
    return etag(Response(RecallFileRow(memory).data, **options), memory.revision)
