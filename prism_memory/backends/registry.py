"""From an alias in ``PRISM_MEMORY`` to a backend: one registry a kind of provider."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final, Generic, Protocol, TypeVar

from django.core import checks
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from prism_memory.backends.base import Embedder
from prism_memory.backends.graders import Grader
from prism_memory.backends.judges import ConflictJudge
from prism_memory.backends.reranking import Reranker
from prism_memory.backends.transformers import QueryTransformer
from prism_memory.backends.vector_index import VectorIndex
from prism_memory.conf import NAMESPACE, settings
from prism_memory.errors import Misconfigured


class Backend(Protocol):
    """What a registry asks of a backend. Its constructor takes the OPTIONS."""

    def check(self) -> list[checks.CheckMessage]:
        """Return what a system check should say about the OPTIONS. No network."""

    def close(self) -> None:
        """Give back connections; a later call opens them again."""


B = TypeVar("B", bound=Backend)


class Registry(Generic[B]):
    """Builds the backends of one setting, each once.

    Args:
        key: The setting: a dict of alias to ``{"BACKEND": path, "OPTIONS": {}}``.
        base: The class that every BACKEND is of.
    """

    def __init__(self, key: str, base: type[B]) -> None:
        self._key = key
        self._base = base
        self._made: dict[str, B] = {}
        setting_changed.connect(
            self._forget, dispatch_uid=f"prism_memory.{key.lower()}"
        )

    def get(self, alias: str) -> B:
        """Return the backend of ``alias``; the same object at each call.

        Raises:
            Misconfigured: No such alias, or its BACKEND or OPTIONS do not work.
        """
        backend = self._made.get(alias)
        if backend is None:
            # No lock: two threads may build, one of the two is kept, and a fork at the
            # wrong moment leaves nothing locked.
            backend = self._made.setdefault(alias, self._build(alias))
        return backend

    def _build(self, alias: str) -> B:
        where = f"{NAMESPACE}[{self._key!r}][{alias!r}]"
        path, options = self._described(alias, where)
        return self._made_of(path, options, where)

    def _made_of(self, path: str, options: Mapping[str, Any], where: str) -> B:
        try:
            backend = import_string(path)
        except ImportError as error:
            message = f"{where}: BACKEND {path!r} cannot be imported ({error})."
            raise Misconfigured(message) from error
        if not (isinstance(backend, type) and issubclass(backend, self._base)):
            name = self._base.__name__
            article = "an" if name[0] in "AEIOU" else "a"
            message = f"{where}: BACKEND {path!r} is not {article} {name}."
            raise Misconfigured(message)
        return construct(backend, options, where)

    def _described(self, alias: str, where: str) -> tuple[str, Mapping[str, Any]]:
        known = getattr(settings, self._key)
        if alias not in known:
            near = difflib.get_close_matches(str(alias), known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            message = f"{NAMESPACE}[{self._key!r}] has no {alias!r}.{hint}"
            raise Misconfigured(message)
        return described(known[alias], where)

    def _forget(self, *, setting: str, **kwargs: object) -> None:  # noqa: ARG002
        """Drop what was built, so that ``override_settings`` holds at once."""
        if setting != NAMESPACE:
            return
        while self._made:
            _, backend = self._made.popitem()
            backend.close()


def described(entry: object, where: str) -> tuple[str, Mapping[str, Any]]:
    """Return the path and the OPTIONS of an entry.

    Raises:
        Misconfigured: It is not of that form.
    """
    if not isinstance(entry, Mapping) or not isinstance(entry.get("BACKEND"), str):
        message = f"{where} must be a dict with BACKEND, the dotted path of a class."
        raise Misconfigured(message)
    options = entry.get("OPTIONS", {})
    if unknown := set(entry) - {"BACKEND", "OPTIONS"}:
        message = f"{where} holds {sorted(map(str, unknown))}; put it into OPTIONS."
        raise Misconfigured(message)
    if not isinstance(options, Mapping):
        message = f"{where}: OPTIONS must be a dict."
        raise Misconfigured(message)
    return entry["BACKEND"], options


def construct(backend: type[B], options: Mapping[str, Any], where: str) -> B:
    """Make a backend.

    Raises:
        Misconfigured: The OPTIONS are not its own; the text names the alias.
    """
    try:
        return backend(**options)
    except Misconfigured as error:
        message = f"{where}: {error}"
        raise Misconfigured(message, field=error.field) from error
    except TypeError as error:
        message = f"{where}: OPTIONS do not fit {backend.__name__} ({error})."
        raise Misconfigured(message) from error
    except (ValueError, OSError) as error:
        # Without its words: a constructor of a host's own may quote a key in them.
        message = f"{where}: OPTIONS are not usable ({type(error).__name__})."
        raise Misconfigured(message) from error


NUMPY: Final = {"BACKEND": "prism_memory.backends.vector_numpy.NumpyVectors"}


class Single(Registry[B]):
    """Builds the one backend that a setting describes without an alias."""

    def _build(self, alias: str) -> B:
        entry = getattr(settings, alias)
        where = f"{NAMESPACE}[{alias!r}]"
        path, options = described(NUMPY if entry == "numpy" else entry, where)
        return self._made_of(path, options, where)


_embedders: Final = Registry("EMBEDDERS", Embedder)  # type: ignore[type-abstract]
_rerankers: Final = Registry("RERANKERS", Reranker)  # type: ignore[type-abstract]
_transformers: Final = Registry("TRANSFORMERS", QueryTransformer)  # type: ignore[type-abstract]
_graders: Final = Registry("GRADERS", Grader)  # type: ignore[type-abstract]
_judges: Final = Registry("CONFLICT_JUDGES", ConflictJudge)  # type: ignore[type-abstract]

_indexes: Final = Single("VECTOR_INDEX", VectorIndex)  # type: ignore[type-abstract]


def get_embedder(alias: str = "default") -> Embedder:
    """Return the embedder of ``alias``; the same object at each call.

    Makes no network call and loads no model.

    Raises:
        Misconfigured: No such alias, or its BACKEND or OPTIONS do not work. The text
            names the alias, and the extra to install where a package is missing.
    """
    return _embedders.get(alias)


def get_reranker(alias: str) -> Reranker:
    """Return the reranker of ``alias``, as ``get_embedder`` does.

    Raises:
        Misconfigured: See ``get_embedder``.
    """
    return _rerankers.get(alias)


def get_transformer(alias: str) -> QueryTransformer:
    """Return the query transformer of ``alias``, as ``get_embedder`` does.

    Raises:
        Misconfigured: See ``get_embedder``.
    """
    return _transformers.get(alias)


def get_grader(alias: str) -> Grader:
    """Return the grader of ``alias``, as ``get_embedder`` does.

    Raises:
        Misconfigured: See ``get_embedder``.
    """
    return _graders.get(alias)


def get_judge(alias: str) -> ConflictJudge:
    """Return the judge of conflicts of ``alias``, as ``get_embedder`` does.

    Raises:
        Misconfigured: See ``get_embedder``.
    """
    return _judges.get(alias)


def get_vector_index() -> VectorIndex | None:
    """Return the external index of vectors, or None where PostgreSQL is asked alone.

    The same object at each call.

    Raises:
        Misconfigured: See ``get_embedder``.
    """
    if settings.VECTOR_INDEX in ("pgvector", "exact", "none"):
        return None
    return _indexes.get("VECTOR_INDEX")


def are_vectors_used() -> bool:
    """Tell whether texts are embedded: there is an embedder, and a use for vectors."""
    return bool(settings.EMBEDDERS) and settings.VECTOR_INDEX != "none"
