"""The demo, on real servers, with a real worker that is really killed."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from example_project.demo import conversations, worker
from example_project.demo.__main__ import said_of
from example_project.demo.screen import Claims, styled
from example_project.embedded import CHECKOUT, Services
from example_project.embedded.places import exclusive
from prism_memory.ingest import read_locomo
from prism_memory.models import Embedding, Record

DEMO = [
    *(sys.executable, "-m", "example_project.demo"),
    *("--settings", "tests.example_project.demo_settings"),
]


@pytest.fixture
def environment(child_environment, tmp_path):
    """Of a demo; no other test process runs one on these servers meanwhile."""
    own = {"PRISM_SERVICES": "test", "PRISM_SHARED": "/nowhere"}
    with exclusive(Services("test").folder / "demo-tests"):
        yield child_environment | own | {"TMPDIR": str(tmp_path)}


def start(environment, data=conversations.OURS):
    return subprocess.Popen(
        [*DEMO, "--data", str(data)],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.django_db(transaction=True)
def test_all_that_the_demo_claims_holds(environment, tmp_path):
    """Remember, index through a killed worker, recall, isolate, revoke; B2, C02."""
    with start(environment) as demo:
        said, _ = demo.communicate()
    assert demo.returncode == 0, said
    assert "All 14 claims held." in said
    assert "SIGKILL at " in said
    assert not [*tmp_path.iterdir()], "what a killed worker leaves of its pool"
    assert not (Services("test").folder / "demo-tmp").exists()
    assert "\x1b" not in said
    assert "\r" not in said
    assert Record.objects.count() == 72
    assert Embedding.objects.filter(vector=None).count() == 0
    assert Record.objects.filter(visible=False).count() == 1


@pytest.mark.django_db(transaction=True)
def test_it_holds_on_the_published_conversations_too(environment, shared_dir):
    """Other people's words: what is found, and by which leg, is not ours to know."""
    published = shared_dir / "data" / "locomo-dev.json"
    if not published.is_file():
        pytest.skip("the published conversations are not at hand")
    with start(environment, published) as demo:
        said, _ = demo.communicate()
    assert demo.returncode == 0, said
    assert "All 14 claims held." in said


@pytest.mark.django_db(transaction=True)
def test_ctrl_c_stops_the_demo_and_what_it_started(environment):
    with start(environment) as demo:
        process = psutil.Process(demo.pid)
        while demo.poll() is None and not Embedding.objects.exclude(vector=None):
            time.sleep(0.05)
        started = process.children(recursive=True)
        demo.send_signal(signal.SIGINT)
        said, _ = demo.communicate()
    assert started
    assert (demo.returncode, said.splitlines()[-1]) == (130, "Stopped.")
    assert not [child for child in started if is_alive(child)]


def is_alive(process):
    """A process that ended and that nobody waited for is not alive."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.django_db(transaction=True)
def test_a_second_demo_on_the_same_servers_is_refused(environment):
    with (Services("test").folder / "demo-lock").open("a") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        with start(environment) as demo:
            said, _ = demo.communicate()
    assert demo.returncode == 1
    assert "error: another demo runs in this checkout" in said


def test_one_earlier_demo_is_one():
    assert said_of(1).startswith("1 earlier demo stays")
    assert said_of(2).startswith("2 earlier demos stay")


def test_a_claim_that_breaks_ends_with_1_and_is_named(capsys):
    claims = Claims()
    claims.check("Water is wet", True)  # noqa: FBT003 - a claim holds or it does not
    assert claims.verdict() == 0
    claims.check("Stones float", [], "they sank")
    assert claims.verdict() == 1
    assert "✗ Stones float (they sank)" in capsys.readouterr().out


def test_colour_is_for_terminals_whose_user_wishes_it(monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert styled("yes", "1") == "\x1b[1myes\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert styled("yes", "1") == "yes"


def test_our_own_conversations_are_whole():
    data = conversations.OURS.read_bytes()
    turns = list(read_locomo([data], tenant="acme"))
    assert len(turns) == 2 * 3 * 12
    assert all(item.entry.happened_at for item in turns)
    found = conversations.read(conversations.OURS, 2)
    assert [item.turns for item in found] == [36, 36]
    for item in found:
        assert conversations.labelled(item) == list(item.questions)
        assert len(conversations.examples(item)) == 3


def by_length(name, question, k):
    """Rank the turns of our own data by nothing that matters."""
    known = [f"D{session}:{turn}" for session in range(1, 4) for turn in range(1, 13)]
    return sorted(known, key=lambda key: (len(question) * 7 + len(key), key))[:k]


def test_our_own_score_is_that_of_the_evaluation_script(shared_dir, monkeypatch):
    chosen = conversations.read(conversations.OURS, 2)
    monkeypatch.setenv("PRISM_SHARED", str(shared_dir))
    theirs = conversations.measure(by_length, conversations.OURS, chosen)
    monkeypatch.setenv("PRISM_SHARED", "/nowhere")
    ours = conversations.measure(by_length, conversations.OURS, chosen)
    assert 0 < ours.recall_at_10 < 1
    assert theirs.recall_at_10 == pytest.approx(ours.recall_at_10, abs=1e-4)
    assert theirs.questions == ours.questions == 24
    assert (theirs.measured_by, ours.measured_by) == (
        "locomo_eval.py",
        "the demo itself",
    )


def test_the_published_conversations_are_taken_where_they_are(shared_dir, monkeypatch):
    monkeypatch.setenv("PRISM_SHARED", str(shared_dir))
    assert conversations.data_file() == shared_dir / "data" / "locomo-dev.json"
    monkeypatch.setenv("PRISM_SHARED", os.devnull)
    assert conversations.data_file() == conversations.OURS


def test_the_pace_leaves_out_the_time_that_workers_take_to_start(monkeypatch):
    clock = iter([0.0, 50.0, 51.0, 100.0, 150.0, 151.0])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    pace = worker.Pace()
    for indexed in (0, 10, 20):
        pace.saw(indexed)
    pace.pause()
    for indexed in (20, 30, 50):
        pace.saw(indexed)
    assert (pace.vectors, pace.seconds, pace.per_second) == (30, 2.0, 15.0)
