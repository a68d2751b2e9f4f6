"""Let a person switch to a space, build it again, or drop it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from prism_memory import indexing
from prism_memory.admin import links
from prism_memory.admin.asking import Ask, ReasonForm, Told, ask
from prism_memory.admin.parts import Tool
from prism_memory.admin.readonly import ReadOnlyAdmin, actor
from prism_memory.admin.using import using
from prism_memory.models import EmbeddingSpace, SpaceState
from prism_memory.types import Actor


@dataclass(frozen=True)
class Deed:
    """What a person can do to a space.

    Args:
        states: Of the spaces that it can be done to.
        right: The permission that it takes.
        done: What is said afterwards.
    """

    name: str
    ask: Ask
    states: frozenset[str]
    right: str
    done: Any
    verb: Callable[[EmbeddingSpace, Actor, str], object]


def _switch(row: EmbeddingSpace, who: Actor, reason: str) -> None:
    now = timezone.now()
    space = indexing.switch_space(
        using=using(), alias=row.alias, actor=who, at=now, reason=reason
    )
    for tenant in indexing.tenants(using=using()):
        indexing.recount(using=using(), tenant=tenant, space=space)


def _reopen(row: EmbeddingSpace, who: Actor, reason: str) -> None:
    del reason  # a space that is built answers nobody: there is little to account for
    indexing.build_space(
        using=using(),
        alias=row.alias,
        backend=indexing.space_of(row).entry,
        actor=who,
        at=timezone.now(),
    )


def _drop(row: EmbeddingSpace, who: Actor, reason: str) -> None:
    indexing.drop_space(
        using=using(), space_id=row.id, actor=who, at=timezone.now(), reason=reason
    )


DEEDS: Final = (
    Deed(
        "switch",
        Ask(
            _("Let this space answer?"),
            _("Switch to this space"),
            about=_(
                "Recall goes by its vectors from one moment to the next, where it lacks"
                " none; else it is refused. The other one is kept, and can be built and"
                " switched to again."
            ),
        ),
        frozenset({SpaceState.BUILDING}),
        "prism_memory.change_embeddingspace",
        _("This space answers now."),
        _switch,
    ),
    Deed(
        "reopen",
        Ask(
            _("Build this space again?"),
            _("Build again"),
            about=_(
                "What is written goes to it too, and workers give it what it lacks"
                " within minutes. Then it can be switched to."
            ),
        ),
        frozenset({SpaceState.RETIRED}),
        "prism_memory.change_embeddingspace",
        _("It is being built."),
        _reopen,
    ),
    Deed(
        "drop",
        Ask(
            _("Drop this space?"),
            _("Drop"),
            about=_(
                "Its vectors and its index are deleted; the records stay. Of a large"
                " space this takes long: prism_memory_index drop --space does the same."
            ),
            danger=True,
        ),
        frozenset(SpaceState) - {SpaceState.ACTIVE},
        "prism_memory.delete_embeddingspace",
        _("The space is dropped."),
        _drop,
    ),
)


def space_tools(request: HttpRequest, row: EmbeddingSpace) -> list[Tool]:
    """Return the buttons, for who may, that a space in its state has."""
    return [
        Tool(deed.ask.label, links.row_page(row, deed.name))
        for deed in DEEDS
        if row.state in deed.states and request.user.has_perm(deed.right)
    ]


def deed_view(
    page: ReadOnlyAdmin, request: HttpRequest, row: EmbeddingSpace, name: str
) -> HttpResponse:
    """Ask why, or do it."""
    deed = next(one for one in DEEDS if one.name == name)
    if not request.user.has_perm(deed.right):
        raise PermissionDenied
    if row.state not in deed.states:
        raise Http404
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _done(request, row, deed, form.cleaned_data["reason"])
    return ask(page, request, row, form, deed.ask)


def _done(
    request: HttpRequest, row: EmbeddingSpace, deed: Deed, reason: str
) -> HttpResponse:
    with Told(request) as told:
        deed.verb(row, actor(request), reason)
    gone: Any = deed.name == "drop" and not told.refused
    if not told.refused:
        messages.success(request, deed.done)
    there = links.list_page(EmbeddingSpace) if gone else links.row_page(row)
    return HttpResponseRedirect(there)
