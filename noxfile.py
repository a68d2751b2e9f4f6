"""Every check, by one name: ``nox`` runs what CI runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox

nox.options.sessions = ["lint", "types", "tests"]
# `make install` made the environment already; only the matrix builds its own.
nox.options.default_venv_backend = "none"

# The tools beside this interpreter, whether or not its environment is activated.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

PACKAGES = ["prism_memory", "tests", "example_project", "benchmarks"]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
DJANGOS = ["5.2", "6.0", "6.1"]
POSTGRES_VERSIONS = ["16", "18"]
# Two processes, each with a database of its own: CI has two cores.
PARALLEL = ["-n", "2", "--dist", "worksteal"]


@nox.session
def lint(session: nox.Session) -> None:
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")
    session.run("python", "manage.py", "makemigrations", "--check", "--dry-run")
    session.run(
        "python", "-W", "error", "manage.py", "check", "--fail-level", "WARNING"
    )


@nox.session
def types(session: nox.Session) -> None:
    session.run("mypy", *[name for name in PACKAGES if Path(name).is_dir()])


@nox.session
def tests(session: nox.Session) -> None:
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", *PARALLEL, *session.posargs)
    session.run("coverage", "combine", "--quiet")
    session.run("coverage", "report")


@nox.session
def soak(session: nox.Session) -> None:
    """Faults of real processes, and the properties on many more examples: a night.

    ``nox -s soak -- -m soak`` has the faults alone.
    """
    session.env["PRISM_SOAK"] = os.environ.get("PRISM_SOAK", "20")
    slow = ["-m", "soak or hypothesis", "--timeout", "7200"]
    session.run("python", "-m", "pytest", *PARALLEL, *slow, *session.posargs)


@nox.session(venv_backend="venv", python=PYTHONS)
@nox.parametrize("postgres", POSTGRES_VERSIONS)
@nox.parametrize("django", DJANGOS)
def matrix(session: nox.Session, django: str, postgres: str) -> None:
    """The tests on each supported Python, Django and PostgreSQL."""
    if session.python == "3.11" and django != "5.2":
        session.skip("Django 6 needs Python 3.12")
    extras = ".[api,celery,embedded,files,metrics,minilm,openai,otel]"
    session.install("--constraint", _lock_without_django(session), "-e", extras)
    session.install(*nox.project.dependency_groups(nox.project.load_toml(), "dev"))
    session.install(f"django~={django}.0")
    session.env["PRISM_POSTGRES_VERSION"] = postgres
    session.run("python", "-m", "pytest", *PARALLEL, *session.posargs)


def _lock_without_django(session: nox.Session) -> str:
    """Pin all but Django, which the matrix chooses."""
    lock = Path("requirements.lock").read_text().splitlines()
    pins = [line for line in lock if not line.startswith("django==")]
    constraints = Path(session.create_tmp()) / "constraints.txt"
    constraints.write_text("\n".join(pins))
    return str(constraints)
