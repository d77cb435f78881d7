"""imports/ and jobs/: work that goes on after the answer."""

from hashlib import sha256
from typing import Any, cast
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.actor import Scope
from accounts.errors import Invalid, NotFound
from brainsite.api.base import BrainView, page_of
from brainsite.api.permissions import HasActor, IsPerson
from brainsite.api.schema import IDEMPOTENCY_KEY
from brainsite.api.serializers.places import (
    ImportInput,
    ImportOutput,
    ImportParameters,
    JobOutput,
    JobParameters,
)
from memory.importers.job import start_import
from memory.memories import Cursor
from memory.models import Job
from memory.stats import JobView as JobRow
from memory.stats import get_job, list_jobs
from memory.types import Idempotency


class ImportsView(BrainView):
    permission_classes = (HasActor, IsPerson)
    parser_classes = (MultiPartParser,)
    parameters = {"GET": ImportParameters}

    @extend_schema(
        operation_id="list_imports",
        summary="Imports, newest first",
        parameters=[ImportParameters],
        responses=page_of("ImportPage", ImportOutput),
    )
    def get(self, request: Request) -> Response:
        rows = list_jobs(
            self.actor,
            kind=Job.Kind.IMPORT,
            state=self.query.get("state"),
            limit=self.query["limit"] + 1,
            after=self.cursor(),
        )
        return self.page(ImportOutput, rows, newest)

    @extend_schema(
        operation_id="start_import",
        summary="Import a file of conversations",
        description="What was imported before is recognised by its source; importing again changes nothing.",
        parameters=[IDEMPOTENCY_KEY],
        request={"multipart/form-data": ImportInput},
        responses={202: ImportOutput},
    )
    def post(self, request: Request) -> Response:
        file, scope = upload_in(request)
        import_id = start_import(self.actor, file, scope=scope, idempotency=self.idempotency_of(file, scope))
        response = Response(ImportOutput(get_job(self.actor, import_id)).data, status=202)
        response["Location"] = reverse("api:import", args=[import_id])
        return response

    def idempotency_of(self, file: "UploadedFile[bytes]", scope: str) -> Idempotency | None:
        """Of the file and the scope: the boundary between the parts differs each time."""
        key = self.request.headers.get("Idempotency-Key")
        if key is None:
            return None
        content = sha256()
        for chunk in file.chunks():
            content.update(chunk)
        file.seek(0)
        return Idempotency(key, self.hash_of(scope.encode() + b"\n" + content.digest()))


class ImportView(BrainView):
    permission_classes = (HasActor, IsPerson)

    @extend_schema(operation_id="get_import", summary="One import and its report", responses=ImportOutput)
    def get(self, request: Request, job_id: UUID) -> Response:
        job = get_job(self.actor, job_id)
        if job.kind != Job.Kind.IMPORT:
            raise NotFound
        return Response(ImportOutput(job).data)


class JobsView(BrainView):
    permission_classes = (HasActor, IsPerson)
    parameters = {"GET": JobParameters}

    @extend_schema(
        operation_id="list_jobs",
        summary="Jobs, newest first",
        parameters=[JobParameters],
        responses=page_of("JobPage", JobOutput),
    )
    def get(self, request: Request) -> Response:
        rows = list_jobs(
            self.actor,
            kind=self.query.get("kind"),
            state=self.query.get("state"),
            limit=self.query["limit"] + 1,
            after=self.cursor(),
        )
        return self.page(JobOutput, rows, newest)


class JobView(BrainView):
    permission_classes = (HasActor, IsPerson)

    @extend_schema(operation_id="get_job", summary="One job", responses=JobOutput)
    def get(self, request: Request, job_id: UUID) -> Response:
        return Response(JobOutput(get_job(self.actor, job_id)).data)


def newest(job: JobRow) -> Cursor:
    return Cursor(job.created_at, job.id)


def upload_in(request: Request) -> tuple["UploadedFile[bytes]", str]:
    """The file and the scope of a form, and nothing else. Raises Invalid that names the field."""
    form = cast(QueryDict, request.data)
    for name in form:
        if name not in ("file", "scope"):
            raise Invalid("There is no such field.", field=name)
        if len(form.getlist(name)) > 1:
            raise Invalid("Given more than once.", field=name)
    file: Any = form.get("file")
    scope = form.get("scope", Scope.PERSONAL.value)
    if not isinstance(file, UploadedFile):
        raise Invalid("A file is expected.", field="file")
    if scope not in Scope.values:
        raise Invalid(f"Must be one of {', '.join(Scope.values)}.", field="scope")
    return file, scope
