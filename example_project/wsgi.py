"""The example host as a WSGI application."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from example_project import embedded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")
embedded.ensure()

application = get_wsgi_application()
