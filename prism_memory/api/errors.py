"""Domain error to HTTP status: the only place that knows both.

Every error leaves as ``application/problem+json`` (RFC 9457). Nothing that was stored
or sent is echoed: the texts are the domain's, which names fields and limits only, or
the ones below.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings

from prism_memory import errors, signals

logger = logging.getLogger(__name__)

MEDIA_TYPE: Final = "application/problem+json"

STATUS: Final[dict[type[errors.PrismMemoryError], HTTPStatus]] = {
    errors.Invalid: HTTPStatus.BAD_REQUEST,
    errors.ScopeDenied: HTTPStatus.FORBIDDEN,
    errors.PermissionDenied: HTTPStatus.FORBIDDEN,
    errors.NotVisible: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.FactKeyInUse: HTTPStatus.CONFLICT,
    errors.NotAccepted: HTTPStatus.CONFLICT,
    errors.StillFlagged: HTTPStatus.CONFLICT,
    errors.LimitExceeded: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.Aborted: HTTPStatus.REQUEST_TIMEOUT,
    errors.DeadlineExceeded: HTTPStatus.GATEWAY_TIMEOUT,
    errors.Unsupported: HTTPStatus.NOT_IMPLEMENTED,
    errors.Misconfigured: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.EmbedderMismatch: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ProviderUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ProviderRejected: HTTPStatus.BAD_GATEWAY,
}

RENAMED: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "Content Too Large",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Unprocessable Content",
}

NO_DATABASE: Final = (
    HTTPStatus.SERVICE_UNAVAILABLE,
    "database",
    "The database did not answer in time; the same request may succeed later.",
)

REFUSALS: Final[dict[type[Exception], tuple[HTTPStatus, str, str]]] = {
    RequestDataTooBig: (
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "body_size",
        "The body is longer than this server takes; GET limits tells how long.",
    ),
    # Not there, out of time, a deadlock, a writer who came first: all of them may pass.
    OperationalError: NO_DATABASE,
    InterfaceError: NO_DATABASE,
    exceptions.AuthenticationFailed: (
        HTTPStatus.UNAUTHORIZED,
        "unauthenticated",
        "The credentials open nothing.",
    ),
    exceptions.NotAuthenticated: (
        HTTPStatus.UNAUTHORIZED,
        "unauthenticated",
        "Credentials are needed.",
    ),
    exceptions.PermissionDenied: (
        HTTPStatus.FORBIDDEN,
        "permission",
        "The request is not allowed; one with cookies needs a CSRF token.",
    ),
    exceptions.NotFound: (
        HTTPStatus.NOT_FOUND,
        "route",
        "There is no such route.",
    ),
    exceptions.MethodNotAllowed: (
        HTTPStatus.METHOD_NOT_ALLOWED,
        "method",
        "This route has no such method.",
    ),
    exceptions.UnsupportedMediaType: (
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "media_type",
        "A body must be application/json.",
    ),
    exceptions.Throttled: (
        HTTPStatus.TOO_MANY_REQUESTS,
        "throttled",
        "Too many requests.",
    ),
}
"""What REST framework and Django refuse with, in our words: theirs quote the sender."""


RETRY_SECONDS: Final = 1
"""When to come back after the database did not answer."""


def answer_error(exc: Exception, context: dict[str, Any]) -> Response | None:  # noqa: ARG001 - REST framework's signature
    """Answer what the domain or REST framework refused; None lets it propagate."""
    if isinstance(exc, errors.PrismMemoryError):
        return _domain(exc)
    if isinstance(exc, exceptions.ValidationError):
        field, detail = first_message(exc.detail)
        return problem(HTTPStatus.BAD_REQUEST, "validation", detail, field)
    for kind, (status, code, detail) in REFUSALS.items():
        if isinstance(exc, kind):
            if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                logger.error("%s: %s", code, type(exc).__name__, exc_info=exc)
            return problem(status, code, detail, headers=_headers(exc))
    if isinstance(exc, exceptions.APIException):
        status = HTTPStatus(exc.status_code)
        return problem(status, "refused", title(status), headers=_headers(exc))
    return None


def title(status: HTTPStatus) -> str:
    """Return a status' name, the same on every Python. Source: RFC 9110."""
    return RENAMED.get(status, status.phrase)


def problem(
    status: HTTPStatus,
    code: str,
    detail: str,
    field: str = "",
    headers: dict[str, str] | None = None,
) -> Response:
    """Return an error as ``application/problem+json``, and tell who counts them."""
    signals.request_refused.send_robust(sender=Response, code=code, status=status)
    body = {
        "type": f"urn:prism-memory:error:{code}",
        "title": title(status),
        "status": status.value,
        "detail": detail,
    }
    if field:
        body["field"] = field
    return Response(body, status=status, headers=headers, content_type=MEDIA_TYPE)


def _domain(exc: errors.PrismMemoryError) -> Response:
    status = next(STATUS[kind] for kind in type(exc).__mro__ if kind in STATUS)
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        answer = problem(status, exc.code, str(exc), exc.field)
        if isinstance(exc, errors.StillFlagged):
            answer.data["markers"] = [dict(marker) for marker in exc.markers]
        return answer
    # The words are for the operator: they may tell of settings or of a provider.
    # A deadline is the caller's own: nobody has to come and look.
    late = isinstance(exc, errors.DeadlineExceeded)
    logger.log(logging.INFO if late else logging.ERROR, "%s: %s", exc.code, exc)
    field = exc.field if isinstance(exc, errors.Unsupported) else ""
    return problem(status, exc.code, type(exc).__doc__ or "", field)


def _headers(exc: Exception) -> dict[str, str]:
    headers = {}
    if challenge := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    away = RETRY_SECONDS if isinstance(exc, (OperationalError, InterfaceError)) else 0
    if wait := getattr(exc, "wait", away):
        headers["Retry-After"] = str(math.ceil(wait))
    return headers


def first_message(detail: Any) -> tuple[str, str]:  # noqa: ANN401 - nested lists, dicts
    """Return the first error's place, such as ``entries[3].text``, and its text."""
    return next(_messages(detail, ""), ("", "The request is not acceptable."))


def _messages(detail: Any, place: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _messages(inner, _below(place, name))
    elif isinstance(detail, list):
        for number, inner in enumerate(detail):
            where = place if isinstance(inner, str) else _below(place, number)
            yield from _messages(inner, where)
    else:
        yield place, str(detail)


def _below(place: str, name: str | int) -> str:
    if isinstance(name, int):
        return f"{place}[{name}]"
    if name == api_settings.NON_FIELD_ERRORS_KEY:
        return place
    return f"{place}.{name}".removeprefix(".")
