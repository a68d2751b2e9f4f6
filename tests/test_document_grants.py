"""B213 to B223: what a grant says, and what an authorization does with the rest."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, transaction

from prism_memory import backends
from prism_memory.access import Reader, visible
from prism_memory.errors import NotVisible, ScopeDenied
from prism_memory.memory import Memory
from prism_memory.models import Source, SourceAccess
from prism_memory.types import (
    AccessGrant,
    Authorization,
    Kind,
    Open,
    Principal,
    Scope,
)
from tests.documents import (
    ADA,
    ADA_ALONE,
    BOB_OF_HR,
    GRANTS,
    STRANGERS,
    derived,
    document,
    memory_of,
)
from tests.factories import make_edge, make_memory, make_record, remember
from tests.recall.bulk import fill, seed
from tests.sight import HERE, seen

pytestmark = pytest.mark.django_db


def found_by(memory: Memory) -> set[Any]:
    return {hit.id for hit in memory.recall("Bob", 32).hits}


@pytest.mark.parametrize(
    ("grant", "who", "shown"),
    [
        (AccessGrant("ada"), Authorization("ada"), True),
        (AccessGrant("ada"), Authorization("Ada"), False),
        (AccessGrant("ada"), Authorization("bob", ["ada"]), False),
        (AccessGrant(group="ada"), Authorization("ada"), False),
        (AccessGrant(group="hr"), Authorization("bob", ["hr"]), True),
        (AccessGrant("ada", access_version=3), Authorization("ada"), True),
        (
            AccessGrant("ada", access_version=3),
            Authorization("ada", access_version=3),
            True,
        ),
        (
            AccessGrant("ada", access_version=3),
            Authorization("ada", access_version=4),
            False,
        ),
    ],
)
def test_a_grant_is_of_one_name_and_one_version(
    grant: AccessGrant, who: Authorization, shown: bool
) -> None:
    """B213, B214, B217."""
    (chunk,) = document("salaries", "Bob earns 5000.", grants=[grant])
    assert seen(chunk, authorization=who) is shown


def test_a_version_and_a_name_are_of_one_grant() -> None:
    """B214: not the version of one, and the name of another."""
    grants = [
        AccessGrant("ada", access_version=1),
        AccessGrant("bob", access_version=2),
    ]
    (chunk,) = document("salaries", "Bob earns 5000.", grants=grants)
    assert not seen(chunk, authorization=Authorization("ada", access_version=2))


def test_what_no_grant_speaks_of_is_out_or_in_as_the_authorization_says() -> None:
    """B213: of no source, or of one that is not restricted."""
    entry = remember("Bob drinks tea.")[0]
    (menu,) = document("menu", "Soup.")
    for record in (entry, menu):
        assert seen(record)
        assert seen(record, authorization=Authorization("ada", open=Open.ALLOW))
        assert not seen(record, authorization=Authorization("ada"))


def test_every_document_that_was_drawn_upon_must_be_granted() -> None:
    """However far: one that is not closes what came of it."""
    (mine,) = document("mine", "a", grants=[AccessGrant("ada")])
    (theirs,) = document("theirs", "b", grants=[AccessGrant("eve")])
    both = derived("c", mine, theirs)
    further = derived("d", both)
    assert seen(derived("e", mine), authorization=ADA)
    assert not seen(both, authorization=ADA)
    assert not seen(further, authorization=ADA)
    make_memory().sources.set_access({"theirs": [AccessGrant("ada")]})
    assert seen(both, authorization=ADA)
    assert seen(further, authorization=ADA)


def test_a_chunk_that_draws_upon_a_closed_document_is_closed_too() -> None:
    """B213: its own document's grant is not enough, also for who sees grants alone."""
    (theirs,) = document("theirs", "b", grants=[AccessGrant("eve")])
    (mine,) = document("mine", "a", grants=[AccessGrant("ada")])
    assert seen(mine, authorization=ADA_ALONE)
    chunk = make_record("x", fields={"source": None})
    make_edge(visible(using="default", reader=governor()).get(id=mine), chunk)
    make_edge(chunk, visible(using="default", reader=governor()).get(id=theirs))
    assert not seen(mine, authorization=ADA_ALONE)


def governor() -> Reader:
    return Reader(HERE, include_restricted=True)


def test_what_is_derived_in_a_circle_ends() -> None:
    one, other = make_record("a"), make_record("b")
    make_edge(one, other)
    make_edge(other, one)
    document("salaries", "Bob earns 5000.", grants=[])
    assert seen(one)
    assert seen(other, authorization=ADA)


def test_a_filter_grants_nothing() -> None:
    """B215: it is about the metadata, and grants are no metadata."""
    told = {"principal": "eve", "groups": ["hr"], "authorization": "ada"}
    document("salaries", "Bob earns 5000.", grants=GRANTS, metadata=told)
    for name, value in told.items():
        asked = {name: value} if isinstance(value, str) else {}
        assert not make_memory().recall("Bob", filter=asked).hits
        assert not make_memory().list(filter=asked).items


