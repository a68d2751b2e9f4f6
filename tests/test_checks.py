"""Each message of the system checks, by a setting or a database that calls for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core import checks as django_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import OperationalError, connections
from django.db.utils import ConnectionHandler, ConnectionRouter
from django.test import override_settings

from prism_memory import backends, checks, indexing
from prism_memory.checks import of_databases
from prism_memory.checks import of_providers as of_providers_module
from prism_memory.checks import of_routing as of_routing_module
from prism_memory.models import EmbeddingSpace
from tests.capture import tenant_models
from tests.db.asking import ask
from tests.factories import remember_one

HASHING = "prism_memory.backends.hashing.HashEmbedder"


def hashing(dimensions: int) -> dict[str, Any]:
    options = {"dimensions": dimensions, "for_tests": True}
    return {"default": {"BACKEND": HASHING, "OPTIONS": options}}


EMBEDDERS = hashing(64)


def configured(**given: Any) -> override_settings:
    return override_settings(PRISM_MEMORY={"EMBEDDERS": EMBEDDERS, **given})


def ids(messages: list[django_checks.CheckMessage]) -> list[str]:
    return [str(message.id).removeprefix("prism_memory.") for message in messages]


def of_settings(**given: Any) -> list[django_checks.CheckMessage]:
    with configured(**given):
        return checks.check_settings()


def of_embedders(**given: Any) -> list[django_checks.CheckMessage]:
    with configured(**given):
        return checks.check_embedders()


def of_database() -> list[django_checks.CheckMessage]:
    return checks.check_database(databases=["default"])


@pytest.mark.django_db
def test_the_test_settings_call_for_nothing() -> None:
    remember_one(wait=True)
    call_command("check", databases=["default"], fail_level="DEBUG", verbosity=0)
    assert not of_database()


@pytest.mark.django_db
def test_the_command_fails_where_something_is_wrong() -> None:
    with configured(TOPK=1), pytest.raises(SystemCheckError, match="E001"):
        call_command("check")


# Settings


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("TOPK", "Did you mean 'TOP_K'?"),
        ("EMBEDDER_", "Did you mean 'EMBEDDER'?"),
        ("top_k", None),
        ("ZZZ", None),
        (7, None),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known(
    key: Any, hint: str | None
) -> None:
    with override_settings(PRISM_MEMORY={"EMBEDDERS": EMBEDDERS, key: 1}):
        (message,) = checks.check_settings()
    assert (ids([message]), message.hint) == (["E001"], hint)
    assert repr(key) in message.msg


@pytest.mark.parametrize(
    ("given", "bounds"),
    [
        ({"TOP_K": 33}, "0..32, not 33"),
        ({"TOP_K": -1}, "0..32, not -1"),
        ({"EMBED_TIMEOUT_SECONDS": 0.0}, "0.1..600"),
        ({"EMBED_TIMEOUT_SECONDS": float("nan")}, "0.1..600"),
        ({"CLAIM_SECONDS": 4}, "5..86400"),
    ],
)
def test_a_number_out_of_its_bounds_is_told_them(
    given: dict[str, Any], bounds: str
) -> None:
    """B30."""
    (message,) = of_settings(**given)
    assert ids([message]) == ["E002"]
    assert bounds in message.msg
    assert message.hint


def test_a_value_that_is_none_of_the_choices_is_reported() -> None:
    """B352."""
    (message,) = of_settings(SITUATE="late")
    assert ids([message]) == ["E014"]
    assert "'on', 'off'" in message.msg
    assert of_settings(SITUATE="off") == []


@pytest.mark.parametrize(
    "given",
    [
        {"TOP_K": "5"},
        {"TOP_K": 5.0},
        {"TOP_K": True},
        {"TOP_K": None},
        {"WAKE": 1},
        {"EMBEDDER": None},
        {"SECRETS": "hunter2"},
        {"SECRETS": b"hunter2"},
        {"SECRETS": ("fine", 7)},
        {"REQUIRE_CONSENT": "off"},
        {"REDACTOR": len},
        {"API_RESOLVER": 7},
        {"LANGUAGE": ["english"]},
        {"EMBED_TIMEOUT_SECONDS": "30"},
    ],
    ids=str,
)
def test_a_value_of_another_type_is_told_what_it_is_like(given: dict[str, Any]) -> None:
    messages = of_settings(**given)
    assert ids(messages)[0] == "E003"
    assert "hunter2" not in str(messages)


@pytest.mark.parametrize("value", [None, "embedders", ["EMBEDDERS"], 7])
def test_settings_that_are_no_dict_are_told_so(value: Any) -> None:
    with override_settings(PRISM_MEMORY=value):
        messages = [*checks.check_settings(), *checks.check_embedders()]
    assert "E008" in ids(messages)


@pytest.mark.parametrize(
    "given",
    [{"EMBEDDERS": ["default"]}, {"EMBEDDERS": "default"}, {"EMBEDDERS": None}],
    ids=str,
)
def test_embedders_that_are_no_dict_do_not_stop_the_checks(
    given: dict[str, Any],
) -> None:
    assert ids(of_settings(**given)) == ["E003"]
    assert {*ids(of_embedders(**given))} <= {"E006", "E007", "W011"}


def test_an_integer_does_where_a_fraction_is_meant() -> None:
    assert not of_settings(EMBED_TIMEOUT_SECONDS=5, SECRETS=["a"], TOP_K=0)


@pytest.mark.parametrize(
    ("factors", "why"),
    [
        ({"robot": 0.5}, "'robot' is none of user, "),
        ({"tool": 1.5}, "The factor of tool must be in 0..1"),
        ({"quarantined": "0.3"}, "The factor of quarantined must be a number"),
    ],
)
def test_a_factor_of_trust_that_cannot_be_used_is_named(
    factors: dict[str, Any], why: str
) -> None:
    """B371."""
    (message,) = of_settings(TRUST_FACTORS=factors)
    assert ids([message]) == ["E016"]
    assert why in message.msg


def test_factors_of_trust_that_can_be_used_are_silent() -> None:
    """B371."""
    assert not of_settings(TRUST_FACTORS={"tool": 0, "quarantined": 1})
    assert ids(of_settings(TRUST_FACTORS=["tool"])) == ["E003"]


@pytest.mark.parametrize("given", [{"LANGUAGE": "klingon"}, {"LANGUAGE": "English"}])
def test_a_language_that_postgresql_lacks_is_named(given: dict[str, Any]) -> None:
    (message,) = of_settings(**given)
    assert ids([message]) == ["E004"]
    assert "portuguese" in str(message.hint)


def test_each_language_of_a_search_is_looked_at() -> None:
    messages = of_settings(SEARCH_LANGUAGES=["german", "klingon", "elvish"])
    assert ids(messages) == ["E004", "E004"]


@pytest.mark.parametrize("key", ["REDACTOR", "ENTITY_RESOLVER", "API_RESOLVER"])
@pytest.mark.parametrize("path", ["nowhere.redact", "json.nothing", "json"])
def test_a_path_that_leads_nowhere_is_named(key: str, path: str) -> None:
    (message,) = of_settings(**{key: path})
    assert ids([message]) == ["E005"]
    assert f"['{key}']" in message.msg


def test_a_path_that_leads_somewhere_is_silent() -> None:
    assert not of_settings(REDACTOR="json.dumps", IMPORTANCE_FROM="json.dumps")


@pytest.mark.parametrize("word", ["exact", "vectors", "off"])
def test_a_word_that_stands_for_a_resolver_is_silent(word: str) -> None:
    assert not of_settings(ENTITY_RESOLVER=word)


# Embedders


SQLITE = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}


class MemoryRouter:
    """As README.md shows it."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        del hints
        if db == "memory":
            return app_label == "prism_memory"
        return False if app_label == "prism_memory" else None


