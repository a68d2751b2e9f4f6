from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prism_memory.backends import embed
from prism_memory.backends.hashing import HashEmbedder, axis, fnv1a, hash_vector
from prism_memory.errors import Misconfigured


@pytest.mark.parametrize(
    ("word", "expected"),
    [("", 0x811C9DC5), ("a", 0xE40C292C), ("foobar", 0xBF9CF968)],
)
def test_the_hash_is_fnv1a(word: str, expected: int) -> None:
    """Source: the reference test vectors of FNV."""
    assert fnv1a(word.encode()) == expected


def test_the_axis_is_the_absolute_value_of_the_signed_hash() -> None:
    # 0xE40C292C is over 2**31, so as a signed number it is -468965076.
    assert axis("a", 4_000) == 468_965_076 % 4_000
    assert axis("a", 4_000) != 0xE40C292C % 4_000


def test_words_are_counted_and_scaled() -> None:
    vector = hash_vector("A a, b!", 1_000)

    assert vector[axis("a", 1_000)] == pytest.approx(2 / math.sqrt(5))
    assert vector[axis("b", 1_000)] == pytest.approx(1 / math.sqrt(5))


@pytest.mark.parametrize("text", ["", " ", "…", "日本語", "ÄÖ"])
def test_a_text_without_a_word_is_the_first_axis(text: str) -> None:
    assert hash_vector(text, 4) == [1.0, 0.0, 0.0, 0.0]


def test_only_ascii_letters_and_digits_make_words() -> None:
    assert hash_vector("naïve", 512) == hash_vector("na ve", 512)


@given(st.text(), st.integers(1, 64))
def test_every_text_has_a_vector_of_unit_length(text: str, dimensions: int) -> None:
    vector = hash_vector(text, dimensions)

    assert len(vector) == dimensions
    assert math.hypot(*vector) == pytest.approx(1)
    assert vector == hash_vector(text, dimensions)


def test_32_dimensions_when_none_are_given() -> None:
    assert len(embed(HashEmbedder(), ["a"], role="query")[0]) == 32


@pytest.mark.parametrize("dimensions", [1, 4_000])
def test_the_bounds_of_dimensions(dimensions: int) -> None:
    assert HashEmbedder(dimensions=dimensions).dimensions == dimensions


@pytest.mark.parametrize("dimensions", [0, -1, 4_001, 4_096, True, 1.5, "8"])
def test_other_dimensions_are_refused(dimensions: int) -> None:
    with pytest.raises(Misconfigured, match="dimensions must be"):
        HashEmbedder(dimensions=dimensions)


def test_check_warns_unless_told_that_these_are_tests() -> None:
    assert [m.id for m in HashEmbedder().check()] == ["prism_memory.W050"]
    assert HashEmbedder(for_tests=True).check() == []
