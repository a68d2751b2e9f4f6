"""What ``/runs`` answers. Ids and counts; no text."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.rendering import moment
from prism_memory.api.runs.inputs import STATES
from prism_memory.types import RunPage, RunStatus


class RunOutput(serializers.Serializer[Any]):
    """How far a run is."""

    id = serializers.UUIDField()
    kind = serializers.CharField(help_text="erase, export, retention, import …")
    target = serializers.CharField(help_text="What is worked on: a ref or an id.")
    state = Choice("RunState", STATES)
    actor = serializers.CharField()
    counts = serializers.DictField(child=serializers.IntegerField())
    percent = serializers.FloatField(
        allow_null=True, help_text="null: nobody counted what there is to do."
    )
    per_second = serializers.FloatField(
        allow_null=True, help_text="Done a second since it was last taken up."
    )
    attempts = serializers.IntegerField(help_text="Failures in a row.")
    error = serializers.CharField(allow_blank=True)
    next_try_at = serializers.DateTimeField(
        allow_null=True, help_text="When a worker tries again what failed."
    )
    started_at = serializers.DateTimeField()
    heartbeat_at = serializers.DateTimeField(help_text="Its last sign of life.")
    finished_at = serializers.DateTimeField(allow_null=True)


class RunPageOutput(serializers.Serializer[Any]):
    """Runs, the newest first."""

    items = RunOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


def run_output(run: RunStatus) -> dict[str, Any]:
    """Return one run."""
    moments = ("next_try_at", "started_at", "heartbeat_at", "finished_at")
    return {
        **vars(run),
        "id": str(run.id),
        "counts": dict(run.counts),
        **{name: moment(getattr(run, name)) for name in moments},
    }


def run_page_output(page: RunPage) -> dict[str, Any]:
    """Return a page of runs."""
    return {
        "items": [run_output(run) for run in page.items],
        "next_cursor": page.next_cursor,
    }
