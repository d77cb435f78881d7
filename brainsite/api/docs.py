"""The OpenAPI document, and the page that shows it."""

from functools import lru_cache

from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.urls import reverse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer


@lru_cache(maxsize=1)
def document() -> bytes:
    """Made once a process: it depends on the code alone."""
    made = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return bytes(OpenApiJsonRenderer().render(made, renderer_context={}))


def schema(request: HttpRequest) -> HttpResponse:
    return HttpResponse(document(), content_type="application/json")


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Brain: API</title>
<link rel="icon" href="{dist}/favicon-32x32.png">
<link rel="stylesheet" href="{dist}/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="{dist}/swagger-ui-bundle.js"></script>
<script src="{script}"></script>
</body>
</html>
"""
SCRIPT = """"use strict";
SwaggerUIBundle({{
  url: "{schema}",
  dom_id: "#swagger-ui",
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  validatorUrl: null,
}});
"""


def docs(request: HttpRequest) -> HttpResponse:
    """Swagger UI from this server's own files; no inline script or style, so the strict policy stays as it is."""
    dist = static("drf_spectacular_sidecar/swagger-ui-dist")
    return HttpResponse(PAGE.format(dist=dist, script=reverse("api:docs-script")))


def docs_script(request: HttpRequest) -> HttpResponse:
    return HttpResponse(SCRIPT.format(schema=reverse("api:schema")), content_type="text/javascript")
