"""The public surface: importable without models, documented, keyword-only, typed."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

import prism_memory
from prism_memory import access, audit, indexing, lifecycle, recall, runs
from prism_memory.memory import Memory

PACKAGES: Final = [indexing, lifecycle, recall, runs]
MODULES: Final = [access, audit]

POSITIONAL: Final = {
    "back_off_seconds": "Arithmetic on one number.",
    "in_host_transaction": "Asks about one connection.",
    "embedder_of": "Asks about one space.",
    "space_of": "Converts one row.",
    "index_name": "Names one space's index.",
    "convex": "Pure: scores first, as in the literature.",
    "with_context": "Pure: scores first.",
    "reciprocal_rank": "Pure: candidates first, as in the literature.",
    "fuse_rrf": "Pure: lists first, as in the literature.",
    "fuse_weighted": "As fuse_rrf.",
    "fuse": "As fuse_rrf, after the query.",
    "set_reranker": "Takes the one thing that it sets.",
    "fit_weights": "Pure: labelled cases first.",
    "ndcg": "Pure: a ranking first.",
    "blend": "Pure: scores first.",
    "coverage": "Pure: asks of one text by another.",
    "difficulty": "Pure: asks about one question.",
    "deep": "Pure: the question first.",
    "advance": "A method on a run, but for its name.",
    "announce": "As advance.",
    "done_and_total": "As advance.",
    "expect": "As advance.",
    "failing": "As advance.",
    "finish": "As advance.",
    "is_silent": "As advance.",
    "per_second": "As advance.",
    "percent": "As advance.",
    "rest": "As advance.",
    "silent_since": "Arithmetic on one time.",
}
"""Functions that take something by position, and why. No operation is among them."""


def public_functions() -> Iterator[Callable[..., Any]]:
    for package in PACKAGES:
        for name in package.__all__:
            item = getattr(package, name)
            if inspect.isfunction(item):
                yield item
    for module in MODULES:
        for name, item in vars(module).items():
            own = inspect.isfunction(item) and item.__module__ == module.__name__
            if own and not name.startswith("_"):
                yield item


FUNCTIONS: Final = [*public_functions()]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__qualname__)
def test_a_public_function_is_documented_typed_and_keyword_only(
    function: Callable[..., Any],
) -> None:
    signature = inspect.signature(function)
    doc = inspect.getdoc(function) or ""

    assert doc.splitlines()[0].endswith((".", ":"))
    assert "return" in function.__annotations__
    for parameter in signature.parameters.values():
        assert parameter.annotation is not parameter.empty
        named = parameter.kind is parameter.KEYWORD_ONLY
        assert named or function.__name__ in POSITIONAL


def test_what_may_be_positional_exists() -> None:
    assert {*POSITIONAL} <= {function.__name__ for function in FUNCTIONS}


@pytest.mark.parametrize(
    "verb",
    [f for f in FUNCTIONS if f.__module__.startswith("prism_memory.lifecycle")],
    ids=lambda f: f.__qualname__,
)
def test_a_verb_is_told_the_time(verb: Callable[..., Any]) -> None:
    """Nothing below the doors asks the clock, so that tests and repairs can."""
    told = {"at", "trace"}  # a trace holds its own time
    assert told & {*inspect.signature(verb).parameters}


METHODS: Final = sorted(
    name
    for name, _ in inspect.getmembers(Memory, inspect.isfunction)
    if not name.startswith("_")
)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_of_a_memory_is_documented_and_typed(name: str) -> None:
    method = getattr(Memory, name)
    assert inspect.getdoc(method)
    assert "return" in method.__annotations__


def test_every_method_has_its_asynchronous_twin() -> None:
    plain = {n for n in METHODS if not inspect.iscoroutinefunction(getattr(Memory, n))}
    assert {*METHODS} - plain == {f"a{name}" for name in plain}


@pytest.mark.parametrize("name", prism_memory.__all__)
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(prism_memory, name)


def test_a_name_that_is_not_public_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="'Recrod'"):
        prism_memory.Recrod  # noqa: B018 - the access is the test


def python(code: str, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )


def test_importing_the_package_loads_no_model_and_needs_no_settings() -> None:
    """B31: it can stand in a settings file."""
    code = (
        "import sys, prism_memory;"
        "from prism_memory import Scope, Origin, Trust, Entry;"
        "Scope('acme', owner='ada'); Origin(Trust.USER, 'ada'); Entry('x');"
        "assert not [n for n in sys.modules if n.startswith('prism_memory.models')];"
        "assert 'django' not in sys.modules, 'the values are pure'"
    )
    done = python(code, "-W", "error", "-X", "dev")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_core_needs_neither_rest_framework_nor_celery() -> None:
    """B31: a plain Django process remembers and recalls without them."""
    code = (
        "import sys;"
        "sys.modules |= dict.fromkeys(['rest_framework', 'celery', 'kombu']);"
        "from django.conf import settings;"
        "settings.configure(INSTALLED_APPS=['prism_memory']);"
        "import django;"
        "from importlib import util; found = util.find_spec;"
        "util.find_spec = lambda n, *a: None if n == 'celery' else found(n, *a);"
        "django.setup();"
        "from prism_memory import Memory, Scope; Memory(Scope('acme', owner='ada'));"
        "from django.core.checks import run_checks; run_checks()"
    )
    done = python(code, "-W", "error")
    assert (done.returncode, done.stderr) == (0, "")
