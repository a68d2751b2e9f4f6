"""C36: export a scope, look at the run, remove its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from prism_memory.admin import links
from prism_memory.governance import exports
from prism_memory.models import AuditEvent, Record, Run
from tests.admin.rows import make_run, make_staff, scope_row
from tests.factories import make_memory, make_scope, remember_one
from tests.governance.stored import files, lines, run_export, storages

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.STORAGES = storages(tmp_path)
    return tmp_path


def begin(client: Client, **given: Any) -> Any:
    page = links.row_page(scope_row(), "export")
    return client.post(page, {"reason": "Request 12", **given}, follow=True)


def test_an_export_is_asked_for_with_its_effect_then_begun(
    root: Client, folder: Path
) -> None:
    """case_C36."""
    remember_one("Ada's secret.")
    page = root.get(links.row_page(scope_row())).text
    assert "Export" in page
    ask = root.get(links.row_page(scope_row(), "export")).text
    assert "This covers 1 scope." in ask
    assert not Run.objects.exists()
    done = begin(root, compress="on")
    assert "A worker writes it" in done.text
    run = Run.objects.get(tenant="acme")
    assert run.cursor["options"] == {"include_unconsented": False, "compress": True}
    exports.carry_on(using="default", tenant="acme", run_id=run.id)
    page = root.get(links.row_page(run)).text
    assert "part-00001-" in page
    assert "Ada" not in page
    assert len(lines(folder)) == 1
    start = AuditEvent.objects.get(tenant="acme", detail__phase="start")
    assert (start.reason, start.actor[:5]) == ("Request 12", "user:")


def test_an_export_needs_a_reason(root: Client) -> None:
    remember_one("Words.")
    assert begin(root, reason=" ").status_code == 200
    assert not Run.objects.exists()


def test_who_may_only_look_exports_nothing(client: Client) -> None:
    remember_one("Words.")
    client.force_login(make_staff("view_scope", "view_run", "reveal_record"))
    assert (
        links.row_page(scope_row(), "export")
        not in client.get(links.row_page(scope_row())).text
    )
    assert client.get(links.row_page(scope_row(), "export")).status_code == 403
    assert begin(client).status_code == 403
    run = run_of(make_memory())
    assert client.post(links.row_page(run, "delete_export")).status_code == 403


def test_the_legal_copy_needs_the_right_to_see_what_is_withheld(
    client: Client,
) -> None:
    """B502."""
    remember_one("Words.")
    client.force_login(make_staff("view_scope", "view_run", "add_run"))
    assert (
        "include_unconsented"
        not in client.get(links.row_page(scope_row(), "export")).text
    )
    begin(client, include_unconsented="on")
    assert Run.objects.get().cursor["options"]["include_unconsented"] is False
    more = make_staff("view_scope", "view_run", "add_run", "reveal_record", name="kim")
    client.force_login(more)
    begin(client, include_unconsented="on")
    assert Run.objects.filter(cursor__options__include_unconsented=True).exists()


def run_of(memory: Any) -> Run:
    return Run.objects.get(tenant="acme", id=run_export(memory).id)


def test_the_files_of_an_export_are_removed_after_a_question(
    root: Client, folder: Path
) -> None:
    remember_one("Words.")
    run = run_of(make_memory())
    page = links.row_page(run, "delete_export")
    assert page in root.get(links.row_page(run)).text
    assert "This removes 1 part." in root.get(page).text
    assert len(files(folder)) == 2
    done = root.post(page, {"reason": "Sent."}, follow=True).text
    assert "Its files are removed." in done
    assert "They were removed." in done
    assert "or not yet" not in done
    assert page not in done
    assert files(folder) == []
    assert root.get(page).status_code == 404
    assert Record.objects.count() == 1


def test_another_run_has_no_files(root: Client) -> None:
    run = make_run()
    page = links.row_page(run, "delete_export")
    assert page not in root.get(links.row_page(run)).text
    assert root.post(page, {"reason": "x"}).status_code == 404


def test_anothers_scope_is_not_exported(root: Client) -> None:
    """B25."""
    remember_one("Words.", scope=make_scope(tenant="globex"))
    remember_one("Words.")
    row = scope_row()
    wrong = links.row_page(row, "export").replace("acme", "globex")
    assert root.post(wrong, {"reason": "x"}).status_code == 404
    assert not Run.objects.exists()
