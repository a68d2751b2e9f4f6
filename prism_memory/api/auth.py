"""From a request to a ``Grant``: by an access key, or by the host's resolver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest
from django.utils import timezone
from django.utils.module_loading import import_string
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from prism_memory.conf import settings
from prism_memory.errors import Misconfigured
from prism_memory.lifecycle import authenticate
from prism_memory.types import Grant

CHALLENGE: Final = 'Bearer realm="prism_memory"'
SCHEME: Final = "bearer"
TOKEN_START: Final = "pm_"  # noqa: S105 - what every token begins with


@dataclass(frozen=True)
class Caller:
    """Who stands in ``request.user``: no row of the host's users."""

    pk: str
    is_authenticated: bool = True
    is_active: bool = True
    is_anonymous: bool = False
    is_staff: bool = False
    is_superuser: bool = False

    def __str__(self) -> str:
        return self.pk


class AccessKeyAuthentication(BaseAuthentication):
    """``Authorization: Bearer pm_<id>_<secret>``. One query; see ``authenticate``."""

    def authenticate(self, request: Request) -> tuple[Caller, Grant] | None:
        """Return the caller and the grant; None for another kind of credentials.

        Raises:
            AuthenticationFailed: The token opens nothing. Unknown, wrong, expired and
                revoked ones look the same.
        """
        token = bearer_token(request)
        if not token.startswith(TOKEN_START):
            return None
        grant = authenticate(using=settings.DATABASE, token=token, at=timezone.now())
        if grant is None:
            raise AuthenticationFailed
        return Caller(grant.actor.name), grant


class ResolverAuthentication(BaseAuthentication):
    """The setting ``API_RESOLVER``: the host says what a request of its own opens.

    Where cookies come along, Django's CSRF check must pass: a browser sends them with
    whatever a foreign page makes it send. It never adds a Bearer token by itself.
    """

    def authenticate(self, request: Request) -> tuple[Caller, Grant] | None:
        """Return the caller and the grant; None where the host vouches for nothing.

        Raises:
            PermissionDenied: The CSRF check failed.
            Misconfigured: The resolver answered with something else than a grant.
        """
        # As the host's middleware left it, with the host's own request.user.
        plain: HttpRequest = request._request  # noqa: SLF001 - there is no public name
        resolve = import_string(settings.API_RESOLVER)
        grant: object = resolve(plain)
        if grant is None:
            return None
        if not isinstance(grant, Grant):
            message = f"API_RESOLVER answered with a {type(grant).__name__}, no Grant."
            raise Misconfigured(message)
        if plain.COOKIES and not bearer_token(request):
            SessionAuthentication().enforce_csrf(request)
        return Caller(grant.actor.name), grant


def bearer_token(request: Request) -> str:
    """Return the token of the Authorization header, or an empty text."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == SCHEME else ""


def authenticators() -> list[BaseAuthentication]:
    """Return what the settings ask for, in their order; the resolver comes last."""
    chain = [import_string(path)() for path in settings.API_AUTHENTICATION]
    return [*chain, ResolverAuthentication()] if settings.API_RESOLVER else chain