class NowhereRouter:
    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool | None:
        del db, hints
        return False if app_label == "prism_memory" else None


def of_routing(
    monkeypatch: pytest.MonkeyPatch,
    *,
    routers: tuple[type[object], ...] = (),
    default: dict[str, Any] | None = None,
) -> list[str]:
    """Check with the tables in ``memory``, beside a default database."""
    databases = {
        "default": default or SQLITE,
        "memory": connections.settings["default"],
    }
    monkeypatch.setattr(of_routing_module, "connections", ConnectionHandler(databases))
    monkeypatch.setattr(
        of_routing_module, "router", ConnectionRouter([r() for r in routers])
    )
    with configured(DATABASE="memory"):
        return ids(checks.check_routing())


def test_a_database_that_is_not_there_is_named() -> None:
    with configured(DATABASE="defualt"):
        (message,) = checks.check_routing()
    assert ids([message]) == ["E009"]
    assert message.hint == "There are 'default'."
    with configured(DATABASE=7):
        assert checks.check_routing() == []


def test_tables_that_migrate_would_make_elsewhere_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    postgresql = dict(connections.settings["default"])
    assert of_routing(monkeypatch) == ["E010"]
    assert of_routing(monkeypatch, default=postgresql) == ["W013"]
    assert of_routing(monkeypatch, default={"ENGINE": ""}) == []


