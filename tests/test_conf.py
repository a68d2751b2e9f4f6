from __future__ import annotations

from typing import Any

import pytest

from docs.generate import PAGES, settings_page
from prism_memory.conf import Limits, Settings, check_limit, settings, user_settings
from prism_memory.errors import LimitExceeded
from tests.factories import make_memory

LIMITS = {s.name.lower(): s for s in Settings.declared() if s.limit}
DECLARED = [*Settings.declared()]


@pytest.mark.parametrize("setting", DECLARED, ids=lambda s: s.name)
def test_a_setting_says_what_it_is_in_a_sentence(setting: Any) -> None:
    assert setting.help.endswith(".")
    assert "|" not in setting.help
    assert setting.name == setting.name.upper()


@pytest.mark.parametrize("setting", DECLARED, ids=lambda s: s.name)
def test_a_number_has_bounds_and_its_default_lies_within(setting: Any) -> None:
    if isinstance(setting.default, bool) or not isinstance(
        setting.default, int | float
    ):
        assert (setting.minimum, setting.maximum) == (None, None)
    else:
        assert setting.minimum <= setting.default <= setting.maximum


def test_a_setting_has_its_default_until_the_project_sets_it(settings: Any) -> None:
    settings.PRISM_MEMORY = {}
    assert Settings().TOP_K == 5
    settings.PRISM_MEMORY = {"TOP_K": 7}
    assert Settings().TOP_K == 7
    del settings.PRISM_MEMORY
    assert user_settings() == {}
    assert Settings().TOP_K == 5


def test_a_declaration_is_seen_on_the_class() -> None:
    assert Settings.TOP_K.maximum == 32
    assert Settings.TOP_K.default == settings.TOP_K


def test_the_page_of_settings_says_what_is_declared() -> None:
    """After a change, ``make docs`` writes it anew."""
    page = (PAGES / "settings.md").read_text("utf-8")
    assert page == settings_page()
    for setting in DECLARED:
        assert page.count(f"| `{setting.name}` |") == 1


# What each memory may set for itself: B30.


def test_limits_are_the_settings_unless_given(settings: Any) -> None:
    settings.PRISM_MEMORY = {"TOP_K": 7}
    limits = Limits({"list_rows": 2})
    assert (limits.top_k, limits.list_rows, limits.embed_batch) == (7, 2, 32)


def test_every_declared_limit_is_one_of_a_memory() -> None:
    assert {*LIMITS} == {*Limits.__annotations__} == {*vars(Limits())}


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_can_be_set_up_to_its_hard_cap(name: str) -> None:
    """B30."""
    setting = LIMITS[name]
    for value in (int(setting.minimum or 0), int(setting.maximum or 0)):
        assert getattr(make_memory(limits={name: value}).limits, name) == value


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_over_its_hard_cap_is_refused_by_name(name: str) -> None:
    """B30: never a silent clamp."""
    cap = int(LIMITS[name].maximum or 0)
    with pytest.raises(LimitExceeded, match=f"{name} must be .* {cap}, not") as raised:
        make_memory(limits={name: cap + 1})
    assert raised.value.field == name


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("bad", [-1, 1.0, 1.5, "1", None, True, [1], float("nan")])
def test_a_limit_that_is_no_count_is_refused(name: str, bad: Any) -> None:
    """B30."""
    with pytest.raises(LimitExceeded):
        make_memory(limits={name: bad})


@pytest.mark.parametrize("name", ["topk", "TOP_K", "claim_seconds", "", 7])
def test_an_unknown_limit_is_refused(name: Any) -> None:
    """B30: a slip of the pen must not leave a memory without the limit meant."""
    with pytest.raises(LimitExceeded, match="is not a limit"):
        make_memory(limits={name: 1})


@pytest.mark.parametrize("value", [33, -1, "7"])
def test_a_setting_over_its_hard_cap_is_refused_too(settings: Any, value: Any) -> None:
    """B30: neither a project nor a call can raise a cap."""
    settings.PRISM_MEMORY = {"TOP_K": value}
    with pytest.raises(LimitExceeded):
        make_memory()


def test_an_arguments_own_name_is_in_the_message() -> None:
    with pytest.raises(LimitExceeded, match=r"^limit must be 1 to 200") as raised:
        check_limit(0, "list_rows", "limit")
    assert raised.value.field == "limit"
