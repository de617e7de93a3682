"""Redaction rules are added and undone by members and pulled by reporters. They contain names, never values."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connections
from django.utils import timezone

from catalog.models import RedactionRule
from catalog.rules.errors import RuleError
from catalog.rules.redaction_rules import (
    REDACTION_RULE_ERRORS,
    add_redaction_rule,
    find_redaction_error,
    list_active_redactions,
    undo_redaction_rule,
)
from tests.catalog.reports import deliver, environment_of, observation
from workspaces.models import AuditEntry

pytestmark = pytest.mark.django_db
ADDRESS = "/api/witness-rules"


def add_rule(created: Any, kind: str, name: str, *, environment: str = "production", **options: Any) -> RedactionRule:
    return add_redaction_rule(
        environment_of(created, environment), kind, name, actor="ann", now=timezone.now(), **options
    )


def test_reporters_get_the_active_rules_sorted_without_repetition(api, workspace):
    add_rule(workspace, "sensitive", "user*Email")
    add_rule(workspace, "drop", "trace")
    add_rule(workspace, "sensitive", "maiden name", everywhere=True)
    add_rule(workspace, "drop", "trace", everywhere=True)
    add_rule(workspace, "drop", "staged", environment="staging")
    undo_redaction_rule(add_rule(workspace, "drop", "never"), actor="ann", now=timezone.now())
    answer = api.get(ADDRESS, environment="production")
    assert answer["Content-Type"] == "application/json"
    assert json.loads(answer.content) == {
        "rules": [
            {"kind": "drop", "name": "trace"},
            {"kind": "sensitive", "name": "maiden name"},
            {"kind": "sensitive", "name": "user*Email"},
        ]
    }
    assert {"kind": "drop", "name": "staged"} in list_active_redactions(environment_of(workspace, "staging"))


def test_only_unchanged_rules_are_answered_304(api, workspace):
    tag = api.get(ADDRESS)["ETag"]
    assert not tag.startswith("W/")
    assert api.get(ADDRESS, headers={"If-None-Match": tag}).status_code == 304
    add_rule(workspace, "drop", "trace")
    again = api.get(ADDRESS, headers={"If-None-Match": tag})
    assert (again.status_code, json.loads(again.content)["rules"]) == (200, [{"kind": "drop", "name": "trace"}])


def test_rules_are_not_read_without_a_key_or_with_another_workspaces_key(api, client, workspace, other_workspace):
    add_rule(workspace, "drop", "trace", everywhere=True)
    assert client.get(ADDRESS).status_code == 401
    assert json.loads(api.get(ADDRESS, key=other_workspace.full_key).content) == {"rules": []}
    assert api.get(ADDRESS, environment="nowhere").json()["code"] == "unknown-environment"
    assert api.get(ADDRESS, key=workspace.publishable_key).status_code in (401, 403)


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        ("sensitive", "user*Email", ""), ("drop", "x-internal.note", ""), ("drop", "Straße", ""), ("drop", "v2", ""),
        ("drop", "customfield_10010", ""), ("sensitive", "order-1042", ""), ("sensitive", "iso-8601", ""),
        ("erase", "name", "kind"), ("drop", "", "length"), ("drop", "x" * 101, "length"), ("drop", "a\0b", "control"),
        ("drop", " name", "control"), ("drop", "*", "all"), ("drop", "* *", "all"), ("drop", "_*", "signs"),
        ("sensitive", "__", "signs"),
        ("drop", "anna@example.org", "value"), ("drop", "4111111111111111", "value"),
        ("drop", "0b6f3f1e-6a53-4b8e-9d7e-2f1f6f0f9a11", "value"),
    ],
)  # fmt: skip
def test_a_rule_with_an_unknown_kind_or_an_invalid_name_is_refused(workspace, kind, name, code):
    assert find_redaction_error(kind, name) == code
    if code:
        with pytest.raises(RuleError):
            add_rule(workspace, kind, name)
    assert RedactionRule.objects.count() == 0


def test_a_rule_added_twice_is_one_rule_and_one_entry_in_the_log(workspace):
    rule = add_rule(workspace, "drop", "trace")
    with pytest.raises(RuleError, match="already such a rule"):
        add_rule(workspace, "drop", "trace")
    for _ in range(2):
        undo_redaction_rule(rule, actor="bob", now=timezone.now())
    assert RedactionRule.objects.get() == rule
    entries = AuditEntry.objects.filter(action__startswith="redaction").order_by("id")
    assert [(entry.actor, entry.action, entry.facts) for entry in entries] == [
        ("ann", "redaction rule added", {"environment": "production", "kind": "drop", "name": "trace"}),
        ("bob", "redaction rule undone", {"environment": "production", "kind": "drop", "name": "trace"}),
    ]


def post_rule(client: Any, created: Any, then: str = "/redaction", **members: str) -> Any:
    return client.post(f"/w/{created.workspace.slug}/production/rules{then}", members)


@pytest.mark.django_db(transaction=True)
def test_a_rule_added_twice_at_once_is_one_rule(workspace):
    barrier = threading.Barrier(2)
    errors: list[str] = []

    def add() -> None:
        barrier.wait()
        try:
            add_rule(workspace, "drop", "trace")
        except RuleError as error:
            errors.append(error.reason)
        connections.close_all()

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (RedactionRule.objects.count(), errors) == (1, ["same"])


def test_where_a_rule_was_stored_twice_a_third_is_refused(workspace):
    rule = add_rule(workspace, "drop", "trace")
    rule.pk = None
    rule.save()
    with pytest.raises(RuleError, match="already"):
        add_rule(workspace, "drop", "trace")


def test_a_member_adds_a_rule_and_undoes_it_on_the_page(browser_client, workspace):
    answer = post_rule(browser_client, workspace, kind="drop", name="trace", everywhere="1")
    rule = RedactionRule.objects.get()
    assert (answer.status_code, rule.actor, rule.environment) == (303, "test-operator", None)
    page = browser_client.get(answer["Location"]).content.decode()
    assert '<code class="path">trace</code>' in page
    assert "all environments" in page
    assert post_rule(browser_client, workspace, f"/redaction-rules/{rule.pk}/undo").status_code == 303
    assert RedactionRule.objects.get().undone_at


def test_a_rule_undone_with_the_form_of_an_operation_leads_back_to_the_rules(browser_client, api, workspace):
    deliver(api, workspace, observation("GET", "/orders/{id}"))
    rule = add_rule(workspace, "drop", "trace")
    form = {"method": "GET", "path": "/orders/{id}"}
    answer = post_rule(browser_client, workspace, f"/redaction-rules/{rule.pk}/undo", **form)
    assert (answer.status_code, answer["Location"].partition("#")[2]) == (303, "redaction-rules")


def test_an_error_is_shown_next_to_the_entered_text(browser_client, workspace):
    answer = post_rule(browser_client, workspace, kind="drop", name="**")
    page = browser_client.get(answer["Location"]).content.decode()
    assert REDACTION_RULE_ERRORS["all"] in page
    assert 'value="**"' in page
    assert not RedactionRule.objects.exists()


def test_a_value_entered_as_a_name_is_refused_and_repeated_nowhere(browser_client, workspace):
    answer = post_rule(browser_client, workspace, kind="drop", name="anna@example.org")
    assert REDACTION_RULE_ERRORS["value"] in browser_client.get(answer["Location"]).content.decode()
    assert "example.org" not in answer["Location"]
    assert not AuditEntry.objects.filter(facts__name="anna@example.org").exists()


def test_only_members_of_the_workspace_make_or_undo_a_rule(client, workspace, other_workspace):
    rule = add_rule(workspace, "drop", "trace")
    assert post_rule(client, workspace, kind="drop", name="more").status_code == 302
    client.force_login(get_user_model().objects.create_user("outsider"))
    assert post_rule(client, workspace, kind="drop", name="more").status_code == 404
    assert post_rule(client, workspace, f"/redaction-rules/{rule.pk}/undo").status_code == 404
    outside = get_user_model().objects.create_user("neighbour")
    other_workspace.workspace.memberships.create(user=outside, role="editor")
    client.force_login(outside)
    assert post_rule(client, other_workspace, f"/redaction-rules/{rule.pk}/undo").status_code == 404
    assert RedactionRule.objects.get().undone_at is None


@pytest.mark.parametrize("kind", ["sensitive", "drop"])
def test_a_rule_for_another_spelling_of_a_name_is_refused(workspace, kind):
    add_rule(workspace, kind, "card_number")
    with pytest.raises(RuleError, match="already"):
        add_rule(workspace, kind, "cardNumber")
    for name in ("cardnumber", "card*number", "Card*Number"):
        add_rule(workspace, kind, name)


def test_the_page_says_which_program_does_not_use_the_rules(browser_client, workspace):
    page = browser_client.get(f"/w/{workspace.workspace.slug}/production/rules").content.decode()
    assert "<code>affidavit har</code> does not" in page
