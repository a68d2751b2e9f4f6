"""View of ``/metrics``: parse, make one domain call, answer."""

from __future__ import annotations

from http import HTTPStatus

from django.http import HttpResponse
from django.utils.crypto import constant_time_compare
from rest_framework.request import Request

from prism_memory import metrics
from prism_memory.api.auth import bearer_token
from prism_memory.api.base import ScopedView
from prism_memory.api.operations import Operation
from prism_memory.conf import TOKEN_CHARACTERS, settings
from prism_memory.types import Permission


class MetricsView(ScopedView):
    """Tell how it runs: a tenant's operator of that tenant, a scraper of all.

    A key is bound to a tenant, so it never tells what others do. The scraper of the
    installation brings the ``METRICS_TOKEN`` of the settings.
    """

    operations = {
        "GET": Operation(
            "get_metrics",
            "Tell how it runs, in Prometheus' text format.",
            Permission.OPERATE,
            answers={HTTPStatus.OK: None},
            download="text/plain",
            refusals=(HTTPStatus.NOT_IMPLEMENTED,),
        ),
    }

    def perform_authentication(self, request: Request) -> None:
        """Refuse a request that comes with neither a grant nor the token."""
        if not is_scraper(request):
            super().perform_authentication(request)

    def check_permissions(self, request: Request) -> None:
        """Refuse a grant that lacks permission."""
        if not is_scraper(request):
            super().check_permissions(request)

    def get(self, request: Request) -> HttpResponse:
        self.query(request)
        scope = None if is_scraper(request) else self.memory(request).scope
        text = metrics.exposed(using=settings.DATABASE, scope=scope)
        return HttpResponse(text, content_type=metrics.MEDIA_TYPE)


def is_scraper(request: Request) -> bool:
    """Tell whether a request brings the token of the settings. No query."""
    token: object = settings.METRICS_TOKEN
    if not isinstance(token, str) or len(token) < TOKEN_CHARACTERS:
        return False
    return constant_time_compare(bearer_token(request), token)
