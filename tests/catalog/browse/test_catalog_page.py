"""The catalog's list: what it shows, finds, sorts and exports."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from catalog.browse import views
from catalog.ingest.fold import fold_reports
from catalog.models import OperationDay, WitnessReport
from tests.catalog.reports import deliver, environment_of, observation, report

pytestmark = pytest.mark.django_db
AT = 1_790_000_000


def address(created: Any, form: str = "", environment: str = "production") -> str:
    return f"/w/{created.workspace.slug}/{environment}/catalog{form}"


@pytest.fixture
def filled_workspace(api: Any, workspace: Any) -> Any:
    deliver(
        api,
        workspace,
        observation("POST", "/orders", 201, request={"sku": "x"}, response={"id": 1}, lastSeenAt=AT),
        observation("GET", "/orders", 200, 12_204, response=[{"id": 1, "Total_Price": 1}], lastSeenAt=AT),
        observation("GET", "/orders", 404, 3, lastSeenAt=AT),
        observation("GET", "/customers/{customerId}", 500, 9, lastSeenAt=AT + 60, firstSeenAt=AT - 60),
        observation("GET", "/scanned", 404, lastSeenAt=AT),
    )
    return workspace


def list_rows(client: Any, created: Any, **query: str) -> list[dict[str, Any]]:
    response = client.get(address(created, ".json"), query)
    assert response.status_code == 200
    return json.loads(b"".join(response.streaming_content))["tables"]["operations"]


def list_paths(client: Any, created: Any, **query: str) -> list[str]:
    return [f"{row['method']} {row['path']}" for row in list_rows(client, created, **query)]


def test_the_list_shows_what_was_observed(browser_client, filled_workspace):
    page = browser_client.get(address(filled_workspace), {"range": "all"}).content.decode()
    assert "12,207" in page
    assert "/customers/<wbr>{customerId}" in page
    assert "/scanned" not in page
    assert re.search(r"3\s+in all", page)


def test_the_downloads_have_every_operation_with_its_numbers(browser_client, filled_workspace):
    customers, orders, _ = list_rows(browser_client, filled_workspace)
    assert customers == {
        "method": "GET",
        "path": "/customers/{customerId}",
        "observations": 9,
        "statuses": {"500": 9},
        "properties": 0,
        "undecided": [],
        "firstSeenAt": AT - 60,
        "lastSeenAt": AT + 60,
        "unknowns": 0,
        "driftedAt": None,
        "observationsInPeriod": 0,
        "lastVerifiedAt": None,
        "noLongerSeen": 0,
        "probablyGone": 0,
        "countedFromDay": None,
    }
    assert (orders["observations"], orders["statuses"], orders["properties"]) == (12_207, {"200": 12_204, "404": 3}, 2)
    response = browser_client.get(address(filled_workspace, ".csv"), {"table": "operations"})
    exported_rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert [(row["path"], row["observations"]) for row in exported_rows] == [
        ("/customers/{customerId}", "9"),
        ("/orders", "12207"),
        ("/orders", "1"),
    ]


def test_a_property_with_several_types_is_found_by_each_of_them_and_by_null(api, browser_client, workspace):
    deliver(api, workspace, *(observation(response={"placedAt": value, "paid": True}) for value in (1, "x", None)))
    page = browser_client.get(address(workspace), {"range": "all", "q": "placedat"}).content.decode()
    assert re.search(r"<mark>placedAt</mark></code></a>\s*integer or string or null\s*</small>", page)
    assert page.count("<mark>placedAt</mark>") == 1
    (link,) = re.findall(r'href="([^"]*#match)"', page)
    assert 'id="match"' in browser_client.get(unescape(link)).content.decode()
    for query, count in (("placedat:string", 1), ("placedat:integer", 1), ("placedat:null", 1), ("paid:null", 0)):
        assert len(list_rows(browser_client, workspace, q=query)) == count, query


def test_observations_are_counted_within_the_period(api, browser_client, workspace):
    first = AT // 86400 * 86400
    deliver(api, workspace, observation(count=5, lastSeenAt=first), observation(count=7, lastSeenAt=first + 86400))
    deliver(api, workspace, observation(path="/books", count=6, lastSeenAt=first + 86400))
    counts = {}
    for name, query in {"second": {"from": "2026-09-22", "to": "2026-09-22"}, "all": {"range": "all"}}.items():
        rows = list_rows(browser_client, workspace, sort="observations", **query)
        counts[name] = [(row["path"], row["observationsInPeriod"]) for row in rows]
    assert counts == {
        "second": [("/orders/{orderId}", 7), ("/books", 6)],
        "all": [("/orders/{orderId}", 12), ("/books", 6)],
    }


def test_observations_without_counts_by_day_are_not_shown_as_zero(api, browser_client, workspace):
    deliver(api, workspace, observation(count=5))
    assert "not counted" not in browser_client.get(address(workspace)).content.decode()
    OperationDay.objects.all().delete()
    assert "not counted" in browser_client.get(address(workspace)).content.decode()
    operation = {"method": "GET", "path": "/orders/{orderId}"}
    page = browser_client.get(address(workspace).replace("catalog", "operation"), operation).content.decode()
    assert "No counts are kept for these days" in page


def test_a_sum_without_the_deleted_days_of_its_period_says_from_which_day_on_it_counts(api, browser_client, workspace):
    """The operations were observed on 2026-09-21 and, one of them, on 2026-09-24."""
    deliver(api, workspace, observation(count=5, lastSeenAt=AT), observation(count=7, lastSeenAt=AT + 3 * 86400))
    deliver(api, workspace, observation(path="/books", count=6, lastSeenAt=AT + 3 * 86400))
    period = {"from": "2026-09-20", "to": "2026-09-25"}
    assert "24 Sep 2026 on" not in browser_client.get(address(workspace), period).content.decode()
    OperationDay.objects.filter(day="2026-09-21").delete()
    page = browser_client.get(address(workspace), period).content.decode()
    assert page.count("from 24 Sep 2026 on") == 1
    rows = list_rows(browser_client, workspace, **period)
    assert [(row["path"], row["observationsInPeriod"], row["countedFromDay"]) for row in rows] == [
        ("/books", 6, None),
        ("/orders/{orderId}", 7, "2026-09-24"),
    ]


@pytest.mark.parametrize("days", [("2026-09-10", "2026-09-15"), ("2026-09-23", "2026-09-24")])
def test_a_period_without_observations_counts_zero_before_and_between_them(api, browser_client, workspace, days):
    """The operation was observed on 2026-09-21 and 2026-09-26."""
    deliver(api, workspace, observation(count=5, lastSeenAt=AT), observation(count=5, lastSeenAt=AT + 5 * 86400))
    page = browser_client.get(address(workspace), dict(zip(("from", "to"), days, strict=True))).content.decode()
    assert "not counted" not in page
    (row,) = list_rows(browser_client, workspace, **dict(zip(("from", "to"), days, strict=True)))
    assert row["observationsInPeriod"] == 0
    OperationDay.objects.filter(day="2026-09-21").delete()
    page = browser_client.get(address(workspace), dict(zip(("from", "to"), days, strict=True))).content.decode()
    may_have_been_observed = days[0] > "2026-09-21"
    assert ("not counted" in page) == may_have_been_observed
    (row,) = list_rows(browser_client, workspace, **dict(zip(("from", "to"), days, strict=True)))
    assert row["observationsInPeriod"] == (None if may_have_been_observed else 0)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"q": "ORDERS"}, ["GET /orders", "POST /orders"]),
        ({"q": "total_price"}, ["GET /orders"]),
        ({"q": "orders sku"}, ["POST /orders"]),
        ({"q": "sku:string"}, ["POST /orders"]),
        ({"q": "sku:integer"}, []),
        ({"q": "orders array"}, []),
        ({"q": "o_ders"}, []),
        ({"q": "%"}, []),
        ({"q": "nothing\0"}, []),
        ({"method": "post"}, ["POST /orders"]),
        ({"status": "5xx"}, ["GET /customers/{customerId}"]),
        ({"status": "404"}, ["GET /orders"]),
        ({"q": "orders", "method": "GET", "status": "2xx"}, ["GET /orders"]),
        ({"sort": "observations", "range": "all"}, ["GET /orders", "GET /customers/{customerId}", "POST /orders"]),
        ({"sort": "last"}, ["GET /customers/{customerId}", "GET /orders", "POST /orders"]),
        ({"status": "", "sort": ""}, ["GET /customers/{customerId}", "GET /orders", "POST /orders"]),
    ],
)
def test_filters_and_order_apply_to_the_page_and_its_downloads(browser_client, filled_workspace, query, expected):
    assert list_paths(browser_client, filled_workspace, **query) == expected
    page = browser_client.get(address(filled_workspace), query).content.decode().replace("<wbr>", "")
    positions = [page.find(f'<code class="path">{path.split()[1]}</code>') for path in expected]
    assert -1 not in positions
    if not expected:
        assert "No matching operations" in page


@pytest.mark.parametrize("query", [{"status": "?"}, {"sort": "?"}, {"show": "nonsense"}])
def test_an_unknown_filter_leaves_out_no_operation(browser_client, filled_workspace, query):
    assert browser_client.get(address(filled_workspace), query).context["operations"].paginator.count == 3


def test_htmx_gets_the_list_alone(browser_client, filled_workspace):
    response = browser_client.get(address(filled_workspace), {"q": "sku"}, headers={"HX-Request": "true"})
    page = response.content.decode()
    assert page.startswith("<section")
    assert "<html" not in page
    assert "HX-Request" in response["Vary"]


def test_a_long_list_is_paged_and_counted(browser_client, filled_workspace, monkeypatch):
    monkeypatch.setattr(views, "ROWS_PER_PAGE", 2)
    first, second = (
        browser_client.get(address(filled_workspace), {"page": page}).content.decode() for page in ("1", "2")
    )
    assert "1 to 2 of 3" in " ".join(first.split())
    assert "page=2" in first
    assert "3 to 3 of 3" in " ".join(second.split())
    assert len(list_rows(browser_client, filled_workspace, page="2")) == 3


def test_an_empty_catalog_says_how_to_begin(browser_client, workspace):
    page = browser_client.get(address(workspace)).content.decode()
    assert workspace.report_key[:12] in page
    assert workspace.full_key not in page
    assert "affidavit har" in page
    assert "/api/witness-reports" in page


@pytest.mark.parametrize("name", ["production", "staging"])
def test_running_the_call_on_the_empty_page_adds_an_operation_to_that_page(api, browser_client, workspace, name):
    page = browser_client.get(address(workspace, environment=name)).content.decode()
    body = html.unescape(re.search(r"-d '(.*?)'</code>", html.unescape(page), re.DOTALL)[1])
    assert api.post("/api/witness-reports", body.encode()).status_code == 202
    fold_reports(environment_of(workspace, name), now=timezone.now())
    assert "/orders/<wbr>{orderId}" in browser_client.get(address(workspace, environment=name)).content.decode()


def test_a_dead_letter_is_shown_and_exported(api, browser_client, filled_workspace):
    body = report(observation())
    api.post("/api/witness-reports", body)
    WitnessReport.objects.filter(report_id=body["reportId"]).update(
        dead_lettered_at=timezone.now(), fault="It is broken."
    )
    assert environment_of(filled_workspace).witness_reports.exclude(dead_lettered_at=None).count() == 1
    page = browser_client.get(address(filled_workspace)).content.decode()
    assert body["reportId"] in page
    assert "It is broken." in page
    response = browser_client.get(address(filled_workspace, ".csv"), {"table": "parked"})
    assert body["reportId"] in b"".join(response.streaming_content).decode()


def test_nothing_of_another_environment_is_shown(browser_client, filled_workspace):
    assert "/customers" not in browser_client.get(address(filled_workspace, environment="staging")).content.decode()
    response = browser_client.get(address(filled_workspace, ".json", "staging"))
    assert b'"operations": []' in b"".join(response.streaming_content)


def test_an_outsider_finds_no_page(client, filled_workspace, other_workspace):
    client.force_login(get_user_model().objects.create_user("outsider"))
    assert client.get(address(filled_workspace)).status_code == 404
    stranger = {"x-service-api-key": other_workspace.full_key}
    assert client.get(address(filled_workspace, ".json"), headers=stranger).status_code == 404


def test_a_secret_key_of_the_workspace_reads_the_downloads(client, filled_workspace):
    response = client.get(address(filled_workspace, ".json"), headers={"x-service-api-key": filled_workspace.full_key})
    assert response.status_code == 200


def test_a_search_lists_the_matching_properties_with_links(api, workspace, browser_client):
    body = {"subtotal": 1.5, "total": 1.5, "other": "x", "totals": [1], "total_a": 1, "total_b": 1}
    deliver(api, workspace, observation(response=body))
    start = f"/w/{workspace.workspace.slug}/production"
    response = browser_client.get(f"{start}/catalog", {"q": "orders TOTAL", "tz": "Europe/Berlin"})
    (names,) = response.context["hits"].values()
    assert names[0] == ("total", "number")
    assert len(names) == 3
    assert ("other", "string") not in names
    link = re.search(r'href="([^"]+#match)"', response.content.decode())[1]
    page = browser_client.get(html.unescape(link).removesuffix("#match")).content.decode()
    assert re.search(r'<mark id="match">\s*total\s*</mark>', page)
    assert "tz=Europe" in link
    assert browser_client.get(f"{start}/catalog").context["hits"] == {}


def test_every_download_of_the_menu_answers_with_what_its_link_says(browser_client, filled_workspace):
    page = browser_client.get(address(filled_workspace), {"range": "all"}).content.decode()
    links = re.findall(r'<a href="(/api/catalog/[^"]+)">\s*([^<]+?)\s*<small>[^<]+</small>\s*</a>', page)
    documents = {label: browser_client.get(html.unescape(link)) for link, label in links}
    assert {answer.status_code for answer in documents.values()} == {200}
    tools = {label: json.loads(answer.getvalue())["tools"][0] for label, answer in documents.items() if "ool" in label}
    assert "requiresConfirmation" in tools["Tool definitions"]
    assert "inputSchema" in tools["MCP tools"]


def test_properties_are_counted_as_the_comparison_counts_them(api, browser_client, workspace):
    """Every page has a count of its own for properties that are no longer seen."""
    with_notes = {"id": 1, "note": "x", "owner": {"name": "x"}}
    deliver(api, workspace, *[observation(path="/a", response=with_notes)] * 30)
    deliver(api, workspace, *[observation(path="/a", response={"id": 1})] * 30)
    deliver(api, workspace, observation(path="/b", response={"id": 1, "note": 1}))
    rows = list_rows(browser_client, workspace, sort="properties")
    assert [(row["path"], row["properties"], row["noLongerSeen"]) for row in rows] == [("/b", 2, 0), ("/a", 1, 3)]
    page = browser_client.get(address(workspace), {"sort": "properties"}).content.decode()
    cells = re.findall(r'data-is="Properties" class="num">(.*?)</td>', page, re.DOTALL)
    assert [re.sub(r"<.*?>", "", cell).split() for cell in cells] == [["2"], ["1", "3", "no", "longer", "seen"]]
    compared = browser_client.get(f"/w/{workspace.workspace.slug}/production/difference.json")
    extents = json.loads(b"".join(compared.streaming_content))["tables"]["environments"]
    assert (extents[0]["properties"], extents[0]["noLongerSeen"]) == (3, 3)
    operation = f"/w/{workspace.workspace.slug}/production/operation"
    text = browser_client.get(operation, {"method": "GET", "path": "/a"}).content.decode()
    assert re.search(r'Properties</small>\s*<div class="v">1</div>\s*<div class="d soft">3 no longer seen', text)


def test_each_download_says_what_it_is_for(browser_client, filled_workspace):
    page = browser_client.get(address(filled_workspace)).content.decode()
    menu = page[page.index("Download as") :].partition("</ul>")[0]
    links = re.findall(r'<a href="(.*?)">\s*(.*?)\s*<small>(.*?)</small>', menu)
    assert [label for _, label, _ in links] == [
        "OpenAPI 3.1", "JSON Schema", "MCP tools", "Tools for OpenAI", "Tools for Anthropic", "Tool definitions",
    ]  # fmt: skip
    assert links[0][2] == "for API tools and code generators"
    for link, _, purpose in links:
        assert purpose
        assert browser_client.get(unescape(link)).status_code == 200
    assert unescape(links[3][0]).endswith("&format=openai")
