"""What ``/erasures`` answers."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice
from prism_memory.api.rendering import moment
from prism_memory.governance.erasure.state import at_once
from prism_memory.models import RunState
from prism_memory.types import Erased, ErasedPage, Erasing, ErasureLevel, Foreseen


class ReceiptOutput(serializers.Serializer[Any]):
    """What an erasure removed, and what it had to keep. No text, no names."""

    id = serializers.UUIDField()
    level = Choice("ErasureLevel", ErasureLevel)
    target_ref = serializers.CharField(
        help_text="record:, source: or scope: and an id."
    )
    found = serializers.BooleanField(help_text="False: there was nothing of that name.")
    counts = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Rows removed, by table; exports: those whose files went.",
    )
    kinds = serializers.DictField(
        child=serializers.IntegerField(), help_text="Records removed, by kind."
    )
    kept = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="What holds keep; spared: facts that stand on other evidence.",
    )
    at = serializers.DateTimeField(help_text="When it began.")
    finished_at = serializers.DateTimeField(
        help_text="What was there before is gone; what was written later stays."
    )


class ForeseenOutput(serializers.Serializer[Any]):
    """What an erasure would remove now, and what holds would keep."""

    level = Choice("ErasureLevel", ErasureLevel)
    target_ref = serializers.CharField(
        help_text="record:, source: or scope: and an id."
    )
    found = serializers.BooleanField(help_text="False: there is nothing of that name.")
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="As of a receipt: what would go."
    )
    derived = serializers.IntegerField(
        help_text="Records among them that are no part of it: they derive from it."
    )
    kept = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="What holds would keep; spared: as of a receipt.",
    )


class ErasureOutput(serializers.Serializer[Any]):
    """How far an erasure is."""

    id = serializers.UUIDField()
    level = Choice("ErasureLevel", ErasureLevel)
    target_ref = serializers.CharField()
    state = Choice("ErasureState", [str(value) for value in RunState.values])
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="Rows removed by now, by table."
    )
    error = serializers.CharField(allow_blank=True)
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    receipt = ReceiptOutput(allow_null=True)


class ErasurePageOutput(serializers.Serializer[Any]):
    """Receipts, the newest first."""

    items = ReceiptOutput(many=True)
    next_cursor = serializers.CharField(
        allow_null=True, help_text="Where the next page begins; null on the last."
    )


def receipt_output(done: Erased) -> dict[str, Any]:
    """Return a receipt."""
    return {
        "id": str(done.id),
        "level": done.level.value,
        "target_ref": done.target_ref,
        "found": done.found,
        "counts": dict(done.counts),
        "kinds": dict(done.kinds),
        "kept": dict(done.kept),
        "at": moment(done.at),
        "finished_at": moment(done.finished_at),
    }


def foreseen_output(seen: Foreseen) -> dict[str, Any]:
    """Return what would go."""
    return {
        "level": seen.level.value,
        "target_ref": seen.target_ref,
        "found": seen.found,
        "counts": dict(seen.counts),
        "derived": seen.derived,
        "kept": dict(seen.kept),
    }


def erasure_output(state: Erasing) -> dict[str, Any]:
    """Return how far an erasure is."""
    return {
        "id": str(state.id),
        "level": state.level.value,
        "target_ref": state.target_ref,
        "state": state.state,
        "counts": dict(state.counts),
        "error": state.error,
        "started_at": moment(state.started_at),
        "finished_at": moment(state.finished_at),
        "receipt": None if state.receipt is None else receipt_output(state.receipt),
    }


def done_output(done: Erased) -> dict[str, Any]:
    """Return an erasure that was done at once."""
    return erasure_output(at_once(done))


def page_output(page: ErasedPage) -> dict[str, Any]:
    """Return a page of receipts."""
    return {
        "items": [receipt_output(done) for done in page.items],
        "next_cursor": page.next_cursor,
    }
