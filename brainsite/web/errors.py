"""The page for what went wrong on our side."""

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponseServerError
from django.template.loader import render_to_string


def server_error(request: HttpRequest) -> HttpResponseServerError:
    """Hands back what was typed. No context processors: they ask the database, which may be what does not answer."""
    try:
        typed = request.POST.get("content", "")
    except (OSError, SuspiciousOperation):  # a body that broke off, or is too large
        typed = ""
    return HttpResponseServerError(render_to_string("500.html", {"request": request, "typed": typed}))
