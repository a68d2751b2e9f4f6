"""A database URL in libpq's form, read into Django's settings."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

from example_project.embedded import ServiceError


class BadAddress(ServiceError, ValueError):
    """DATABASE_URL must look like postgresql://user@host:port/name."""

    def __init__(self) -> None:
        # The address itself is not told: it may hold a password.
        super().__init__(type(self).__doc__)


def database_settings(url: str) -> dict[str, object]:
    """Read ``postgresql://user:password@host:port/name?host=/socket/folder``.

    Query parameters other than ``host`` and ``port`` (``sslmode``, …) go to libpq.

    Raises:
        BadAddress: The URL is of another scheme, names no database or is none.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadAddress from None
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in ("postgres", "postgresql") or not name:
        raise BadAddress
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": options.pop("port", str(port or "")),
        "OPTIONS": options,
    }
