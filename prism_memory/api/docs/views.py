"""The OpenAPI document and its two pages, served without a CDN."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from django.apps import apps
from django.http import HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from rest_framework.request import Request
from rest_framework.response import Response

from prism_memory.api.base import PublicView
from prism_memory.api.errors import problem
from prism_memory.api.openapi import document

TITLE = "prism_memory"
PARTS: Final = ("drf_spectacular", "drf_spectacular_sidecar")
"""What brings the templates, and the scripts and styles."""


class SchemaView(PublicView):
    """The document, as JSON."""

    def get(self, request: Request) -> Response:
        # The document stands beside the routes it tells of.
        return Response(document(request.path.rsplit("/", 1)[0]))


class SwaggerView(PublicView):
    """The document, to try out."""

    def get(self, request: Request) -> HttpResponse:
        context = {
            "title": TITLE,
            "swagger_ui_css": _sidecar("swagger-ui-dist/swagger-ui.css"),
            "swagger_ui_bundle": _sidecar("swagger-ui-dist/swagger-ui-bundle.js"),
            "swagger_ui_standalone": _sidecar(
                "swagger-ui-dist/swagger-ui-standalone-preset.js"
            ),
            "favicon_href": _sidecar("swagger-ui-dist/favicon-32x32.png"),
            "schema_url": "schema",
            "settings": json.dumps({"deepLinking": True}),
            "oauth2_config": "{}",
            "template_name_js": "drf_spectacular/swagger_ui.js",
            "csrf_header_name": "X-CSRFToken",
            "schema_auth_names": "[]",
        }
        return _page(request, "drf_spectacular/swagger_ui.html", context)


class RedocView(PublicView):
    """The document, to read."""

    def get(self, request: Request) -> HttpResponse:
        context = {
            "title": TITLE,
            "redoc_standalone": _sidecar("redoc/bundles/redoc.standalone.js"),
            "schema_url": "schema",
        }
        return _page(request, "prism_memory/redoc.html", context)


def _page(request: Request, template: str, context: Mapping[str, Any]) -> HttpResponse:
    missing = [part for part in PARTS if not apps.is_installed(part)]
    if missing:
        message = f"This page needs {' and '.join(missing)} in INSTALLED_APPS."
        return problem(HTTPStatus.NOT_IMPLEMENTED, "unsupported", message)
    return render(request, template, context)


def _sidecar(path: str) -> str:
    return static(f"drf_spectacular_sidecar/{path}")
