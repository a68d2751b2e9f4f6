"""What the gate's verbs answer."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from prism_memory.api.fields import Choice


class GateOutput(serializers.Serializer[Any]):
    """How the gate of a memory stands now."""

    id = serializers.UUIDField()
    gate = Choice("MemoryGate", ("open", "quarantined"))
    changed = serializers.BooleanField(
        help_text="False where it stood so already: then nothing was done."
    )


def gate_output(memory_id: str, gate: str, *, changed: bool) -> dict[str, Any]:
    """Return how the gate of a memory stands."""
    return {"id": memory_id, "gate": gate, "changed": changed}
