"""From an alias in ``PRISM_MEMORY["EMBEDDERS"]`` to an embedder."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final

from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from prism_memory.backends.base import Embedder
from prism_memory.conf import NAMESPACE, settings
from prism_memory.errors import Misconfigured

_embedders: Final[dict[str, Embedder]] = {}


def get_embedder(alias: str = "default") -> Embedder:
    """Return the embedder of ``alias``; the same object at each call.

    Makes no network call and loads no model.

    Raises:
        Misconfigured: No such alias, or its BACKEND or OPTIONS do not work. The text
            names the alias, and the extra to install where a package is missing.
    """
    embedder = _embedders.get(alias)
    if embedder is None:
        # No lock: two threads may build, one of the two is kept, and a fork at the
        # wrong moment leaves nothing locked.
        embedder = _embedders.setdefault(alias, build(alias))
    return embedder


def build(alias: str) -> Embedder:
    """Make the embedder that the settings describe.

    Raises:
        Misconfigured: See ``get_embedder``.
    """
    where = f"{NAMESPACE}['EMBEDDERS'][{alias!r}]"
    path, options = described(alias, where)
    try:
        backend = import_string(path)
    except ImportError as error:
        message = f"{where}: BACKEND {path!r} cannot be imported ({error})."
        raise Misconfigured(message) from error
    if not (isinstance(backend, type) and issubclass(backend, Embedder)):
        message = f"{where}: BACKEND {path!r} is not an Embedder."
        raise Misconfigured(message)
    return construct(backend, options, where)


def described(alias: str, where: str) -> tuple[str, Mapping[str, Any]]:
    known = settings.EMBEDDERS
    if alias not in known:
        near = difflib.get_close_matches(str(alias), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        message = f"{NAMESPACE}['EMBEDDERS'] has no {alias!r}.{hint}"
        raise Misconfigured(message)
    entry: object = known[alias]
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


def construct(
    backend: type[Embedder], options: Mapping[str, Any], where: str
) -> Embedder:
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


def forget_embedders(*, setting: str, **kwargs: object) -> None:  # noqa: ARG001
    """Drop what was built, so that ``override_settings`` holds at once."""
    if setting != NAMESPACE:
        return
    while _embedders:
        _, embedder = _embedders.popitem()
        embedder.close()


setting_changed.connect(forget_embedders, dispatch_uid="prism_memory.embedders")
