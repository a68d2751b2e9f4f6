"""B174 to B184, B8: what a parent thread shares, through the door."""

from __future__ import annotations

import datetime as dt
import random
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from prism_memory import backends, lifecycle, recall, signals
from prism_memory.access import Reader, get_visible
from prism_memory.errors import Invalid, Misconfigured, NotVisible, ScopeDenied
from prism_memory.models import Record, ShareGrant, ShareGrantItem
from prism_memory.recall.question import Question
from prism_memory.recall.rerank import rerank
from prism_memory.recall.sharing import check_share, shared_reader
from prism_memory.types import (
    Actor,
    Entry,
    Grade,
    Options,
    Origin,
    ReadMode,
    Scope,
    SourceRef,
    Trust,
    uuid7,
)
from tests.factories import (
    make_edge,
    make_memory,
    make_scope,
    make_tombstone,
    remember,
    remember_one,
)
from tests.recall.providers import CONFIGURED
from tests.recall.test_prepared import PLANS, on_a_preparing_connection
from tests.sight import TICK
from tests.together import together

pytestmark = pytest.mark.django_db

PARENT = make_scope()
CHILD = make_scope(thread="chat-2")
FROM_PARENT = "share_from_parent_thread_id"
QUESTION = "Who drinks green tea?"
ALL_LEGS = ["vector", "text", "recency"]


@pytest.fixture(autouse=True)
def _configured(settings: Any) -> None:
    wish = {"WAKE": False, **CONFIGURED}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | wish


def share(*texts: str, child: Any = "chat-2", **given: Any) -> list[uuid.UUID]:
    """Remember texts in the parent thread, and share them."""
    ids = remember(*texts, wait=True)
    make_memory().share_with(child, ids, **given)
    return ids


def recalled(top_k: Any = 32, scope: Any = CHILD, **options: Any) -> Any:
    given: Any = {FROM_PARENT: "chat-1", **options}
    return make_memory(scope).recall(QUESTION, top_k, **given)


def texts(found: Any) -> list[str]:
    return [hit.text for hit in found]


def ids_of(found: Any) -> set[uuid.UUID]:
    return {hit.id for hit in found}


# What is found


@pytest.mark.parametrize("legs", ["hybrid", "vector", "text", "recency", ALL_LEGS])
def test_the_child_recalls_exactly_the_shared_records(legs: Any) -> None:
    """B174, B183: in every leg; and nothing of the parent without the option."""
    shared = share("green tea one", "green tea two")
    remember("green tea three", wait=True)
    mine = remember_one("green tea of mine", scope=CHILD, wait=True)

    assert ids_of(recalled(legs=legs)) == {mine, *shared}
    assert ids_of(recalled(legs=legs, **{FROM_PARENT: None})) == {mine}
    assert ids_of(make_memory(CHILD).recall(QUESTION, 32, legs=legs)) == {mine}


def test_no_other_reading_of_the_child_shows_them() -> None:
    """B183."""
    (shared,) = share("green tea")
    memory = make_memory(CHILD)

    with pytest.raises(NotVisible):
        memory.get(shared)
    assert len(memory.list()) == 0
    assert memory.neighbors("green tea") == ()
    assert texts(memory.deep_recall(QUESTION)) == []


def test_the_option_narrows_nothing_of_the_childs_own() -> None:
    share("green tea")
    above = remember_one("green tea of ada", scope=make_scope(agent="", thread=""))
    assert above in ids_of(recalled())


def test_a_reader_of_one_level_gets_what_is_shared_too() -> None:
    (shared,) = share("green tea")
    remember("green tea of ada", scope=make_scope(agent="", thread=""))
    memory = make_memory(CHILD, read=ReadMode.EXACT)
    found = memory.recall(QUESTION, share_from_parent_thread_id="chat-1")
    assert ids_of(found) == {shared}


def test_another_agents_thread_is_named_by_its_scope() -> None:
    sales = make_scope(agent="sales", thread="chat-1")
    (shared,) = share("green tea", child=sales)

    assert ids_of(recalled(scope=sales, **{FROM_PARENT: PARENT})) == {shared}
    with pytest.raises(ScopeDenied):
        recalled(scope=sales)


# Who gets nothing


STRANGERS = [
    make_scope(thread="chat-3"),
    make_scope(agent="sales", thread="chat-2"),
    make_scope(agent="", thread="chat-2"),
    make_scope(owner="bob", thread="chat-2"),
    make_scope(owner="ADA", thread="chat-2"),
    make_scope(tenant="other", thread="chat-2"),
]


