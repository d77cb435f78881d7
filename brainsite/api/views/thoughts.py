"""thoughts/: capture, list, read, edit, delete."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import BrainError
from brainsite.api.base import BrainView, PageParameters, etag, page_of
from brainsite.api.errors import errors_in
from brainsite.api.schema import IDEMPOTENCY_KEY, IF_MATCH
from brainsite.api.serializers.common import ListParameters, filters_from
from brainsite.api.serializers.thoughts import (
    BulkInput,
    BulkOutput,
    BulkThoughtInput,
    RevisionOutput,
    ThoughtChangesInput,
    ThoughtInput,
    ThoughtOutput,
)
from memory.capture import capture, capture_bulk
from memory.edit import Changes, edit
from memory.erase import trash
from memory.memories import Cursor, get_memory, list_memories, list_revisions
from memory.models import RecallFile
from memory.types import Captured, Memory, MessageView, NewMessage, NewRecallFile


class ThoughtsView(BrainView):
    parameters = {"GET": ListParameters}

    @extend_schema(
        operation_id="list_thoughts",
        summary="Thoughts, newest first",
        parameters=[ListParameters],
        responses=page_of("ThoughtPage", ThoughtOutput),
    )
    def get(self, request: Request) -> Response:
        rows = list_memories(
            self.actor,
            scope=self.query["scope"],
            kind=RecallFile.Kind.THOUGHT,
            filters=filters_from(self.query),
            limit=self.query["limit"] + 1,
            after=self.cursor(),
            with_messages=True,
        )
        return self.page(ThoughtOutput, rows, newest)

    @extend_schema(
        operation_id="capture_thought",
        summary="Keep a thought word for word",
        description="201 when it is new, 200 when its source_key or Idempotency-Key was known.",
        parameters=[IDEMPOTENCY_KEY],
        request=ThoughtInput,
        responses={201: ThoughtOutput, 200: ThoughtOutput},
    )
    def post(self, request: Request) -> Response:
        given = self.body(ThoughtInput)
        made = capture(self.actor, **given, idempotency=self.idempotency())
        if made.created:
            said = MessageView(0, "user", "", given["content"], None, {})
            memory = replace(made.memory, messages=(said,))
        else:  # it may have been edited since
            memory = get_memory(self.actor, str(made.memory.id))
        response = Response(ThoughtOutput(memory).data, status=201 if made.created else 200)
        response["Location"] = reverse("api:thought", args=[memory.id])
        return etag(response, memory.revision)


class BulkView(BrainView):
    @extend_schema(
        operation_id="capture_thoughts",
        summary="Keep many thoughts, each by itself",
        description="201 when any of them is new. What is refused says why in its place; the others are kept.",
        parameters=[IDEMPOTENCY_KEY],
        request=BulkInput,
        responses={201: BulkOutput, 200: BulkOutput},
    )
    def post(self, request: Request) -> Response:
        given = self.body(BulkInput)
        results: dict[int, dict[str, Any]] = {}
        good: dict[int, NewRecallFile] = {}
        form = BulkThoughtInput()  # one for all: making it costs more than using it
        for index, thought in enumerate(given["thoughts"]):
            try:
                good[index] = new_thought(form.run_validation(thought))
            except serializers.ValidationError as error:
                results[index] = {"error": refused(index, error)}
        made = capture_bulk(self.actor, scope=given["scope"], files=list(good.values()), idempotency=self.idempotency())
        for index, result in zip(good, made, strict=True):
            results[index] = kept(result) if isinstance(result, Captured) else {"error": refused(index, result)}
        any_new = any(isinstance(result, Captured) and result.created for result in made)
        shown = BulkOutput({"results": [results[index] for index in range(len(given["thoughts"]))]})
        return Response(shown.data, status=201 if any_new else 200)


class ThoughtView(BrainView):
    @extend_schema(operation_id="get_thought", summary="One thought", responses=ThoughtOutput)
    def get(self, request: Request, ref: str) -> Response:
        return shown(get_memory(self.actor, ref))

    @extend_schema(
        operation_id="edit_thought",
        summary="Change words, tags, category, visibility or node",
        parameters=[IF_MATCH],
        request=ThoughtChangesInput,
        responses=ThoughtOutput,
    )
    def patch(self, request: Request, ref: str) -> Response:
        changes = Changes(**self.body(ThoughtChangesInput))
        memory = edit(self.actor, ref, changes, expected_revision=self.expected_revision())
        return shown(get_memory(self.actor, str(memory.id)))

    @extend_schema(
        operation_id="trash_thought", summary="Move to the trash", parameters=[IF_MATCH], responses={204: None}
    )
    def delete(self, request: Request, ref: str) -> Response:
        trash(self.actor, ref, expected_revision=self.expected_revision())
        return Response(status=204)


class RevisionsView(BrainView):
    parameters = {"GET": PageParameters}

    @extend_schema(
        operation_id="list_revisions",
        summary="Earlier words of a thought, newest first",
        parameters=[PageParameters],
        responses=page_of("RevisionPage", RevisionOutput),
    )
    def get(self, request: Request, ref: str) -> Response:
        after = self.cursor()
        rows = list_revisions(self.actor, ref, limit=self.query["limit"] + 1, before=after.id.int if after else None)
        return self.page(RevisionOutput, rows, earliest)


def earliest(row: dict[str, Any]) -> Cursor:
    """The number of the revision stands where other cursors have the row's id."""
    return Cursor(row["created_at"], UUID(int=row["revision"]))


def newest(memory: Memory) -> Cursor:
    return Cursor(memory.created_at, memory.id)


def shown(memory: Memory) -> Response:
    return etag(Response(ThoughtOutput(memory).data), memory.revision)


def new_thought(given: dict[str, Any]) -> NewRecallFile:
    message = NewMessage(role="user", content=given.pop("content"))
    return NewRecallFile(kind=RecallFile.Kind.THOUGHT, messages=(message,), **given)


def kept(captured: Captured) -> dict[str, Any]:
    return {"id": captured.memory.id, "embedding_state": captured.memory.embedding_state}


def refused(index: int, error: BrainError | serializers.ValidationError) -> dict[str, Any]:
    """The first cause, with the place of the thought among the others."""
    cause = errors_in(error)[0]
    place = f"thoughts.{index}"
    return {"code": cause.code, "detail": cause.detail, "attr": f"{place}.{cause.attr}" if cause.attr else place}
