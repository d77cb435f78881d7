"""search/: a question, its answer, and how the answer came about."""

from dataclasses import asdict
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from brainsite.api.base import BrainView
from brainsite.api.serializers.search import SearchInput, SearchOutput, TraceOutput
from memory.memories import Filters
from memory.recall import recall
from memory.traces import get_trace


class SearchView(BrainView):
    @extend_schema(
        operation_id="search",
        summary="Memories that answer a question, best first",
        description="A scope that the key may not read is refused. `auto` reads what the index files point to and a "
        "few more; `exhaustive` reads everything.",
        request=SearchInput,
        responses=SearchOutput,
    )
    def post(self, request: Request) -> Response:
        given = self.body(SearchInput)
        found = recall(
            self.actor,
            given["query"],
            scope=given["scope"],
            limit=given["limit"],
            threshold=given["threshold"],
            mode=given["mode"],
            filters=Filters(
                category=given["category"],
                tags=tuple(given["tags"]),
                node=given["node"],
                since=given["since"],
                until=given["until"],
            ),
            max_tokens=given["max_tokens"],
            session=given["session"],
            with_messages="messages" in given["include"],
        )
        trace = asdict(found.trace)
        answer = {
            "hits": found.hits,
            "blocks": found.blocks,
            "warmed": found.warmed,
            "cold": found.cold,
            "clarify": found.clarify,
            "not_used": found.trace.not_used,
            "scopes_searched": found.trace.scopes_searched,
            "scopes_skipped": found.trace.scopes_skipped,
            "truncated": found.truncated,
            "trace_id": found.trace_id,
            **({"trace": trace} if "trace" in given["include"] else {}),
        }
        return Response(SearchOutput(answer).data)


class TraceView(BrainView):
    @extend_schema(operation_id="get_trace", summary="How an answer of the last hour came about", responses=TraceOutput)
    def get(self, request: Request, trace_id: UUID) -> Response:
        return Response(TraceOutput(get_trace(self.actor, trace_id)).data)
