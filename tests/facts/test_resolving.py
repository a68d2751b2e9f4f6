"""Names that mean the same, by their vectors, in the background."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import connection

from prism_memory import indexing
from prism_memory.errors import ProviderRejected, ProviderUnavailable
from prism_memory.facts import resolving
from prism_memory.facts.linking import ensure_entities
from prism_memory.facts.merge import merge
from prism_memory.facts.resolving import Resolution, Resolved, resolve
from prism_memory.facts.unmerge import unmerge
from prism_memory.indexing import Space
from prism_memory.lifecycle.scopes import ensure_scope
from prism_memory.models import AuditEvent, Entity, EntityMerge
from prism_memory.types import Actor, EmbedderIdentity, Scope, Vector
from tests.factories import NOON, make_scope
from tests.sight import HERE
from tests.together import together

pytestmark = pytest.mark.django_db

COSINES = {"ada": 1.0, "ada l": 0.93, "a lovelace": 0.88, "bob": -1.0}
"""Of each name to the first."""


class Names:
    """An embedder of names by their cosine to "ada"."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Sequence[Vector]:
        assert connection.in_atomic_block == self.within
        self.asked += texts
        if "down" in texts:
            raise ProviderUnavailable
        if "bad" in texts:
            raise ProviderRejected
        cosines = [COSINES.get(text, 0.99) for text in texts]
        return [[c, math.sqrt(1 - c * c)] for c in cosines]

    within = True  # of the test's own transaction


def make_space(alias: str = "names") -> Space:
    identity = EmbedderIdentity("tests", alias, 2)
    return indexing.active(using="default", alias=alias, identity=identity)


def make_names(*names: str, scope: Scope = HERE) -> None:
    ensure_scope(using="default", scope=scope, at=NOON)
    for name in names:  # one by one: in this order
        ensure_entities(using="default", scope=scope, labels={name: name}, at=NOON)


def run(embed: Any = None, **given: Any) -> Resolved:
    defaults: dict[str, Any] = {
        "tenant": "acme",
        "space": make_space(),
        "embed": embed or Names(),
        "at": NOON,
        "batch": 2,
    }
    return resolve(using="default", **{**defaults, **given})


def merges() -> dict[str, str]:
    found = EntityMerge.objects.filter(undone_at=None)
    return dict(found.values_list("entity__name", "into__name"))


def test_what_is_near_enough_is_one_and_nothing_else() -> None:
    """B391: 0.92 and more; what is rather near stays apart."""
    make_names(*COSINES)
    done = run()
    assert (done.compared, done.merged) == (4, 1)
    assert merges() == {"ada l": "ada"}
    told = AuditEvent.objects.get(action="entity.merge")
    assert told.actor == "system:entities"
    assert told.detail["cosine"] == pytest.approx(0.93, abs=1e-3)


def test_a_judge_is_asked_about_what_is_rather_near() -> None:
    """B391: and only a clear yes counts."""
    asked = []

    def judge(name: str, other: str) -> Any:
        asked.append((name, other))
        return answers[name]

    make_names(*COSINES)
    answers: dict[str, Any] = {"a lovelace": "perhaps"}
    run(judge=judge)
    assert asked == [("a lovelace", "ada")]
    assert "a lovelace" not in merges()
    Entity.objects.filter(name="a lovelace").update(vector=None, space_id=None)
    answers = {"a lovelace": True}
    run(judge=judge)
    assert merges()["a lovelace"] == "ada"


def test_a_run_done_again_asks_and_changes_nothing() -> None:
    make_names(*COSINES)
    run()
    embed = Names()
    assert run(embed) == Resolved()
    assert embed.asked == []


def test_numbers_tell_names_apart_however_near() -> None:
    """B357."""
    make_names("room 12", "room 13", "the room 12")
    run()
    assert merges() == {"the room 12": "room 12"}


def test_one_name_is_one_entity_whatever_the_vectors_say() -> None:
    """case_C29."""
    make_names("bob", "bob")
    run()
    make_names("bob")
    assert Entity.objects.filter(name="bob").count() == 1


def test_entities_of_other_scopes_tenants_and_embedders_are_not_compared() -> None:
    """B392."""
    make_names("ada", scope=make_scope(thread="chat-2"))
    make_names("ada", scope=make_scope(tenant="globex"))
    make_names("ada")
    other = make_space("other")
    run(space=other)
    make_names("ada l")
    waiting = resolving.waiting(
        using="default", tenant="acme", space=make_space(), rows=10
    )
    assert [one.name for one in waiting] == ["ada", "ada", "ada l"]
    newest = waiting[-1]
    alone = Resolution("default", "acme", make_space(), Names(), None, NOON)
    alone.settle(newest, [1.0, 0.0])  # as the others, but by another embedder
    assert merges() == {}
    Entity.objects.filter(id=newest.id).update(vector=None, space_id=None)
    run()
    assert merges() == {"ada l": "ada"}
    assert EntityMerge.objects.get().into.scope_id == HERE.id


def test_what_a_person_set_apart_is_not_merged_again() -> None:
    """B396: not even after a change of the embedder."""
    make_names("ada", "ada l")
    run()
    one = Entity.objects.get(name="ada l")
    acting: dict[str, Any] = {"using": "default", "scope": HERE, "at": NOON}
    unmerge(**acting, actor=Actor("eve"), entity_id=one.id)
    assert run().compared == 0
    assert run(space=make_space("other")).compared == 2
    assert merges() == {}


def test_an_outage_ends_the_run_and_the_next_goes_on() -> None:
    make_names("ada", "ada l", "down")
    done = run()
    assert (done.compared, bool(done.outage)) == (2, True)
    Entity.objects.filter(name="down").delete()
    make_names("bob")
    assert run().compared == 1


def test_a_name_that_is_refused_spoils_no_other() -> None:
    make_names("ada", "bad", "ada l")
    done = run(batch=3)
    assert (done.compared, done.merged, done.refused) == (2, 1, 1)


def test_a_run_has_an_end_and_tells_that_there_is_more() -> None:
    make_names("ada", "ada l", "bob")
    assert run(most=2) == Resolved(compared=2, merged=1, more=True)
    assert run().compared == 1


def test_a_person_who_is_quicker_wins() -> None:
    make_names("ada", "bob", "ada l")
    ids = dict(Entity.objects.values_list("name", "id"))

    class Slow(Names):
        def __call__(self, texts: Sequence[str]) -> Sequence[Vector]:
            if "ada l" in texts:
                merge(
                    using="default",
                    scope=HERE,
                    actor=Actor("eve"),
                    entity_id=ids["ada l"],
                    into_id=ids["bob"],
                    at=NOON,
                )
            return super().__call__(texts)

    assert run(Slow()).merged == 0
    assert merges() == {"ada l": "bob"}


@pytest.mark.django_db(transaction=True)
def test_two_runs_at_once_do_what_one_does() -> None:
    """And the embedder is called outside any transaction."""
    make_names(*COSINES)

    class Outside(Names):
        within = False

    space = make_space()
    together([lambda: run(Outside(), space=space)] * 2)
    assert merges().keys() <= {"ada l"}
    assert not Entity.objects.filter(merged_into=None, vector=None).exists()
