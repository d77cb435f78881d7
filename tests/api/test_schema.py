"""The OpenAPI document and the page that shows it."""

import re
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.validation import validate_schema

from brainsite.api.docs import document
from tests.api.conftest import Api

pytestmark = pytest.mark.django_db(databases=[])


@pytest.fixture
def schema() -> Any:
    document.cache_clear()
    GENERATOR_STATS.reset()
    answer = Api().get("schema/")
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    return answer.body


def test_the_schema_is_valid_and_made_without_a_warning(schema: Any) -> None:
    assert (dict(GENERATOR_STATS._warn_cache), dict(GENERATOR_STATS._error_cache)) == ({}, {})
    assert schema["openapi"] == "3.1.0"
    validate_schema(schema)  # type: ignore[no-untyped-call]


def test_the_schema_names_every_operation(schema: Any) -> None:
    operations = {
        f"{method.upper()} {path.removeprefix('/api/v1/')}" for path, item in schema["paths"].items() for method in item
    }
    assert operations == {
        "GET brains/",
        "GET imports/",
        "GET imports/{job_id}/",
        "POST imports/",
        "GET jobs/",
        "GET jobs/{job_id}/",
        "GET me/",
        "GET nodes/",
        "POST nodes/",
        "GET nodes/{node_id}/",
        "PATCH nodes/{node_id}/",
        "GET nodes/{node_id}/index/",
        "POST nodes/{node_id}/move/",
        "GET relationships/",
        "POST relationships/",
        "DELETE relationships/{relationship_id}/",
        "GET graph/",
        "GET timeline/",
        "GET recall-files/",
        "POST recall-files/",
        "GET recall-files/{ref}/",
        "PATCH recall-files/{ref}/",
        "DELETE recall-files/{ref}/",
        "POST recall-files/{ref}/messages/",
        "POST search/",
        "GET search/traces/{trace_id}/",
        "GET stats/",
        "GET thoughts/",
        "POST thoughts/",
        "POST thoughts/bulk/",
        "GET thoughts/{ref}/",
        "PATCH thoughts/{ref}/",
        "DELETE thoughts/{ref}/",
        "GET thoughts/{ref}/revisions/",
        "GET trash/",
        "DELETE trash/{ref}/",
        "POST trash/{ref}/restore/",
    }


def test_every_operation_needs_a_key_and_may_answer_with_the_one_error(schema: Any) -> None:
    operations = [operation for item in schema["paths"].values() for operation in item.values()]
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorOutput"}}}
    assert {str(operation["responses"]["default"]["content"]) for operation in operations} == {str(error)}
    proof: list[dict[str, list[str]]] = [{"brainKey": []}, {"bearer": []}, {"webSession": []}]
    assert {str(operation["security"]) for operation in operations} == {str(proof)}


def test_the_page_loads_only_files_of_this_server_and_nothing_inline() -> None:
    answer = Api().get("docs/")
    page = answer.raw.decode()
    loaded = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert loaded == [
        "/static/drf_spectacular_sidecar/swagger-ui-dist/favicon-32x32.png",
        "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui.css",
        "/static/drf_spectacular_sidecar/swagger-ui-dist/swagger-ui-bundle.js",
        "/api/v1/docs/init.js",
    ]
    assert [name for name in loaded[:3] if finders.find(name.removeprefix("/static/")) is None] == []
    assert re.findall(r"<style|style=|<script>|onload", page) == []
    policy = set(answer.headers["Content-Security-Policy"].split("; "))
    assert policy >= {"default-src 'none'", "script-src 'self'", "style-src 'self'"}
    script = Api().get("docs/init.js")
    assert (script.status, script.headers["Content-Type"]) == (200, "text/javascript")
    assert b'url: "/api/v1/schema/"' in script.raw
