"""What is counted in a process, and how several of them are summed up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from example_project.embedded import CHECKOUT
from prism_memory import metrics, signals
from prism_memory.errors import Invalid, ProviderUnavailable
from prism_memory.metrics.exposition import register
from prism_memory.types import Scope
from tests.factories import make_memory
from tests.metrics.shown import samples, value

pytestmark = pytest.mark.django_db


def shown(scope: Scope | None = None) -> str:
    return metrics.exposed(using="default", scope=scope).decode()


def test_a_recall_is_counted_and_timed_by_its_strategy(
    settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"WAKE": False}
    before = shown()
    memory = make_memory(Scope("acme", "ada"))
    memory.remember(["tea", "milk"], wait=True)
    hits = len(memory.recall("tea"))
    with django_capture_on_commit_callbacks(execute=True):
        memory.remember("cocoa")  # which has no vector yet
    hits += len(memory.recall("tea"))
    after = shown()

    def more(name: str, **labels: str) -> float:
        return value(after, name, **labels) - value(before, name, **labels)

    assert more("recalls_total", strategy="exact", outcome="ok") == 1
    assert more("recalls_total", strategy="exact", outcome="degraded") == 1
    assert more("recall_seconds_count", strategy="exact") == 2
    assert more("recall_rows_sum") == hits > 0
    assert more("remembered_records_total") == 1
    assert more("embedded_texts_total", alias="default", outcome="embedded") == 2


def test_a_recall_that_fails_is_counted_by_its_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = shown()
    memory = make_memory(Scope("acme", "ada"))
    memory.remember("tea", wait=True)

    def down(*args: Any, **kwargs: Any) -> Any:
        raise ProviderUnavailable

    monkeypatch.setattr("prism_memory.backends.embed", down)
    with pytest.raises(ProviderUnavailable):
        memory.recall("tea", legs="vector")
    with pytest.raises(Invalid):
        memory.recall("")  # the caller's own, before anything is asked
    labels = {"strategy": "none", "outcome": "provider_unavailable"}
    after = shown()
    assert value(after, "recalls_total", **labels) == 1 + value(
        before, "recalls_total", **labels
    )


def test_where_nobody_listens_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    monkeypatch.setattr(signals.recall_ended, "has_listeners", lambda _sender: False)
    monkeypatch.setattr(signals.recall_ended, "send_robust", lambda **g: told.append(g))
    make_memory(Scope("acme")).recall("tea")
    assert told == []


def test_counters_name_a_tenant_only_where_that_is_wished(settings: Any) -> None:
    make_memory(Scope("acme-bank")).recall("tea")
    assert "acme-bank" not in shown()
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | {"METRICS_TENANTS": True}
    make_memory(Scope("acme-bank")).recall("tea")
    make_memory(Scope("globex-corp")).recall("tea")
    text = shown(Scope("globex-corp"))
    (sample,) = samples(text)["prism_memory_recalls_total"]
    assert (sample[0]["tenant"], sample[1]) == ("globex-corp", 1)
    assert "acme-bank" not in text


def test_a_host_shows_them_in_a_registry_of_its_own() -> None:
    registry = CollectorRegistry(auto_describe=True)
    register(registry)
    text = generate_latest(registry).decode()
    assert "prism_memory_recall_seconds" in text
    assert "prism_memory_read_complete 1.0" in text


COUNTS = """
import django; django.setup()
from prism_memory import signals
from prism_memory.types import Recalled
signals.recall_ended.send_robust(
    sender=Recalled, using="default", tenant="t", strategy="index", seconds=0.01,
    rows=3, degraded=False, error="")
"""


def test_processes_that_share_a_folder_are_summed_up(
    tmp_path: Path, child_environment: dict[str, str]
) -> None:
    """Prometheus' own multiprocess mode."""
    env = child_environment | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    shows = "from prism_memory.metrics import exposition\n" + (
        "print(exposition._written(list(exposition._counted())).decode())"
    )
    texts = [
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=CHECKOUT,
            env=env | {"PYTHONPATH": os.fspath(CHECKOUT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for script in (COUNTS, COUNTS + shows)
    ]
    labels = {"strategy": "index", "outcome": "ok"}
    assert value(texts[1], "recalls_total", **labels) == 2
    assert value(texts[1], "recall_seconds_count", strategy="index") == 2
