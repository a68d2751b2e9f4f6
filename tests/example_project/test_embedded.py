"""The embedded servers, on real ones: each test has names of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import psycopg
import pytest

from example_project import embedded
from example_project.embedded import CHECKOUT, ServiceError, Services, state_root
from example_project.embedded.__main__ import main
from example_project.embedded.places import kept_secret, owned_folder
from example_project.embedded.postgres import PostgresServer
from example_project.embedded.programs import binaries
from example_project.embedded.valkey import ValkeyServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CLI = [sys.executable, "-m", "example_project.embedded"]


@pytest.fixture(autouse=True)
def _no_servers_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("CELERY_BROKER_URL", raising=False)
    monkeypatch.delenv("PRISM_POSTGRES_VERSION", raising=False)


@pytest.fixture
def make() -> Iterator[Callable[[], Services]]:
    made: list[Services] = []

    def new() -> Services:
        made.append(Services(f"test-{secrets.token_hex(4)}"))
        return made[-1]

    yield new
    for services in made:
        services._leave()
        services.stop()
        shutil.rmtree(services.folder, ignore_errors=True)


@pytest.fixture
def services(make: Callable[[], Services]) -> Services:
    return make()


def ask(services: Services, query: str) -> object:
    with psycopg.connect(services.postgres.url(), autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    return None if row is None else row[0]


def write(services: Services, statement: str) -> None:
    with psycopg.connect(services.postgres.url(), autocommit=True) as connection:
        connection.execute(statement.encode())


def test_the_address_is_known_before_anything_is_started(services):
    assert services.name in embedded.database_url(services.name)
    assert services.name in embedded.broker_url(services.name)
    assert not services.folder.exists()


def test_started_servers_answer_and_bring_pgvector(services):
    assert services.start()
    found = "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    assert str(ask(services, found)) >= "0.8"
    assert services.valkey.is_ready()


def test_the_server_listens_on_its_socket_only(services):
    services.start()
    assert ask(services, "SHOW listen_addresses") == ""
    assert services.postgres.socket_folder.stat().st_mode & 0o077 == 0


def test_the_server_does_not_run_as_root(services):
    services.start()
    pid = services.postgres.postmaster()
    assert pid is not None
    assert psutil.Process(pid).uids().effective != 0


def test_a_second_start_reuses_the_first(services):
    services.start()
    first = services.postgres.postmaster()
    assert not services.start()
    assert services.postgres.postmaster() == first


def test_data_outlives_a_stop(services):
    services.start()
    write(services, "CREATE TABLE kept AS SELECT 42 AS answer")
    services.stop()
    assert services.postgres.postmaster() is None
    services.start()
    assert ask(services, "SELECT answer FROM kept") == 42


def test_a_killed_server_recovers(services):
    services.start()
    write(services, "CREATE TABLE kept AS SELECT 42 AS answer")
    pid = services.postgres.postmaster()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)
    assert (services.postgres.data / "postmaster.pid").exists()
    assert services.start()
    assert ask(services, "SELECT answer FROM kept") == 42


def test_a_process_id_that_another_program_has_by_now_is_not_trusted(services):
    services.start()
    services.stop()
    stale = services.postgres.data / "postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{services.postgres.data}\n")
    assert services.postgres.postmaster() is None
    assert services.stop() == []
    assert services.start()


def test_a_killed_broker_leaves_a_socket_that_is_replaced(services):
    services.start()
    broker = only_process_in(services.folder / "valkey")
    broker.kill()
    wait_until_gone(broker.pid)
    assert services.valkey.socket_path.exists()
    assert not services.valkey.is_ready()
    assert services.start()
    assert services.valkey.is_ready()


def test_an_interrupted_initdb_is_begun_again(services):
    half_made = services.postgres.data.with_suffix(".new")
    half_made.mkdir(parents=True)
    (half_made / "PG_VERSION").write_text("18\n")
    assert services.start()


def test_two_names_do_not_share_and_stop_ends_its_own_only(make):
    one, other = make(), make()
    one.start()
    other.start()
    write(one, "CREATE TABLE mine (id int)")
    assert ask(other, "SELECT to_regclass('mine')") is None
    assert one.stop() == [f"{one.name} PostgreSQL 18", f"{one.name} broker"]
    assert other.postgres.postmaster() is not None
    assert other.valkey.is_ready()


def test_processes_that_start_at_once_agree_on_one_server(services):
    starts = [
        subprocess.Popen(
            [*CLI, "start", "--name", services.name],
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
        )
        for _ in range(3)
    ]
    said = {start.communicate(timeout=60)[0] for start in starts}
    assert [start.returncode for start in starts] == [0, 0, 0]
    assert len(said) == 1
    assert f"pid {services.postgres.postmaster()}".encode() in said.pop()


def test_an_address_from_outside_replaces_the_embedded_part(services, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://ada@db.test/mem")
    assert embedded.database_url(services.name) == "postgresql://ada@db.test/mem"
    services.start()
    assert services.postgres.postmaster() is None
    assert services.valkey.is_ready()


def test_nothing_starts_when_both_come_from_outside(services, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://ada@db.test/mem")
    monkeypatch.setenv("CELERY_BROKER_URL", "redis://broker.test/0")
    with services.running():
        assert not services.folder.exists()
    assert embedded.broker_url(services.name) == "redis://broker.test/0"


def test_a_block_stops_what_it_started(services):
    with services.running():
        assert services.postgres.postmaster() is not None
    assert services.postgres.postmaster() is None
    assert not services.valkey.is_ready()


def test_a_block_leaves_what_ran_before_it(services):
    subprocess.run([*CLI, "start", "--name", services.name], cwd=CHECKOUT, check=True)
    with services.running():
        pass
    assert services.postgres.postmaster() is not None


def test_the_last_user_stops_what_a_block_started(services):
    with services.running():
        other = subprocess.Popen(
            [*CLI, "run", "--name", services.name, "--", "cat"],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
        )
        wait_until_leased_by(other, services)
    assert services.postgres.postmaster() is not None
    other.communicate(timeout=30)
    assert services.postgres.postmaster() is None


def test_run_passes_the_exit_code_on(services):
    words = [sys.executable, "-c", "raise SystemExit(7)"]
    assert main(["run", "--name", services.name, "--", *words]) == 7
    assert services.postgres.postmaster() is None


def test_run_without_a_program_says_so(capsys):
    assert main(["run", "--name", "test-none", "--"]) == 2
    assert "name a program" in capsys.readouterr().err


def test_remove_stops_the_servers_and_takes_their_data(services, capsys):
    services.start()
    assert main(["status", "--name", services.name]) == 0
    assert "postgres running" in capsys.readouterr().out
    assert main(["remove", "--name", services.name]) == 0
    assert services.postgres.postmaster() is None
    assert not services.folder.exists()


def test_the_older_version_has_data_of_its_own(services, monkeypatch):
    monkeypatch.setenv("PRISM_POSTGRES_VERSION", "16")
    older = Services(services.name)
    older.start()
    assert str(ask(older, "SHOW server_version")).startswith("16.")
    assert older.postgres.data != services.postgres.data
    assert f"{older.name} PostgreSQL 16" in services.stop()


def test_an_unknown_version_names_the_known_ones():
    with pytest.raises(ServiceError, match="the wheel has 16, 18"):
        binaries(9)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another")
def test_programs_in_a_private_folder_are_copied_not_opened(services, monkeypatch):
    monkeypatch.setattr(
        "example_project.embedded.programs._readable_by_all", lambda _path: False
    )
    assert binaries(18).is_relative_to(state_root())
    services.start()
    assert ask(services, "SELECT 1") == 1


def test_a_long_checkout_path_gets_a_short_socket(services):
    deep = services.folder / ("deep" * 30)
    one, other = replace(services.postgres, folder=deep), PostgresServer(deep / "two")
    assert len(str(one.socket_folder)) < 60
    assert one.socket_folder != other.socket_folder
    assert len(str(ValkeyServer(deep).socket_path)) < 60


def test_servers_with_a_short_socket_start_and_stop(services):
    deep = owned_folder(services.folder / ("deep" * 30))
    servers = PostgresServer(deep, throwaway=True), ValkeyServer(deep)
    assert [server.start() for server in servers] == [True, True]
    assert [server.start() for server in servers] == [False, False]
    assert [server.stop() for server in servers] == [True, True]
    assert not servers[0].socket_folder.exists()
    assert not servers[1].socket_path.parent.exists()


def test_a_secret_is_made_once_and_for_us_alone(services):
    name = f"test-secret-{services.name}"
    try:
        first = kept_secret(name)
        assert kept_secret(name) == first
        assert len(first) > 20
        assert (state_root() / name).stat().st_mode & 0o077 == 0
    finally:
        (state_root() / name).unlink()


def test_a_planted_folder_is_refused(tmp_path: Path):
    (tmp_path / "planted").symlink_to(tmp_path)
    with pytest.raises(ServiceError, match="not a folder of this user"):
        owned_folder(tmp_path / "planted")


def only_process_in(folder: Path) -> psutil.Process:
    def runs_here(process: psutil.Process) -> bool:
        try:
            return process.cwd() == str(folder)
        except psutil.Error:
            return False

    (found,) = filter(runs_here, psutil.process_iter())
    return found


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while psutil.pid_exists(pid) and time.monotonic() < deadline:
        if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.05)


def wait_until_leased_by(process: subprocess.Popen[bytes], services: Services) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        children = psutil.Process(process.pid).children()
        if any(child.name() == "cat" for child in children):
            return
        time.sleep(0.05)
    raise AssertionError(f"{services.name} was not taken")
