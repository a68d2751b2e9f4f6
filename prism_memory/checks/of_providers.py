"""What can be said of embedders and other providers, without calling any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any, Final

from django.conf import settings as django_settings
from django.core import checks

from prism_memory import backends
from prism_memory.backends.registry import Backend
from prism_memory.conf import NAMESPACE, VECTOR_INDEXES, settings
from prism_memory.errors import (
    Misconfigured,
)
from prism_memory.types import NAME_BYTES

PROVIDERS: Final[tuple[tuple[str, str, Callable[[str], Backend]], ...]] = (
    ("RERANKERS", "RERANKER", backends.get_reranker),
    ("TRANSFORMERS", "TRANSFORMER", backends.get_transformer),
    ("GRADERS", "GRADER", backends.get_grader),
    ("CONFLICT_JUDGES", "CONFLICT_JUDGE", backends.get_judge),
)
"""The setting of the aliases, that of the alias used, and what makes the backend."""


def check_embedders(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report embedders that cannot be made, and what each says of itself."""
    aliases: object = settings.EMBEDDERS
    if not isinstance(aliases, Mapping):
        return []  # check_settings says so
    if not aliases:
        return [
            checks.Warning(
                "No embedder is configured, so recall is by words alone.",
                hint=f"Set {NAMESPACE}['EMBEDDERS'].",
                id="prism_memory.W011",
            )
        ]
    if settings.EMBEDDER not in aliases:
        return [
            checks.Error(
                f"{NAMESPACE}['EMBEDDER'] is {settings.EMBEDDER!r}, which is not"
                " among EMBEDDERS.",
                id="prism_memory.E006",
            )
        ]
    return [message for alias in aliases for message in embedder_messages(alias)]


def embedder_messages(alias: str) -> list[checks.CheckMessage]:
    try:
        return backends.get_embedder(alias).check()
    except Misconfigured as error:
        return [checks.Error(str(error), id="prism_memory.E007")]


def check_providers(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report backends beside the embedders that cannot be made, and what each says."""
    return [
        message
        for aliases, chosen, get in PROVIDERS
        if isinstance(
            getattr(settings, aliases), Mapping
        )  # else check_settings says so
        for message in provider_messages(aliases, chosen, get)
    ]


def provider_messages(
    aliases: str, chosen: str, get: Callable[[str], Backend]
) -> Iterator[checks.CheckMessage]:
    known, alias = getattr(settings, aliases), getattr(settings, chosen)
    if alias and alias not in known:
        yield checks.Error(
            f"{NAMESPACE}[{chosen!r}] is {alias!r}, which is not among {aliases}.",
            id="prism_memory.E018",
        )
    for name in known:
        try:
            yield from get(name).check()
        except Misconfigured as error:
            yield checks.Error(str(error), id="prism_memory.E019")


def check_vector_index(**kwargs: Any) -> list[checks.CheckMessage]:
    """Report an index of vectors that is none, or cannot be made (B481)."""
    chosen: object = settings.VECTOR_INDEX
    if isinstance(chosen, str) and chosen not in VECTOR_INDEXES:
        return [
            checks.Error(
                f"{NAMESPACE}['VECTOR_INDEX'] must be one of"
                f" {', '.join(VECTOR_INDEXES)}, or a dict with BACKEND.",
                id="prism_memory.E080",
            )
        ]
    if not isinstance(chosen, str | Mapping):
        return []  # check_settings says so
    try:
        index = backends.get_vector_index()
    except Misconfigured as error:
        return [checks.Error(str(error), id="prism_memory.E081")]
    return [] if index is None else [*index_messages(index)]


def index_messages(index: backends.VectorIndex) -> Iterator[checks.CheckMessage]:
    name: object = index.name
    if not isinstance(name, str) or not 1 <= len(name.encode()) <= NAME_BYTES:
        yield checks.Error(
            f"The name of {NAMESPACE}['VECTOR_INDEX'] must be 1 to {NAME_BYTES} bytes.",
            id="prism_memory.E082",
        )
    if settings.VECTOR_INDEX == "numpy" and not django_settings.DEBUG:
        yield checks.Warning(
            f"{NAMESPACE}['VECTOR_INDEX'] is numpy: it is gone with each process.",
            hint="It is for tests.",
            id="prism_memory.W083",
        )
    yield from index.check()


def check_traces(**kwargs: Any) -> list[checks.CheckMessage]:
    """Warn when recalls shall leave traces that nobody writes."""
    if settings.TRACES == "off" or find_spec("celery"):
        return []
    return [
        checks.Warning(
            f"{NAMESPACE}['TRACES'] is {settings.TRACES!r}, but Celery is not"
            " installed, so no trace is written.",
            hint="Install it, or write them from a receiver of signals.trace_wanted;"
            " docs/traces.md shows one.",
            id="prism_memory.W028",
        )
    ]