def test_a_router_that_keeps_the_tables_together_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert of_routing(monkeypatch, routers=(MemoryRouter,)) == []
    assert of_routing(monkeypatch, routers=(NowhereRouter,)) == ["E012"]


def test_no_embedder_is_a_warning() -> None:
    """Full text works without."""
    (message,) = of_embedders(EMBEDDERS={})
    assert ids([message]) == ["W011"]
    assert message.level == django_checks.WARNING


def test_an_alias_that_is_not_there_is_named() -> None:
    (message,) = of_embedders(EMBEDDER="big")
    assert ids([message]) == ["E006"]
    assert "'big'" in message.msg


@pytest.mark.parametrize(
    "entry",
    [
        {"BACKEND": "nowhere.Embedder"},
        {"BACKEND": "json.JSONDecoder"},
        {"BACKEND": HASHING, "OPTIONS": {"dimension": 64}},
        {"BACKEND": HASHING, "OPTIONS": {"dimensions": 0}},
        {"BACKEND": HASHING, "dimensions": 64},
        {},
        None,
    ],
    ids=str,
)
def test_an_embedder_that_cannot_be_made_is_named(entry: Any) -> None:
    embedders = {**EMBEDDERS, "other": entry}
    (message,) = of_embedders(EMBEDDERS=embedders)
    assert ids([message]) == ["E007"]
    assert "'other'" in message.msg


def test_what_an_embedder_says_of_itself_is_passed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = django_checks.Warning("The model is not here.", id="prism_memory.W099")
    monkeypatch.setattr(f"{HASHING}.check", lambda _: [said])
    assert of_embedders() == [said]


# Database


def test_a_database_that_is_not_asked_about_is_not_asked() -> None:
    """``check`` without ``--database`` opens no connection."""
    assert not checks.check_database()
    assert not checks.check_database(databases=["other"])


def test_another_server_than_postgresql_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections["default"], "vendor", "mysql")
    assert ids(of_database()) == ["E020"]


@pytest.mark.django_db
def test_a_database_that_cannot_be_asked_is_named_without_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any) -> None:
        message = "password 'hunter2' is wrong"
        raise OperationalError(message)

    monkeypatch.setattr(of_databases, "fetch", refuse)
    (message,) = of_database()
    assert ids([message]) == ["E021"]
    assert "hunter2" not in message.msg


@pytest.mark.django_db
def test_an_old_server_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_databases, "OLDEST_POSTGRESQL", 99_00_00)
    assert ids(of_database()) == ["E022"]


@pytest.mark.django_db
def test_a_server_without_pgvector_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_databases, "fetch", lambda *_: [])
    assert ids(of_database()) == ["E023"]


@pytest.mark.parametrize(
    ("available", "made", "old"),
    [
        ("0.8.5", "0.8.5", False),
        ("0.8", None, False),
        ("0.10.0", None, False),
        ("1.0", "1.0", False),
        ("0.7.4", None, True),
        ("0.8.0", "0.7.4", True),
        ("0.5", "0.5", True),
    ],
)
def test_an_old_pgvector_is_named(available: str, made: str | None, old: bool) -> None:
    """Numbers, not text: 0.10 is newer than 0.8."""
    messages = [*of_databases.extension_messages(available, made)]
    assert ids(messages) == (["E024"] if old else [])


@pytest.mark.django_db
def test_a_table_that_is_still_to_be_made_keeps_nobody_from_migrating() -> None:
    """``migrate`` runs the checks first: an upgrade brings new tables."""
    ask("DROP TABLE prism_memory_recalltrace")
    with configured(EMBEDDER="none"):
        (message,) = of_database()
    assert ids([message]) == ["W029"]
    assert not message.is_serious()
    assert "prism_memory_recalltrace" in message.msg


@pytest.mark.django_db
@pytest.mark.parametrize("table", checks.SCOPED)
def test_a_table_without_its_scope_columns_is_named(table: str) -> None:
    """B23."""
    column = checks.SCOPED[table][-1]
    ask(f"ALTER TABLE {table} RENAME COLUMN {column} TO gone")
    with configured(EMBEDDER="none"):  # its space stands in one of the tables
        (message,) = of_database()
    assert ids([message]) == ["E025"]
    assert table in message.msg
    assert column in message.msg


def test_every_tenants_table_is_looked_at() -> None:
    """B23."""
    assert {*checks.SCOPED} == {model._meta.db_table for model in tenant_models()}
    for model in tenant_models():
        columns = {field.column for field in model._meta.local_fields}
        wanted = {"tenant", "scope_id", "owner", "agent", "thread"} & columns
        assert wanted == {*checks.SCOPED[model._meta.db_table]}


