"""The web process. Refuses to serve with a database login that the walls would not stop."""

import os
import sys

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "brainsite.settings")
application = get_asgi_application()

from brainsite.startup import refuse_if_unsafe  # noqa: E402  (needs the apps loaded)

if "pytest" not in sys.modules:
    refuse_if_unsafe()
