"""How it runs, from the command line, and for node_exporter."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from prism_memory.models import Reading
from prism_memory.types import Scope
from tests.factories import make_memory
from tests.metrics.shown import value

pytestmark = pytest.mark.django_db


def test_every_tenant_is_read_however_long_it_takes(settings: Any) -> None:
    given = {"METRICS_READ_SECONDS": 0.0, "METRICS_SECONDS": 3_600}
    settings.PRISM_MEMORY = settings.PRISM_MEMORY | given
    out = io.StringIO()
    for n in range(3):
        make_memory(Scope(f"t{n}")).remember("tea")
        out = io.StringIO()
        call_command("prism_memory_metrics", stdout=out)
    assert value(out.getvalue(), "pending_embeddings", alias="default") == 3
    assert value(out.getvalue(), "read_complete") == 1


def test_a_file_is_replaced_at_one_stroke(tmp_path: Path) -> None:
    path = tmp_path / "prism.prom"
    path.write_text("old")
    call_command("prism_memory_metrics", output=path)
    assert value(path.read_text(), "read_complete") == 1
    assert path.stat().st_mode & 0o777 == 0o644
    assert [one.name for one in tmp_path.iterdir()] == ["prism.prom"]
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("prism_memory_metrics", output=tmp_path / "no" / "prism.prom")


def test_a_reading_is_kept_for_the_charts() -> None:
    make_memory(Scope("acme")).remember("tea")
    out = io.StringIO()
    call_command("prism_memory_metrics", keep=True, stdout=out)
    assert out.getvalue() == "2 tenants read.\n"
    assert Reading.objects.get(tenant="acme").counts["pending"] == 1
