"""Pages say that a baseline was reset. What was not observed since the reset does not count as a change of the API."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from catalog.models import Operation
from catalog.rules.baseline_resets import reset_baseline, undo_baseline_reset
from tests.catalog.pages import compare, load_table, open_page, read_words
from tests.catalog.reports import deliver, observation, observe
from workspaces.models import Membership

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"
FULL = {"id": 1, "total": {"amount": 2}}
PLACE = {"method": "GET", "path": PATH}
NOT_COUNTED = re.compile(r"not counted: baseline reset \w{3} \d+ \w{3}, \d\d:\d\d by ann")


def reset(**part: str) -> Any:
    operation = Operation.objects.get(environment__name="production")
    return reset_baseline(operation, actor="ann", now=timezone.now(), **part)


def read_page(client: Any, created: Any, page: str, **query: str) -> str:
    return read_words(open_page(client, created, page, **query))


@pytest.fixture
def two_environments(api: Any, workspace: Any) -> Any:
    """Return a workspace in which both environments have the same answers, with 200 and with 403."""
    for name in ("production", "staging"):
        observe(api, workspace, name, (20, FULL))
        deliver(api, workspace, *[observation(status=403, response={"code": "x"})] * 5, environment=name)
    return workspace


def test_a_reset_is_no_difference_between_environments(browser_client, two_environments):
    reset()
    (row,) = compare(browser_client, two_environments, "production", "staging")
    assert (row["change"], row["part"], row["certain"], row["breaksFor"]) == ("reset", "operation", False, "")
    words = read_page(browser_client, two_environments, "difference")
    assert NOT_COUNTED.search(words)
    assert "No differences" in words
    assert "What 1 baseline reset hides is not counted until it is observed again." in words
    assert "type now known" not in words
    back = read_words(open_page(browser_client, two_environments, "difference", "staging", against="production"))
    assert NOT_COUNTED.search(back)


def test_differences_come_back_with_observations_and_with_the_undo(api, browser_client, two_environments):
    made = reset()
    observe(api, two_environments, "production", (4, {"id": 1}))
    rows = compare(browser_client, two_environments, "production", "staging")
    assert {(row["part"], row["pointer"], row["change"]) for row in rows} == {
        ("200", "/total", "new"),
        ("403", "", "reset"),
    }
    (missing,) = (row for row in rows if row["pointer"] == "/total")
    assert (missing["seen"], missing["of"]) == (0, 4)
    undo_baseline_reset(made, actor="ann", now=timezone.now())
    assert compare(browser_client, two_environments, "production", "staging") == []


def test_a_status_is_counted_of_the_calls_since_the_reset(api, browser_client, two_environments):
    reset()
    observe(api, two_environments, "production", (4, FULL))
    deliver(api, two_environments, observation(status=409), environment="staging")
    (row,) = (row for row in compare(browser_client, two_environments, "production", "staging") if row["part"] == "409")
    assert (row["seen"], row["of"]) == (0, 4)


def test_a_field_that_was_reset_is_no_difference_until_it_could_have_come(api, browser_client, two_environments):
    reset(part="200", pointer="/total")
    (row,) = compare(browser_client, two_environments, "production", "staging")
    assert (row["part"], row["pointer"], row["change"]) == ("200", "/total", "reset")
    assert NOT_COUNTED.search(read_page(browser_client, two_environments, "difference"))
    observe(api, two_environments, "production", (4, {"id": 1}))
    assert {row["change"] for row in compare(browser_client, two_environments, "production", "staging")} != {"reset"}


def test_operation_and_catalog_say_the_same_of_a_reset(api, browser_client, two_environments):
    reset()
    for query in ({}, {"range": "all"}):
        words = read_page(browser_client, two_environments, "operation", **PLACE, **query)
        assert NOT_COUNTED.search(words)
        assert "0 in this period" not in words
        assert "no observation since; the 25 before it count again once you undo it Undo" in words
        assert "Of 0 observations" not in words
        assert NOT_COUNTED.search(read_page(browser_client, two_environments, "catalog", **query))
    observe(api, two_environments, "production", (4, FULL))
    words = read_page(browser_client, two_environments, "operation", **PLACE)
    assert "4 in this period, 29 of all time" in words
    assert "25 of the observations not counted: baseline reset" in words
    assert not NOT_COUNTED.search(read_page(browser_client, two_environments, "catalog"))


def test_the_first_line_undoes_the_reset_for_those_who_may(browser_client, client, two_environments):
    made = reset()
    undo = f'action="/w/{two_environments.workspace.slug}/production/rules/fresh-starts/{made.pk}/undo"'
    head = open_page(browser_client, two_environments, "operation", **PLACE).partition('id="overrides"')[0]
    assert undo in head
    viewer = get_user_model().objects.create_user("vera")
    Membership.objects.create(user=viewer, workspace=two_environments.workspace, role=Membership.VIEWER)
    client.force_login(viewer)
    assert undo not in open_page(client, two_environments, "operation", **PLACE).partition('id="overrides"')[0]


def test_a_viewer_is_not_asked_to_undo_a_reset(browser_client, client, two_environments):
    reset(part="200", pointer="/total")
    viewer = get_user_model().objects.create_user("vera")
    Membership.objects.create(user=viewer, workspace=two_environments.workspace, role=Membership.VIEWER)
    client.force_login(viewer)
    place = {**PLACE, "part": "200", "at": "/total"}
    assert "Undo it on the page of the operation" in read_page(browser_client, two_environments, "property", **place)
    words = read_page(client, two_environments, "property", **place)
    assert "Baseline reset" in words
    assert "Undo it" not in words
    reset()
    words = read_page(browser_client, two_environments, "operation", **PLACE)
    assert "count again once you undo it" in words
    words = read_page(client, two_environments, "operation", **PLACE)
    assert "count again once it is undone" in words


def test_the_version_of_a_reset_says_so_and_has_no_changes(browser_client, two_environments):
    reset()
    words = read_page(browser_client, two_environments, "operation", **PLACE)
    assert "Baseline reset by ann" in words
    assert "nothing yet" not in words
    latest = Operation.objects.get(environment__name="production").version
    compared = {"before": str(latest - 1), "after": str(latest)}
    assert load_table(browser_client, two_environments, "operation", "changes", **PLACE, **compared) == []
    words = unescape(read_page(browser_client, two_environments, "operation", **PLACE, **compared))
    assert "Baseline reset between them" in words
