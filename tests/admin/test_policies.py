"""Policies of retention: the effect first, then the deed, with a reason."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from prism_memory.admin import links, sweeping
from prism_memory.models import AuditEvent, Record, RetentionPolicy, Run
from prism_memory.types import Rules
from tests.admin.rows import make_staff
from tests.factories import make_scope
from tests.governance.retention.written import make_policy, old, place_hold, run
from tests.tables import counts

pytestmark = pytest.mark.django_db

ADD = "/admin/prism_memory/retentionpolicy/add/?tenant=acme"
GIVEN: dict[str, Any] = {
    "name": "a week",
    "kind": "",
    "tier": "any",
    "level": "",
    "max_age_days": "7",
    "max_entries": "",
    "reason": "the contract",
}


def save(client: Client, address: str, given: dict[str, Any]) -> Any:
    """Look at the effect, then save what was looked at."""
    looked = client.post(address, given)
    seen = re.search(r'name="seen" value="([^"]+)"', looked.text)
    assert seen, looked.text
    rules = seen[1].replace("&lt;", "<").replace("&gt;", ">").replace("&#x27;", "'")
    return client.post(address, {**given, "save": "1", "seen": rules}, follow=True)


def test_a_policy_is_made_once_its_effect_was_shown(client: Client) -> None:
    place_hold(f"record:{old(30)}")
    old(9)
    user = make_staff("add_retentionpolicy", "view_retentionpolicy")
    client.force_login(user)
    before = counts()
    looked = client.post(ADD, GIVEN).text
    assert "1 record is due now" in looked
    assert "holds keep 1" in looked
    client.post(ADD, {**GIVEN, "save": "1"})
    client.post(ADD, {**GIVEN, "save": "1", "seen": "something else"})
    assert counts() == before
    assert "The policy was saved." in save(client, ADD, GIVEN).text
    policy = RetentionPolicy.objects.get()
    assert (policy.tenant, policy.name, policy.max_age_days) == ("acme", "a week", 7)
    assert (policy.kind, policy.tier, policy.level) == ("", None, "")
    event = AuditEvent.objects.get(action="retention.create")
    assert (event.actor, event.reason) == (f"user:{user.pk}", "the contract")
    assert Record.objects.count() == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "This field is required"),
        ({"reason": ""}, "This field is required"),
        ({"max_age_days": ""}, "Give Days or Number, or tick"),
        ({"max_age_days": "-1"}, "Days must be an integer from 0"),
        ({"max_entries": "-1"}, "Number must be an integer from 0"),
        ({"max_entries": "x"}, "whole number"),
        ({"kind": "secret"}, "valid choice"),
        ({"tier": "working"}, "valid choice"),
    ],
    ids=str,
)
def test_a_policy_that_cannot_be_is_refused(
    root: Client, change: dict[str, Any], words: str
) -> None:
    old(1)
    answer = root.post(ADD, {**GIVEN, **change})
    assert answer.status_code == 200
    assert words in answer.text
    assert "Save the policy" not in answer.text


def test_a_name_is_used_once(root: Client) -> None:
    old(1)
    make_policy("a week", expired=True)
    looked = root.post(ADD, GIVEN).text
    assert "policy of that name already" in looked
    assert "due now" not in looked
    assert "Save the policy" not in looked
    both = root.post(ADD, {**GIVEN, "max_age_days": ""}).text
    assert "policy of that name already" in both
    assert "Give Days or Number" in both
    root.post(ADD, {**GIVEN, "save": "1", "seen": str(Rules(max_age_days=7))})
    assert RetentionPolicy.objects.count() == 1


def test_a_policy_may_keep_its_name(root: Client) -> None:
    policy = make_policy("a week", expired=True)
    save(root, links.row_page(policy, "alter"), GIVEN)
    policy.refresh_from_db()
    assert policy.max_age_days == 7


@pytest.mark.parametrize("name", ["max_age_days", "max_entries"])
def test_0_is_warned_of(root: Client, name: str) -> None:
    old(0.1)
    given = {**GIVEN, "max_age_days": "", name: "0"}
    looked = root.post(ADD, given).text
    assert "0 keeps nothing: every record" in looked
    assert "1 record is due now" in looked
    save(root, ADD, given)
    policy = RetentionPolicy.objects.get()
    for page in ("change", "preview", "sweep"):
        assert "0 keeps nothing" in root.get(links.row_page(policy, page)).text
    usual = root.post(ADD, {**GIVEN, "name": "b"}).text
    assert "0 keeps nothing: every record" not in usual


def test_a_sweep_is_asked_for_and_told(client: Client) -> None:
    old(9)
    place_hold(f"record:{old(30)}")
    policy = make_policy(max_age_days=7)
    rights = ("view_retentionpolicy", "change_retentionpolicy")
    user = make_staff(*rights)
    client.force_login(user)
    address = links.row_page(policy, "sweep")
    assert address in client.get(links.row_page(policy)).text
    ask = client.get(address).text
    assert "1 record is due now" in ask
    assert "ten seconds at most" in ask
    client.post(address, {"reason": " "})
    assert Record.objects.count() == 2
    done = client.post(address, {"reason": "asked"}, follow=True).text
    assert "The sweep is done. 1 record was deleted; holds keep 1." in done
    assert Record.objects.count() == 1
    event = AuditEvent.objects.get(action="retention.sweep")
    assert (event.actor, event.reason) == (f"user:{user.pk}", "asked")
    user.user_permissions.add(Permission.objects.get(codename="view_run"))
    after = client.post(address, {"reason": "again"}, follow=True)
    (run_row,) = Run.objects.order_by("-id")[:1]
    assert after.redirect_chain == [(links.row_page(run_row), 302)]
    for words in ("records deleted: 0", "kept by holds: 1", "scopes: 1"):
        assert words in after.text


def test_a_sweep_ends_in_time_and_says_so(
    root: Client, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.PRISM_MEMORY = {**settings.PRISM_MEMORY, "RETENTION_BATCH": 1}
    monkeypatch.setattr(sweeping, "RUN_SECONDS", -1.0)
    for _ in range(3):
        old(9)
    policy = make_policy(max_age_days=7)
    address = links.row_page(policy, "sweep")
    done = root.post(address, {"reason": "asked"}, follow=True).text
    assert "The time was over" in done
    assert Record.objects.count() == 2


def test_a_policy_that_is_off_sweeps_nothing(root: Client) -> None:
    old(9)
    policy = make_policy(max_age_days=7)
    RetentionPolicy.objects.update(enabled=False)
    address = links.row_page(policy, "sweep")
    assert address not in root.get(links.row_page(policy)).text
    done = root.post(address, {"reason": "x"}, follow=True).text
    assert "not in force" in done
    assert Record.objects.count() == 1


def test_without_a_tenant_there_is_nothing_to_make(root: Client) -> None:
    old(1)
    for address in (ADD.partition("?")[0], ADD.replace("acme", "nobody")):
        answer = root.get(address, follow=True)
        assert answer.redirect_chain == [(links.list_page(RetentionPolicy), 302)]
    listed = root.get(links.list_page(RetentionPolicy, tenant="acme")).text
    assert "Make a policy" in listed
    assert "everything is kept" in listed


def test_a_policy_is_changed_and_its_form_begins_as_it_is(root: Client) -> None:
    policy = make_policy("a week", tier="", kind="note", max_age_days=7)
    address = links.row_page(policy, "alter")
    page = root.get(address)
    assert page.context["form"]["tier"].value() == ""
    assert page.context["form"]["kind"].value() == "note"
    given = {**GIVEN, "tier": "", "kind": "note", "max_entries": "9", "expired": "on"}
    save(root, address, given)
    policy.refresh_from_db()
    assert (policy.tier, policy.kind, policy.max_entries) == ("", "note", 9)
    assert policy.expired
    assert AuditEvent.objects.filter(action="retention.change").count() == 1


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("disable", "Switch this policy off?"),
        ("enable", "1 record is due now"),
        ("delete", "Delete this policy?"),
    ],
)
def test_acts_ask_for_a_reason_first(client: Client, verb: str, words: str) -> None:
    old(9)
    policy = make_policy(max_age_days=7)
    RetentionPolicy.objects.update(enabled=verb != "enable")
    right = "delete" if verb == "delete" else "change"
    client.force_login(make_staff("view_retentionpolicy", f"{right}_retentionpolicy"))
    address = links.row_page(policy, verb)
    assert words in client.get(address).text
    client.post(address, {"reason": ""})
    assert not AuditEvent.objects.filter(action=f"retention.{verb}").exists()
    assert client.post(address, {"reason": "x"}, follow=True).status_code == 200
    event = AuditEvent.objects.get(action=f"retention.{verb}")
    assert event.reason == "x"
    left = RetentionPolicy.objects.values_list("enabled", flat=True)
    assert list(left) == {"disable": [False], "enable": [True], "delete": []}[verb]
    assert client.post(address, {"reason": "x"}).status_code in {302, 404}


@pytest.mark.parametrize("page", ["alter", "disable", "enable", "sweep", "delete"])
def test_who_may_only_look_changes_nothing(client: Client, page: str) -> None:
    policy = make_policy(max_age_days=7)
    client.force_login(make_staff("view_retentionpolicy", "add_record"))
    address = links.row_page(policy, page)
    assert client.get(address).status_code == 403
    assert client.post(address, {**GIVEN, "save": "1"}).status_code == 403
    assert client.get(ADD).status_code == 403
    shown = client.get(links.row_page(policy)).text
    assert "Preview" in shown
    assert "Switch off" not in shown
    assert RetentionPolicy.objects.get().enabled


def test_who_may_not_look_sees_nothing(client: Client) -> None:
    policy = make_policy(max_age_days=7)
    client.force_login(make_staff("view_record"))
    for page in ("change", "preview", "alter"):
        assert client.get(links.row_page(policy, page)).status_code == 403


def test_a_preview_tells_by_scope_and_changes_nothing(root: Client) -> None:
    place_hold(f"record:{old(30)}")
    old(9, scope=make_scope(owner="<b>bob"))
    policy = make_policy(max_age_days=7)
    before = counts()
    page = root.get(links.row_page(policy, "preview")).text
    assert counts() == before
    assert "&lt;b&gt;bob / support / chat-1" in page
    assert "Records that would go" in page
    assert "<b>bob" not in page


def test_lists_say_what_policies_say(root: Client) -> None:
    make_policy("one", level="thread", tier="", kind="note", max_age_days=1)
    make_policy("two", max_entries=1_000, expired=True)
    make_policy("theirs", tenant="globex", expired=True)
    RetentionPolicy.objects.filter(name="two").update(enabled=False)
    page = root.get(links.list_page(RetentionPolicy, tenant="acme")).text
    for words in ("older than 1 day", "all but 1,000 of each scope", "own expiry"):
        assert words in page
    assert "theirs" not in page

    def names(**wish: str) -> set[str]:
        address = links.list_page(RetentionPolicy, tenant="acme", **wish)
        return {row.name for row in root.get(address).context["window"].rows}

    assert names(state="on") == {"one"}
    assert names(state="off") == {"two"}
    assert names(name="two") == {"two"}


def test_another_tenants_policy_is_not_found_under_this_one(root: Client) -> None:
    theirs = make_policy(tenant="globex", expired=True)
    address = links.row_page(theirs).replace("globex", "acme")
    assert root.get(address).status_code == 404


def test_its_runs_and_audit_are_a_click_away(root: Client) -> None:
    old(9)
    policy = make_policy(max_age_days=7)
    run(policy)
    page = root.get(links.row_page(policy)).text
    listed = links.list_page(
        Run, tenant="acme", kind="retention", target=str(policy.id)
    )
    assert listed.replace("&", "&amp;") in page
    (row,) = root.get(listed).context["window"].rows
    assert row.counts["deleted"] == 1
    assert (
        "retention.create"
        in root.get(links.audit_of("acme", f"policy:{policy.id}")).text
    )
    assert timezone.now() >= row.started_at
