"""A database URL in libpq's form, read into Django's settings."""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit


def database_settings(url: str) -> dict[str, object]:
    """Read ``postgresql://user:password@host:port/name?host=/socket/folder``.

    Query parameters other than ``host`` and ``port`` (``sslmode``, …) go to libpq.

    Raises:
        ValueError: The URL is of another scheme or names no database.
    """
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in ("postgres", "postgresql") or not name:
        raise ValueError("DATABASE_URL must look like postgresql://user@host/name")
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": options.pop("port", str(parts.port or "")),
        "OPTIONS": options,
    }