@pytest.mark.parametrize("stranger", STRANGERS, ids=str)
@pytest.mark.parametrize("parent", ["chat-1", PARENT], ids=str)
def test_a_sibling_and_a_stranger_get_a_scope_error(stranger: Any, parent: Any) -> None:
    """B175, B178, B8: all in the same words."""
    share("green tea")
    remember("green tea of my own", scope=stranger)

    with pytest.raises(ScopeDenied) as refused:
        recalled(scope=stranger, **{FROM_PARENT: parent})
    with pytest.raises(ScopeDenied) as unknown:
        recalled(scope=stranger, **{FROM_PARENT: "no such thread"})

    assert str(refused.value) == str(unknown.value)
    assert refused.value.field == unknown.value.field == FROM_PARENT


@pytest.mark.parametrize("stranger", STRANGERS, ids=str)
def test_the_rule_shows_a_stranger_nothing_whatever_code_asked(stranger: Any) -> None:
    """B178, B8: without the look at the grant that comes first."""
    (shared,) = share("green tea")
    reader = Reader(PARENT, ReadMode.EXACT, shared_with=stranger)
    with pytest.raises(NotVisible):
        get_visible(using="default", reader=reader, record_id=shared)
    reader = Reader(PARENT, ReadMode.EXACT, shared_with=CHILD)
    assert get_visible(using="default", reader=reader, record_id=shared).id == shared


@pytest.mark.parametrize(
    "scope",
    [make_scope(thread=""), make_scope(agent="", thread=""), Scope("acme")],
    ids=str,
)
def test_the_reader_stands_in_a_thread(scope: Scope) -> None:
    share("green tea")
    with CaptureQueriesContext(connection) as seen, pytest.raises(ScopeDenied) as no:
        recalled(scope=scope)
    assert (len(seen), no.value.field) == (0, FROM_PARENT)


@pytest.mark.parametrize(
    "parent",
    [
        make_scope(thread=""),
        make_scope(owner="bob"),
        make_scope(tenant="other"),
        CHILD,
        "chat-2",
    ],
    ids=str,
)
def test_only_a_thread_of_the_same_owner_is_a_parent(parent: Any) -> None:
    """B8: of another's, nothing is even asked."""
    share("green tea")
    with CaptureQueriesContext(connection) as seen, pytest.raises(ScopeDenied):
        recalled(**{FROM_PARENT: parent})
    assert bool(len(seen)) is (parent in {CHILD, "chat-2"})


def test_the_rule_shows_nothing_of_the_parent_but_what_is_shared() -> None:
    """B174: whatever a statement looks at."""
    (shared,) = share("green tea")
    unshared = remember_one("green tea two")
    see(shared, timezone.now())
    with pytest.raises(NotVisible):
        see(unshared, timezone.now())


def test_an_item_of_another_thread_is_nothing_to_the_rule() -> None:
    """B174: no verb writes one."""
    share("green tea")
    third = make_scope(thread="chat-3")
    stray = remember_one("green tea three", scope=third)
    ShareGrantItem.objects.create(
        tenant="acme", grant=ShareGrant.objects.get(), record_id=stray, position=31
    )
    for place in (third, PARENT):
        reader = Reader(place, ReadMode.EXACT, shared_with=CHILD)
        with pytest.raises(NotVisible):
            get_visible(using="default", reader=reader, record_id=stray)


def test_a_share_is_one_way() -> None:
    share("green tea")
    remember("green tea of mine", scope=CHILD)
    with pytest.raises(ScopeDenied):
        recalled(scope=PARENT, **{FROM_PARENT: "chat-2"})


@pytest.mark.parametrize("name", ["", " ", 5, b"chat-1", "a\0"], ids=repr)
def test_what_is_no_name_is_refused(name: Any) -> None:
    with pytest.raises(Invalid) as refused:
        recalled(**{FROM_PARENT: name})
    assert refused.value.field == FROM_PARENT


def test_no_default_turns_it_on(settings: Any) -> None:
    """B370."""
    usual = Options(share_from_parent_thread_id="chat-1")
    with pytest.raises(Misconfigured):
        make_memory(CHILD, search_defaults=usual)
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"SEARCH_DEFAULTS": {**usual}}
    with pytest.raises(Misconfigured):
        make_memory(CHILD).recall(QUESTION)