@pytest.mark.django_db
def test_a_database_without_tables_is_left_to_migrate() -> None:
    """``migrate`` runs these checks before it makes them."""
    for table in checks.SCOPED:
        ask(f"ALTER TABLE {table} RENAME TO {table}_gone")
    assert not of_database()


@pytest.mark.django_db
def test_an_embedder_of_another_width_than_the_stored_vectors_is_named() -> None:
    """B480, case_C23."""
    remember_one(wait=True)
    with configured(EMBEDDERS=hashing(96)):
        (message,) = of_database()
    assert ids([message]) == ["E026"]
    assert "(64)" in message.msg
    assert "(96)" in message.msg


@pytest.mark.django_db
@pytest.mark.parametrize(
    "given",
    [
        {"EMBEDDERS": {}},
        {"EMBEDDER": "big"},
        {"EMBEDDERS": {"default": {"BACKEND": "nowhere.Embedder"}}},
    ],
    ids=str,
)
def test_the_database_says_nothing_of_an_embedder_that_is_not_there(
    given: dict[str, Any],
) -> None:
    """The check of the embedders does."""
    remember_one()
    with configured(**given):
        assert not of_database()


@pytest.mark.django_db
def test_another_embedder_is_a_warning_where_words_answer_alone() -> None:
    """B487."""
    remember_one(wait=True)
    with configured(EMBEDDERS=hashing(96), EMBEDDER_CHANGED="text"):
        (message,) = of_database()
    assert ids([message]) == ["W035"]


@pytest.mark.django_db
def test_vectors_whose_entry_is_gone_are_named() -> None:
    """B480: those of a space that was switched to."""
    remember_one(wait=True)
    EmbeddingSpace.objects.update(backend="next")
    with configured(EMBEDDERS=hashing(64)):
        assert not of_database()  # the alias's own has become the same embedder
    with configured(EMBEDDERS={"default": {"BACKEND": "nowhere.Embedder"}}):
        (message,) = of_database()
    assert ids([message]) == ["E033"]
    assert "EMBEDDERS['next']" in message.msg


@pytest.mark.django_db
def test_another_way_of_situating_is_named() -> None:
    """B486: it is a part of what an index is."""
    remember_one(wait=True)
    with configured(SITUATE="off"):
        (message,) = of_database()
    assert ids([message]) == ["W034"]


def indexed_space() -> indexing.Space:
    own: dict[str, Any] = {"using": "default", "alias": "default"}
    identity = backends.get_embedder().identity
    indexing.active(**own, identity=identity)
    EmbeddingSpace.objects.update(index_mode="hnsw")
    return indexing.active(**own, identity=identity)


@pytest.mark.django_db
def test_a_lost_index_is_named() -> None:
    """B483, case_C06: answers stay right, so it is a warning."""
    space = indexed_space()
    (message,) = of_database()
    assert ids([message]) == ["W027"]
    assert f"{indexing.index_name(space)} is gone" in message.msg


@pytest.mark.django_db
def test_an_index_half_made_is_named() -> None:
    """case_C06."""
    name = indexing.index_name(indexed_space())
    ask(
        f"CREATE INDEX {name} ON prism_memory_embedding"
        " USING hnsw ((vector::halfvec(64)) halfvec_cosine_ops)"
    )
    assert not of_database()
    ask("UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = %s::regclass", name)
    (message,) = of_database()
    assert f"{name} is invalid" in message.msg


def test_every_message_has_an_id_of_its_own_kind() -> None:
    """Ids are never reused: hosts silence them."""
    message = r"checks\.(Error|Warning)\((?:(?!checks\.).)*?prism_memory\.(\w)(\d+)"
    files = Path(checks.__file__).parent.glob("*.py")
    text = "".join(path.read_text("utf-8") for path in files)
    found = re.findall(message, text, re.DOTALL)
    assert len(found) >= 15
    for kind, letter, _ in found:
        assert letter == kind[0]
    assert len({number for *_, number in found}) == len(found)


# Providers beside the embedders


OVERLAP = {"BACKEND": "tests.rerankers.OverlapReranker"}


