"""Every system is given the same and asked the same; what is missing is named."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest
from django.test import override_settings

from benchmarks import peers
from benchmarks.report import Report
from benchmarks.systems.base import Known, Turn
from benchmarks.systems.langgraph import value_of
from benchmarks.systems.mem0 import config_of
from benchmarks.systems.memnos import Memnos, keys_of
from benchmarks.systems.ours import Ours, entry_of
from prism_memory import backends
from prism_memory.types import SourceRef

EMBEDDERS = {"default": {"BACKEND": "benchmarks.embedders.SyntheticEmbedder"}}
TURN = Turn("conv-1", "D1:1", "Ada: I adopted a parrot.", "session_1", 3, "Ada")


@pytest.fixture
def missing(monkeypatch) -> None:
    """Have memnos not installed, whatever is."""

    def version() -> str:
        raise PackageNotFoundError(Memnos.package)

    monkeypatch.setattr(Memnos, "version", version)


def test_a_missing_package_is_skipped_with_its_name_and_gives_no_figure(
    missing, monkeypatch
):
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@nowhere.invalid/none")
    report = Report("peers", ())
    with peers.opened(report, Known(), ["ours", "memnos"]) as systems:
        assert list(systems) == ["ours"]
    assert report.notes[1:] == ["memnos: skipped, no memnos"]
    assert report.figures == {}


def test_only_the_named_systems_are_opened(missing, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@nowhere.invalid/none")
    report = Report("peers", ())
    with peers.opened(report, Known(), ["memnos"]) as systems:
        assert not systems
    assert report.notes == ["memnos: skipped, no memnos"]


def test_a_system_that_nobody_knows_is_refused():
    with (
        pytest.raises(ValueError, match="mem1"),
        peers.opened(Report("peers", ()), Known(), ["mem1"]),
    ):
        pass


def test_every_system_gets_the_same_words_and_ours_embeds_them_as_they_are():
    entry = entry_of(TURN)
    assert {entry.text, entry.embed_text, entry.lexical_text} == {TURN.text}
    assert value_of(TURN)["text"] == TURN.text
    assert entry.key == "D1:1"
    assert entry.source == SourceRef("session_1", 3)


def test_the_turns_of_a_conversation_keep_their_place_in_their_session():
    said = [(1, "D1:1"), (1, "D1:2"), (2, "D2:1")]
    memories = [
        SimpleNamespace(dia_id=key, session=session, speaker="Ada", text=key, date="")
        for session, key in said
    ]
    turns = peers.turns_of([SimpleNamespace(id="conv-1", memories=memories)])
    assert [(t.session, t.ordinal, t.key) for t in turns] == [
        ("session_1", 0, "D1:1"),
        ("session_1", 1, "D1:2"),
        ("session_2", 0, "D2:1"),
    ]
    assert turns[0].text == "Ada: D1:1"


def test_the_owners_share_the_whole_table():
    owners = peers.owners_of(40_000)
    assert sum(owners.values()) == 40_000
    assert [owners[size] for size in peers.TIMED] == [500, 5_000, 20_000]
    assert owners[peers.filtered_owner(0.0025)] == 100
    assert not any("." in owner for owner in owners)


def test_the_same_words_said_twice_are_two_turns():
    keys = {("ada", "yes"): ["D1", "D7"], ("ada", "no"): ["D2"]}
    found = [("ada", "yes"), ("ada", "no"), ("ada", "yes")]
    assert keys_of(found, keys) == ["D1", "D2", "D7"]


def test_mem0_can_reach_no_model():
    config = config_of("postgresql:///x")
    for provider in ("llm", "embedder"):
        assert config[provider]["config"]["openai_base_url"] == "http://127.0.0.1:9"


@override_settings(PRISM_MEMORY={"EMBEDDERS": EMBEDDERS})
def test_a_known_text_is_embedded_once(monkeypatch):
    asked: list[list[str]] = []
    real = backends.embed

    def counting(embedder, texts, **options):
        asked.append(list(texts))
        return real(embedder, texts, **options)

    monkeypatch.setattr("prism_memory.backends.embed", counting)
    known = Known()
    known.learn(["one", "two", "one"])
    assert known(["two", "one"]) == [known.one("two"), known.one("one")]
    assert asked == [["one", "two"]]


@pytest.mark.django_db(transaction=True)
@override_settings(PRISM_MEMORY={"EMBEDDERS": EMBEDDERS})
def test_ours_finds_a_turn_in_its_owners_memory_alone(child_environment, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", child_environment["DATABASE_URL"])
    ours = Ours(child_environment["DATABASE_URL"], Known())
    other = Turn("conv-2", "D9:9", "Ben: a parrot too.")
    ours.fill([TURN, other])
    assert ours.ask("conv-1", "Which parrot was adopted?", 10) == ["D1:1"]
    ours.empty()
    assert ours.ask("conv-1", "Which parrot was adopted?", 10) == []