# When it ends


def test_it_ends_at_its_very_microsecond() -> None:
    """B176: by the look at the grant, and by the rule itself."""
    ends = timezone.now() + dt.timedelta(days=1)
    (shared,) = share("green tea", expires_at=ends)

    def ask(at: dt.datetime) -> Any:
        reader = Reader(CHILD, at=at)
        return recall.recall(
            using="default",
            reader=reader,
            question=Question(QUESTION, 5, legs="text"),
            shared=shared_reader(reader, "chat-1"),
        )

    assert ids_of(ask(ends - TICK)) == {shared}
    for at in (ends, ends + TICK):
        with pytest.raises(Invalid) as refused:
            ask(at)
        assert refused.value.field == FROM_PARENT
        with pytest.raises(NotVisible):
            see(shared, at)
    see(shared, ends - TICK)


def see(record_id: uuid.UUID, at: dt.datetime) -> None:
    reader = Reader(PARENT, ReadMode.EXACT, shared_with=CHILD, at=at)
    get_visible(using="default", reader=reader, record_id=record_id)


def test_it_is_revoked_between_two_recalls() -> None:
    """B177."""
    share("green tea")
    assert len(recalled()) == 1

    make_memory().revoke_share("chat-2")

    with pytest.raises(ScopeDenied):
        recalled()


def test_it_is_revoked_between_the_look_and_the_leg(monkeypatch: Any) -> None:
    """B177: the database decides when the rows are read."""
    share("green tea")
    mine = remember_one("green tea of mine", scope=CHILD)

    def checked(using: str, reader: Reader) -> None:
        check_share(using, reader)
        make_memory().revoke_share("chat-2")

    monkeypatch.setattr("prism_memory.recall.engine.check_share", checked)
    assert ids_of(recalled()) == {mine}


def test_it_is_replaced_between_two_recalls() -> None:
    """B179."""
    share("green tea one")
    (second,) = share("green tea two")
    assert ids_of(recalled()) == {second}


def test_an_expiry_that_was_replaced_by_none_never_comes() -> None:
    """B179."""
    ids = share("green tea", expires_at=timezone.now() + dt.timedelta(days=1))
    make_memory().share_with("chat-2", ids)
    assert ShareGrant.objects.get().expires_at is None


# What the parent withholds


def withhold_by_consent(record: Record) -> None:
    make_memory().set_consent(record.id, visible=False)


def withhold_by_tombstone(record: Record) -> None:
    make_tombstone(record)


def withhold_by_lineage(record: Record) -> None:
    gone = f"record:{uuid7()}"
    make_edge(record, gone)
    make_tombstone(record, target_ref=gone)


def withhold_by_forgetting(record: Record) -> None:
    given: dict[str, Any] = {"using": "default", "scope": PARENT, "actor": Actor()}
    lifecycle.forget(**given, ids=[record.id], at=timezone.now())


def withhold_by_expiry(record: Record) -> None:
    set_columns(record, expires_at=timezone.now())


def withhold_by_gate(record: Record) -> None:
    set_columns(record, gate="quarantined")


def withhold_by_retirement(record: Record) -> None:
    set_columns(record, retired_at=timezone.now())


def set_columns(record: Record, **columns: Any) -> None:
    Record.objects.filter(tenant=record.tenant, id=record.id).update(**columns)


@pytest.mark.parametrize(
    "withhold",
    [
        withhold_by_consent,
        withhold_by_tombstone,
        withhold_by_lineage,
        withhold_by_forgetting,
        withhold_by_expiry,
        withhold_by_gate,
        withhold_by_retirement,
    ],
)
def test_what_the_parent_withholds_is_withheld_from_the_child(withhold: Any) -> None:
    """B181."""
    first, second = share("green tea one", "green tea two")
    withhold(Record.objects.get(tenant="acme", id=first))
    for legs in ("hybrid", ALL_LEGS):
        assert ids_of(recalled(legs=legs)) == {second}


