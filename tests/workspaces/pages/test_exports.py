"""The exports of pages as JSON and CSV: their period, their names, and no cache."""

import json

import pytest

from tests.reload_workspace import reload_workspace

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/outcomes"


@pytest.fixture
def workspace(module_workspace):
    return reload_workspace(module_workspace)


@pytest.mark.parametrize("ending", [".json", ".csv"])
@pytest.mark.parametrize("query", ["tz=Nope", "range=1y", "from=x", "from=2026-02-02&to=2026-01-01"])
def test_an_export_with_an_invalid_range_is_refused(workspace, api, query, ending):
    response = api.get(f"{PAGE}{ending}?{query}")
    assert response.status_code == 400
    assert response.json()["code"] == "invalid-request"


def test_an_export_names_a_period_only_if_its_page_has_one(workspace, browser_client):
    for page, has_period in (("joins", True), ("difference", False)):
        document = json.loads(browser_client.get(f"/w/{workspace.workspace.slug}/production/{page}.json").getvalue())
        assert {bool(document[name]) for name in ("from", "to", "zone")} == {has_period}, page


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_no_cache_may_keep_an_export(workspace, api, browser_client, ending):
    address = f"/w/{workspace.workspace.slug}/production/joins.{ending}"
    for response in (api.get(address), browser_client.get(address)):
        assert response.status_code == 200
        assert response["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    ("query", "ending"),
    [
        ("", "outcomes-keys-7d.csv"),
        ("range=30d", "outcomes-keys-30d.csv"),
        ("from=2026-03-01&to=2026-03-08", "outcomes-keys-2026-03-01-to-2026-03-08.csv"),
    ],
)
def test_the_name_of_a_download_has_its_period(browser_client, workspace, query, ending):
    answer = browser_client.get(f"/w/lumen-books/production/outcomes.csv?table=keys&{query}")
    assert answer["Content-Disposition"] == f'attachment; filename="lumen-books-production-{ending}"'
    answer.getvalue()  # an unread download would close the connection, and the rows of the module would be lost
