"""Let a page ask for the rows of its address's tenant, and link for who looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse

from prism_memory.admin import links
from prism_memory.conf import settings
from prism_memory.db.tenancy import acting_for

View = Callable[..., HttpResponse]


def acting(view: View) -> View:
    """Return a view that PostgreSQL's row-level security lets see its tenant's rows.

    Whether the user may look is still the view's to decide; its links lead only to
    where they may.
    """

    @wraps(view)
    def within(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        with links.seen_by(getattr(request, "user", None)):
            if not settings.ROW_SECURITY:
                return view(request, *args, **kwargs)
            with acting_for(_tenant(request, kwargs)):
                response = view(request, *args, **kwargs)
                if isinstance(response, SimpleTemplateResponse):
                    response.render()  # templates ask too, and would after this block
                return response

    return within


def _tenant(request: HttpRequest, kwargs: Mapping[str, object]) -> str:
    """Return the tenant that the address names; empty is the installation."""
    try:
        return links.read_object_id(str(kwargs.get("object_id", "")))[1]
    except Http404:
        named = request.GET.get("tenant") or request.POST.get("tenant", "")
        return "" if "\0" in named else named
