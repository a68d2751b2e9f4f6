"""Any sentence-embedding model that was exported to ONNX, run on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

from django.core import checks

from prism_memory.backends.base import MAX_DIMENSIONS, Embedder, check_option
from prism_memory.backends.loading import (
    PerProcess,
    load,
    load_onnxruntime,
    require,
)
from prism_memory.backends.pooling import (
    EXTRA,
    Pooling,
    by_length,
    model_inputs,
    padded,
    pool,
    scaled,
)
from prism_memory.errors import (
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import Role, Vector

if TYPE_CHECKING:
    from prism_memory.backends.pooling import Floats

RUN_TEXTS: Final = 16
"""Texts of one run of the model. More gains nothing on a CPU (measured with MiniLM on
one core: 103 texts/s at 2 to 8, 98 at 16, 85 at 32) and costs memory."""

MAX_THREADS: Final = 4
"""A web worker shares its machine with others."""

PACKAGES: Final = ("numpy", "onnxruntime", "tokenizers")

MAX_TOKENS: Final = 32_768

KNOWN_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded model: what runs, what splits words, and what the run wants."""

    session: Any
    tokenizer: Any
    inputs: dict[str, str]
    width: int | None


class OnnxEmbedder(Embedder):
    """Embed with onnxruntime on the CPU; no text leaves the machine.

    The model is loaded at the first text, once in each process.

    Args:
        folder: Holds ``model.onnx`` and ``tokenizer.json``.
        model_path: The model, where it is not ``model.onnx`` in ``folder``.
        tokenizer_path: The tokenizer, where it is not ``tokenizer.json`` in ``folder``.
        model: Name of the model; the folder's name when empty.
        dimensions: Width of a vector. When None it is read from the model, which
            loads the model at construction.
        pooling: How token vectors become one: their ``mean``, the first (``cls``), or
            the ``last``. A model whose output is one vector a text needs none.
        normalize: Scale vectors to length 1. ``embed`` does so in any case.
        query_prefix: Put before a text that asks.
        passage_prefix: Put before a text that is searched.
        max_tokens: A longer text is embedded by its beginning, 1..32,768.
        threads: Cores one run uses; all up to 4 when None.

    Raises:
        Misconfigured: A value is out of bounds, the extra ``local`` is missing, or,
            without ``dimensions``, the model cannot be loaded.
    """

    local: ClassVar[bool] = True
    deterministic: ClassVar[bool] = True

    def __init__(  # noqa: PLR0913 - the OPTIONS
        self,
        *,
        folder: str | os.PathLike[str] | None = None,
        model_path: str | os.PathLike[str] | None = None,
        tokenizer_path: str | os.PathLike[str] | None = None,
        model: str = "",
        dimensions: int | None = None,
        pooling: Pooling = "mean",
        normalize: bool = True,
        query_prefix: str = "",
        passage_prefix: str = "",
        max_tokens: int = 256,
        threads: int | None = None,
    ) -> None:
        require(*PACKAGES, extra=EXTRA)
        self.model_path = file_of(folder, model_path, "model.onnx")
        self.tokenizer_path = file_of(folder, tokenizer_path, "tokenizer.json")
        self.pooling = check_pooling(pooling)
        self.normalize = normalize
        self.max_tokens = check_option(max_tokens, "max_tokens", MAX_TOKENS)
        self.threads = check_threads(threads)
        self._expected = dimensions
        self._model = PerProcess(self._load)
        super().__init__(
            provider="onnx",
            model=model or self.model_path.parent.name,
            dimensions=self._width() if dimensions is None else dimensions,
            query_prefix=query_prefix,
            passage_prefix=passage_prefix,
        )

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> list[Vector]:
        """Return one vector a text. Runs the model.

        The timeout is looked at between two runs of at most 16 texts.

        Raises:
            Misconfigured: The model's files are missing or of another model.
            ProviderUnavailable: The timeout passed.
            ProviderRejected: The model failed on these texts.
        """
        deadline = time.monotonic() + timeout_seconds
        loaded = self._model.get()
        tokens = [
            loaded.tokenizer.encode(text).ids for text in self.prefixed(texts, role)
        ]
        vectors: list[Vector] = [()] * len(tokens)
        for run in by_length(tokens, RUN_TEXTS):
            if time.monotonic() > deadline:
                message = f"{self!r} did not finish in {timeout_seconds} s."
                raise ProviderUnavailable(message)
            rows = self._run(loaded, [tokens[index] for index in run])
            for index, row in zip(run, rows.tolist(), strict=True):
                vectors[index] = row
        return vectors

    def check(self) -> list[checks.CheckMessage]:
        """Report files that are missing."""
        missing = [
            path
            for path in (self.model_path, self.tokenizer_path)
            if not path.is_file()
        ]
        return [
            checks.Error(
                f"The embedder {self.identity} has no file {path.name}.",
                hint=f"Put it into {path.parent}, or correct the OPTIONS.",
                id="prism_memory.E050",
            )
            for path in missing
        ]

    def _run(self, loaded: Model, tokens: Sequence[Sequence[int]]) -> Floats:
        ids, mask = padded(tokens)
        feed = {
            name: value.astype(loaded.inputs[name], copy=False)
            for name, value in model_inputs(ids, mask).items()
            if name in loaded.inputs
        }
        errors = load("onnxruntime.capi.onnxruntime_pybind11_state", extra=EXTRA)
        try:
            output = loaded.session.run(None, feed)[0]
        except (errors.Fail, errors.InvalidArgument, errors.RuntimeException) as error:
            message = f"{self!r} failed ({type(error).__name__})."
            raise ProviderRejected(message) from error
        vectors = pool(output, mask, self.pooling)
        return scaled(vectors) if self.normalize else vectors

    def _load(self) -> Model:
        for path in (self.model_path, self.tokenizer_path):
            if not path.is_file():
                message = f"There is no file {path}."
                raise Misconfigured(message)
        session = open_session(self.model_path, self.threads)
        inputs = {item.name: array_type(item.type) for item in session.get_inputs()}
        if unknown := inputs.keys() - KNOWN_INPUTS:
            message = f"{self.model_path} wants {sorted(unknown)}, which no text gives."
            raise Misconfigured(message)
        width = output_width(session)
        self._check_width(width)
        tokenizer = open_tokenizer(self.tokenizer_path, self.max_tokens)
        return Model(session, tokenizer, inputs, width)

    def _check_width(self, width: int | None) -> None:
        if None not in (width, self._expected) and width != self._expected:
            message = (
                f"{self.model_path} gives {width} dimensions, not {self._expected}."
            )
            raise Misconfigured(message, field="dimensions")

    def _width(self) -> int:
        width = self._model.get().width
        if width is None:
            message = f"{self.model_path} does not tell its width; set dimensions."
            raise Misconfigured(message, field="dimensions")
        return check_option(width, "dimensions", MAX_DIMENSIONS)


