"""``embed`` and ``assert_finite_vector``: nothing unusable gets in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.backends import Embedder, assert_finite_vector, embed
from prism_memory.backends.base import unit_vector
from prism_memory.errors import (
    Aborted,
    Invalid,
    LimitExceeded,
    Misconfigured,
    ProviderRejected,
    ProviderUnavailable,
)
from prism_memory.types import Role

SECRET = "the spare key is under the third pot"


class Scripted(Embedder):
    """Gives what the test says, and keeps what it was asked."""

    def __init__(
        self, script: Callable[[Sequence[str]], Any] | None = None, **options: Any
    ) -> None:
        super().__init__(provider="test", model="scripted", dimensions=2, **options)
        self.script = script or (lambda texts: [[3.0, 4.0] for _ in texts])
        self.asked: list[tuple[list[str], Role, float]] = []

    def embed_texts(
        self, texts: Sequence[str], *, role: Role, timeout_seconds: float
    ) -> Any:
        self.asked.append((list(texts), role, timeout_seconds))
        return self.script(texts)


def always(answer: Any) -> Callable[[Sequence[str]], Any]:
    def script(texts: Sequence[str]) -> Any:
        return answer

    return script


def test_vectors_come_back_at_unit_length() -> None:
    assert embed(Scripted(), ["a", "b"], role="query") == [[0.6, 0.8], [0.6, 0.8]]


def test_no_text_makes_no_call() -> None:
    embedder = Scripted()

    assert embed(embedder, [], role="query") == []
    assert embedder.asked == []


@pytest.mark.parametrize(
    ("batch", "max_batch", "sizes"),
    [
        (None, 128, [32, 32, 6]),
        (50, 128, [50, 20]),
        (128, 30, [30, 30, 10]),
        (70, 128, [70]),
    ],
)
def test_texts_are_sent_in_batches(
    batch: int | None, max_batch: int, sizes: list[int]
) -> None:
    embedder = Scripted()
    embedder.max_batch = max_batch

    vectors = embed(embedder, ["x"] * 70, role="passage", batch=batch)

    assert len(vectors) == 70
    assert [len(texts) for texts, _, _ in embedder.asked] == sizes


@override_settings(PRISM_MEMORY={"EMBED_BATCH": 2, "EMBED_TIMEOUT_SECONDS": 7.5})
def test_settings_are_the_defaults() -> None:
    embedder = Scripted()

    embed(embedder, ["a", "b", "c"], role="query")

    assert embedder.asked == [(["a", "b"], "query", 7.5), (["c"], "query", 7.5)]


def test_a_call_may_set_its_own_timeout() -> None:
    embedder = Scripted()

    embed(embedder, ["a"], role="query", timeout_seconds=0.25)

    assert embedder.asked[0][2] == 0.25


@pytest.mark.parametrize("batch", [0, -1, 129, True, 1.5])
def test_a_batch_out_of_bounds_is_refused(batch: int) -> None:
    with pytest.raises(LimitExceeded, match="batch"):
        embed(Scripted(), ["a"], role="query", batch=batch)


@pytest.mark.parametrize("texts", ["one text", b"bytes", {"a"}, None, [b"a"], [None]])
def test_what_is_no_list_of_strings_is_refused(texts: Any) -> None:
    with pytest.raises(Invalid, match=r"texts|text must"):
        embed(Scripted(), texts, role="query")


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(Invalid, match="query, passage"):
        embed(Scripted(), ["a"], role="document")  # type: ignore[arg-type]


def test_cancelling_stops_before_the_next_batch() -> None:
    embedder = Scripted()
    answers = iter([False, True])

    with pytest.raises(Aborted, match="after 2 of 5 texts"):
        embed(
            embedder,
            ["x"] * 5,
            role="passage",
            batch=2,
            cancelled=lambda: next(answers),
        )

    assert len(embedder.asked) == 1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([], "gave 0 vectors for 1 texts"),
        ([[1.0, 0.0]] * 2, "gave 2 vectors for 1 texts"),
        ([[1.0]], "has 1 dimensions, not 2"),
        ([[1.0, 2.0, 3.0]], "has 3 dimensions, not 2"),
        ([[]], "not empty"),
        (["ab"], "list of numbers"),
        ([{0: 1.0, 1: 2.0}], "list of numbers"),
        ([3.0], "list of numbers"),
        ([[1.0, math.nan]], "no finite number at position 1"),
        ([[-math.inf, 1.0]], "no finite number at position 0"),
        ([[1.0, True]], "no finite number at position 1"),
        ([[1.0, "2"]], "no finite number at position 1"),
        ([[10**400, 1.0]], "no finite number at position 0"),
        ([[0.0, -0.0]], "no length"),
        ([[1.7e308, 1.7e308]], "no length"),
        ([np.array([[1.0, 2.0]])], "dimensions, not 2"),
    ],
)
def test_an_unusable_answer_is_rejected(answer: Any, words: str) -> None:
    with pytest.raises(ProviderRejected, match=words):
        embed(Scripted(always(answer)), ["a"], role="query")


@pytest.mark.parametrize(
    "vector",
    [
        np.array([3, 4]),
        np.array([3.0, 4.0], dtype=np.float32),
        [np.float32(3), np.int64(4)],
        (3, Fraction(4)),
    ],
    ids=["ints", "float32", "scalars", "fraction"],
)
def test_any_kind_of_number_is_taken(vector: Any) -> None:
    (found,) = embed(Scripted(always([vector])), ["a"], role="query")

    assert found == [0.6, 0.8]
    assert all(type(value) is float for value in found)


class ErrorOfAnSDK(Exception):
    """Of no class that this app could know."""


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError, ProviderRejected),
        (TypeError, ProviderRejected),
        (KeyError, ProviderRejected),
        (ZeroDivisionError, ProviderRejected),
        (RuntimeError, ProviderRejected),
        (RecursionError, ProviderRejected),
        (ErrorOfAnSDK, ProviderRejected),
        (UnicodeError, ProviderRejected),
        (OSError, ProviderUnavailable),
        (TimeoutError, ProviderUnavailable),
        (ConnectionResetError, ProviderUnavailable),
    ],
)
def test_what_a_backend_lets_through_is_translated(
    raised: type[Exception], expected: type[Exception]
) -> None:
    def fail(texts: Sequence[str]) -> Any:
        raise raised(texts[0])

    with pytest.raises(expected, match=raised.__name__) as caught:
        embed(Scripted(fail), [SECRET], role="query")

    assert SECRET not in str(caught.value)
    assert isinstance(caught.value.__cause__, raised)


def test_an_error_while_vectors_are_read_is_translated_too() -> None:
    def lazily(texts: Sequence[str]) -> Any:
        yield [1.0, 0.0]
        raise ValueError(texts[0])

    with pytest.raises(ProviderRejected) as caught:
        embed(Scripted(lazily), [SECRET], role="query")

    assert SECRET not in str(caught.value)


def test_errors_of_this_app_pass_through() -> None:
    def fail(texts: Sequence[str]) -> Any:
        raise ProviderUnavailable("busy")

    with pytest.raises(ProviderUnavailable, match="busy"):
        embed(Scripted(fail), ["a"], role="query")


@pytest.mark.parametrize("raised", [KeyboardInterrupt, SystemExit])
def test_who_ends_the_process_is_not_held_up(raised: type[BaseException]) -> None:
    def fail(texts: Sequence[str]) -> Any:
        raise raised

    with pytest.raises(raised):
        embed(Scripted(fail), ["a"], role="query")


def test_assert_finite_vector_names_the_vector() -> None:
    assert assert_finite_vector([1, 2.5], "mine", 2) == [1.0, 2.5]
    with pytest.raises(ProviderRejected, match="mine has 2 dimensions, not 3"):
        assert_finite_vector([1, 2.5], "mine", 3)


@given(st.lists(st.floats(-1e30, 1e30), min_size=1, max_size=20))
def test_a_unit_vector_keeps_the_direction(vector: list[float]) -> None:
    if math.hypot(*vector) < 1e-30:
        return
    unit = unit_vector(vector, "it", len(vector))

    assert math.hypot(*unit) == pytest.approx(1)
    peak = max(range(len(vector)), key=lambda index: abs(vector[index]))
    assert math.copysign(1, unit[peak]) == math.copysign(1, vector[peak])


def test_roles_differ_when_the_prefixes_do() -> None:
    assert not Scripted().roles
    assert Scripted(query_prefix="q: ").roles
    assert Scripted(query_prefix="q: ").prefixed(["a"], "query") == ["q: a"]
    assert Scripted(query_prefix="q: ").prefixed(["a"], "passage") == ["a"]


def test_a_plain_embedder_has_nothing_to_report_or_close() -> None:
    embedder = Scripted()
    embedder.close()

    assert embedder.check() == []
    assert repr(embedder) == "<Scripted test/scripted (2)>"


def test_a_model_without_a_name_is_refused() -> None:
    class Nameless(Scripted):
        def __init__(self) -> None:
            Embedder.__init__(self, provider="test", model="", dimensions=2)

    with pytest.raises(Misconfigured, match="model must be named"):
        Nameless()
