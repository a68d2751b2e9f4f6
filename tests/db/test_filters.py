from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from prism_memory.db.filters import DEPTH, IN_VALUES, compile_filter
from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types import Entry
from tests.factories import make_memory, make_scope, remember_one

pytestmark = pytest.mark.django_db

INJECTIONS = [
    "x') OR 1=1 --",
    "x'; DROP TABLE prism_memory_record; --",
    "it's",
    'say "so"',
    "back\\slash",
    "100%",
    "%s %(tenant)s %%",
    "a.b",
    "a->b",
    "{}",
    "record.",
    "$.a",
    "é ☂ \u202e",
    "k" * 10_240,
]


def found(given: Mapping[str, Any] | None) -> set[str]:
    """Return the keys that a list under the filter gives, to the last row."""
    page = make_memory().list(filter=given, limit=200)
    items = [*page]
    while page.next_cursor:
        page = make_memory().list(filter=given, limit=200, cursor=page.next_cursor)
        items += page
    return {item.key for item in items}


def store(**metadatas: Any) -> None:
    """Remember a record under each name, with that metadata."""
    make_memory().remember(
        [Entry(f"text {key}", key=key, metadata=m) for key, m in metadatas.items()]
    )


@pytest.mark.parametrize("key", INJECTIONS, ids=[k[:12] for k in INJECTIONS])
def test_any_key_is_data(key: str) -> None:
    """case_C03: never more rows, whatever the key."""
    store(other={"x": 1}, same={key: "v"}, different={key: "w"})

    assert found({key: "v"}) == {"same"}
    assert found({key: {"ne": "v"}}) == {"different"}
    assert found({key: {"exists": True}}) == {"same", "different"}
    assert found({key: {"in": ["w"]}}) == {"different"}
    assert found({key: {"contains": "v"}}) == {"same"}


@pytest.mark.parametrize("value", INJECTIONS, ids=[v[:12] for v in INJECTIONS])
def test_any_value_is_data(value: str) -> None:
    """case_C03."""
    store(same={"k": value}, other={"k": "v"})
    assert found({"k": value}) == {"same"}
    assert found({"k": {"in": [value]}}) == {"same"}


@pytest.mark.parametrize("bad", ["a\0b", "\ud800", 7, None])
def test_a_key_that_cannot_be_stored_is_refused(bad: Any) -> None:
    """case_C03, case_C21."""
    with pytest.raises(Invalid):
        compile_filter({bad: 1}, terms=9)


@pytest.mark.parametrize(
    "bad",
    ["a\0b", "\ud800", float("nan"), {1}, 10**5_000],
    ids=["NUL", "surrogate", "NaN", "set", "digits"],
)
def test_a_value_that_json_cannot_carry_is_refused(bad: Any) -> None:
    for conditions in ({"k": {"eq": bad}}, {"k": {"in": [bad]}}):
        with pytest.raises(Invalid):
            compile_filter(conditions, terms=9)


def numbered() -> None:
    entries = [Entry(f"text {n}", key=str(n), metadata={"n": n}) for n in range(301)]
    make_memory().remember([*entries, Entry("no number", key="none")])


def keys(numbers: Any) -> set[str]:
    return {str(number) for number in numbers}


def test_numbers_compare_as_numbers() -> None:
    """case_C08: as text, "10" would come before "9"."""
    numbered()
    assert found({"n": {"gt": 9}}) == keys(range(10, 301))
    assert found({"n": {"gte": 9, "lt": 100}}) == keys(range(9, 100))
    assert found({"n": {"lte": 9.5}}) == keys(range(10))
    assert found({"n": {"lt": -1}}) == set()
    assert found({"n": 30.0}) == keys([30])
    assert found({"n": {"in": [9, 10, "11"]}}) == keys([9, 10])


def test_a_record_without_the_key_matches_no_comparison() -> None:
    """case_C08: ``ne`` included; ``not`` is the plain complement."""
    numbered()
    assert found({"n": {"ne": 9}}) == keys(range(301)) - {"9"}
    assert found({"not": {"n": 9}}) == keys(range(301)) - {"9"} | {"none"}
    assert found({"not": {"n": {"ne": 9}}}) == {"9", "none"}
    assert found({"n": {"exists": False}}) == {"none"}
    assert found({"or": [{"n": 1}, {"n": {"exists": False}}]}) == {"1", "none"}


def test_values_compare_within_their_own_type_only() -> None:
    """case_C08."""
    store(
        number={"v": 1},
        true={"v": True},
        text={"v": "1"},
        null={"v": None},
        list={"v": [1]},
        object={"v": {"a": 1}},
        missing={},
    )
    assert found({"v": 1}) == {"number"}
    assert found({"v": True}) == {"true"}
    assert found({"v": "1"}) == {"text"}
    assert found({"v": None}) == {"null"}
    assert found({"v": [1]}) == {"list"}
    assert found({"v": {"eq": {"a": 1}}}) == {"object"}
    assert found({"v": {"ne": 2}}) == {"number"}
    assert found({"v": {"gt": "0"}}) == {"text"}
    assert found({"v": {"in": [True, None]}}) == {"true", "null"}


