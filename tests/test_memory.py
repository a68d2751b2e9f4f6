"""The Python door: what it composes, refuses and passes on; its asynchronous twins."""

from __future__ import annotations

import datetime as dt
import inspect
import subprocess
import sys
import uuid
from typing import Any

import pytest
from django.test import override_settings

from example_project.embedded import CHECKOUT
from prism_memory.access import Reader
from prism_memory.conf import Settings
from prism_memory.errors import (
    Aborted,
    EmbedderMismatch,
    Invalid,
    LimitExceeded,
    Misconfigured,
    NotVisible,
    ScopeDenied,
)
from prism_memory.memory import Memory
from prism_memory.models import Record
from prism_memory.types import Actor, Entry, Item, Origin, ReadMode, Trust
from tests.capture import tenant_in_every_statement
from tests.factories import ADA, make_memory, make_scope

JOB = "import django; django.setup(); from tests.async_job import main; main()"


class TestConstruction:
    @pytest.mark.parametrize("scope", [None, "acme", ("acme", "ada"), {}, 5])
    def test_there_is_no_memory_without_a_scope(self, scope):
        """B1, B22, case_C04."""
        with pytest.raises(ScopeDenied):
            Memory(scope)

    @pytest.mark.parametrize("name", ["topk", "TOP_K", ""])
    def test_an_unknown_limit_is_refused(self, name):
        """B30."""
        with pytest.raises(LimitExceeded):
            make_memory(limits={name: 1})

    @pytest.mark.parametrize("name", [s.name for s in Settings.declared() if s.limit])
    def test_each_limit_may_be_set_up_to_its_hard_cap(self, name):
        """B30."""
        setting = vars(Settings)[name]
        memory = make_memory(limits={name.lower(): setting.maximum})
        assert getattr(memory.limits, name.lower()) == setting.maximum
        with pytest.raises(LimitExceeded):
            make_memory(limits={name.lower(): setting.maximum + 1})

    def test_an_unknown_read_mode_is_refused(self):
        """B27."""
        with pytest.raises(Invalid):
            make_memory(read="subtree")

    def test_the_chain_is_read_by_default(self):
        """B27."""
        assert make_memory().mode is ReadMode.CHAIN

    def test_the_system_acts_by_default(self):
        assert make_memory().actor == Actor("system")


