"""Every route. The doors themselves are in api/, web/ and the admin."""

from django.contrib import admin
from django.urls import include, path, re_path

from brainsite import health
from brainsite.api.base import UnknownRouteView

urlpatterns = [
    path("livez", health.livez, name="livez"),
    path("readyz", health.readyz, name="readyz"),
    path("api/v1/", include("brainsite.api.urls")),
    re_path("^api/", UnknownRouteView.as_view()),
    path("admin/", admin.site.urls),
    path("", include("brainsite.web.urls")),
]
handler500 = "brainsite.web.errors.server_error"
