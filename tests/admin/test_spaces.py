"""Embedding spaces: index, queue, and trying again what failed (C33)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from prism_memory import backends, indexing, signals
from prism_memory.admin import links
from prism_memory.models import AuditEvent, Embedding, EmbeddingSpace
from prism_memory.types import Actor
from tests.admin.rows import make_staff
from tests.factories import make_record, make_scope
from tests.indexing.two_spaces import configure

pytestmark = pytest.mark.django_db


def fail(tenant: str) -> EmbeddingSpace:
    make_record(scope=make_scope(tenant=tenant))
    Embedding.objects.filter(tenant=tenant).update(
        failed_at=timezone.now(), attempts=8, error="It is <b>too</b> long."
    )
    return EmbeddingSpace.objects.get()


def failed(tenant: str) -> int:
    rows = Embedding.objects.filter(tenant=tenant, failed_at__isnull=False)
    return rows.count()


def test_what_failed_is_seen_and_tried_again(client: Client) -> None:
    """case_C33."""
    space = fail("acme")
    fail("globex")
    user = make_staff("view_embeddingspace", "change_embeddingspace")
    client.force_login(user)
    page = client.get(links.row_page(space) + "?tenant=acme").text
    assert "It is &lt;b&gt;too&lt;/b&gt; long." in page
    assert "Retry what failed" in page
    done = client.post(links.row_page(space, "retry"), {"tenant": "acme"}, follow=True)
    assert "1 text will be tried again." in done.text
    assert (failed("acme"), failed("globex")) == (0, 1)
    event = AuditEvent.objects.get(tenant="acme", action="index.retry")
    assert (event.actor, event.detail) == (f"user:{user.pk}", {"texts": 1})
    assert event.target == f"space:{space.id}"


@pytest.mark.django_db(transaction=True)
def test_a_retry_wakes_a_worker(root: Client) -> None:
    space = fail("acme")
    woken = []

    def note(tenant: str, alias: str, **given: object) -> None:
        woken.append((tenant, alias))

    signals.indexing_wanted.connect(note)
    try:
        root.post(links.row_page(space, "retry"), {"tenant": "acme"})
    finally:
        signals.indexing_wanted.disconnect(note)
    assert woken == [("acme", "default")]


def test_a_retry_needs_a_tenant_a_post_and_the_permission(client: Client) -> None:
    space = fail("acme")
    address = links.row_page(space, "retry")
    client.force_login(make_staff("view_embeddingspace"))
    assert client.post(address, {"tenant": "acme"}).status_code == 403
    page = client.get(links.row_page(space) + "?tenant=acme").text
    assert "Retry what failed" not in page
    client.force_login(
        make_staff("view_embeddingspace", "change_embeddingspace", name="kim")
    )
    assert client.get(address).status_code == 302
    assert client.post(address).status_code == 404
    client.post(address, {"tenant": "nobody"})
    assert failed("acme") == 1


def test_the_index_is_shown_as_it_is(root: Client) -> None:
    """C06."""
    space = fail("acme")
    assert "no index" in root.get(links.list_page(EmbeddingSpace)).text
    EmbeddingSpace.objects.update(index_mode="hnsw")
    assert "index lost" in root.get(links.list_page(EmbeddingSpace)).text
    assert "index lost" in root.get(links.row_page(space)).text


def test_queues_show_once_a_tenant_is_chosen(root: Client) -> None:
    space = fail("acme")
    row = root.get(links.list_page(EmbeddingSpace, tenant="acme")).context["window"]
    assert row.rows[0].queue["failed"] == 1
    assert "is shown for one tenant" in root.get(links.row_page(space)).text
    unknown = root.get(links.row_page(space) + "?tenant=nobody").text
    assert "Nothing was ever remembered under" in unknown


class TestSwitching:
    @pytest.fixture(autouse=True)
    def _two(self, settings: Any) -> None:
        configure(settings)
        make_record(scope=make_scope(), wait=True)

    def build(self) -> EmbeddingSpace:
        given: Any = {"using": "default", "actor": Actor("t"), "at": timezone.now()}
        space = indexing.build_space(alias="default", backend="next", **given)
        return EmbeddingSpace.objects.get(id=space.id)

    def fill(self, space: EmbeddingSpace) -> None:
        embed = partial(backends.embed, backends.get_embedder("next"), role="passage")
        queue = indexing.Queue("default", "acme", indexing.space_of(space))
        indexing.fill_page(queue=queue, embed=embed, rows=8)

    def post(self, client: Client, space: EmbeddingSpace, deed: str) -> str:
        page = links.row_page(space, deed)
        return client.post(page, {"reason": "a new model"}, follow=True).text

    def test_one_that_is_whole_answers_and_the_other_is_built_again(
        self, client: Client
    ) -> None:
        new = self.build()
        user = make_staff("view_embeddingspace", "change_embeddingspace")
        client.force_login(user)
        assert "Switch to this space" in client.get(links.row_page(new)).text
        assert "lacks 1 vectors" in self.post(client, new, "switch")
        self.fill(new)
        assert "This space answers now." in self.post(client, new, "switch")
        event = AuditEvent.objects.get(action="space.switch")
        assert (event.actor, event.reason) == (f"user:{user.pk}", "a new model")
        old = EmbeddingSpace.objects.get(state="retired")
        assert "Build again" in client.get(links.row_page(old)).text
        assert "It is being built." in self.post(client, old, "reopen")
        assert client.post(links.row_page(new, "switch")).status_code == 404
        old.refresh_from_db()
        assert old.state == "building"

    def test_who_may_not_is_shown_no_button_and_refused(self, client: Client) -> None:
        new = self.build()
        client.force_login(make_staff("view_embeddingspace"))
        page = client.get(links.row_page(new)).text
        assert "Switch to this space" not in page
        for deed in ("switch", "drop"):
            assert client.post(links.row_page(new, deed)).status_code == 403

    @pytest.mark.django_db(transaction=True)
    def test_one_that_does_not_answer_is_dropped(self, root: Client) -> None:
        new = self.build()
        self.fill(new)
        assert "The space is dropped." in self.post(root, new, "drop")
        assert EmbeddingSpace.objects.count() == 1
        assert Embedding.objects.count() == 1
