"""What ``/generations`` answers. Numbers; no text."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.types import Generations


class GenerationOutput(serializers.Serializer[Any]):
    """One generation of the scope's documents."""

    generation = serializers.IntegerField()
    records = serializers.IntegerField(help_text="That it holds.")


class GenerationsOutput(serializers.Serializer[Any]):
    """All generations, and the one that is seen."""

    current = serializers.IntegerField(
        allow_null=True, help_text="Null: nobody chose one yet, and all are seen."
    )
    items = GenerationOutput(many=True)


class SwappedOutput(serializers.Serializer[Any]):
    """What a swap did."""

    before = serializers.IntegerField(
        allow_null=True, help_text="The generation seen before: set it to roll back."
    )


def generations_output(found: Generations) -> dict[str, Any]:
    """Return the generations, in the order of their numbers."""
    items = [{"generation": n, "records": count} for n, count in found.records.items()]
    return {"current": found.current, "items": items}
