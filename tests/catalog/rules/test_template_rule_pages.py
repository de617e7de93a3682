"""Template rules on pages: the form that shows an operation under another template, what is shown then, and undos."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from catalog import operation_queries
from catalog.models import BaselineReset, TemplateRule
from catalog.rules.baseline_resets import reset_baseline
from catalog.rules.template_rules import TEMPLATE_RULE_ERRORS, add_template_rule, undo_template_rule
from tests.catalog.reports import deliver, environment_of, observation
from tests.reload_workspace import reload_workspace
from workspaces.create import NewWorkspace

pytestmark = pytest.mark.django_db
RED, SHOP = "/shops/red/{itemId}", "/shops/{shop}/{item}"


def address(created: Any, page: str) -> str:
    return f"/w/{created.workspace.slug}/production/{page}"


def submit_template(client: Any, created: Any, **members: str) -> Any:
    form = {"method": "GET", "path": "/shops/blue/{x}", "target": SHOP, **members}
    return client.post(address(created, "operation/template"), form)


@pytest.fixture(scope="module")
def workspace_with_data(module_workspace: NewWorkspace, connect: Callable[[NewWorkspace], Any]) -> NewWorkspace:
    seen = [observation(path=RED), observation(path="/shops/blue/{x}", count=3)]
    deliver(connect(module_workspace), module_workspace, *seen)
    return module_workspace


@pytest.fixture
def with_data(workspace_with_data: NewWorkspace) -> NewWorkspace:
    return reload_workspace(workspace_with_data)


def test_a_member_shows_an_operation_under_another_template_on_its_page(browser_client, with_data):
    answer = submit_template(browser_client, with_data, only="1")
    rule = TemplateRule.objects.get()
    assert (answer.status_code, rule.actor, rule.method, rule.matching) == (303, "test-operator", "GET", False)
    page = browser_client.get(answer["Location"]).content.decode()
    assert "Reported as" in page
    assert "as reported" in page
    old = browser_client.get(address(with_data, "operation"), {"method": "GET", "path": "/shops/blue/{x}"})
    assert "is shown here" in old.content.decode()


def test_the_reported_operation_can_still_be_opened(browser_client, with_data):
    submit_template(browser_client, with_data)
    query = {"method": "GET", "path": "/shops/blue/{y}", "as": "reported"}
    page = browser_client.get(address(with_data, "operation"), query).content.decode()
    assert "This is what was reported under this template" in page
    assert "show-under" not in page
    assert ">Show under another template" not in page


def test_a_reset_of_merged_operations_is_listed_only_at_the_operation_where_it_was_made(browser_client, with_data):
    environment = environment_of(with_data)
    by = {"actor": "ann", "now": timezone.now()}
    rule = add_template_rule(environment, RED, "/shops/blue/{x}", **by)
    reset_baseline(operation_queries.find_operation(environment, "GET", RED), **by)
    undo_template_rule(rule, **by)
    pages = [
        browser_client.get(address(with_data, "operation"), {"method": "GET", "path": path}).content.decode()
        for path in (RED, "/shops/blue/{x}")
    ]
    assert ["baseline begins here" in page for page in pages] == [False, True]
    assert "Undo the baseline reset" not in pages[0]
    member_reset = BaselineReset.objects.exclude(through=None).get()
    assert browser_client.post(address(with_data, f"rules/fresh-starts/{member_reset.pk}/undo")).status_code == 404


def test_a_nul_in_the_form_is_dropped(browser_client, with_data):
    assert submit_template(browser_client, with_data, path="/shops/blue/{x}\0").status_code == 303
    assert TemplateRule.objects.get().source == "/shops/blue/{}"


@pytest.mark.parametrize(("target", "code"), [("/shops", "segments"), ("/a/{b}/{b}", "clash"), ("", "start")])
def test_an_error_is_shown_next_to_the_entered_text(browser_client, with_data, target, code):
    answer = submit_template(browser_client, with_data, target=target, matching="1")
    assert answer.status_code == 303
    page = browser_client.get(answer["Location"]).content.decode()
    assert TEMPLATE_RULE_ERRORS[code] in page
    assert 'name="matching" value="1" checked' in page
    assert not TemplateRule.objects.exists()


def test_a_value_in_a_target_is_repeated_nowhere(browser_client, with_data):
    answer = submit_template(browser_client, with_data, target="/shops/anna@example.org/{id}")
    assert TEMPLATE_RULE_ERRORS["raw"] in browser_client.get(answer["Location"]).content.decode()
    assert "example.org" not in answer["Location"]


def test_a_rule_that_cannot_be_undone_yet_says_so(browser_client, with_data):
    environment = environment_of(with_data)
    by = {"actor": "ann", "now": timezone.now()}
    pinned = add_template_rule(environment, RED, RED, **by)
    add_template_rule(environment, "/shops/blue/{}", SHOP, matching=True, **by)
    add_template_rule(environment, SHOP, RED, **by)
    answer = browser_client.post(address(with_data, f"rules/template-rules/{pinned.pk}/undo"))
    assert "cannot be undone yet" in browser_client.get(answer["Location"]).content.decode()
    pinned.refresh_from_db()
    assert pinned.undone_at is None
