"""The command line of the embedded servers."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

from example_project.embedded import (
    ServiceError,
    Services,
    ensure,
    known_names,
    state_root,
)

MEANINGS = {
    "status": "say what runs, and where",
    "start": "start the servers and leave them running",
    "stop": "stop the servers, and keep their data",
    "remove": "stop the servers, and remove their data",
    "run": "run a program with the servers up, and stop them after it",
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command; see ``--help``."""
    options = _parser().parse_args(arguments)
    names = [options.name] if options.name else known_names()
    if options.command == "run":
        return _run(options.name, options.program)
    if options.command == "start":
        names = [ensure(options.name).name]
    elif options.command in ("stop", "remove"):
        _stop(names)
    if options.command == "remove":
        _remove(names, everything=not options.name)
    elif options.command in ("status", "start"):
        _print_status(names)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m example_project.embedded",
        description="This checkout's own PostgreSQL and Valkey.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for command, meaning in MEANINGS.items():
        subparser = commands.add_parser(command, help=meaning, description=meaning)
        default = "demo" if command in ("start", "run") else "all"
        subparser.add_argument("--name", help=f"demo, test … (default: {default})")
        if command == "run":
            subparser.add_argument("program", nargs=argparse.REMAINDER)
    return parser


def _stop(names: list[str]) -> None:
    for name in names:
        for server in Services(name).stop():
            print(f"stopped {server}")


def _remove(names: list[str], *, everything: bool) -> None:
    root = state_root()
    for folder in [root] if everything else [root / name for name in names]:
        if folder.exists():
            shutil.rmtree(folder)
            print(f"removed {folder}")


def _print_status(names: list[str]) -> None:
    for name in names:
        print("\n".join(Services(name).status()))
    if not names:
        print("nothing was started in this checkout")


def _run(name: str | None, program: list[str]) -> int:
    words = program[1:] if program[:1] == ["--"] else program
    if not words:
        print("run: name a program after --", file=sys.stderr)
        return 2
    services = Services(name)
    with services.running():
        environment = os.environ | {"PRISM_SERVICES": services.name}
        return subprocess.run(words, env=environment, check=False).returncode


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except ServiceError as error:
        raise SystemExit(f"error: {error}") from error
