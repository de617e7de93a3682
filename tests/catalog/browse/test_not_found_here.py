"""The page of an operation or a property that an environment does not have names the environments that have it."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.utils import timezone

from tests.catalog.reports import deliver, observation
from workspaces.environments.add import create_environment
from workspaces.keys.create import create_key
from workspaces.models import ApiKey

pytestmark = pytest.mark.django_db
ORDERS = {"method": "GET", "path": "/orders/{id}"}
NOTE = {**ORDERS, "part": "200", "at": "/note"}
NOBODY_HAS_IT = "This environment has no such operation. Look for it in the catalog, or report an observation of it."


@pytest.fixture
def start(api: Any, workspace: Any) -> str:
    """Return the start of addresses. Quality (qa) and staging have the operation, and only Quality its property."""
    create_environment(workspace.workspace, "qa", label="Quality", actor="ann", now=timezone.now())
    deliver(api, workspace, observation(response={"id": 1}), environment="staging")
    deliver(api, workspace, observation(response={"id": 1, "note": "x"}), environment="qa")
    return f"/w/{workspace.workspace.slug}/"


def read_failure(client: Any, address: str, query: dict[str, str]) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 404
    return " ".join(unescape(answer.content.decode().split("<main", 1)[1]).split())


@pytest.mark.parametrize("page", ["operation", "property"])
def test_a_missing_operation_is_named_with_the_environments_that_have_it(browser_client, start, page):
    text = read_failure(browser_client, f"{start}production/{page}", NOTE)
    assert "no such operation. It is known in Quality and staging. Look for it in the catalog" in text
    links = dict(re.findall(r'href="([^"]+)">Open it in ([^<]+)<', text))
    assert sorted(links.values()) == ["Quality", "staging"]
    to_quality = next(address for address, label in links.items() if label == "Quality")
    assert to_quality.startswith(f"{start}qa/{page}?")
    assert browser_client.get(to_quality).status_code == 200


def test_a_missing_property_is_named_with_the_environments_whose_operation_has_it(browser_client, start):
    text = read_failure(browser_client, f"{start}staging/property", NOTE)
    words = "This operation has no such property in this environment. It is known in Quality. Choose one in the shape"
    assert words in text
    assert text.count("Open it in") == 1
    text = read_failure(browser_client, f"{start}staging/property", {**NOTE, "at": "/never"})
    assert "no such property in this environment. Choose one in the shape on its page." in text


def test_an_operation_that_no_environment_has_links_to_none(browser_client, start):
    text = read_failure(browser_client, f"{start}production/operation", {"method": "GET", "path": "/never"})
    assert NOBODY_HAS_IT in text
    assert "Open it in" not in text


def test_neither_a_key_of_one_environment_nor_another_workspace_learns_of_it(
    api, browser_client, start, workspace, other_workspace
):
    now = timezone.now() - timedelta(minutes=1)
    key = create_key(workspace.workspace, ApiKey.SCOPES, environment_names=["production"], actor="test", now=now).text
    answer = api.get(f"{start}production/operation.json?method=GET&path=/orders/{{id}}", key=key)
    assert (answer.status_code, answer.json()["detail"]) == (404, NOBODY_HAS_IT)
    other = read_failure(browser_client, f"/w/{other_workspace.workspace.slug}/production/operation", ORDERS)
    assert NOBODY_HAS_IT in other