@pytest.mark.django_db
class TestWishes:
    """What reads as true is not true, and the other way round."""

    @pytest.mark.parametrize("wish", ["off", "no", "", 0, 1, [], {"on": False}])
    def test_a_consent_wish_is_true_or_false(self, wish):
        for ask in (
            lambda: make_memory(require_consent=wish),
            lambda: make_memory().recall("words", require_consent=wish),
        ):
            with pytest.raises(Invalid) as refused:
                ask()
            assert refused.value.field == "require_consent"
        with pytest.raises(Invalid):
            Reader(make_scope(), strict=wish)

    @pytest.mark.parametrize("wish", ["off", 0, 1, None])
    def test_a_consent_setting_is_true_or_false(self, wish):
        setting = override_settings(PRISM_MEMORY={"REQUIRE_CONSENT": wish})
        with setting, pytest.raises(Misconfigured) as refused:
            make_memory().list()
        assert refused.value.field == "REQUIRE_CONSENT"

    @pytest.mark.parametrize("wish", ["no", 0, 1, None])
    def test_waiting_is_true_or_false(self, wish):
        with pytest.raises(Invalid) as refused:
            make_memory().remember("words", wait=wish)
        assert refused.value.field == "wait"
        assert not Record.objects.filter(tenant="acme").exists()

    @pytest.mark.parametrize("wrong", ["user", {"trust": "user"}, Trust.USER, 7])
    def test_who_vouches_and_who_acts_are_named_by_their_types(self, wrong):
        for given in ({"origin": wrong}, {"actor": wrong}):
            with pytest.raises(Invalid) as refused:
                make_memory(**given)
            assert {refused.value.field} == {*given}
        with pytest.raises(Invalid):
            make_memory().remember("words", origin=wrong)

    def test_a_recall_names_so_many_ids_and_no_more(self):
        """B30."""
        memory = make_memory(limits={"recall_ids": 2})
        ids = [uuid.uuid4() for _ in range(257)]
        assert not memory.recall("words", ids=ids[:2]).hits
        assert not make_memory().recall("words", ids=ids[:256]).hits
        for asked, some in ((memory, ids[:3]), (make_memory(), ids)):
            with pytest.raises(LimitExceeded, match="recall_ids") as refused:
                asked.recall("words", ids=some)
            assert refused.value.field == "ids"

    @pytest.mark.parametrize("wrong", [["words"], [], None, "both", 3])
    def test_legs_that_are_not_there_are_refused(self, wrong):
        with pytest.raises(Invalid) as refused:
            make_memory().recall("words", legs=wrong)
        assert refused.value.field == "legs"

    def test_a_redactor_is_a_function(self):
        with pytest.raises(Invalid) as refused:
            make_memory(redactor="path.of.redact")
        assert refused.value.field == "redactor"

    @pytest.mark.parametrize(
        "given",
        [{"mode": "all"}, {"as_of": dt.datetime(2026, 1, 1)}, {"at": None}],  # noqa: DTZ001
        ids=str,
    )
    def test_a_reader_checks_what_it_asks_by(self, given):
        with pytest.raises(Invalid):
            Reader(make_scope(), **given)

    def test_a_mode_given_as_a_word_is_that_mode(self):
        scope = make_scope()
        assert Reader(scope, mode="chain").mode is ReadMode.CHAIN  # type: ignore[arg-type]
        assert len(scope.visible("chain")) == 4  # type: ignore[arg-type]


