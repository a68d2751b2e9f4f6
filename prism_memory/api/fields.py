"""Fields that take one JSON type each: nothing is coerced, trimmed or echoed.

REST framework's own turn ``5`` into ``"5"``, ``"yes"`` into true, trim texts, and quote
what was sent in their messages.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
import uuid
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from prism_memory.api.parsing import read_json
from prism_memory.errors import Invalid, LimitExceeded
from prism_memory.types import check_bigint, check_json, check_text

NOT_YOURS: Final = frozenset(
    {
        "actor",
        "agent",
        "gate",
        "origin",
        "owner",
        "scope",
        "scopes",
        "tenant",
        "thread",
        "trust",
        "writer",
    }
)
"""What a body may never say: it comes from the credentials and the headers."""

MOST_VALUES: Final = 1_000

_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)", re.ASCII
)


class StrictInput(serializers.Serializer[Any]):
    """An object that may hold its fields and nothing else."""

    default_error_messages = {"invalid": "Must be a JSON object."}

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return the fields' values.

        Raises:
            ValidationError: No object, an unknown name, or a field's own.
        """
        if isinstance(data, Mapping):
            unknown = [name for name in data if name not in self.fields]
            if unknown:
                raise serializers.ValidationError(
                    unknown_field(unknown[0], self.fields)
                )
        return super().to_internal_value(data)


def unknown_field(given: str, known: Iterable[str]) -> str | dict[str, list[str]]:
    """Return what to say of a name that is not known.

    It is repeated, as the error's field, only where it is one of ours.
    """
    if given in NOT_YOURS:
        message = (
            f"{given} comes from the credentials and the Prism headers, "
            "never from the request."
        )
        return {given: [message]}
    names = sorted(known)
    near = difflib.get_close_matches(given[:64], names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    listed = ", ".join(names) or "none"
    return f"An unknown field; there are: {listed}.{hint}"


class Text(serializers.CharField):
    """A string, verbatim: no trimming; NUL and lone surrogates are refused."""

    def __init__(self, **kwargs: Any) -> None:  # noqa: ANN401 - REST framework's
        super().__init__(trim_whitespace=False, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:  # noqa: ANN401
        """Leave a blank text to the domain, which knows where one is allowed."""
        return serializers.Field.run_validation(self, data)

    def to_internal_value(self, data: Any) -> str:  # noqa: ANN401 - any JSON
        """Return ``data`` unchanged."""
        try:
            return check_text(data, "It")
        except Invalid as error:
            raise serializers.ValidationError(str(error)) from None


class Choice(serializers.ChoiceField):
    """One of a few strings, under the name it has in the OpenAPI document."""

    def __init__(
        self,
        component: str,
        choices: Iterable[StrEnum | str],
        **kwargs: Any,  # noqa: ANN401 - REST framework's
    ) -> None:
        self.component = component
        texts = [str(choice) for choice in choices]
        listed = ", ".join(repr(text) for text in texts)
        messages: dict[str, Any] = {"invalid_choice": f"Must be one of {listed}."}
        kwargs.setdefault("allow_blank", "" in texts)
        super().__init__(choices=texts, error_messages=messages, **kwargs)

    def to_internal_value(self, data: Any) -> str:  # noqa: ANN401 - any JSON
        """Return ``data`` if it is one of them."""
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice")
        return data


class Whole(serializers.IntegerField):
    """An integer of 64 bits."""

    def to_internal_value(self, data: Any) -> int:  # noqa: ANN401 - any JSON
        """Return ``data`` unchanged."""
        try:
            return check_bigint(data, "It")
        except Invalid as error:
            raise serializers.ValidationError(str(error)) from None


class Number(serializers.FloatField):
    """A number that a double holds."""

    def to_internal_value(self, data: Any) -> float:  # noqa: ANN401 - any JSON
        """Return ``data`` as a float."""
        if isinstance(data, bool) or not isinstance(data, int | float):
            raise serializers.ValidationError("It must be a number.")
        try:
            return float(data)
        except OverflowError:
            raise serializers.ValidationError("It must be finite.") from None


class Flag(serializers.BooleanField):
    """True or false."""

    def to_internal_value(self, data: Any) -> bool:  # noqa: ANN401 - any JSON
        """Return ``data`` unchanged."""
        if not isinstance(data, bool):
            raise serializers.ValidationError("It must be true or false.")
        return data


class Moment(serializers.DateTimeField):
    """A time with its offset: RFC 3339, down to microseconds."""

    def to_internal_value(self, value: Any) -> dt.datetime:  # noqa: ANN401 - any JSON
        """Return the time as given; the domain brings it to UTC."""
        message = "It must be a time with its offset, such as 2026-01-31T09:30:00Z."
        if not isinstance(value, str) or not _MOMENT.fullmatch(value):
            raise serializers.ValidationError(message)
        try:
            return dt.datetime.fromisoformat(value)
        except ValueError:
            raise serializers.ValidationError(message) from None


class Identifier(serializers.UUIDField):
    """A record's id."""

    def to_internal_value(self, data: Any) -> uuid.UUID:  # noqa: ANN401 - any JSON
        """Return the id."""
        try:
            return uuid.UUID(data)
        except (ValueError, AttributeError, TypeError):
            raise serializers.ValidationError("It must be a UUID.") from None


class Several(serializers.ListField):
    """A list of at most 1,000 values."""

    def to_internal_value(self, data: Any) -> list[Any]:  # noqa: ANN401 - any JSON
        """Return the values.

        Raises:
            LimitExceeded: There are more.
        """
        if isinstance(data, list) and len(data) > MOST_VALUES:
            message = f"{self.field_name} takes at most {MOST_VALUES} values."
            raise LimitExceeded(message, field=self.field_name or "")
        return super().to_internal_value(data)


@extend_schema_field({"type": "object", "additionalProperties": True})
class Object(serializers.JSONField):
    """A JSON object that ``jsonb`` can store unchanged."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
        """Return ``data`` unchanged."""
        if not isinstance(data, dict):
            raise serializers.ValidationError("It must be a JSON object.")
        try:
            check_json(data, "It")
        except Invalid as error:
            raise serializers.ValidationError(str(error)) from None
        except LimitExceeded as error:
            error.field = self.field_name or ""
            raise
        return data


@extend_schema_field(OpenApiTypes.STR)
class ObjectInQuery(Object):
    """A JSON object written into a query parameter."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:  # noqa: ANN401 - a text
        """Return the object."""
        return super().to_internal_value(read_json(data, self.field_name or "query"))


class WholeInQuery(Whole):
    """An integer written into a query parameter."""

    def to_internal_value(self, data: Any) -> int:  # noqa: ANN401 - a text
        """Return the integer."""
        if not re.fullmatch(r"-?[0-9]{1,19}", data):
            raise serializers.ValidationError("It must be an integer.")
        return super().to_internal_value(int(data))


class FlagInQuery(Flag):
    """True or false, written into a query parameter."""

    def to_internal_value(self, data: Any) -> bool:  # noqa: ANN401 - a text
        """Return what it says."""
        return super().to_internal_value({"true": True, "false": False}.get(data, data))
