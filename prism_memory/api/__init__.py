"""HTTP: parse, make one call, answer. A folder per resource."""

from __future__ import annotations

from importlib.util import find_spec

if not (find_spec("rest_framework") and find_spec("drf_spectacular")):
    message = (
        "The HTTP API needs REST framework and drf-spectacular. Install them with: "
        'pip install "django-prism-memory[api]"'
    )
    raise ImportError(message)
