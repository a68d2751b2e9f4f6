"""Views of ``/memories``: parse, make one domain call, answer."""

from __future__ import annotations

import uuid
from http import HTTPStatus

from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import ScopedView, grant_of
from prism_memory.api.forgetting.inputs import ReasonInput
from prism_memory.api.memories.inputs import (
    HistoryInput,
    ListInput,
    RememberInput,
    RememberOneInput,
    SetConsentInput,
    entries_of,
    entry_of,
)
from prism_memory.api.memories.outputs import (
    ConsentHistoryOutput,
    MemoryOutput,
    MemoryPageOutput,
    RememberedOutput,
    history_output,
    memory_output,
    page_output,
    remembered_output,
)
from prism_memory.api.operations import Operation
from prism_memory.errors import Conflict, NotVisible
from prism_memory.types import Permission


class MemoriesView(ScopedView):
    """Remember, and list what is in sight."""

    operations = {
        "POST": Operation(
            "remember",
            "Remember an entry, or a batch of them: all, or none.",
            Permission.WRITE,
            answers={HTTPStatus.CREATED: RememberedOutput},
            bodies=(RememberInput, RememberOneInput),
            refusals=(
                HTTPStatus.NOT_FOUND,
                HTTPStatus.CONFLICT,
                HTTPStatus.NOT_IMPLEMENTED,
                HTTPStatus.SERVICE_UNAVAILABLE,
            ),
        ),
        "GET": Operation(
            "list_memories",
            "List what is in sight, in the order of its sequence.",
            Permission.READ,
            answers={HTTPStatus.OK: MemoryPageOutput},
            query=ListInput,
        ),
    }

    def post(self, request: Request) -> Response:
        memory = self.memory(request)
        if isinstance(request.data, dict) and "entries" in request.data:
            given = self.body(request, RememberInput)
            wait = given.get("wait", False)
            remembered = memory.remember(
                entries_of(given["entries"], grant_of(request)), wait=wait
            )
        else:
            given = self.body(request, RememberOneInput)
            wait = given.pop("wait", False)
            remembered = memory.remember(entry_of(given, grant_of(request)), wait=wait)
        return Response(remembered_output(remembered), status=HTTPStatus.CREATED)

    def get(self, request: Request) -> Response:
        page = self.memory(request).list(**self.query(request))
        return Response(page_output(page))


class MemoryView(ScopedView):
    """Read or delete one memory."""

    operations = {
        "GET": Operation(
            "get_memory",
            "Read one memory in sight.",
            Permission.READ,
            answers={HTTPStatus.OK: MemoryOutput},
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
        "DELETE": Operation(
            "forget_memory",
            "Delete a memory of this scope and all derived from it.",
            Permission.GOVERN,
            answers={HTTPStatus.NO_CONTENT: None},
            query=ReasonInput,
            refusals=(
                HTTPStatus.NOT_FOUND,
                HTTPStatus.CONFLICT,
                HTTPStatus.NOT_IMPLEMENTED,
            ),
        ),
    }

    def get(self, request: Request, memory_id: str) -> Response:
        self.query(request)
        item = self.memory(request).get(known_id(memory_id))
        return Response(memory_output(item))

    def delete(self, request: Request, memory_id: str) -> Response:
        given = self.query(request)
        record_id = known_id(memory_id)
        done = self.memory(request).forget(record_id, **given)
        if done.missing:
            raise NotVisible
        if record_id in done.kept:
            message = "A legal hold keeps it."
            raise Conflict(message)
        return Response(status=HTTPStatus.NO_CONTENT)


class ConsentView(ScopedView):
    """Show or hide one memory, and tell who did."""

    operations = {
        "POST": Operation(
            "set_consent",
            "Show or hide a memory of this scope, and all that is derived from it.",
            Permission.GOVERN,
            answers={HTTPStatus.NO_CONTENT: None},
            bodies=(SetConsentInput,),
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
        "GET": Operation(
            "get_consent_history",
            "List each decision about a memory of this scope, the oldest first.",
            Permission.GOVERN,
            answers={HTTPStatus.OK: ConsentHistoryOutput},
            query=HistoryInput,
            refusals=(HTTPStatus.NOT_FOUND,),
        ),
    }

    def post(self, request: Request, memory_id: str) -> Response:
        memory = self.memory(request)
        changes = self.body(request)
        memory.set_consent(known_id(memory_id), **changes)
        return Response(status=HTTPStatus.NO_CONTENT)

    def get(self, request: Request, memory_id: str) -> Response:
        memory = self.memory(request)
        wish = self.query(request)
        history = memory.consent_history(known_id(memory_id), **wish)
        return Response(history_output(history))


def known_id(memory_id: str) -> uuid.UUID:
    """Return the id in a path.

    Raises:
        NotVisible: It is none, which looks as an unknown one does.
    """
    try:
        return uuid.UUID(memory_id)
    except ValueError:
        raise NotVisible from None