def test_contains_looks_into_lists_and_objects() -> None:
    store(
        tags={"v": ["a", "b"]},
        nested={"v": {"a": {"b": [1, 2]}, "c": 3}},
        word={"v": "a"},
    )
    assert found({"v": {"contains": ["a"]}}) == {"tags"}
    assert found({"v": {"contains": "a"}}) == {"tags", "word"}
    assert found({"v": {"contains": {"a": {"b": [2]}}}}) == {"nested"}


def test_a_dot_is_a_dot() -> None:
    """case_C08: a key with dots is one key, not a path."""
    store(dotted={"a.b": 1}, nested={"a": {"b": 1}})
    assert found({"a.b": 1}) == {"dotted"}


def test_an_empty_choice_lets_nothing_through() -> None:
    """case_C04."""
    store(one={"v": 1})
    assert found({"v": {"in": []}}) == set()
    assert found({"or": []}) == set()
    assert found({"not": {}}) == set()


def test_a_filter_without_conditions_lets_everything_through() -> None:
    store(one={"v": 1})
    assert found(None) == found({}) == found({"and": []}) == {"one"}


@pytest.mark.parametrize(
    "bad",
    [
        {"v": {}},
        {"v": {"like": "a"}},
        {"v": {"eq": 1, "$where": 1}},
        {"v": {"gt": True}},
        {"v": {"gt": None}},
        {"v": {"lt": [1]}},
        {"v": {"in": "abc"}},
        {"v": {"in": {"a": 1}}},
        {"v": {"exists": 1}},
        {"and": {"v": 1}},
        {"or": "v"},
        {"or": [1]},
        {"not": [{"v": 1}]},
        ["v"],
        "v",
        7,
    ],
    ids=repr,
)
def test_what_is_no_filter_is_refused(bad: Any) -> None:
    """case_C04: a key without a comparison is no condition that all rows meet."""
    with pytest.raises(Invalid):
        compile_filter(bad, terms=9)


@pytest.mark.parametrize(
    "comparison", [{"eq": 1}, {"exists": True}, {"in": [1, 2, 3]}], ids=str
)
def test_one_comparison_too_many_is_refused(comparison: dict[str, Any]) -> None:
    """B30: whatever the comparison."""
    four = {"or": [{f"k{n}": comparison} for n in range(4)]}
    assert compile_filter(four, terms=4).comparisons == 4
    with pytest.raises(LimitExceeded, match="more than 3"):
        compile_filter(four, terms=3)


class Tripwire(Mapping[str, Any]):
    """A filter that says when it is read."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        raise AssertionError

    def __getitem__(self, key: str) -> Any:
        raise AssertionError


def test_nothing_is_compiled_beyond_the_limit() -> None:
    """B30: a filter of megabytes costs no more than one at the limit."""
    for given in (
        {"or": [*[{"k": 1}] * 4, Tripwire()]},
        {"or": [*[{}] * 4, Tripwire()]},
        {"and": [{"k": {"gt": 1, "lt": 9}}] * 2, "not": Tripwire()},
    ):
        with pytest.raises(LimitExceeded, match="more than 3") as refused:
            compile_filter(given, terms=3)
        assert refused.value.field == "filter"


@pytest.mark.parametrize(
    "empty",
    [{}, {"or": []}, {"and": []}, {"not": {}}, {"not": {"not": {"or": [{}]}}}],
    ids=repr,
)
def test_what_is_empty_counts_as_a_comparison(empty: dict[str, Any]) -> None:
    """B30: else a filter without comparisons would have no bound."""
    compile_filter({"or": [empty] * 3}, terms=3)
    with pytest.raises(LimitExceeded, match="more than 3"):
        compile_filter({"or": [empty] * 4}, terms=3)


def test_one_value_too_many_is_refused() -> None:
    """B30."""
    compile_filter({"k": {"in": [0] * IN_VALUES}}, terms=1)
    with pytest.raises(LimitExceeded, match="'in' takes at most 1,000 values"):
        compile_filter({"k": {"in": [0] * (IN_VALUES + 1)}}, terms=1)


def test_the_largest_filter_makes_a_text_of_bounded_size() -> None:
    """Statements are kept by their text: the largest must stay small."""
    leaf: dict[str, Any] = {"k": 1}
    for _ in range(DEPTH - 2):
        leaf = {"not": leaf}
    most = compile_filter({"or": [leaf] * 128}, terms=128)
    assert len(most.text.as_string(None)) < 65_536


@pytest.mark.parametrize("how", ["not", "and", "or"])
def test_one_level_too_many_is_refused(how: str) -> None:
    def nested(levels: int) -> dict[str, Any]:
        inner: dict[str, Any] = {"k": 1}
        for _ in range(levels):
            inner = {how: inner if how == "not" else [inner]}
        return inner

    compile_filter(nested(DEPTH - 1), terms=9)
    with pytest.raises(LimitExceeded, match="nested deeper"):
        compile_filter(nested(DEPTH), terms=9)


def test_a_filter_never_opens_another_scope() -> None:
    """case_C02, case_C03."""
    remember_one(scope=make_scope(owner="bob"), metadata={"v": 1})
    store(mine={"v": 1})
    for given in ({"v": 1}, {"or": [{"v": 1}, {}]}, {"not": {"v": 2}}):
        assert found(given) == {"mine"}
