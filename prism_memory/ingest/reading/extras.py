"""The libraries that read formats: imported at first use. Pure."""

from __future__ import annotations

import importlib
from typing import Any

from prism_memory.errors import Misconfigured


def library(name: str) -> Any:  # noqa: ANN401 - optional, so untyped here
    """Import and return a module of the extra ``files``.

    Raises:
        Misconfigured: It is not installed; the text names the extra.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        extra = 'pip install "django-prism-memory[files]"'
        message = f"The package {name.split('.')[0]} is not installed: {extra}"
        raise Misconfigured(message) from error
