"""What is optional and missing is named, with how to install it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from example_project.embedded import CHECKOUT

WITHOUT = """
import sys
for name in {hidden!r}:
    sys.modules[name] = None
import django
from django.conf import settings
settings.configure(INSTALLED_APPS=["prism_memory"])
django.setup()
import {module}
"""


@pytest.mark.parametrize(
    ("module", "hidden", "extra"),
    [
        ("prism_memory.api.urls", ("rest_framework",), "api"),
        ("prism_memory.api.urls", ("drf_spectacular",), "api"),
        ("prism_memory.tasks", ("celery", "kombu"), "celery"),
    ],
)
def test_a_door_without_its_extra_says_how_to_install_it(
    module: str,
    hidden: tuple[str, ...],
    extra: str,
) -> None:
    script = WITHOUT.format(hidden=hidden, module=module)

    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )

    last = ran.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: The ")
    assert last.endswith(f'pip install "django-prism-memory[{extra}]"')
