"""The arithmetic around a sentence model: padding before it, pooling after it.

Pure but for NumPy, which is optional and so is loaded late.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

from prism_memory.backends.loading import load
from prism_memory.errors import ProviderRejected

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.int64]
    Floats = npt.NDArray[np.float32]

Pooling = Literal["mean", "cls", "last"]

EXTRA: Final = "local"


def by_length(tokens: Sequence[Sequence[int]], size: int) -> Iterator[list[int]]:
    """Yield the indexes of texts of similar length, at most ``size`` at once.

    Each run is padded to its longest text, so that a short text beside a long one
    costs as much as that.
    """
    order = sorted(range(len(tokens)), key=lambda index: len(tokens[index]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def padded(tokens: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    """Return ids and mask, both ``(n, longest) int64``, zeros at the end."""
    numpy = load("numpy", extra=EXTRA)
    longest = max(1, *map(len, tokens))
    ids = numpy.zeros((len(tokens), longest), dtype=numpy.int64)
    mask = numpy.zeros_like(ids)
    for row, text in enumerate(tokens):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return ids, mask


def model_inputs(ids: Ids, mask: Ids) -> dict[str, Ids]:
    """Return all that a text gives; one sentence, so every token type is 0."""
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}


def pool(output: Floats, mask: Ids, pooling: Pooling) -> Floats:
    """Return one vector a text, ``(n, d)``, from the vectors of its tokens.

    Args:
        output: ``(n, tokens, d)``, or ``(n, d)`` of a model that pools for itself.
        mask: ``(n, tokens)``, 1 for a token and 0 for padding, padding at the end.
        pooling: Which.

    Raises:
        ProviderRejected: The output has another shape.
    """
    if output.ndim == 2:
        return output
    if output.ndim != 3:
        message = f"The model's output has {output.ndim} dimensions, not 2 or 3."
        raise ProviderRejected(message)
    if pooling == "cls":
        return output[:, 0]
    lengths = mask.sum(axis=1)
    if pooling == "last":
        return output[range(len(output)), (lengths - 1).clip(min=0)]
    weights = mask[..., None].astype(output.dtype)
    # A text without any token has length 0 and gives the zero vector.
    means: Floats = (output * weights).sum(axis=1) / lengths.clip(min=1)[:, None]
    return means


def scaled(vectors: Floats) -> Floats:
    """Return the vectors at length 1; a zero vector stays as it is."""
    lengths = (vectors**2).sum(axis=1, keepdims=True) ** 0.5
    units: Floats = vectors / (lengths + (lengths == 0))
    return units
