"""One embedder's vectors are never mixed with another's."""

from __future__ import annotations

from functools import partial
from importlib import import_module

import pytest

from prism_memory import backends, indexing, tasks
from prism_memory.backends.hashing import HashEmbedder
from prism_memory.errors import EmbedderMismatch, NotVisible
from prism_memory.models import EmbeddingSpace, Record
from prism_memory.types import EmbedderIdentity, Scope
from tests.factories import make_memory, remember_one
from tests.indexing.conftest import drain, space

pytestmark = pytest.mark.django_db


class OtherModel(HashEmbedder):
    """As wide as the first, and still another."""

    def __init__(self):
        super().__init__(dimensions=64, for_tests=True)
        self.identity = EmbedderIdentity("hashing", "other", 64)


OTHERS = {
    "width": ("prism_memory.backends.hashing.HashEmbedder", {"dimensions": 32}),
    "model": (f"{__name__}.OtherModel", {}),
}


@pytest.fixture(params=OTHERS)
def record_of_another_embedder(request, settings):
    """A record embedded by the first embedder; then the setting names another."""
    record_id = remember_one("Ada drinks tea.", wait=True)
    backend, options = OTHERS[request.param]
    settings.PRISM_MEMORY = {
        **settings.PRISM_MEMORY,
        "EMBEDDERS": {"default": {"BACKEND": backend, "OPTIONS": options}},
    }
    return record_id


@pytest.mark.usefixtures("record_of_another_embedder")
class TestMismatch:
    """case_C23, B480, B484: refused, with both identities in the message."""

    message = r"hashing/fnv1a \(64\).*never mixed"

    @pytest.mark.parametrize("wait", [False, True])
    def test_remember_is_refused_and_stores_nothing(self, wait):
        with pytest.raises(EmbedderMismatch, match=self.message):
            make_memory().remember("Ada drinks coffee.", wait=wait)
        assert Record.objects.count() == 1

    @pytest.mark.parametrize("legs", ["hybrid", "vector"])
    def test_recall_is_refused(self, legs):
        with pytest.raises(EmbedderMismatch, match=self.message):
            make_memory().recall("tea", legs=legs)

    def test_a_drain_is_refused_and_claims_nothing(self):
        embedder = backends.get_embedder()
        with pytest.raises(EmbedderMismatch, match=self.message):
            space()
        task = {"tenant": "acme", "using": "default", "alias": "default"}
        with pytest.raises(EmbedderMismatch, match=self.message):
            tasks.drain.apply(kwargs=task, throw=True)
        assert EmbeddingSpace.objects.get().identity != embedder.identity

    def test_what_needs_no_vector_works_in_between(self, record_of_another_embedder):
        memory = make_memory()
        assert memory.get(record_of_another_embedder).text == "Ada drinks tea."
        assert len(memory.list().items) == 1
        memory.set_consent(record_of_another_embedder, visible=False)
        with pytest.raises(NotVisible):
            memory.get(record_of_another_embedder)


class TestActive:
    identity = EmbedderIdentity("hashing", "fnv1a", 64)

    def test_it_is_made_on_first_use_and_then_found(self):
        assert indexing.find_active(using="default", alias="default") is None
        first, second = space(), space()
        assert first == second
        assert (first.identity, first.indexed) == (self.identity, False)
        assert EmbeddingSpace.objects.count() == 1

    def test_each_alias_has_its_own(self):
        one, other = (
            indexing.active(using="default", alias=alias, identity=self.identity)
            for alias in ("default", "other")
        )
        assert one.id != other.id

    def test_known_space_asks_the_database_once(self, django_assert_num_queries):
        made = space()
        known = partial(indexing.known_space, using="default", alias="default")
        assert known(identity=self.identity, fresh=True) == made
        with django_assert_num_queries(0):
            assert known(identity=self.identity) == made
        with pytest.raises(EmbedderMismatch):
            known(identity=EmbedderIdentity("hashing", "fnv1a", 32))

    def test_the_space_of_another_alias_is_not_drained(self):
        remember_one("Ada drinks tea.")
        other = indexing.active(using="default", alias="other", identity=self.identity)
        assert drain(space=other) == indexing.Drained()


class TestTenants:
    def test_those_with_something_due_are_waiting(self, monkeypatch):
        module = import_module("prism_memory.indexing.tenants")
        monkeypatch.setattr(module, "PAGE_ROWS", 2)
        names = ["a", "b", "c", "d", "e"]
        for name in names:
            make_memory(Scope(name, owner="ada")).remember("Text.")
        drain("b")
        assert list(indexing.tenants(using="default")) == names
        waiting = indexing.waiting(using="default", spaces=[space()])
        assert list(waiting) == ["a", "c", "d", "e"]
