"""``prism_memory_index``."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.utils import timezone

from prism_memory import indexing
from prism_memory.errors import ProviderUnavailable
from prism_memory.memory import Memory
from prism_memory.models import Embedding, EmbeddingSpace, Run
from prism_memory.models import Scope as ScopeRow
from prism_memory.types import Origin, Scope, Trust
from tests.indexing.steady import RECOMMENDED, make_steady
from tests.recall.bulk import fill, seed, vacuum

COMMAND = "prism_memory_index"
DOWN = "tests.management.embedders.Down"
PICKY = "tests.management.embedders.Picky"


def remember(tenant, *texts):
    memory = Memory(Scope(tenant, "ada"), origin=Origin(Trust.USER, "Ada"))
    memory.remember(list(texts))
    return memory


def waiting(tenant):
    return Embedding.objects.filter(tenant=tenant, vector=None).count()


@pytest.fixture
def embedder(settings):
    def use(backend, **more):
        chosen = {"default": {"BACKEND": backend}}
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EMBEDDERS": chosen, **more}

    return use


@pytest.mark.django_db
class TestQueue:
    def test_drain_embeds_what_waits_of_every_tenant(self, run):
        remember("acme", "One.", "Two.")
        remember("beta", "Three.")
        result = run(COMMAND, "drain")
        assert (result.code, result.out) == (0, "3 embedded, 0 failed\n")
        assert (waiting("acme"), waiting("beta")) == (0, 0)
        assert "Embedding 100%  3 of 3" in result.err

    def test_drain_of_one_tenant_leaves_the_others(self, run):
        remember("acme", "One.", "Two.")
        remember("beta", "Three.")
        assert run(COMMAND, "drain", "--tenant=acme", "--json").json["embedded"] == 2
        assert (waiting("acme"), waiting("beta")) == (0, 1)

    def test_drain_with_nothing_to_do_does_nothing(self, run):
        remember("acme", "One.")
        run(COMMAND, "drain")
        result = run(COMMAND, "drain")
        assert (result.code, result.out) == (0, "0 embedded, 0 failed\n")

    def test_an_outage_ends_with_1_and_loses_nothing(self, run, embedder):
        embedder(DOWN)
        remember("acme", "One.")
        result = run(COMMAND, "drain")
        assert (result.code, result.message) == (1, "Stopped early: It is down.")
        assert waiting("acme") == 1

    def test_import_with_embed_tells_an_outage_too(self, run, embedder, jsonl):
        embedder(DOWN)
        path = jsonl({"text": "One."})
        words = ("prism_memory_import", path, "--format=jsonl", "--tenant=acme")
        result = run(*words, "--embed")
        assert result.code == 1
        assert result.message == "All is stored, but embedding stopped: It is down."

    def test_a_refused_text_is_counted_shown_and_can_be_retried(self, run, embedder):
        """C33."""
        embedder(PICKY, EMBED_ATTEMPTS=1)
        remember("acme", "Good.", "Bad.")
        assert run(COMMAND, "drain").out == "1 embedded, 1 failed\n"
        (tenant,) = run(COMMAND, "status", "--json").json["tenants"]
        assert (tenant["tenant"], tenant["pending"], tenant["failed"]) == ("acme", 0, 1)
        assert run(COMMAND, "retry").out == "1 texts will be tried again.\n"
        embedder("tests.management.embedders.Mended")
        assert run(COMMAND, "drain").out == "1 embedded, 0 failed\n"

    def test_what_is_tried_again_is_refused_and_not_failed(self, run, embedder):
        """C33. Failed is what was given up, wherever it is said."""
        embedder(PICKY, EMBED_ATTEMPTS=2)
        remember("acme", "Good.", "Bad.")
        result = run(COMMAND, "drain")
        said = "1 embedded, 1 refused, again later, 0 failed\n"
        assert (result.code, result.out) == (0, said)
        assert "1 refused" in result.err
        assert run(COMMAND, "status", "--json").json["tenants"][0]["failed"] == 0
        Embedding.objects.filter(vector=None).update(next_try_at=timezone.now())
        result = run(COMMAND, "drain", "--json")
        assert (result.json["refused"], result.json["failed"]) == (0, 1)
        assert run(COMMAND, "status", "--json").json["tenants"][0]["failed"] == 1

    def test_a_drain_that_can_embed_nothing_ends_with_1(self, run, embedder):
        embedder(PICKY)
        remember("acme", "Bad.", "Bad too.")
        result = run(COMMAND, "drain")
        assert result.out == "0 embedded, 2 refused, again later, 0 failed\n"
        message = "Nothing could be embedded; status says what waits."
        assert (result.code, result.message) == (1, message)

    @pytest.mark.parametrize("words", [[], ["--tenant=acme"]])
    def test_what_another_worker_holds_is_told_with_its_end(self, run, words):
        remember("acme", "One.", "Two.")
        remember("beta", "Three.")
        until = timezone.now() + dt.timedelta(minutes=4)
        held = Embedding.objects.filter(tenant="acme")
        held.update(claimed_until=until, next_try_at=until, attempts=1)
        if words:
            result = run(COMMAND, "drain", *words)
            first, second = result.out.splitlines()
            assert (result.code, first) == (1, "0 embedded, 0 failed")
            at = f"{timezone.localtime(until):%H:%M:%S}"
            assert second == f"2 are held by another worker until {at}"
        else:
            result = run(COMMAND, "drain", "--json")
            found = result.json
            assert (result.code, found["embedded"], found["held"]) == (0, 1, 2)
            assert found["held_until"] is not None

    def test_retry_of_one_tenant_leaves_the_others(self, run, embedder):
        embedder(PICKY, EMBED_ATTEMPTS=1)
        remember("acme", "Bad.")
        remember("beta", "Bad.")
        run(COMMAND, "drain")
        assert run(COMMAND, "retry", "--tenant=beta", "--json").json == {"retried": 1}

    def test_recount_puts_the_counts_right(self, run):
        remember("acme", "One.", "Two.")
        run(COMMAND, "drain")
        ScopeRow.objects.filter(tenant="acme").update(vectors=99)
        assert run(COMMAND, "recount").out == "1 scopes were off.\n"
        assert ScopeRow.objects.get(tenant="acme").vectors == 2
        assert run(COMMAND, "recount", "--json").json == {"corrected": 0}

    def test_without_a_space_the_error_says_why(self, run):
        result = run(COMMAND, "retry")
        assert (result.code, "No vectors yet" in result.message) == (1, True)
        assert result.message.endswith("(field: alias)")

    def test_an_unknown_alias_is_told(self, run):
        result = run(COMMAND, "drain", "--alias=defualt")
        assert (result.code, "Did you mean 'default'" in result.message) == (1, True)

    def test_status_of_an_empty_installation_is_empty(self, run):
        found = run(COMMAND, "status", "--json").json
        assert (found["spaces"], found["tenants"]) == ([], [])
        assert set(found["tables"]) == {"prism_memory_embedding", "prism_memory_record"}

    def test_status_tells_what_waits(self, run):
        remember("acme", "One.", "Two.")
        result = run(COMMAND, "status")
        assert "hashing/fnv1a (64)" in result.out
        (line,) = [row for row in result.out.splitlines() if row.startswith("acme")]
        assert line.split()[1:3] == ["2", "0"]
        remember("beta", "Three.")
        only = run(COMMAND, "status", "--tenant=beta", "--json").json["tenants"]
        assert [tenant["tenant"] for tenant in only] == ["beta"]

    def test_an_index_needs_twice_as_many_candidates_as_links(self, run):
        result = run(COMMAND, "create", "--m=40", "--ef-construction=64")
        assert (result.code, "at least twice --m" in result.message) == (2, True)

    def test_a_create_that_is_refused_leaves_a_failed_run(self, run, monkeypatch):
        remember("acme", "One.")
        monkeypatch.setattr(indexing, "create_index", unavailable)
        assert run(COMMAND, "create").code == 1
        assert Run.objects.get(kind="index").state == "failed"

    def test_a_create_that_is_stopped_leaves_a_cancelled_run(self, run, monkeypatch):
        remember("acme", "One.")
        monkeypatch.setattr(indexing, "create_index", interrupted)
        assert run(COMMAND, "create").code == 130
        assert Run.objects.get(kind="index").state == "cancelled"


def unavailable(**options):
    raise ProviderUnavailable


def interrupted(**options):
    raise KeyboardInterrupt


@pytest.mark.django_db(transaction=True)
class TestIndex:
    def test_create_makes_a_valid_index_as_a_run_of_the_installation(self, run):
        remember("acme", "One.", "Two.")
        run(COMMAND, "drain")
        result = run(COMMAND, "create", "--m=8", "--ef-construction=32", "--json")
        assert (result.code, result.json["valid"]) == (0, True)
        done = Run.objects.get(kind="index")
        assert (done.tenant, done.state, done.target) == (
            "",
            "done",
            result.json["index"],
        )
        (space,) = run(COMMAND, "status", "--json").json["spaces"]
        assert (space["index"], space["index_bytes"] > 0) == ("valid", True)
        run(COMMAND, "drop")

    def test_create_again_says_that_it_exists(self, run):
        remember("acme", "One.")
        run(COMMAND, "drain")
        built = run(COMMAND, "create", "--m=16", "--ef-construction=64")
        assert "is valid: m=16, ef_construction=64" in built.out
        for words in ([], ["--m=16"], ["--m=16", "--ef-construction=64"]):
            again = run(COMMAND, "create", *words)
            assert again.code == 0
            assert "exists already: m=16, ef_construction=64" in again.out
            assert "Building" not in again.err
        assert run(COMMAND, "create", "--json").json["built"] is False
        assert Run.objects.count() == 1
        run(COMMAND, "drop")

    @pytest.mark.parametrize("words", [["--m=32"], ["--ef-construction=256"]])
    def test_create_with_other_parameters_is_refused(self, run, words):
        remember("acme", "One.")
        run(COMMAND, "drain")
        run(COMMAND, "create")
        result = run(COMMAND, "create", *words)
        assert (result.code, result.out) == (1, "")
        assert "exists already with m=24, ef_construction=128" in result.message
        assert "drop it first" in result.message
        run(COMMAND, "drop")
        assert run(COMMAND, "create", *words).code == 0
        run(COMMAND, "drop")

    def test_drop_takes_it_away_and_recall_stays_right(self, run):
        memory = remember("acme", "The tram is yellow.")
        run(COMMAND, "drain")
        run(COMMAND, "create")
        assert "is dropped" in run(COMMAND, "drop").out
        result = run(COMMAND, "status", "--json")
        assert (result.code, result.json["spaces"][0]["index"]) == (0, "none")
        assert memory.recall("tram", legs="vector")[0].text == "The tram is yellow."

    def test_status_tells_a_lost_index_case_c06(self, run):
        memory = remember("acme", "The tram is yellow.")
        run(COMMAND, "drain")
        name = run(COMMAND, "create", "--json").json["index"]
        with connection.cursor() as cursor:
            cursor.execute(f"DROP INDEX {name}")
        result = run(COMMAND, "status")
        assert (result.code, "default (missing)" in result.message) == (1, True)
        assert "missing" in result.out
        assert memory.recall("tram", legs="vector")[0].text == "The tram is yellow."
        assert run(COMMAND, "create").code == 0
        assert run(COMMAND, "status").code == 0
        run(COMMAND, "drop")

    def test_status_tells_an_index_left_half_made_case_c06(self, run):
        remember("acme", "One.")
        run(COMMAND, "drain")
        name = run(COMMAND, "create", "--json").json["index"]
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE pg_index SET indisvalid = false"
                " WHERE indexrelid = %s::regclass",
                [name],
            )
        result = run(COMMAND, "status")
        assert (result.code, "default (invalid)" in result.message) == (1, True)
        assert run(COMMAND, "create", "--json").json["valid"] is True
        run(COMMAND, "drop")
        assert EmbeddingSpace.objects.get().index_mode == "none"


@pytest.mark.django_db(transaction=True)
class TestCalibrate:
    @pytest.fixture
    def scope(self, run):
        """A scope with enough vectors, and an index over them."""
        scope = Scope("acme", "ada")
        seed(scope)
        fill(scope, 1_099)
        vacuum()
        run(COMMAND, "create")
        yield scope
        run(COMMAND, "drop")

    @pytest.mark.usefixtures("scope")
    def test_it_recommends_a_setting_and_tells_the_one_in_force(self, run, monkeypatch):
        make_steady(monkeypatch)
        result = run(COMMAND, "calibrate")
        assert (result.code, result.message) == (0, "")
        assert "EXACT_SCAN_ROWS = 4500 is recommended, 10,000 is in force." in (
            result.out
        )
        assert "1.00 ms per 1,000 vectors, one of the index 5.00 ms." in result.out
        assert "1,100" in result.out
        assert "Measuring 100%  1 of 1 sizes" in result.err

    @pytest.mark.usefixtures("scope")
    def test_it_tells_programs_the_same(self, run, monkeypatch, settings):
        settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "EXACT_SCAN_ROWS": 77}
        make_steady(monkeypatch)
        found = run(COMMAND, "calibrate", "--json", "--verbosity=0", "--tenant=acme")
        assert (found.code, found.err) == (0, "")
        assert found.json == {
            "tenant": "acme",
            "measured": [
                {
                    "scopes": 1,
                    "vectors": 1_100,
                    "exact_ms": pytest.approx(1.6),
                    "index_ms": 5.0,
                    "enough": True,
                }
            ],
            "base_ms": pytest.approx(0.5),
            "exact_ms_per_1000": pytest.approx(1.0),
            "index_ms": 5.0,
            "recommended": RECOMMENDED,
            "in_force": 77,
        }

    def test_without_an_index_it_says_so_and_fails(self, run):
        remember("acme", "One.")
        run(COMMAND, "drain")
        result = run(COMMAND, "calibrate")
        assert (result.code, result.out) == (1, "")
        assert "no valid index" in result.message

    def test_with_too_few_vectors_it_says_so_and_fails(self, run):
        remember("acme", "One.")
        run(COMMAND, "drain")
        run(COMMAND, "create")
        for words in ([], ["--json"], ["--tenant=acme"]):
            result = run(COMMAND, "calibrate", *words)
            assert (result.code, result.out) == (1, "")
            assert "hold 1 vectors; at least 1,000 are needed" in result.message
        run(COMMAND, "drop")

    def test_before_anything_was_remembered_it_says_so(self, run):
        result = run(COMMAND, "calibrate")
        assert (result.code, "No vectors yet" in result.message) == (1, True)
        result = run(COMMAND, "calibrate", "--tenant=nobody")
        assert result.code == 1
