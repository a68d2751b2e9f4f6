"""Embed what is new of a document before any of it is stored. No transaction here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from prism_memory import backends, indexing
from prism_memory.indexing.drain import fitting
from prism_memory.ingest.vectors import Vectors
from prism_memory.types import Vector


def embed_first(
    *,
    space: indexing.Space,
    texts: Mapping[bytes, str],
    batch: int,
    cancelled: Callable[[], bool] | None = None,
) -> Vectors:
    """Return the vectors of texts, all of them. Calls the embedder.

    Args:
        texts: By their SHA-256.
        batch: Texts of one call.
        cancelled: Asked between two calls; True ends it.

    Raises:
        ProviderUnavailable: The embedder is down.
        ProviderRejected: It refused a text, or its answer is no use.
        Aborted: ``cancelled`` said so.
    """
    embedder = indexing.embedder_of(space)
    made: dict[bytes, Vector] = {}
    embed = partial(backends.embed, embedder, role="passage", cancelled=cancelled)
    hashes = list(texts)
    for start in range(0, len(hashes), batch):
        some = hashes[start : start + batch]
        vectors = fitting(embed, space, [texts[sha256] for sha256 in some])
        made |= zip(some, vectors, strict=True)
    return Vectors(space, made)
