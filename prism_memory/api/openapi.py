"""The OpenAPI document, from what the views declare.

It shows this API alone and follows no SPECTACULAR_SETTINGS of the host. The committed
snapshot is ``docs/openapi.yaml``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from http import HTTPStatus
from typing import Any, Final

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.settings import (
    SPECTACULAR_DEFAULTS,
    patched_settings,
)
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer
from rest_framework import serializers
from rest_framework.request import Request

from prism_memory.api.errors import MEDIA_TYPE, title
from prism_memory.api.operations import Operation

DESCRIPTION: Final = (
    "Governed memory for agents. The scope of a call is that of its credentials, "
    "narrowed by the headers Prism-Owner, Prism-Agent and Prism-Thread; no body and no "
    "query names it. Every error is application/problem+json."
)

SETTINGS: Final[dict[str, Any]] = {
    **{
        name: value
        for name, value in SPECTACULAR_DEFAULTS.items()
        if not name.startswith("SERVE_") and name != "DEFAULT_GENERATOR_CLASS"
    },
    "TITLE": "prism_memory",
    "VERSION": "1",
    "DESCRIPTION": DESCRIPTION,
    "SERVERS": [{"url": "/api/v1"}],
    "SCHEMA_PATH_PREFIX": "",
    "POSTPROCESSING_HOOKS": [],
}

EVERY_REFUSAL: Final = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
BODY_REFUSALS: Final = (
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)
TEXTS: Final = {
    HTTPStatus.OK: "Done.",
    HTTPStatus.CREATED: "Stored.",
    HTTPStatus.ACCEPTED: "Begun.",
    HTTPStatus.NO_CONTENT: "Done; nothing comes back.",
}


class MarkerOutput(serializers.Serializer[Any]):
    """Where a rule of the gate matched."""

    rule = serializers.CharField()
    start = serializers.IntegerField(help_text="First character, from 0.")
    end = serializers.IntegerField(help_text="The one after the last.")
    field = serializers.CharField(help_text="text or metadata.")


class ProblemOutput(serializers.Serializer[Any]):
    """An error (RFC 9457)."""

    type = serializers.CharField(help_text="urn:prism-memory:error: and the code.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    field = serializers.CharField(
        required=False, help_text="The input it is about, where known."
    )
    markers = MarkerOutput(
        many=True, required=False, help_text="Of still_flagged: where rules matched."
    )


class ChoiceComponent(OpenApiSerializerFieldExtension):
    """Give every set of choices a name of its own, in a host's document too."""

    target_class = "prism_memory.api.fields.Choice"

    def map_serializer_field(
        self,
        auto_schema: AutoSchema,
        direction: str,  # noqa: ARG002 - spectacular's signature
    ) -> dict[str, Any]:
        """Return a reference to the named set."""
        component = ResolvedComponent(  # type: ignore[no-untyped-call]
            name=self.target.component,
            type=ResolvedComponent.SCHEMA,
            object=self.target.component,
            schema={"type": "string", "enum": list(self.target.choices)},
        )
        auto_schema.registry.register_on_missing(component)
        reference: dict[str, Any] = component.ref
        return reference