def test_strictness_holds_for_what_is_shared() -> None:
    """B181."""
    first, second = share("green tea one", "green tea two")
    set_columns(Record.objects.get(tenant="acme", id=first), visible=None)
    assert ids_of(recalled(require_consent=True)) == {second}
    assert ids_of(recalled(require_consent=False)) == {first, second}


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"kinds": ["note"]}, {"note"}),
        ({"tags": ["x"]}, {"tagged"}),
        ({"filter": {"n": 1}}, {"numbered"}),
        ({"namespaces": ["there"]}, {"placed"}),
        ({"partition": "p"}, {"parted"}),
        ({"as_of": dt.datetime(2001, 1, 1, tzinfo=dt.UTC)}, {"old"}),
        ({"known_at": dt.datetime(2001, 1, 1, tzinfo=dt.UTC)}, set()),
        ({"ids": []}, set()),
    ],
    ids=str,
)
def test_what_narrows_narrows_what_is_shared(options: Any, found: set[str]) -> None:
    new = dt.datetime(2002, 1, 1, tzinfo=dt.UTC)
    entries = [
        Entry("green tea", key="note", kind="note", valid_from=new),  # type: ignore[arg-type]
        Entry("green tea", key="tagged", metadata={"tags": ["x"]}, valid_from=new),
        Entry("green tea", key="numbered", metadata={"n": 1}, valid_from=new),
        Entry("green tea", key="placed", namespace="there", valid_from=new),
        Entry("green tea", key="parted", partition="p", valid_from=new),
        Entry("green tea", key="old"),
    ]
    ids = make_memory().remember(entries, wait=True).accepted
    make_memory().share_with("chat-2", ids)

    assert len(recalled()) == len(entries)
    assert {hit.key for hit in recalled(**options)} == found


def test_the_ids_of_a_call_narrow_too() -> None:
    first, second = share("green tea one", "green tea two")
    assert ids_of(recalled(ids=[second])) == {second}
    unshared = remember_one("green tea three")
    assert ids_of(recalled(ids=[unshared, first])) == {first}


# Where it stands


OWN = (
    "Ada drinks green tea every morning.",
    "The tea is green.",
    "Tea for two, said Ada.",
    "Nobody drinks here.",
    "The train leaves at noon.",
    "A train of thought about coffee.",
)


@pytest.mark.parametrize("fusion", ["convex", "rrf", "blend"])
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("Who drinks green tea? Ada drinks green tea.", "first"),
        ("The tea of the train is cold.", "middle"),
        ("Zinc boils above nine hundred degrees.", "last"),
    ],
)
def test_it_stands_where_its_score_puts_it(fusion: str, text: str, place: str) -> None:
    """B182: clearly the best, in the middle, clearly the worst."""
    remember(*OWN, scope=CHILD, wait=True)
    (shared,) = share(text)

    order = [hit.id for hit in recalled(fusion=fusion)]

    at = order.index(shared) if shared in order else len(order)
    last = len(order) - 1
    places = {"first": at == 0, "middle": 0 < at < last, "last": at >= last}
    assert places[place], (at, order)


@pytest.mark.parametrize("fusion", ["convex", "rrf"])
def test_a_rare_word_is_rare_among_the_readers_own(fusion: str) -> None:
    """B182: a shared record is not good for being alone in its list."""
    remember(*OWN, *(f"Nobody drinks tea {n}" for n in range(9)), scope=CHILD)
    share("Nobody drinks.")
    order = texts(recalled(fusion=fusion, legs="text"))
    assert order[0] == OWN[0]
    assert order.index("Nobody drinks.") > 0


def test_a_word_of_the_parents_alone_weighs_as_one_of_a_single_row() -> None:
    """B182."""
    remember("Bismuth melts.", *OWN, scope=CHILD)
    share("Zinc melts.")
    found = make_memory(CHILD).recall(
        "zinc bismuth", legs="text", share_from_parent_thread_id="chat-1"
    )
    assert {*texts(found)} == {"Bismuth melts.", "Zinc melts."}
    assert found[0].bm25 == pytest.approx(found[1].bm25)


def test_a_page_of_one_is_the_best_of_both() -> None:
    """B182: appended, it would be cut; first, it would cut the better."""
    remember_one("Who drinks green tea there?", scope=CHILD, wait=True)
    share("Who drinks green tea?")
    assert texts(recalled(1)) == ["Who drinks green tea?"]
    share("There is a train.")
    assert texts(recalled(1)) == ["Who drinks green tea there?"]


WORDS = (
    *("who", "drinks", "green", "tea", "ada", "bob", "train"),
    *("noon", "cold", "coffee", "cup", "of", "the"),
)
MEASURED_ALIKE: list[dict[str, Any]] = [
    {"legs": "vector"},
    {"legs": "recency"},
    {"legs": ["vector", "recency"], "fusion": "rrf"},
    {"fusion": "blend", "legs": "vector"},
]


