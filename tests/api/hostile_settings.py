"""A host whose REST framework is set up quite differently, and ATOMIC_REQUESTS."""

from __future__ import annotations

from typing import Any, NoReturn

from tests.settings import *  # noqa: F403 - a few changes to them

DATABASES["default"]["ATOMIC_REQUESTS"] = True  # noqa: F405
LANGUAGE_CODE = "de"


def fail(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError


REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.BrowsableAPIRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.FormParser"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.BasicAuthentication"
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.AnonRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"anon": "1/day"},
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "tests.api.hostile_settings.fail",
    "DEFAULT_METADATA_CLASS": "tests.api.hostile_settings.fail",
    "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.AcceptHeaderVersioning",
    "ALLOWED_VERSIONS": ["9"],
    "DEFAULT_SCHEMA_CLASS": "rest_framework.schemas.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "tests.api.hostile_settings.fail",
    "NON_FIELD_ERRORS_KEY": "everything",
    "DATETIME_FORMAT": "%s",
    "STRICT_JSON": False,
    "UNICODE_JSON": False,
    "COMPACT_JSON": False,
    "URL_FORMAT_OVERRIDE": "limit",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "The host's",
    "VERSION": "9",
    "SCHEMA_PATH_PREFIX": "/nowhere",
    "POSTPROCESSING_HOOKS": ["tests.api.hostile_settings.fail"],
    "PREPROCESSING_HOOKS": ["tests.api.hostile_settings.fail"],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAdminUser"],
    "CAMELIZE_NAMES": True,
}
