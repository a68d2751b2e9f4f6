"""What every view shares. The host project's REST_FRAMEWORK is left alone.

Every policy is set here by name, so that nothing the host sets for its own API reaches
this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn, cast

from django.db import connections, transaction
from django.utils.module_loading import import_string
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import MethodNotAllowed, NotAuthenticated, NotFound
from rest_framework.fields import ListField
from rest_framework.request import Request
from rest_framework.serializers import Serializer, ValidationError
from rest_framework.settings import DEFAULTS, IMPORT_STRINGS, APISettings
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from prism_memory import conf
from prism_memory.api.auth import CHALLENGE, authenticators
from prism_memory.api.errors import answer_error
from prism_memory.api.fields import unknown_field
from prism_memory.api.openapi import MemorySchema
from prism_memory.api.operations import Form, Operation
from prism_memory.api.parsing import StrictJSONParser, read_query
from prism_memory.api.rendering import CompactJSONRenderer, OneForm
from prism_memory.api.scoping import scope_of
from prism_memory.memory import Memory
from prism_memory.types import Grant

POLICY = APISettings(
    {"UNAUTHENTICATED_USER": None},  # type: ignore[arg-type]
    DEFAULTS,
    IMPORT_STRINGS,
)
"""REST framework's defaults, whatever the host's settings are."""


class PublicView(APIView):
    """A view that is open to all, with our formats."""

    settings = POLICY
    renderer_classes = (CompactJSONRenderer,)
    parser_classes = (StrictJSONParser,)
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()
    content_negotiation_class = OneForm
    metadata_class = None
    versioning_class = None
    schema = MemorySchema()

    operations: ClassVar[Mapping[str, Operation]] = {}

    @classmethod
    def as_view(cls, **initkwargs: Any) -> Any:  # noqa: ANN401 - Django's
        """Return the view, kept out of ATOMIC_REQUESTS.

        What is remembered must be committed before it can be embedded, and each verb
        has its own transaction.
        """
        view = super().as_view(**initkwargs)
        for alias in connections:
            view = transaction.non_atomic_requests(alias)(view)
        return view

    def get_exception_handler(self) -> Callable[..., Any]:
        """Return our error format."""
        return answer_error

    def perform_authentication(self, request: Request) -> None:
        """Ask for nothing, and so for no table of users either."""


class UnknownView(PublicView):
    """Every path that is no route, by any method: our 404, not the host's page."""

    schema = None  # type: ignore[assignment] # which keeps it out of every document

    def check_permissions(self, request: Request) -> NoReturn:  # noqa: ARG002
        """Refuse, before a method is looked for.

        Raises:
            NotFound: Always.
        """
        raise NotFound


class ScopedView(PublicView):
    """A view that works in the scope of an authenticated request."""

    def get_authenticators(self) -> list[BaseAuthentication]:
        """Return what the settings ask for."""
        return authenticators()

    def get_authenticate_header(self, request: Request) -> str:  # noqa: ARG002
        """Return what every 401 asks for, whatever the authenticators are."""
        return CHALLENGE

    def get_throttles(self) -> list[BaseThrottle]:
        """Return what the settings ask for."""
        return [import_string(path)() for path in conf.settings.API_THROTTLES]

    def perform_authentication(self, request: Request) -> None:
        """Refuse a request that comes with no grant."""
        grant_of(request)

    def check_permissions(self, request: Request) -> None:
        """Refuse a method that declares nothing, and a grant that lacks permission."""
        permission = self._operation(request).permission
        if permission is not None:
            grant_of(request).require(permission)

    def finalize_response(
        self,
        request: Request,
        response: Any,  # noqa: ANN401 - REST framework's
        *args: Any,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Keep memories out of every cache."""
        final = super().finalize_response(request, response, *args, **kwargs)
        final["Cache-Control"] = "no-store"
        return final

    def memory(self, request: Request) -> Memory:
        """Return the memory that the request may work in. No query.

        Raises:
            ScopeDenied: The headers ask for more than the grant opens.
        """
        grant = grant_of(request)
        return Memory(
            scope_of(grant, request.headers),
            origin=grant.origin,
            actor=grant.actor,
            authorization=grant.authorization,
        )

    def query(self, request: Request) -> dict[str, Any]:
        """Return the query string's values.

        Raises:
            ValidationError: An unknown name, or a value that is not acceptable.
        """
        given = read_query(request.META.get("QUERY_STRING", ""))
        form = self._operation(request).query
        if form is None:
            for name in given:
                raise ValidationError(unknown_field(name, ()))
            return {}
        return _read(form, _flat(given, form()))

    def body(self, request: Request, form: Form | None = None) -> dict[str, Any]:
        """Return the body's values.

        Args:
            form: One of the operation's, where it has several.

        Raises:
            ValidationError: An unknown name, or a value that is not acceptable.
        """
        self.query(request)
        return _read(form or self._operation(request).bodies[0], request.data)

    def _operation(self, request: Request) -> Operation:
        method = "GET" if request.method == "HEAD" else cast("str", request.method)
        if method not in self.operations:
            raise MethodNotAllowed(method)
        return self.operations[method]


def grant_of(request: Request) -> Grant:
    """Return what the request may do.

    Raises:
        NotAuthenticated: It came with no grant.
    """
    grant: object = request.auth
    if not isinstance(grant, Grant):
        raise NotAuthenticated
    return grant


def _read(form: Form, given: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return cast("dict[str, Any]", form().run_validation(given))


def _flat(given: Mapping[str, list[str]], form: Serializer[Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, texts in given.items():
        many = isinstance(form.fields.get(name), ListField)
        if len(texts) > 1 and not many:
            message = "A parameter that takes one value came twice."
            raise ValidationError({name: [message]} if name in form.fields else message)
        values[name] = texts if many else texts[0]
    return values
