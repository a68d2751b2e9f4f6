"""The options of the app's commands, and what they may name."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.core.management.base import (
    CommandError,
    CommandParser,
    DjangoHelpFormatter,
)
from django.db import connections

from prism_memory.conf import NAMESPACE, settings
from prism_memory.errors import PrismMemoryError
from prism_memory.management.command import FAILED
from prism_memory.models import EmbeddingSpace, Tenant
from prism_memory.types import check_name

USAGE: Final = 2


def add_actions(
    parser: CommandParser, meanings: Mapping[str, str]
) -> dict[str, argparse.ArgumentParser]:
    """Add a parser for each action; Django's options may stand on either side of it."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    made: dict[str, argparse.ArgumentParser] = {}
    for name, meaning in meanings.items():
        made[name] = actions.add_parser(
            name,
            help=meaning,
            description=meaning,
            formatter_class=DjangoHelpFormatter,
            parents=[_global_options()],
        )
    return made


def _global_options() -> CommandParser:
    # Suppressed: what is not given here must not undo what stands before the action.
    options = CommandParser(add_help=False, argument_default=argparse.SUPPRESS)
    options.add_argument("-v", "--verbosity", type=int, choices=[0, 1, 2, 3])
    for name in ("--settings", "--pythonpath"):
        options.add_argument(name)
    for name in ("--traceback", "--no-color", "--force-color", "--skip-checks"):
        options.add_argument(name, action="store_true")
    for action in options._actions:  # noqa: SLF001 - Django's help says what they do
        action.help = "As everywhere in Django."
    return options


def add_common(parser: argparse.ArgumentParser, *, alias: bool = False) -> None:
    """Add what most commands take."""
    parser.add_argument(
        "--database",
        default=None,
        help="Database alias; PRISM_MEMORY['DATABASE'] when not given.",
    )
    if alias:
        parser.add_argument(
            "--alias",
            default=None,
            help="Embedder's alias; PRISM_MEMORY['EMBEDDER'] when not given.",
        )
    parser.add_argument(
        "--json", action="store_true", help="Print the result as JSON on stdout."
    )


def add_tenant(parser: argparse.ArgumentParser, meaning: str, **more: Any) -> None:
    """Add ``--tenant``; an empty one is none, and never all of them."""
    parser.add_argument(
        "--tenant", type=tenant_name, default=None, help=meaning, **more
    )


def tenant_name(given: str) -> str:
    """Return an argument that can name a tenant."""
    try:
        return check_name(given, "the name")
    except PrismMemoryError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def database(options: dict[str, Any]) -> str:
    """Return the database alias that is meant.

    Raises:
        CommandError: There is none of that name, or it is not PostgreSQL.
    """
    alias = options["database"] or settings.DATABASE
    origin = "--database" if options["database"] else f"{NAMESPACE}['DATABASE']"
    if alias not in list(connections):
        known = ", ".join(map(repr, connections))
        message = f"{origin}: {alias!r} is not in DATABASES; there are {known}."
        raise CommandError(message, returncode=USAGE)
    if (vendor := connections[alias].vendor) != "postgresql":
        message = f"{origin}: the database {alias!r} is {vendor}, not PostgreSQL."
        raise CommandError(message, returncode=USAGE)
    return str(alias)


def known_tenant(options: dict[str, Any]) -> str | None:
    """Return ``--tenant``, or None where it was not given. One query.

    Raises:
        CommandError: Nothing was ever remembered under that name.
    """
    name: str | None = options["tenant"]
    tenants = Tenant.objects.using(database(options)).filter(name=name)
    if name is not None and not tenants.exists():
        message = f"--tenant: nothing was ever remembered as {name!r}."
        raise CommandError(message, returncode=FAILED)
    return name


def between(low: int, high: int) -> Callable[[str], int]:
    """Return an argument's type: an integer of these bounds."""

    def integer(given: str) -> int:
        if not given.isascii() or not given.isdigit() or not low <= int(given) <= high:
            message = f"must be an integer of {low} to {high}"
            raise argparse.ArgumentTypeError(message)
        return int(given)

    return integer


def known_alias(options: dict[str, Any]) -> str:
    """Return the embedder's alias that is meant.

    Raises:
        CommandError: ``--alias`` is not in the settings, nor are there vectors of it.
    """
    alias: str | None = options["alias"]
    if alias is None or alias in settings.EMBEDDERS:
        return alias or settings.EMBEDDER
    # The space of an alias that was taken out of the settings can still be dropped.
    spaces = EmbeddingSpace.objects.using(database(options)).filter(alias=alias)
    if not spaces.exists():
        near = difflib.get_close_matches(alias, settings.EMBEDDERS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        message = f"--alias: {alias!r} is not among EMBEDDERS.{hint}"
        raise CommandError(message, returncode=FAILED)
    return alias
