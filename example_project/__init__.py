"""An example host: one site, its worker and its embedded services."""

from __future__ import annotations

from example_project.celery import app as celery_app

__all__ = ["celery_app"]
