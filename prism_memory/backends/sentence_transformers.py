"""Models of the sentence-transformers package, on this machine's CPU or GPU."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from django.core import checks

from prism_memory.backends.base import Embedder
from prism_memory.backends.loading import PerProcess, load, require
from prism_memory.types import Role, Vector

EXTRA: Final = "sentence-transformers"


class SentenceTransformersEmbedder(Embedder):
    """Embed with ``SentenceTransformer``. The model is loaded at the first text.

    Args:
        model: A folder, or a name on the model hub, from where it is fetched once.
        dimensions: Width of its vectors, 1..4,000.
        query_prefix: Put before a text that asks.
        passage_prefix: Put before a text that is searched.
        device: Such as ``cpu`` or ``cuda``; the package chooses when None.
        local_files_only: True never asks the network for the model.
        load_options: Further keywords of ``SentenceTransformer``.

    Raises:
        Misconfigured: A value is out of bounds, or the extra
            ``sentence-transformers`` is missing.
    """

    local: ClassVar[bool] = True

    def __init__(
        self,
        *,
        model: str,
        dimensions: int,
        query_prefix: str = "",
        passage_prefix: str = "",
        device: str | None = None,
        local_files_only: bool = False,
        load_options: dict[str, Any] | None = None,
    ) -> None:
        require("sentence_transformers", extra=EXTRA)
        super().__init__(
            provider="sentence-transformers",
            model=model,
            dimensions=dimensions,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
        )
        self.local_files_only = local_files_only
        self._options = {
            **(load_options or {}),
            "device": device,
            "local_files_only": local_files_only,
        }
        self._model: PerProcess[Any] = PerProcess(self._load)

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        """Return one vector a text. Runs the model, which no timeout interrupts."""
        del timeout_seconds
        found = self._model.get().encode(
            self.prefixed(texts, role), batch_size=16, show_progress_bar=False
        )
        vectors: list[Vector] = [row.tolist() for row in found]
        return vectors

    def check(self) -> list[checks.CheckMessage]:
        """Warn when the first text will fetch the model from the network."""
        if self.local_files_only or Path(self.identity.model).is_dir():
            return []
        return [
            checks.Warning(
                f"The embedder {self.identity} may fetch its model from the network.",
                hint="Name a folder as model, or set local_files_only=True.",
                id="prism_memory.W052",
            )
        ]

    def _load(self) -> Any:  # noqa: ANN401 - untyped package
        package = load("sentence_transformers", extra=EXTRA)
        return package.SentenceTransformer(self.identity.model, **self._options)
