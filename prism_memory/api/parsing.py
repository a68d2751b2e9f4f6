"""JSON and query strings, strictly: what is ambiguous or cannot be stored is refused.

None of it is a server error, and none is repaired in silence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import IO, Any, Final, NoReturn
from urllib.parse import parse_qsl

from django.http import UnreadablePostError
from rest_framework.parsers import BaseParser

from prism_memory.errors import Invalid

PARAMETERS: Final = 256
"""Most parameters of one query string."""

_BROKEN_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


class StrictJSONParser(BaseParser):
    """A JSON body. Its length is bounded by Django's DATA_UPLOAD_MAX_MEMORY_SIZE."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],  # noqa: ARG002 - the request's body is read with its bound
        media_type: str | None = None,  # noqa: ARG002 - JSON is UTF-8 (RFC 8259)
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - any JSON
        """Return the body's value.

        Raises:
            RequestDataTooBig: The body is too long.
            Invalid: The body is no JSON; see ``read_json``.
        """
        request = (parser_context or {})["request"]
        try:
            body: bytes = request.body
        except UnreadablePostError:
            message = "The body ended too early."
            raise Invalid(message, field="body") from None
        try:
            text = body.decode()
        except UnicodeDecodeError:
            message = "The body is not UTF-8."
            raise Invalid(message, field="body") from None
        return read_json(text, "body")


def read_json(text: str, name: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of JSON text.

    Raises:
        Invalid: Malformed, nested too deep, a name given twice in one object, NaN or
            an infinity, or a number of thousands of digits.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except RecursionError:
        message = f"The {name} is nested too deep."
    except ValueError:
        message = f"The {name} is not valid JSON, or it names something twice."
    raise Invalid(message, field=name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def read_query(text: str) -> dict[str, list[str]]:
    """Return the parameters of a query string with all their values.

    Raises:
        Invalid: Not percent-encoded UTF-8, or too many parameters.
    """
    if not text.isascii() or _BROKEN_ESCAPE.search(text):
        message = "The query string must be percent-encoded UTF-8."
        raise Invalid(message, field="query")
    try:
        pairs = parse_qsl(
            text, keep_blank_values=True, errors="strict", max_num_fields=PARAMETERS
        )
    except ValueError:
        message = f"The query string is not UTF-8, or over {PARAMETERS} parameters."
        raise Invalid(message, field="query") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