def file_of(
    folder: str | os.PathLike[str] | None,
    path: str | os.PathLike[str] | None,
    name: str,
) -> Path:
    """Return the path given, or the usual name in ``folder``.

    Raises:
        Misconfigured: Neither is given.
    """
    if path is not None:
        return Path(path)
    if folder is None:
        message = f"Set folder, or the path of {name}."
        raise Misconfigured(message, field="folder")
    return Path(folder) / name


def check_pooling(value: Pooling) -> Pooling:
    if value not in get_args(Pooling):
        message = f"pooling must be one of {', '.join(get_args(Pooling))}."
        raise Misconfigured(message, field="pooling")
    return value


def check_threads(value: int | None) -> int:
    if value is not None:
        return check_option(value, "threads", 256)
    if hasattr(os, "sched_getaffinity"):  # a container may have fewer than all cores
        return min(len(os.sched_getaffinity(0)), MAX_THREADS)
    return min(os.cpu_count() or 1, MAX_THREADS)


def open_session(path: Path, threads: int) -> Any:  # noqa: ANN401 - untyped package
    """Return a session of onnxruntime that uses at most ``threads`` cores.

    Raises:
        Misconfigured: The file is no model that this onnxruntime reads.
    """
    runtime = load_onnxruntime(extra=EXTRA)
    errors = load("onnxruntime.capi.onnxruntime_pybind11_state", extra=EXTRA)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what fails is raised; stderr belongs to the host
    # A thread that waits for the next run must not burn a core meanwhile.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return runtime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
    except (
        errors.Fail,
        errors.InvalidGraph,
        errors.InvalidProtobuf,
        errors.NotImplemented,
        errors.RuntimeException,
    ) as error:
        message = f"{path} is not a model that can be run ({type(error).__name__})."
        raise Misconfigured(message) from error


def open_tokenizer(path: Path, max_tokens: int) -> Any:  # noqa: ANN401 - untyped use
    """Return the tokenizer, cutting at ``max_tokens`` and padding nothing.

    Raises:
        Misconfigured: The file is no tokenizer.
    """
    tokenizers = load("tokenizers", extra=EXTRA)
    try:
        # from_file would raise a bare Exception.
        tokenizer = tokenizers.Tokenizer.from_buffer(path.read_bytes())
    except ValueError as error:
        message = f"{path} is not a tokenizer."
        raise Misconfigured(message) from error
    # The file's own settings are those of whoever exported it.
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    return tokenizer


def output_width(session: Any) -> int | None:  # noqa: ANN401 - untyped package
    """Return the width of a vector as the model declares it, or None."""
    shape = session.get_outputs()[0].shape
    # A width that depends on the run has a name there instead of a number.
    return shape[-1] if shape and isinstance(shape[-1], int) else None


def array_type(name: str) -> str:
    """Return NumPy's name of an input type: ``tensor(int64)`` is ``int64``."""
    return name.removeprefix("tensor(").removesuffix(")")
