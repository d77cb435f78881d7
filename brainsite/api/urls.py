"""The routes of the REST API, version 1. `ref` is a uuid or a slug."""

from django.urls import path, re_path, register_converter
from django.views.decorators.http import require_safe

from brainsite.api.base import UnknownRouteView
from brainsite.api.docs import docs, docs_script, schema
from brainsite.api.views import jobs, nodes, places, recall_files, search, thoughts


class Ref:
    regex = "[A-Za-z0-9_-]{1,120}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: object) -> str:
        return str(value)


register_converter(Ref, "ref")

app_name = "api"
urlpatterns = [
    path("thoughts/", thoughts.ThoughtsView.as_view(), name="thoughts"),
    path("thoughts/bulk/", thoughts.BulkView.as_view(), name="thoughts-bulk"),
    path("thoughts/<ref:ref>/", thoughts.ThoughtView.as_view(), name="thought"),
    path("thoughts/<ref:ref>/revisions/", thoughts.RevisionsView.as_view(), name="thought-revisions"),
    path("recall-files/", recall_files.RecallFilesView.as_view(), name="recall-files"),
    path("recall-files/<ref:ref>/", recall_files.RecallFileView.as_view(), name="recall-file"),
    path("recall-files/<ref:ref>/messages/", recall_files.MessagesView.as_view(), name="recall-file-messages"),
    path("trash/", recall_files.TrashView.as_view(), name="trash"),
    path("trash/<ref:ref>/", recall_files.TrashedView.as_view(), name="trashed"),
    path("trash/<ref:ref>/restore/", recall_files.RestoreView.as_view(), name="restore"),
    path("search/", search.SearchView.as_view(), name="search"),
    path("search/traces/<uuid:trace_id>/", search.TraceView.as_view(), name="trace"),
    path("nodes/", nodes.NodesView.as_view(), name="nodes"),
    path("nodes/<uuid:node_id>/", nodes.NodeView.as_view(), name="node"),
    path("nodes/<uuid:node_id>/move/", nodes.MoveView.as_view(), name="node-move"),
    path("nodes/<uuid:node_id>/index/", nodes.IndexView.as_view(), name="node-index"),
    path("relationships/", nodes.RelationshipsView.as_view(), name="relationships"),
    path("relationships/<uuid:relationship_id>/", nodes.RelationshipView.as_view(), name="relationship"),
    path("graph/", nodes.GraphView.as_view(), name="graph"),
    path("timeline/", nodes.TimelineView.as_view(), name="timeline"),
    path("brains/", places.BrainsView.as_view(), name="brains"),
    path("me/", places.MeView.as_view(), name="me"),
    path("stats/", places.StatsView.as_view(), name="stats"),
    path("imports/", jobs.ImportsView.as_view(), name="imports"),
    path("imports/<uuid:job_id>/", jobs.ImportView.as_view(), name="import"),
    path("jobs/", jobs.JobsView.as_view(), name="jobs"),
    path("jobs/<uuid:job_id>/", jobs.JobView.as_view(), name="job"),
    path("schema/", require_safe(schema), name="schema"),
    path("docs/", require_safe(docs), name="docs"),
    path("docs/init.js", require_safe(docs_script), name="docs-script"),
    re_path(r"", UnknownRouteView.as_view(), name="unknown"),
]