class MemorySchema(AutoSchema):
    """Describe an operation by what its view declares."""

    @property
    def operation(self) -> Operation:
        """What the view declares for this method."""
        declared: Mapping[str, Operation] = getattr(self.view, "operations", {})
        return declared[self.method]

    def is_excluded(self) -> bool:
        """Leave out what declares nothing, such as the pages of this document."""
        return self.method not in getattr(self.view, "operations", {})

    def get_operation_id(self) -> str:
        """Return the declared id."""
        return self.operation.id

    def get_summary(self) -> str:
        """Return the declared line."""
        return self.operation.summary

    def get_description(self) -> str:  # type: ignore[override] # as AutoSchema has it
        """Say nothing more: the docstrings are for the code's readers."""
        return ""

    def get_tags(self) -> list[str]:
        """Group by the folder of the resource."""
        return [type(self.view).__module__.split(".")[-2]]

    def get_auth(self) -> list[dict[str, Any]]:
        """Return the access key, whatever else the host accepts."""
        if self.operation.permission is None:
            return [{}]
        scheme = ResolvedComponent(  # type: ignore[no-untyped-call]
            name="accessKey",
            type=ResolvedComponent.SECURITY_SCHEMA,
            object="accessKey",
            schema={
                "type": "http",
                "scheme": "bearer",
                "bearerFormat": "pm_<id>_<secret>",
            },
        )
        self.registry.register_on_missing(scheme)
        return [{"accessKey": []}]

    def get_override_parameters(self) -> list[Any]:
        """Return the headers that choose the scope, the path's id, and the query."""
        if self.operation.permission is None:
            return []
        query = [self.operation.query] if self.operation.query else []
        path = [_memory_id()] if "{memory_id}" in self.path else []
        return [*path, *map(_header, ("Owner", "Agent", "Thread")), *query]

    def get_request_serializer(self) -> Any:  # noqa: ANN401 - as spectacular has it
        """Return the body's form, or one of several."""
        bodies = self.operation.bodies
        if len(bodies) < 2:
            return bodies[0] if bodies else None
        name = self.operation.id.capitalize()
        return PolymorphicProxySerializer(name, list(bodies), None)

    def get_response_serializers(self) -> Any:  # noqa: ANN401 - as spectacular has it
        """Return the answers and the refusals by status and media type."""
        download = self.operation.download
        found: dict[Any, Any] = {
            (int(status), download or "application/json"): (
                OpenApiTypes.BINARY if download else form
            )
            for status, form in self.operation.answers.items()
        }
        for status in self._refusals():
            found[int(status), MEDIA_TYPE] = ProblemOutput
        return found

    def _refusals(self) -> tuple[HTTPStatus, ...]:
        if self.operation.permission is None:
            return self.operation.refusals
        body = BODY_REFUSALS if self.operation.bodies else ()
        return (*EVERY_REFUSAL, *body, *self.operation.refusals)

    def _get_response_for_code(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401
        answer: dict[str, Any] = super()._get_response_for_code(  # type: ignore[no-untyped-call]
            *args, **kwargs
        )
        status = HTTPStatus(int(args[1]))
        return {**answer, "description": TEXTS.get(status, f"{title(status)}.")}


def _memory_id() -> OpenApiParameter:
    return OpenApiParameter(
        "memory_id", OpenApiTypes.UUID, OpenApiParameter.PATH, description="Its id."
    )


def _header(level: str) -> OpenApiParameter:
    return OpenApiParameter(
        f"Prism-{level}",
        str,
        OpenApiParameter.HEADER,
        description=(
            f"The {level.lower()} to work in, percent-encoded UTF-8. "
            "Only at or below the scope of the credentials."
        ),
    )


class Generator(SchemaGenerator):
    """Generate the document by our settings, not by the host's."""

    def get_schema(
        self,
        request: Request | None = None,
        public: bool = False,
    ) -> dict[str, Any]:
        """Return the document."""
        with patched_settings(SETTINGS):
            schema: dict[str, Any] = super().get_schema(  # type: ignore[no-untyped-call]
                request, public
            )
        for name, component in schema["components"]["schemas"].items():
            if name.endswith("Input"):  # a StrictInput
                component["additionalProperties"] = False
        return schema


_generating: Final = threading.Lock()


def document(server: str) -> dict[str, Any]:
    """Return the document of the API at ``server``, such as ``/api/v1``."""
    return {**deepcopy(_document()), "servers": [{"url": server}]}


@cache
def _document() -> dict[str, Any]:
    # Once, and alone: the settings that are patched belong to the process.
    with _generating:
        generator = Generator(  # type: ignore[no-untyped-call]
            urlconf="prism_memory.api.urls"
        )
        return generator.get_schema(public=True)
