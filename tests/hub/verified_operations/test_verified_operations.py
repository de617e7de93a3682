"""The catalog says which operations a backend verifies, and which are only observed."""

import json
import re
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from catalog.models import Operation
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.catalog.reports import deliver, observation
from tests.page_text import read_html

CATALOG = "/w/lumen-books/production/catalog"
OPERATION = "/w/lumen-books/production/operation"


def list_paths(client, **query):
    rows = json.loads(client.get(f"{CATALOG}.json", query).getvalue())["tables"]["operations"]
    return {f"{row['method']} {row['path']}": row["lastVerifiedAt"] for row in rows}


@pytest.fixture
def production(workspace, api):
    deliver(api, workspace, observation("POST", "/refunds"), observation("GET", "/orders/{orderId}"))
    deliver(api, workspace, observation("GET", "/refunds"))
    return workspace.workspace.environments.get(name="production")


def test_the_catalog_tells_verified_operations_from_those_that_never_were(browser_client, production):
    now = timezone.now()
    for moment, result in ((now - timedelta(days=70), "accepted"), (now, "expired")):
        record_verifications(production, [Verification(result, moment, 2, "GET /orders/{id}")])
    staging = production.workspace.environments.get(name="staging")
    record_verifications(staging, [Verification("accepted", now, 2, "POST /refunds")])
    assert set(list_paths(browser_client, show="verified")) == {"GET /orders/{orderId}"}
    assert set(list_paths(browser_client, show="unverified")) == {"GET /refunds", "POST /refunds"}
    verified = list_paths(browser_client)
    assert verified["GET /orders/{orderId}"]
    assert verified["POST /refunds"] is None
    page = read_html(browser_client.get(CATALOG))
    assert page.count('<span class="tag">never</span>') == 2
    assert "named no operation" not in page


def test_a_verification_of_an_operation_shown_under_another_counts_for_that_one(browser_client, production):
    shown = Operation.objects.get(environment=production, method="GET", key="/orders/{}")
    Operation.objects.filter(environment=production, method="GET", key="/refunds").update(shown_under=shown)
    record_verifications(production, [Verification("accepted", timezone.now(), 2, "GET /refunds")])
    assert set(list_paths(browser_client, show="verified")) == {"GET /orders/{orderId}"}


def test_the_page_names_the_confirmation_only_if_a_backend_verifies_the_operation(browser_client, production):
    """A backend that verifies nothing also accepts calls without a confirmation."""
    query = {"method": "POST", "path": "/refunds"}
    page = read_html(browser_client.get(OPERATION, query))
    assert re.search(r'Last checked</small> <div class="v"> <a href="[^"]*show=unverified">never</a>', page)
    assert "needs a confirmation" not in page
    assert ">rejections</a>" not in page
    record_verifications(production, [Verification("missing-header", timezone.now(), 0, "POST /refunds")])
    page = read_html(browser_client.get(OPERATION, query))
    assert re.search(r'Last checked</small> <div class="v"> <time', page)
    assert "needs a confirmation</a>" in page
    (rejections,) = re.findall(r'<a href="([^"]*)">rejections</a>', page)
    assert parse_qs(urlsplit(unescape(rejections)).query)["operation"] == ["POST /refunds"]


def test_verifications_without_an_operation_are_mentioned(browser_client, production):
    record_verifications(production, [Verification("accepted", timezone.now())])
    assert "Verifications that named no operation count for none of these." in read_html(browser_client.get(CATALOG))
    assert set(list_paths(browser_client, show="verified")) == set()