@pytest.mark.parametrize("seed", range(4))
def test_the_order_is_that_of_one_thread_that_holds_all(seed: int) -> None:
    """B182: by what is measured alike everywhere, to the same scores."""
    drawn = random.Random(seed)  # noqa: S311
    every = [" ".join(drawn.choices(WORDS, k=drawn.randint(2, 9))) for _ in range(24)]
    entries = [
        Entry(f"{text} {n}", key=str(n), sequence=n) for n, text in enumerate(every)
    ]
    chosen = {*drawn.sample(range(24), 8)}
    both = make_scope(thread="both")
    lent = list[uuid.UUID]()
    for n, entry in enumerate(entries):  # one by one: of equals it goes by the id
        make_memory(both).remember(entry, wait=True)
        memory = make_memory(PARENT if n in chosen else CHILD)
        ids = memory.remember(entry, wait=True).accepted
        lent += ids if n in chosen else ()
    make_memory().share_with("chat-2", lent)

    def scores(found: Any) -> list[tuple[str, Any]]:
        return sorted((hit.key, pytest.approx(hit.score)) for hit in found)

    for options in MEASURED_ALIKE:
        merged = recalled(24, context=False, **options)
        whole = make_memory(both).recall(QUESTION, 24, context=False, **options)
        assert scores(merged) == scores(whole), options


def test_a_reader_with_nothing_of_their_own_gets_all_that_is_shared() -> None:
    shared = share("green tea", "Who drinks green tea?", "a train")
    found = recalled()
    assert ids_of(found) == {*shared}
    assert found[0].text == "Who drinks green tea?"
    assert found[0].score > found[-1].score


def test_trust_and_decay_count_for_what_is_shared() -> None:
    tool = make_memory(origin=Origin(Trust.TOOL, "x"))
    ids = tool.remember("green tea", wait=True).accepted
    make_memory().share_with("chat-2", ids)
    (hit,) = recalled(decay_days=30)
    assert hit.signals["trust"] == 0.8
    assert hit.signals["decay"] == pytest.approx(1, abs=1e-3)


def test_a_shared_record_without_a_vector_is_found_by_words_and_told() -> None:
    ids = remember("green tea")
    make_memory().share_with("chat-2", ids)
    remember("a train", scope=CHILD, wait=True)
    found = recalled()
    assert ids_of(found) >= {*ids}
    assert "no vector yet" in found.degraded


# What comes with it


def stream() -> list[uuid.UUID]:
    """Four turns of the parent, of which the second is shared."""
    entries = [Entry(f"green tea {n}", source=SourceRef("s", n)) for n in range(4)]
    ids = [*make_memory().remember(entries, wait=True).accepted]
    make_memory().share_with("chat-2", [ids[1]])
    return ids


def test_nothing_that_stands_beside_a_shared_hit_is_shown() -> None:
    """Neither as a neighbour nor as a candidate."""
    ids = stream()
    own = [Entry(f"tea {n}", source=SourceRef("s", n)) for n in range(3)]
    mine = [*make_memory(CHILD).remember(own, wait=True).accepted]

    found = recalled(message_range=4, context=True)

    assert ids_of(found) == {ids[1], *mine}
    assert ids_of(found.adjacent) <= {*mine}
    (alone,) = recalled(1, message_range=4, ids=[ids[1]])
    assert alone.id == ids[1]
    assert recalled(1, message_range=4, ids=[ids[1]]).adjacent == ()


def test_an_explanation_names_the_parent_and_only_of_what_it_shares() -> None:
    """B184."""
    (shared,) = share("green tea")
    mine = remember_one("green tea of mine", scope=CHILD, wait=True)

    found = recalled(explain=True)

    told = {why.id: (why.shared_from, why.scope) for why in found.explanations}
    assert told == {shared: ("chat-1", PARENT), mine: (None, CHILD)}
    assert [why.id for why in found.explanations] == [hit.id for hit in found]
    assert [why.rank for why in found.explanations] == [1, 2]


def test_a_trace_holds_the_ids_and_no_name() -> None:
    (shared,) = share("green tea")
    heard: list[Any] = []

    def hear(trace: Any, **_: Any) -> None:
        heard.append(trace)

    signals.recalled.connect(hear)
    try:
        recalled()
    finally:
        signals.recalled.disconnect(hear)
    assert heard[0].record_ids == (shared,)
    assert heard[0].options[FROM_PARENT] is True
    assert "chat-1" not in str(heard[0].to_json())


