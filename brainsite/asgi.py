"""The web process. Refuses to serve with a database login that the walls would not stop."""

import os
import sys

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainsite.settings")
django_application = get_asgi_application()

from brainsite.body_limit import BodyLimit  # noqa: E402  (needs the settings)
from brainsite.startup import refuse_if_unsafe  # noqa: E402  (needs the apps loaded)

application = BodyLimit(django_application)  # type: ignore[arg-type]

if "pytest" not in sys.modules:
    refuse_if_unsafe()
