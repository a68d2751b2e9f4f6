"""Django's command line for the example project."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import OperationalError

from example_project import embedded
from example_project.reach import unreachable

# These need no database unless they are told to look at one.
OFFLINE = {"check", "compilemessages", "help", "makemessages", "spectacular"}


def main() -> None:
    """Start the embedded servers where the command needs them, then run it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "example_project.settings")
    words = set(sys.argv[1:])
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    offline = command in OFFLINE and "--database" not in words
    if not offline and not words & {"-h", "--help", "--version"}:
        embedded.ensure()
    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        message = unreachable(error)
        if not message or "--traceback" in words:
            raise
        raise embedded.ServiceError(message) from error


if __name__ == "__main__":
    try:
        main()
    except embedded.ServiceError as error:
        raise SystemExit(f"error: {error}") from error
