"""The example host as a ASGI application."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

from example_project import embedded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")
embedded.ensure()

application = get_asgi_application()