def test_an_authorization_is_of_one_tenant() -> None:
    """B216."""
    foreign = Authorization("ada", tenant="globex")
    for call in (
        lambda: Reader(HERE, authorization=foreign),
        lambda: make_memory(authorization=foreign),
        lambda: make_memory().recall("Bob", authorization=foreign),
    ):
        with pytest.raises(ScopeDenied) as raised:
            call()
        assert raised.value.field == "authorization"
    mine = Authorization("ada", tenant="acme")
    assert Reader(HERE, authorization=mine).authorization == mine


def test_a_calls_own_authorization_takes_the_place_of_the_memorys() -> None:
    (chunk,) = document("salaries", "Bob earns 5000.", grants=[AccessGrant("ada")])
    (hit,) = make_memory().recall("Bob", authorization=ADA).hits
    assert hit.id == chunk
    assert not memory_of(ADA).recall("Bob", authorization=BOB_OF_HR).hits
    assert memory_of(ADA).recall("Bob", authorization=None).hits


def test_grants_that_were_rolled_back_are_gone() -> None:
    """B223."""
    (chunk,) = document("salaries", "Bob earns 5000.", grants=[])

    class Undone(Exception):
        pass

    def undone() -> None:
        with transaction.atomic():
            make_memory().sources.set_access({"salaries": GRANTS})
            assert seen(chunk, authorization=ADA)
            raise Undone

    with pytest.raises(Undone):
        undone()
    assert not seen(chunk, authorization=ADA)
    assert not SourceAccess.objects.exists()


def test_a_group_that_loses_its_grant_loses_sight_at_the_next_question() -> None:
    """B217."""
    (chunk,) = document("salaries", "Bob earns 5000.", grants=GRANTS)
    memory = memory_of(BOB_OF_HR)
    assert found_by(memory) == {chunk}
    make_memory().sources.set_access({"salaries": [AccessGrant("ada")]})
    assert found_by(memory) == set()
    assert found_by(memory_of(ADA)) == {chunk}


def test_a_fact_of_a_closed_document_can_be_written_by_who_reads_it() -> None:
    """Its writer gets it back; who may not read the evidence cannot cite it (B294)."""
    chunks = document("salaries", "Bob earns 5000.", grants=GRANTS)
    memory = memory_of(ADA)
    old = memory.facts.assert_fact("Bob", "earns", "5000", evidence=chunks)
    new = memory.facts.supersede(old.id, "Bob", "earns", "6000", evidence=chunks)
    assert [fact.value for fact in memory.facts("Bob")] == ["6000"]
    # Another list of the same name must not take the place of who reads.
    assert not make_memory().facts("Bob", principals=[Principal.USER])
    assert len(memory.facts("Bob", principals=[Principal.USER])) == 1
    assert new.supersedes == old.id
    remembered = memory.facts.remember("Bob is rich.", evidence=chunks)
    assert not seen(remembered.id)
    for who in STRANGERS.values():
        with pytest.raises(NotVisible):
            memory_of(who).facts.assert_fact("Bob", "is", "rich", evidence=chunks)
        with pytest.raises(NotVisible):
            memory_of(who).facts.supersede(
                new.id, "Bob", "earns", "1", evidence=remember("x")
            )


def test_only_what_is_read_is_shared() -> None:
    (chunk,) = document("salaries", "Bob earns 5000.", grants=GRANTS)
    with pytest.raises(NotVisible):
        make_memory().share_with("chat-2", [chunk])
    memory_of(ADA).share_with("chat-2", [chunk])


def test_a_grader_reads_what_its_asker_may(settings: Any) -> None:
    """B212, B221: the text of a closed document goes to no provider."""
    graders = {"judge": {"BACKEND": "tests.recall.providers.Judge"}}
    wish = {"GRADERS": graders, "GRADER": "judge"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish
    document("salaries", "Bob earns 5000.", grants=GRANTS)
    remember("Bob drinks tea.", wait=True)
    judge: Any = backends.get_grader("judge")
    for who, most in ((ADA, 2), (None, 1)):
        judge.asked.clear()
        memory_of(who).deep_recall("Bob", force_hard=True)
        ((_, passages),) = judge.asked
        assert len(passages) == most


# Of many


def test_unauthorised_rows_that_are_nearer_never_starve_those_allowed() -> None:
    """B131, B219: 10,000 of them, by each leg, whoever asks."""
    scope = Scope("acme", owner="starved")
    seed(scope)
    fill(scope, 10_000, text="Bob earns 5000")
    (secret,) = document("salaries", "Bob earns 5000.", scope=scope, grants=[])
    (mine,) = document("mine", "Bob earns 5000, we say.", scope=scope, grants=GRANTS)
    (open_to_all,) = document("menu", "Bob earns 5000, they say.", scope=scope)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE prism_memory_record SET source_id = %s, kind = 'chunk'"
            " WHERE tenant = 'acme' AND writer = 'bulk'",
            [Source.objects.get(key="salaries").id],
        )
        cursor.execute("ANALYZE prism_memory_record")
    for legs in ("vector", "text", "recency"):
        asked: Any = {"kinds": [Kind.CHUNK], "legs": legs}
        for who, found in (
            (ADA_ALONE, {mine}),
            (ADA, {mine, open_to_all}),
            (None, {open_to_all}),
        ):
            hits = memory_of(who, scope).recall("Bob earns 5000", 5, **asked).hits
            assert {hit.id for hit in hits} == found, (legs, who)
    assert not seen(secret, scope=scope)