@pytest.mark.django_db
class TestRememberAndRead:
    def test_the_origin_of_the_entry_wins_over_the_calls_and_the_memorys(self):
        """B273."""
        tool, system = Origin(Trust.TOOL, "search"), Origin(Trust.SYSTEM, "cron")
        memory = make_memory()
        own = memory.remember("a").accepted
        call = memory.remember("b", origin=tool).accepted
        entry = memory.remember(Entry("c", origin=system), origin=tool).accepted
        found = [memory.get(i) for i in own + call + entry]
        origins = [Origin(item.trust, item.writer) for item in found]
        assert origins == [ADA, tool, system]

    def test_without_any_origin_nothing_is_stored(self):
        """B274."""
        with pytest.raises(Invalid) as refused:
            Memory(make_scope()).remember("a")
        assert refused.value.field == "origin"
        assert not Record.objects.exists()

    def test_an_item_says_where_it_comes_from(self):
        """case_C35."""
        memory = make_memory()
        (record_id,) = memory.remember(
            {
                "text": "words",
                "key": "k",
                "metadata": {"n": 1},
                "source": {"key": "chat", "ordinal": 2},
            },
            wait=True,
        ).accepted
        (listed,), (hit,) = memory.list(), memory.recall("words")
        for item in (memory.get(record_id), listed, hit):
            assert isinstance(item, Item)
            assert (item.id, item.key, item.text) == (record_id, "k", "words")
            assert (item.scope, item.trust, item.writer) == (
                memory.scope,
                Trust.USER,
                "ada",
            )
            assert (item.source, item.ordinal) == ("chat", 2)
            assert item.created_at.tzinfo is not None
        assert hit.method == "hybrid"
        assert hit.ranks == {"vector": 1, "text": 1}
        assert 0 < hit.score <= 1

    def test_every_statement_of_every_verb_names_the_tenant(self):
        """B22."""
        memory = make_memory()
        with tenant_in_every_statement("acme") as seen:
            source = {"key": "chat", "ordinal": 1}
            given = {"text": "a", "lineage": {"source_ids": ["m"]}, "source": source}
            (record_id,) = memory.remember(given, wait=True).accepted
            memory.get(record_id)
            memory.list()
            memory.recall("a")
            memory.pending()
            memory.set_consent(record_id, visible=False)
            memory.remember({"text": "b", "lineage": {"source_ids": [str(record_id)]}})
        assert len(seen.on_tenants()) >= 20

    def test_the_hook_of_importance_is_not_called_by_readers(self):
        """B101, B128."""
        asked: list[Any] = []

        def derive(reflection: Any) -> float:
            asked.append(reflection)
            return 0.7

        memory = make_memory(importance_from=derive)
        entry = Entry("words", reflection={"canary": 1})
        (record_id,) = memory.remember(entry, wait=True).accepted
        assert memory.recall("words")[0].importance == 0.7
        assert memory.get(record_id).importance == memory.list()[0].importance == 0.7
        assert len(asked) == 1

    def test_another_embedder_is_refused_and_nothing_is_stored(self):
        """B480, case_C23."""
        memory = make_memory()
        memory.remember("a", wait=True)
        backend = "prism_memory.backends.hashing.HashEmbedder"
        other = {"default": {"BACKEND": backend, "OPTIONS": {"dimensions": 32}}}
        with override_settings(PRISM_MEMORY={"EMBEDDERS": other}):
            with pytest.raises(EmbedderMismatch):
                memory.remember("b")
            with pytest.raises(EmbedderMismatch):
                memory.recall("a")
            memory.set_consent(memory.list()[0].id, visible=False)
        assert Record.objects.count() == 1

    @override_settings(PRISM_MEMORY={})
    def test_without_an_embedder_all_works_by_words(self):
        """B31, B282."""
        memory = make_memory()
        remembered = memory.remember(["geese bite", "tea"], wait=True)
        assert not remembered.pending
        assert remembered.done.wait() == type(remembered.done.now())()
        assert [hit.text for hit in memory.recall("geese?")] == ["geese bite"]

    def test_cancelled_between_two_batches_keeps_what_was_stored(self):
        """B112."""
        memory = make_memory(limits={"embed_batch": 2})
        answers = iter([False, True])
        with pytest.raises(Aborted):
            memory.remember(
                [f"{i}" for i in range(6)], wait=True, cancelled=lambda: next(answers)
            )
        assert len(memory.list()) == 6
        assert memory.pending().pending > 0

    def test_a_foreign_id_is_not_visible_to_any_verb(self):
        """B25, B26."""
        (foreign,) = make_memory(make_scope(tenant="globex")).remember("a").accepted
        memory = make_memory()
        for record_id in (foreign, uuid.uuid4()):
            with pytest.raises(NotVisible):
                memory.get(record_id)
            with pytest.raises(NotVisible):
                memory.set_consent(record_id, visible=False)


class TestAsync:
    @pytest.mark.parametrize(
        "verb", ["remember", "get", "list", "recall", "pending", "set_consent"]
    )
    def test_each_verb_has_a_twin(self, verb):
        assert inspect.iscoroutinefunction(getattr(Memory, f"a{verb}"))

    @pytest.mark.django_db(transaction=True)
    def test_it_works_under_several_loops_cancelled_and_repeated(
        self, child_environment
    ):
        """case_C18: with no warning, in a process that makes each an error."""
        done = subprocess.run(
            [sys.executable, "-X", "dev", "-W", "error", "-c", JOB],
            cwd=CHECKOUT,
            env=child_environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_database_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(Misconfigured, match="no database 'nope', but default") as told:
        Memory(make_scope(), using="nope")
    assert told.value.field == "using"
    with (
        override_settings(PRISM_MEMORY={"DATABASE": "lost"}),
        pytest.raises(Misconfigured, match="'lost'"),
    ):
        Memory(make_scope())
