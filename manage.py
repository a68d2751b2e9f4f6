"""Django's command line for the example project."""

import os
import sys

from django.core.management import execute_from_command_line

from example_project import embedded

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
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
