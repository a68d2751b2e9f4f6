"""Spans tell what was done, of which hashed place, in numbers (B388, B207)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from example_project.embedded import CHECKOUT
from prism_memory import indexing, runs, spans
from prism_memory.errors import Invalid
from prism_memory.memory.claims import Facts
from prism_memory.memory.door import Memory
from prism_memory.memory.entities import Entities
from prism_memory.memory.sources import Sources
from prism_memory.models import EmbeddingSpace, RunState
from prism_memory.rag import DocumentStore
from prism_memory.types import Actor, Scope
from tests.factories import make_memory, make_scope

pytestmark = pytest.mark.django_db

SECRET = "porto-at-midnight"
PROVIDER = TracerProvider()


class Placed:
    scope = make_scope()


def tracer() -> Any:
    return PROVIDER.get_tracer("of the tests")


@pytest.fixture
def kept(settings: Any) -> Iterator[InMemorySpanExporter]:
    """What a tracer that is given by the settings was told."""
    exporter = InMemorySpanExporter()
    PROVIDER._active_span_processor._span_processors = (SimpleSpanProcessor(exporter),)
    given = {"TRACER": f"{__name__}.tracer", "SPAN_SALT": "salt"}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | given
    yield exporter
    PROVIDER._active_span_processor._span_processors = ()


def one(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    (found,) = [s for s in exporter.get_finished_spans() if s.name == name]
    return found


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_each_operation_is_one_span_with_counts(kept: InMemorySpanExporter) -> None:
    """B388."""
    memory = make_memory(make_scope())
    memory.remember([SECRET, "tea"], wait=True)
    memory.recall(SECRET)
    written, read = (
        one(kept, f"prism_memory.memory.{v}") for v in ("remember", "recall")
    )
    assert told(written)["prism_memory.accepted"] == 2
    assert told(written)["prism_memory.quarantined"] == 0
    assert told(read)["prism_memory.hits"] == 2
    assert told(read)["prism_memory.strategy"] == "exact"
    assert told(read)["prism_memory.degraded"] is False
    drain = one(kept, "prism_memory.drain")
    assert told(drain)["prism_memory.embedded"] == 2
    assert drain.parent is not None
    assert written.context is not None
    assert drain.parent.span_id == written.context.span_id


def test_no_text_and_no_name_is_told(kept: InMemorySpanExporter) -> None:
    """B207, B383."""
    place = Scope("acme-bank", "ada-lovelace", "adviser-7", "thread-about-x")
    memory = make_memory(place)
    memory.remember(
        {"text": SECRET, "key": "the-key", "metadata": {"a": "tell-nobody"}}
    )
    memory.recall(SECRET)
    done = memory.facts.remember_with_decision(
        f"Ada lives in {SECRET}.", subject="Ada Lovelace", predicate="lives in"
    )
    memory.facts("Ada Lovelace")
    with pytest.raises(Invalid):
        memory.facts.remember(SECRET, pipeline="tell-nobody")
    everything = " ".join(span.to_json() for span in kept.get_finished_spans())
    names = (place.tenant, place.owner, place.agent, place.thread, str(place.id))
    texts = (SECRET, "the-key", "tell-nobody", "Lovelace", "lives in")
    for word in (*names, *texts, str(done.fact.id)):
        assert word not in everything, word
    assert "prism_memory.facts.remember_with_decision" in everything


def test_an_ingest_and_a_query_of_documents_are_spans(
    kept: InMemorySpanExporter,
) -> None:
    memory = make_memory(make_scope())
    memory.sources.ingest("the-handbook", f"# {SECRET}\n\nBook a train.\n")
    with DocumentStore(make_scope()) as store:
        store.retrieve(SECRET)
    assert told(one(kept, "prism_memory.sources.ingest"))["prism_memory.added"] == 1
    assert one(kept, "prism_memory.documents.retrieve")
    everything = " ".join(span.to_json() for span in kept.get_finished_spans())
    for word in (SECRET, "the-handbook", "train"):
        assert word not in everything


def test_equal_places_have_equal_hashes_and_others_another(settings: Any) -> None:
    ada, same = spans.place(Scope("a", "ada")), spans.place(Scope("a", "ada"))
    bob = spans.place(Scope("a", "bob"))
    assert ada == same
    assert ada["tenant"] == bob["tenant"]
    assert ada["scope"] != bob["scope"]
    settings.PRISM_MEMORY = {"SPAN_SALT": "other"}
    assert spans.place(Scope("a", "ada")) != ada


def test_a_failure_is_told_by_its_class_alone(kept: InMemorySpanExporter) -> None:
    memory = make_memory(make_scope())
    with pytest.raises(Invalid):
        memory.recall("tea", legs=SECRET)
    span = one(kept, "prism_memory.memory.recall")
    assert told(span)["error.type"] == "Invalid"
    assert not span.status.is_ok
    assert SECRET not in span.to_json()
    assert span.events == ()


def test_a_run_is_one_span_from_its_start_to_its_end(
    kept: InMemorySpanExporter, django_capture_on_commit_callbacks: Any
) -> None:
    begun = timezone.now()
    given: Any = {"using": "default", "tenant": "acme", "at": begun}
    with django_capture_on_commit_callbacks(execute=True):
        run = runs.begin(**given, kind="rebuild", target="", actor=Actor())
        counts = {"done": 3}
        runs.advance(run, using="default", cursor={}, counts=counts, at=begun)
        later = timezone.now()
        runs.finish(run, using="default", state=RunState.DONE, at=later)
    span = one(kept, "prism_memory.run")
    assert told(span)["prism_memory.kind"] == "rebuild"
    assert told(span)["prism_memory.state"] == "done"
    assert told(span)["prism_memory.done"] == 3
    assert "acme" not in span.to_json()
    assert span.end_time is not None
    assert span.start_time is not None
    assert span.end_time - span.start_time == pytest.approx(
        (later - begun).total_seconds() * 1e9, abs=2e3
    )


def test_off_is_off(kept: InMemorySpanExporter, settings: Any) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"SPANS": "off"}
    make_memory(make_scope()).recall("tea")
    assert kept.get_finished_spans() == ()


def test_a_drain_that_fails_tells_what_it_did(kept: InMemorySpanExporter) -> None:
    make_memory(make_scope()).remember(["a", "b"])
    row = EmbeddingSpace.objects.get()
    space = indexing.Space(row.id, row.alias, row.identity, indexed=False)

    def broken(texts: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        indexing.drain(
            using="default", tenant="acme", space=space, embed=broken, batch=1
        )
    assert told(one(kept, "prism_memory.drain"))["prism_memory.embedded"] == 0


@pytest.mark.parametrize("door", [Memory, Facts, Entities, Sources, DocumentStore])
def test_every_public_method_of_a_door_makes_a_span(
    door: type, kept: InMemorySpanExporter
) -> None:
    """B388: those too that are written tomorrow."""
    names = [
        name
        for name, method in vars(door).items()
        if callable(method) and not name.startswith(("_", "a"))
    ]
    assert names
    for name in names:
        kept.clear()
        with pytest.raises((TypeError, AttributeError)):
            getattr(door, name)(Placed(), *(range(99)))
        assert [s.name for s in kept.get_finished_spans()][-1].endswith(f".{name}")


def test_without_the_package_nothing_is_made_or_imported() -> None:
    script = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "import django; django.setup()\n"
        "from prism_memory import spans\n"
        "with spans.span('x', lambda: 1 / 0) as note: note({'a': 1})\n"
        "print([n for n in sys.modules if n.startswith('opentelemetry.')])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=CHECKOUT,
        env={"DJANGO_SETTINGS_MODULE": "tests.settings", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout == "[]\n", ran.stderr
