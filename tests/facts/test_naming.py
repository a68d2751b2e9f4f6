"""Names as they are compared."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prism_memory.types.naming import fold

STORED = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("  Ada \t\n LOVELACE ", "ada lovelace"),
        ("“Ada Lovelace”.", "ada lovelace"),
        ("Ａｄａ Ｌｏｖｅｌａｃｅ", "ada lovelace"),  # noqa: RUF001 - full width
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
        ("Ada\u200b Lovelace\u00ad", "ada lovelace"),
        ("café", "caf\u00e9"),
        ("cafe\u0301!", "caf\u00e9"),
        ("O'Neill & Sons (Ltd.)", "o'neill & sons (ltd"),
        ("R2-D2", "r2-d2"),
        ("हिन्दी", "हिन्दी"),
        ("北京。", "北京"),
        ("42", "42"),
    ],
)
def test_names_that_are_one_fold_alike(written: str, folded: str) -> None:
    """B389."""
    assert fold(written) == folded


@pytest.mark.parametrize("name", ["", " ", "!?", "—", "👍🏽", "\u200b", "\u0301"])
def test_what_has_no_letter_or_digit_is_no_entity(name: str) -> None:
    """B389."""
    assert fold(name) == ""


def test_a_name_that_is_over_the_limit_when_folded_is_no_entity() -> None:
    assert fold("a" * 256) == "a" * 256
    assert fold("a" * 257) == ""
    assert fold("\ufdfa" * 85) == ""


@given(STORED)
@example("\u0130\u0345")
@example("\u1e9b\u0323 x")
@example("a\u00ad\u0301")
def test_folding_again_changes_nothing(name: str) -> None:
    """B389."""
    once = fold(name)
    assert fold(once) == once
    assert len(once.encode()) <= 256
    if once:
        assert unicodedata.category(once[0])[0] in "LN"
        assert once == " ".join(once.split())


@given(STORED)
def test_case_and_white_space_around_decide_nothing(name: str) -> None:
    """B389."""
    assert fold(f"\u3000{name.casefold()} \n.") == fold(name)
