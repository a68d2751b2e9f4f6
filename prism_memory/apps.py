"""The app, and what it connects when Django starts."""

from __future__ import annotations

from importlib.util import find_spec

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.utils.translation import gettext_lazy as _


class PrismMemoryConfig(AppConfig):
    """Register the system checks and, where Celery is installed, the wake-up."""

    name = "prism_memory"
    label = "prism_memory"
    verbose_name = _("Agent memory")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from prism_memory import checks, metrics
        from prism_memory.db import tenancy

        checks.register()
        connection_created.connect(
            tenancy.install, dispatch_uid="prism_memory.on_connection_created"
        )
        metrics.connect()
        if find_spec("celery"):
            from prism_memory import tasks

            tasks.connect()
