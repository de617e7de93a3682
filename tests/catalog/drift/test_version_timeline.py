"""The timeline of an operation: its versions, when they were detected, and what changed."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from catalog.models import Drift, OperationVersion
from tests.catalog.pages import address, open_page
from tests.catalog.reports import deliver, observation

pytestmark = pytest.mark.django_db
PATH = "/orders/{orderId}"


def test_an_operation_dates_its_versions_by_when_they_were_detected(browser_client, drifted_workspace):
    OperationVersion.objects.update(since=timezone.now() - timedelta(hours=19))
    Drift.objects.update(since=timezone.now() - timedelta(hours=19))
    page = open_page(browser_client, drifted_workspace, "operation", method="GET", path=PATH)
    assert "19 h ago" not in page


def test_a_version_has_the_same_date_on_the_pages_of_the_operation_and_the_property(api, browser_client, workspace):
    """A report can arrive a day or more after its traffic."""
    yesterday = timezone.now().timestamp() - 86_400
    for body in ({"id": 1}, {"id": "x"}):
        deliver(api, workspace, *[observation(response=body, lastSeenAt=yesterday)] * 30)
    query = {"method": "GET", "path": PATH}
    operation = open_page(browser_client, workspace, "operation", **query).partition('id="versions"')[2]
    history = open_page(browser_client, workspace, "property", part="200", at="/id", **query).partition('id="history"')[
        2
    ]
    dates = [re.findall(r'<time datetime="([^"]+)"', page)[0] for page in (operation, history)]
    assert dates[0] == dates[1]


def test_the_timeline_shows_the_change_of_a_manual_override(api, browser_client, workspace):
    deliver(api, workspace, observation(response={"by": {"one": 1, "two": 2}}))
    address_of_maps = address(workspace, "operation/maps")
    form = {"method": "GET", "path": PATH, "part": "200", "pointer": "/by", "as": "map"}
    assert browser_client.post(address_of_maps, form).status_code in (302, 303)
    page = open_page(browser_client, workspace, "operation", method="GET", path=PATH)
    versions = page[page.index('id="versions"') :]
    assert "manual override" in versions
    assert "<code>/by</code>" in versions
