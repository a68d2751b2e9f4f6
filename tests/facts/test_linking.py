"""Links of facts to whom and what they speak of."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Sequence
from functools import partial

import pytest
from django.db import transaction
from django.test import override_settings

from prism_memory.errors import ProviderUnavailable
from prism_memory.facts.linking import link
from prism_memory.models import Entity, Fact, Mention
from prism_memory.types import Scope
from tests.factories import NOON, make_scope
from tests.facts.rows import entity, links, make_fact
from tests.together import together

pytestmark = pytest.mark.django_db

HERE = f"{__name__}."


def resolver(names: Sequence[str]) -> list[str]:
    return ["Robert Smith" if name == "bob" else name for name in names]


def silent(names: Sequence[str]) -> None:
    return None


def failing(names: Sequence[str]) -> list[str]:
    raise ProviderUnavailable


def raising(names: Sequence[str]) -> list[str]:
    message = f"No such host for {names}."
    raise OSError(message)


def settled(path: str) -> override_settings:
    return override_settings(PRISM_MEMORY={"ENTITY_RESOLVER": path})


def test_subject_and_object_are_linked_and_the_predicate_is_not() -> None:
    """B354."""
    fact = make_fact("Ada Lovelace", "the Analytical Engine", text="She wrote of it.")
    assert links(fact) == {"subject": "ada lovelace", "object": "the analytical engine"}
    assert entity("ada lovelace").label == "Ada Lovelace"


def test_a_name_is_found_again_at_any_age_and_without_an_embedder(
    django_assert_num_queries,
) -> None:
    """B390, C29: by key, whatever the vectors say."""
    first = make_fact("Ada")
    Entity.objects.update(created_at=NOON - dt.timedelta(days=36_500))
    second = make_fact("Other")
    Mention.objects.filter(fact_id=second).delete()
    with django_assert_num_queries(4):  # find, link, and the savepoint
        link(
            using="default",
            scope=make_scope(),
            fact_id=second,
            subject="“ADA”!",
            value="",
            at=NOON,
        )
    assert links(second) == links(first) == {"subject": "ada"}
    assert Entity.objects.filter(name="ada").count() == 1


def test_one_name_as_subject_and_object_is_one_entity() -> None:
    fact = make_fact("Ada", "ADA")
    assert links(fact) == {"subject": "ada", "object": "ada"}
    assert Entity.objects.count() == 1


@pytest.mark.parametrize("value", ["—", "a" * 257, "a " * 5_000])
def test_what_is_no_name_links_nothing(value: str) -> None:
    """B389."""
    assert links(make_fact("?!", value)) == {}
    assert not Entity.objects.exists()


def test_entities_are_of_exactly_one_scope_and_tenant() -> None:
    chat, owner = make_scope(), Scope("acme", "ada")
    other = make_scope(tenant="globex")
    for scope in (chat, owner, other):
        make_fact("Ada", scope=scope)
    assert {*Entity.objects.values_list("tenant", "scope_id")} == {
        (scope.tenant, scope.id) for scope in (chat, owner, other)
    }


def test_off_links_nothing_and_changes_nothing_else() -> None:
    """B354."""
    with settled("off"):
        fact = make_fact("Ada", "tea")
    assert links(fact) == {}
    assert Fact.objects.get().subject == "Ada"


def test_a_resolver_says_what_a_name_is_known_by() -> None:
    """B354."""
    with settled(f"{HERE}resolver"):
        fact = make_fact("Bob", "tea")
    assert links(fact) == {"subject": "robert smith", "object": "tea"}
    assert entity("robert smith").label == "Robert Smith"


@pytest.mark.parametrize(
    "path", [f"{HERE}silent", f"{HERE}failing", f"{HERE}raising", "no.such.path"]
)
def test_a_failing_resolver_never_fails_the_write(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    """B355: and nothing of it is in the log but the kind of the error."""
    with caplog.at_level(logging.WARNING), settled(path):
        fact = make_fact("Ada", "tea")
    assert links(fact) == {}
    assert Fact.objects.filter(id=fact).exists()
    assert "not linked" in caplog.text
    assert "ada" not in caplog.text.casefold()


def test_a_failing_statement_never_fails_the_write() -> None:
    """B355: the host's transaction goes on."""
    other = Scope("acme", "nobody")  # without a row: the foreign key refuses
    fact = make_fact("Ada")
    Mention.objects.all().delete()
    with transaction.atomic():
        linked = link(
            using="default",
            scope=other,
            fact_id=fact,
            subject="Ada",
            value="",
            at=NOON,
        )
        assert not linked
        assert Fact.objects.filter(id=fact).exists()


@pytest.mark.django_db(transaction=True)
def test_writers_of_the_same_names_make_one_entity_of_each() -> None:
    """Eight at once, in both orders: none waits for another for ever."""
    names = [f"name {i}" for i in range(6)]
    facts = [make_fact("!", text=f"Claim {i}.") for i in range(8)]

    def write(number: int) -> None:
        some = names if number % 2 else names[::-1]
        for subject, value in zip(some[:3], some[3:], strict=True):
            with transaction.atomic():
                Mention.objects.filter(fact_id=facts[number]).delete()
                assert link(
                    using="default",
                    scope=make_scope(),
                    fact_id=facts[number],
                    subject=subject,
                    value=value,
                    at=NOON,
                )

    together([partial(write, number) for number in range(8)])
    assert sorted(Entity.objects.values_list("name", flat=True)) == names
    assert Mention.objects.count() == 16