def of_providers(**given: Any) -> list[django_checks.CheckMessage]:
    with configured(**given):
        return checks.check_providers()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, []),
        ({"RERANKERS": {"cross": OVERLAP}}, []),
        ({"RERANKERS": {"cross": OVERLAP}, "RERANKER": "cross"}, []),
        ({"RERANKERS": {"cross": OVERLAP}, "RERANKER": "crosss"}, ["E018"]),
        ({"RERANKER": "cross"}, ["E018"]),
        ({"RERANKERS": {"cross": {"BACKEND": HASHING}}}, ["E019"]),
        ({"RERANKERS": {"cross": {"BACKEND": "nowhere.Reranker"}}}, ["E019"]),
        ({"RERANKERS": ["cross"]}, []),  # E003 of the settings says so
    ],
    ids=str,
)
def test_a_reranker_that_is_not_there_or_cannot_be_made_is_named(
    given: dict[str, Any], expected: list[str]
) -> None:
    messages = of_providers(**given)
    assert ids(messages) == expected
    assert all("cross" in message.msg for message in messages)


@pytest.mark.parametrize(
    ("aliases", "alias", "backend"),
    [
        ("TRANSFORMERS", "TRANSFORMER", "ChatTransformer"),
        ("GRADERS", "GRADER", "ChatGrader"),
    ],
)
def test_a_model_that_is_asked_for_words_is_checked_as_a_reranker_is(
    aliases: str, alias: str, backend: str
) -> None:
    entry = {"BACKEND": f"prism_memory.backends.chat.{backend}"}
    keyless = {**entry, "OPTIONS": {"model": "small"}}
    whole = {**entry, "OPTIONS": {"model": "small", "api_key": "sk-x"}}

    assert of_providers(**{aliases: {"mine": whole}, alias: "mine"}) == []
    assert ids(of_providers(**{aliases: {"mine": whole}, alias: "his"})) == ["E018"]
    assert ids(of_providers(**{aliases: {"mine": entry}})) == ["E019"]
    assert ids(of_providers(**{aliases: {"mine": keyless}})) == ["E052"]


@pytest.mark.parametrize(
    ("wish", "celery", "warned"),
    [("off", False, False), ("on", True, False), ("on", False, True)],
)
def test_traces_that_nobody_writes_are_told(
    monkeypatch: pytest.MonkeyPatch, wish: str, celery: bool, warned: bool
) -> None:
    monkeypatch.setattr(of_providers_module, "find_spec", lambda _name: celery or None)
    with configured(TRACES=wish):
        messages = checks.check_traces()
    assert ids(messages) == (["W028"] if warned else [])


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({}, set()),
        ({"INTEGRITY_KEYS": {"k1": "x" * 32}}, set()),
        ({"INTEGRITY_KEYS": {"k1": "x" * 31}}, {"prism_memory.E040"}),
        ({"INTEGRITY_KEYS": {"k1": 1}}, {"prism_memory.E040"}),
        ({"INTEGRITY_KEYS": ["k1"]}, {"prism_memory.E003"}),
        (
            {"INTEGRITY_KEYS": {"k1": "x" * 32}, "INTEGRITY_KEY": "k2"},
            {"prism_memory.E040"},
        ),
    ],
    ids=str,
)
def test_keys_that_cannot_sign_are_reported(
    settings: Any, given: dict[str, Any], ids: set[str]
) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, **given}
    found = checks.check_settings()
    assert {message.id for message in found} == ids
    assert "xxxx" not in str(found)


@pytest.mark.parametrize(
    ("alias", "ids"),
    [
        ("default", set()),
        ("nowhere", {"prism_memory.E060"}),
        (5, {"prism_memory.E003"}),
    ],
)
def test_a_storage_of_exports_that_is_not_there_is_reported(
    settings: Any, alias: Any, ids: set[str]
) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EXPORT_STORAGE": alias}
    found = checks.check_settings()
    assert {message.id for message in found} == ids


@pytest.mark.parametrize(
    ("chosen", "told"),
    [
        ("pgvector", []),
        ("exact", []),
        ("none", []),
        ("numpy", ["W083"]),
        ("faiss", ["E080"]),
        ({"OPTIONS": {}}, ["E081"]),
        ({"BACKEND": "nowhere.Index"}, ["E081"]),
        ({"BACKEND": HASHING}, ["E081"]),
        ({"BACKEND": "tests.indexes.WatchedIndex"}, []),
        (
            {
                "BACKEND": "tests.indexes.WatchedIndex",
                "OPTIONS": {"label": "x" * 257},
            },
            ["E082"],
        ),
        (7, []),
    ],
    ids=str,
)
def test_an_index_of_vectors_is_one_that_can_be_made(
    chosen: Any, told: list[str]
) -> None:
    """B481."""
    with configured(VECTOR_INDEX=chosen):
        assert ids(checks.check_vector_index()) == told
        assert ids(checks.check_settings()) == (["E003"] if chosen == 7 else [])