def test_a_reranker_sees_it_and_it_is_looked_at_once_more(monkeypatch: Any) -> None:
    """B177: revoked while the reranker took its time."""
    first, second = share("green tea one", "green tea two")
    assert ids_of(recalled(reranker="opinion")) == {first, second}
    mine = remember_one("green tea of mine", scope=CHILD, wait=True)

    def slow(*args: Any, **kwargs: Any) -> Any:
        make_memory().revoke_share("chat-2")
        return rerank(*args, **kwargs)

    monkeypatch.setattr("prism_memory.recall.choosing.rerank", slow)
    assert ids_of(recalled(reranker="opinion")) == {mine}


def test_a_deep_recall_passes_it_on(settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"GRADER": "judge"}
    judge: Any = backends.get_grader("judge")
    (shared,) = share("green tea")
    judge.verdicts = [Grade(sufficient=True)]
    memory = make_memory(CHILD)
    given: Any = {FROM_PARENT: "chat-1", "force_hard": True}

    assert ids_of(memory.deep_recall(QUESTION, **given)) == {shared}
    assert judge.asked[0][1] == ["green tea"]

    judge.verdicts = [Grade(sufficient=False, reformulation="What is drunk?")]
    judge.asked.clear()
    assert ids_of(memory.deep_recall(QUESTION, **given)) == {shared}


def test_variants_of_a_question_find_it_too() -> None:
    shared = share("green tea", "a train")
    backends.get_transformer("words").said = ["train"]  # type: ignore[attr-defined]
    found = recalled(multi_query=2, transformer="words", legs="text")
    assert ids_of(found) == {*shared}
    assert {leg for hit in found for leg in hit.ranks} == {"text", "text.2"}


# What it costs


def statements(**options: Any) -> list[str]:
    make_memory(CHILD).recall(QUESTION)  # spaces and sizes are known then
    with CaptureQueriesContext(
        connection,
    ) as seen:
        make_memory(CHILD).recall(QUESTION, **options)
    return [one["sql"] for one in seen]


def test_it_costs_two_statements_and_nothing_without() -> None:
    """One looks at the grant, one reads what it shares; the leg is one as ever."""
    share("green tea")
    remember("tea", scope=CHILD, wait=True)

    assert len(statements()) == 1
    assert "weighed" not in statements()[0]
    assert "sharegrant" not in statements()[0]
    assert len(statements(**{FROM_PARENT: "chat-1"})) == 3


def test_without_the_option_order_and_scores_are_as_they_were() -> None:
    remember(*OWN, scope=CHILD, wait=True)
    plain = make_memory(CHILD).recall(QUESTION, 32)
    share("Who drinks green tea?")
    again = make_memory(CHILD).recall(QUESTION, 32)
    asked = recalled()
    assert again == plain
    own = [hit for hit in asked if hit.scope == CHILD]
    assert [(hit.id, hit.bm25, hit.cosine) for hit in own] == [
        (hit.id, hit.bm25, hit.cosine) for hit in plain
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("plans", PLANS)
def test_a_connection_that_prepares_its_statements_finds_the_same(plans: str) -> None:
    """C05: by a plan for these values, and by one for any."""
    share("green tea", "Who drinks green tea?")
    remember(*OWN, scope=CHILD, wait=True)
    plain = recalled(explain=True)

    def often() -> list[Any]:
        return [recalled(explain=True) for _ in range(8)]

    for found in on_a_preparing_connection(often, plans=plans):
        assert texts(found) == texts(plain)
        assert [hit.score for hit in found] == pytest.approx([h.score for h in plain])


@pytest.mark.django_db(transaction=True)
def test_a_recall_among_replacements_sees_one_list_or_the_other() -> None:
    """B179: never a part of each."""
    ids = remember(*(f"green tea {n}" for n in range(16)), wait=True)
    first, second = ids[:8], ids[8:]
    make_memory().share_with("chat-2", first)

    def replace() -> None:
        for n in range(20):
            make_memory().share_with("chat-2", first if n % 2 else second)

    def read() -> list[set[uuid.UUID]]:
        return [ids_of(recalled()) for _ in range(20)]

    _, *seen = together([replace, read, read])
    for found in seen[0] + seen[1]:
        assert found in ({*first}, {*second})
