"""Cross-encoders of the fastembed package: quantised, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final

from django.core import checks

from prism_memory.backends.base import check_option
from prism_memory.backends.fastembed import EXTRA
from prism_memory.backends.loading import (
    PerProcess,
    load,
    load_onnxruntime,
    require,
)
from prism_memory.backends.reranking import Reranker

MODULE: Final = "fastembed.rerank.cross_encoder"


class FastEmbedReranker(Reranker):
    """Score with ``TextCrossEncoder``. The model is loaded at the first text.

    Args:
        model: A name from the package's list of cross-encoders, fetched once.
        cache_dir: Where the package keeps models; its own choice when None.
        threads: Cores one run uses, 1..256.
        local_files_only: True never asks the network for the model.
        batch_size: Texts of one run of the model, 1..128.

    Raises:
        Misconfigured: A value is out of bounds, or the extra ``fastembed`` is missing.
    """

    local: ClassVar[bool] = True

    def __init__(
        self,
        *,
        model: str,
        cache_dir: str | None = None,
        threads: int = 4,
        local_files_only: bool = False,
        batch_size: int = 16,
    ) -> None:
        require("fastembed", extra=EXTRA)
        super().__init__(provider="fastembed", model=model)
        self._batch_size = check_option(batch_size, "batch_size", 128)
        self._options = {
            "cache_dir": cache_dir,
            "threads": check_option(threads, "threads", 256),
            "local_files_only": local_files_only,
        }
        self._model: PerProcess[Any] = PerProcess(self._load)

    def rerank(
        self, query: str, texts: Sequence[str], *, timeout_seconds: float
    ) -> list[float]:
        """Return one score a text. Runs the model, which no timeout interrupts."""
        del timeout_seconds
        if not texts:
            return []
        run = self._model.get().rerank(query, list(texts), batch_size=self._batch_size)
        return [float(score) for score in run]

    def check(self) -> list[checks.CheckMessage]:
        """Report a model that the package does not list."""
        listed = {
            str(entry["model"]).lower()
            for entry in load_cross_encoder().list_supported_models()
        }
        if self.model.lower() in listed:
            return []
        return [
            checks.Error(
                f"The model of the reranker fastembed/{self.model} is not listed.",
                hint="TextCrossEncoder.list_supported_models() shows what there is.",
                id="prism_memory.E054",
            )
        ]

    def _load(self) -> Any:  # noqa: ANN401 - untyped package
        return load_cross_encoder()(self.model, **self._options)


def load_cross_encoder() -> Any:  # noqa: ANN401 - untyped package
    load_onnxruntime(extra=EXTRA)  # first, as it brings telemetry otherwise
    return load(MODULE, extra=EXTRA).TextCrossEncoder
