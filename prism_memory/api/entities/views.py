"""Views of ``/entities``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView
from prism_memory.api.entities.inputs import MergeInput
from prism_memory.api.entities.outputs import (
    EntityOutput,
    EntityPageOutput,
    MergeOutput,
    UnmergeOutput,
    entity_output,
    entity_page_output,
)
from prism_memory.api.facts.inputs import NotedInput, PageInput
from prism_memory.api.facts.views import REFUSALS
from prism_memory.api.memories.views import known_id
from prism_memory.api.operations import Operation
from prism_memory.types import Permission


class EntitiesView(ScopedView):
    """List who and what the facts in sight speak of."""

    operations = {
        "GET": Operation(
            "list_entities",
            "List who and what the facts in sight speak of.",
            Permission.READ,
            answers={HTTPStatus.OK: EntityPageOutput},
            query=PageInput,
        ),
    }

    def get(self, request: Request) -> Response:
        page = self.memory(request).entities(**self.query(request))
        return Response(entity_page_output(page))


class EntityView(ScopedView):
    """Read one entity."""

    operations = {
        "GET": Operation(
            "get_entity",
            "Read one entity that facts in sight speak of.",
            Permission.READ,
            answers={HTTPStatus.OK: EntityOutput},
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def get(self, request: Request, entity_id: str) -> Response:
        self.query(request)
        found = self.memory(request).entities.get(known_id(entity_id))
        return Response(entity_output(found))


class MergeView(ScopedView):
    """Say that two entities are one."""

    operations = {
        "POST": Operation(
            "merge_entity",
            "Say that an entity of this scope is one with another. It can be undone.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: MergeOutput},
            bodies=(MergeInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request, entity_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        known = known_id(entity_id)
        merge_id = memory.entities.merge(known, **given)
        found = {"id": merge_id, "entity": known, "into": given["into"]}
        return Response({name: str(value) for name, value in found.items()})


class UnmergeView(ScopedView):
    """Undo a merge."""

    operations = {
        "POST": Operation(
            "unmerge_entity",
            "Undo the merge of an entity of this scope.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: UnmergeOutput},
            bodies=(NotedInput,),
            refusals=REFUSALS,
        ),
    }

    def post(self, request: Request, entity_id: str) -> Response:
        memory, given = self.memory(request), self.body(request)
        known = known_id(entity_id)
        was = memory.entities.unmerge(known, **given)
        return Response({"entity": str(known), "was_into": str(was)})
