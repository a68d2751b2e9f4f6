"""Models of the fastembed package: quantised, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from django.core import checks

from prism_memory.backends.base import Embedder, check_option
from prism_memory.backends.loading import (
    PerProcess,
    load,
    load_onnxruntime,
    require,
)
from prism_memory.types import Role, Vector

EXTRA: Final = "fastembed"


class FastEmbedEmbedder(Embedder):
    """Embed with ``TextEmbedding``. The model is loaded at the first text.

    The package adds each model's own prefixes; it is told the role.

    Args:
        model: A name from the package's list of models, fetched once.
        dimensions: Width of its vectors, 1..4,000.
        cache_dir: Where the package keeps models; its own choice when None.
        threads: Cores one run uses, 1..256.
        local_files_only: True never asks the network for the model.

    Raises:
        Misconfigured: A value is out of bounds, or the extra ``fastembed`` is missing.
    """

    local: ClassVar[bool] = True

    def __init__(
        self,
        *,
        model: str,
        dimensions: int,
        cache_dir: str | None = None,
        threads: int = 4,
        local_files_only: bool = False,
    ) -> None:
        require("fastembed", extra=EXTRA)
        super().__init__(provider="fastembed", model=model, dimensions=dimensions)
        self.roles = True
        self._options = {
            "cache_dir": cache_dir,
            "threads": check_option(threads, "threads", 256),
            "local_files_only": local_files_only,
        }
        self._model: PerProcess[Any] = PerProcess(self._load)

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        """Return one vector a text. Runs the model, which no timeout interrupts."""
        del timeout_seconds
        model = self._model.get()
        run = model.query_embed if role == "query" else model.passage_embed
        vectors: list[Vector] = [row.tolist() for row in run(list(texts))]
        return vectors

    def check(self) -> list[checks.CheckMessage]:
        """Report a model that the package does not list, or lists at another width."""
        package = load_fastembed()
        listed = {
            str(entry["model"]).lower(): entry["dim"]
            for entry in package.TextEmbedding.list_supported_models()
        }
        width = listed.get(self.identity.model.lower())
        if width == self.dimensions:
            return []
        text = "is not listed" if width is None else f"has {width} dimensions"
        return [
            checks.Error(
                f"The model of the embedder {self.identity} {text}.",
                hint="TextEmbedding.list_supported_models() shows what there is.",
                id="prism_memory.E053",
            )
        ]

    def _load(self) -> Any:  # noqa: ANN401 - untyped package
        package = load_fastembed()
        return package.TextEmbedding(self.identity.model, **self._options)


def load_fastembed() -> Any:  # noqa: ANN401 - untyped package
    load_onnxruntime(extra=EXTRA)  # first, as it brings telemetry otherwise
    return load("fastembed", extra=EXTRA)
