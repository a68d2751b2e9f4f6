"""A setting STORAGES over a folder; for settings too, so it imports no model."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def storages(folder: Path, backend: str = "") -> dict[str, Any]:
    """Return a setting STORAGES whose default lies in a folder."""
    path = backend or "django.core.files.storage.FileSystemStorage"
    static = "django.contrib.staticfiles.storage.StaticFilesStorage"
    return {
        "default": {"BACKEND": path, "OPTIONS": {"location": str(folder)}},
        "staticfiles": {"BACKEND": static},
    }
