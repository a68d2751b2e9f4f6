"""JSON out, whatever the Accept header says: there is only one form."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from typing import Any, overload

from rest_framework.negotiation import (
    BaseContentNegotiation,
    DefaultContentNegotiation,
)
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class CompactJSONRenderer(BaseRenderer):
    """Compact JSON in UTF-8."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(
        self,
        data: Any,  # noqa: ANN401 - any JSON
        accepted_media_type: str | None = None,  # noqa: ARG002
        renderer_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> bytes:
        """Return ``data`` as JSON; nothing for an empty answer."""
        if data is None:
            return b""
        text = json.dumps(
            data, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        )
        return text.encode()


class OneForm(BaseContentNegotiation):
    """Choose the parser by Content-Type, and the only renderer there is."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        """Return the parser of the request's media type, if there is one."""
        return DefaultContentNegotiation().select_parser(request, parsers)

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer."""
        first = next(iter(renderers))
        return first, first.media_type


@overload
def moment(value: dt.datetime) -> str: ...
@overload
def moment(value: None) -> None: ...
def moment(value: dt.datetime | None) -> str | None:
    """Return a time as ``YYYY-MM-DDTHH:MM:SS.ffffffZ``."""
    if value is None:
        return None
    utc = value.astimezone(dt.UTC).replace(tzinfo=None)
    return f"{utc.isoformat(timespec='microseconds')}Z"
