"""Addresses of pages. Those of a tenant's rows carry the tenant beside the id.

A link whose page the viewer may not see is plain text instead.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin.utils import quote, unquote
from django.db.models import Model
from django.http import Http404
from django.urls import reverse
from django.utils.html import format_html

from prism_memory.admin.characters import shown
from prism_memory.models import (
    AccessKey,
    AuditEvent,
    EmbeddingSpace,
    Record,
    RetentionPolicy,
)
from prism_memory.models.base import TenantModel

SEPARATOR = "~"
_VIEWER: ContextVar[Any] = ContextVar("prism_memory_admin_viewer", default=None)
LONG = 36
"""Characters of an id."""
OF_TENANTS = frozenset({"record", "policy"})
"""Kinds of refs whose rows are a tenant's."""


class Address(str):
    """An address of this admin, which knows whose rows are shown there."""

    __slots__ = ("model",)
    model: type[Model] | None


@contextmanager
def seen_by(user: object) -> Iterator[None]:
    """Write links for this user, who may not look everywhere."""
    token = _VIEWER.set(user)
    try:
        yield
    finally:
        _VIEWER.reset(token)


def may_view(user: Any, model: type[Model]) -> bool:  # noqa: ANN401 - any user model
    """Tell whether a user may look at rows of ``model``."""
    name = model._meta.model_name  # noqa: SLF001 - Django's own way
    rights = (f"prism_memory.{verb}_{name}" for verb in ("view", "change"))
    return any(user.has_perm(right) for right in rights)


def leads(address: str) -> bool:
    """Tell whether the viewer may see the page at an address."""
    model, viewer = getattr(address, "model", None), _VIEWER.get()
    return model is None or viewer is None or may_view(viewer, model)


def object_id(row: Model) -> str:
    """Return what names ``row`` in an address: ``<uuid>~<tenant>`` or its key."""
    if isinstance(row, TenantModel):
        return f"{row.pk}{SEPARATOR}{row.tenant}"
    return str(row.pk)


def read_object_id(quoted: str) -> tuple[uuid.UUID, str]:
    """Return id and tenant from an address.

    Raises:
        Http404: It names neither.
    """
    text, separator, tenant = unquote(quoted).partition(SEPARATOR)
    try:
        found = uuid.UUID(text)
    except ValueError:
        raise Http404 from None
    if not separator or "\0" in tenant:
        raise Http404
    return found, tenant


def page(model: type[Model], name: str, identity: str | None = None) -> str:
    """Return the address of a page of ``model``."""
    route = f"admin:prism_memory_{model._meta.model_name}_{name}"  # noqa: SLF001
    plain = reverse(route, args=[] if identity is None else [quote(identity)])
    # Who may add may not have to look, so such a page asks for itself.
    return _address(plain, None if name == "add" else model)


def _address(plain: str, model: type[Model] | None) -> Address:
    found = Address(plain)
    found.model = model
    return found


def row_page(row: Model, name: str = "change") -> str:
    """Return the address of a page of one row."""
    return page(type(row), name, object_id(row))


def list_page(model: type[Model], **wish: object) -> str:
    """Return the address of a list, narrowed."""
    address = page(model, "changelist")
    return _address(f"{address}?{urlencode(wish)}", model) if wish else address


def with_wish(address: str, wish: Mapping[str, str]) -> str:
    """Return an address that carries what a list's does."""
    return f"{address}?{urlencode(wish)}" if wish else address


def tenant_wish(tenant: str) -> dict[str, str]:
    """Return what names a tenant in a list's address; '' is the installation."""
    return {"tenant": tenant} if tenant else {"installation": "1"}


def anchor(address: str, label: object) -> Any:  # noqa: ANN401 - a SafeString
    """Return a link; ``label`` is escaped and its hidden characters shown.

    The label alone where the viewer may not follow.
    """
    if not leads(address):
        return format_html("{}", _label(label))
    return format_html('<a href="{}">{}</a>', address, _label(label))


def _label(label: object) -> object:
    return label if hasattr(label, "__html__") else shown(str(label))


def code(value: object) -> Any:  # noqa: ANN401 - a SafeString
    """Return an id or a hash as such; a long one has room for half of it."""
    text = str(value)
    room = " pm-long" if len(text) >= LONG and " " not in text else ""
    return format_html('<code class="pm-ref{}">{}</code>', room, shown(text))


def ref_link(tenant: str, ref: str) -> Any:  # noqa: ANN401 - a SafeString
    """Return a ref such as ``record:<uuid>``, linked where it has a page."""
    kind, _, name = ref.partition(":")
    models: dict[str, type[Model]] = {
        "record": Record,
        "key": AccessKey,
        "space": EmbeddingSpace,
        "policy": RetentionPolicy,
    }
    if kind not in models or not _is_identity(kind, name):
        return code(ref)
    identity = f"{name}{SEPARATOR}{tenant}" if kind in OF_TENANTS else name
    return anchor(page(models[kind], "change", identity), code(ref))


def _is_identity(kind: str, name: str) -> bool:
    if kind == "space":
        return name.isdecimal() and name.isascii() and len(name) < 10
    try:
        return bool(uuid.UUID(name))
    except ValueError:
        return False


def audit_of(tenant: str, target: str) -> str:
    """Return the address of the audit of one target."""
    return list_page(AuditEvent, **tenant_wish(tenant), target=target)
