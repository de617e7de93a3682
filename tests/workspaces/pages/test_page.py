"""What all pages do: methods, entity tags, items that are missing."""

from html import unescape

import pytest
from django.test import Client

from tests.reload_workspace import reload_workspace

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/outcomes"


@pytest.fixture
def workspace(module_workspace):
    return reload_workspace(module_workspace)


@pytest.mark.parametrize("address", [PAGE, f"{PAGE}.json", f"{PAGE}.csv", "/healthz", "/readyz", "/api/docs"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_pages_refuse_all_methods_but_get_and_head_without_a_csrf_check(workspace, method, address):
    response = Client(enforce_csrf_checks=True).generic(method, address)
    assert (response.status_code, response["Allow"]) == (405, "GET, HEAD")


def test_an_unchanged_page_is_not_sent_again(browser_client, workspace, api):
    first = browser_client.get(f"{PAGE}?range=30d")
    again = {"if-none-match": first["ETag"]}
    unchanged = browser_client.get(f"{PAGE}?range=30d", headers=again)
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    api.post("/api/conversation-outcomes", {"outcomes": [{"conversationId": "a", "outcomeKey": "won"}]})
    changed = browser_client.get(f"{PAGE}?range=30d", headers=again)
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]
    assert "private" in changed["Cache-Control"]


def test_after_signing_in_again_a_page_is_sent_with_new_forms(browser_client, workspace):
    first = browser_client.get(f"{PAGE}?range=30d")
    browser_client.cookies["csrftoken"] = "b" * 32
    assert browser_client.get(f"{PAGE}?range=30d", headers={"if-none-match": first["ETag"]}).status_code == 200


@pytest.mark.parametrize(("page", "member"), [("outcomes", "compare"), ("difference", "against")])
def test_a_comparison_of_environments_links_to_the_one_the_other_way_round(browser_client, workspace, page, member):
    start = f"/w/{workspace.workspace.slug}"
    html = unescape(browser_client.get(f"{start}/production/{page}?range=30d&{member}=staging").content.decode())
    assert f'href="{start}/staging/{page}?range=30d&{member}=production"' in html
    assert f'href="{start}/production/{page}?range=30d&{member}=staging"' in html


def test_a_missing_item_is_reported_within_the_workspace(browser_client, workspace):
    address = f"/w/{workspace.workspace.slug}/staging/operation?method=GET&path=/orders&range=30d"
    response = browser_client.get(address)
    text = response.content.decode()
    assert response.status_code == 404
    assert "no such operation" in text
    assert f"/w/{workspace.workspace.slug}/production/operation?method=GET" in text  # link to the other environment
    assert f'href="/w/{workspace.workspace.slug}/staging/overview?range=30d"' in text  # link of the logo and the button
    assert f'href="/w/{workspace.workspace.slug}/staging/catalog?range=30d">Catalog</a>' in text.split("<main", 1)[1]
    assert "data-live" not in text.split("<main", 1)[1].split(">", 1)[0]
    assert browser_client.get(address.replace("operation?", "operation.json?")).json()["code"] == "not-found"
