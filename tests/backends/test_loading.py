from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from prism_memory.backends.loading import PerProcess, load, load_onnxruntime, require
from prism_memory.errors import Misconfigured
from tests.backends import fakes


def test_threads_that_come_together_get_one_value() -> None:
    made: list[object] = []

    def make() -> object:
        time.sleep(0.1)  # so that the others wait for it
        made.append(object())
        return made[-1]

    value = PerProcess(make)
    with ThreadPoolExecutor(4) as pool:
        found = {id(each) for each in pool.map(lambda _: value.get(), range(4))}

    assert len(made) == len(found) == 1


def test_what_was_taken_back_is_made_again() -> None:
    value = PerProcess(object)
    first = value.get()

    assert value.pop() is first
    assert value.pop() is None
    assert value.get() is not first


def test_a_child_starts_anew() -> None:
    value = PerProcess(object)
    first = value.get()

    value.renew()
    assert value.get() is not first

    unused = PerProcess(object)
    unused.renew()
    assert unused.pop() is None


def test_telemetry_stays_as_the_host_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = fakes.onnxruntime()
    monkeypatch.delattr(runtime, "disable_telemetry_events")  # asked for: an error
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    monkeypatch.setenv("ORT_DISABLE_TELEMETRY", "0")

    assert load_onnxruntime(extra="local") is runtime


def test_a_package_that_cannot_be_imported_is_told_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_installed.py").write_text("import nowhere_to_be_found")
    monkeypatch.syspath_prepend(tmp_path)

    require("half_installed", extra="local")  # it is there, and nothing runs it
    with pytest.raises(Misconfigured, match=r"django-prism-memory\[local\]"):
        load("half_installed", extra="local")
