"""The example's Celery app: what a host writes, and the servers it needs."""

from __future__ import annotations

import os

from celery import Celery
from celery.signals import beat_init, celeryd_init

from example_project import embedded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")

app = Celery("example_project")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect(weak=False)
@beat_init.connect(weak=False)
def ensure_services(**_signal: object) -> None:
    """Start the embedded servers before a worker or beat looks for them."""
    embedded.ensure()


@app.on_after_finalize.connect
def schedule_upkeep(sender: Celery, **_signal: object) -> None:
    """Give beat the app's periodic tasks, once Django's models can be imported."""
    from prism_memory import beat_schedule

    sender.conf.beat_schedule = {**sender.conf.beat_schedule, **beat_schedule()}
