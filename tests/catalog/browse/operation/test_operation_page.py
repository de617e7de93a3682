"""One operation's page: its facts, its parts and every node of their shapes."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from catalog.browse.operation import code_examples, shape_tree
from catalog.models import Drift, Operation
from catalog.rules.baseline_resets import reset_baseline
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.catalog.reports import deliver, environment_of, observation
from tests.page_text import read_html

pytestmark = pytest.mark.django_db
AT = 1_790_000_000
PATH = "/orders/{orderId}"


def address(created: Any, form: str = "") -> str:
    return f"/w/{created.workspace.slug}/production/operation{form}"


@pytest.fixture
def filled_workspace(api: Any, workspace: Any) -> Any:
    body = {"id": 1, "status": "x", "password": "p", "lines": [{"sku": "a"}, {"sku": None}], "none": []}
    deliver(
        api,
        workspace,
        observation(
            response=body, query={"expand": "lines"}, lastSeenAt=AT, parameters={"orderId": {"type": "integer"}}
        ),
        observation(response={"id": "x"}, lastSeenAt=AT),
        observation(status=404, count=7, response={"detail": "x"}, lastSeenAt=AT),
        observation("DELETE", PATH, 204, 2, lastSeenAt=AT),
        observation("GET", "/shops/red/{id}", 200, 4, undecided=[1], lastSeenAt=AT),
    )
    return workspace


def open_page(client: Any, created: Any, **query: str) -> str:
    response = client.get(address(created), {"method": "GET", "path": PATH, "range": "all", **query})
    assert response.status_code == 200, response.content
    return response.content.decode()


def list_properties(client: Any, created: Any, **query: str) -> list[dict[str, Any]]:
    response = client.get(address(created, ".json"), {"method": "GET", "path": PATH, "range": "all", **query})
    return json.loads(b"".join(response.streaming_content))["tables"]["properties"]


def test_the_facts_are_at_the_top(browser_client, filled_workspace):
    page = open_page(browser_client, filled_workspace)
    assert '<h1 class="mono path">/orders/<wbr>{orderId}</h1>' in page
    assert re.search(r'<div class="v">9</div>\s*<div class="d soft">2 with 2xx or 3xx</div>', page)
    assert re.search(r"<code>orderId</code> <span class=\"integer\">integer</span>", page)


def test_only_operations_that_change_data_need_a_confirmation(browser_client, api, workspace):
    deliver(api, workspace, observation("GET", PATH, 200), observation("PATCH", PATH, 200))
    verifications = [Verification("accepted", timezone.now(), 2, f"{method} {PATH}") for method in ("GET", "PATCH")]
    record_verifications(environment_of(workspace), verifications)
    pages = {method: open_page(browser_client, workspace, method=method) for method in ("GET", "PATCH")}
    assert {method for method, page in pages.items() if "needs a confirmation" in page} == {"PATCH"}


def test_a_comparison_says_of_a_field_that_changed_once_what_its_drift_says(browser_client, api, workspace):
    deliver(api, workspace, *[observation("GET", PATH, 200, response={"refund": None})] * 30)
    deliver(api, workspace, observation("GET", PATH, 200, response={"refund": {"amount": 1}}))
    drift = Drift.objects.get(kind="type", pointer="/refund")
    page = re.sub(r"\s+", " ", open_page(browser_client, workspace, before="1", after="2"))
    comparison = page.partition('id="versions"')[2].partition("</section>")[0]
    assert re.search(rf'/change\?[^"]*id={drift.pk}"', comparison)
    assert "type changed" in comparison
    assert "Breaking for consumers" in comparison


def test_a_version_that_only_brought_media_types_names_them(browser_client, api, workspace):
    for types in ({}, {"responseMediaType": "application/json"}):
        deliver(api, workspace, observation("GET", PATH, 200, response={"id": 1}, **types))
    page = re.sub(r"\s+", " ", open_page(browser_client, workspace))
    assert "same shape; media types first reported: 200 <code>application/json</code>" in page
    comparison = re.sub(r"\s+", " ", open_page(browser_client, workspace, before="1", after="2"))
    assert "<b> Same shape </b>" in comparison
    assert "Media types first reported: 200 <code>application/json</code>" in comparison


def test_versions_in_a_row_that_only_brought_media_types_share_an_entry(browser_client, api, workspace):
    for status in (200, 404):
        deliver(api, workspace, observation("GET", PATH, status, response={"id": 1}))
    for status in (200, 404):
        row = observation("GET", PATH, status, response={"id": 1}, responseMediaType="application/json")
        deliver(api, workspace, row)
    page = re.sub(r"\s+", " ", open_page(browser_client, workspace))
    versions = page[page.index('id="versions"') :]
    assert "<b>3 to 4</b>" in versions
    assert versions.count("same shape") == 1
    assert versions.count("<option") == 2 * 4  # both lists still offer each version for a comparison


def test_a_comparison_says_how_much_a_new_property_brought(browser_client, api, workspace):
    deliver(api, workspace, observation("GET", PATH, 200, response={"id": 1}))
    deliver(api, workspace, observation("GET", PATH, 200, response={"id": 1, "refund": {"amount": 1, "at": 2}}))
    comparison = re.sub(r"\s+", " ", open_page(browser_client, workspace, before="1", after="2"))
    assert "with 2 properties inside" in comparison


def test_the_first_2xx_is_shown_unless_the_address_names_a_part(browser_client, filled_workspace):
    assert re.search(
        r'part=200#shape"\s+aria-current="true">\s*200 · 2\s*<', open_page(browser_client, filled_workspace)
    )
    assert re.search(
        r'part=404#shape"\s+aria-current="true">\s*404 · 7\s*<', open_page(browser_client, filled_workspace, part="404")
    )
    query = open_page(browser_client, filled_workspace, part="query")
    assert re.search(r'part=query#shape"\s+aria-current="true">\s*Query\s*<', query)
    assert re.search(
        r'part=200#shape"\s+aria-current="true"', open_page(browser_client, filled_workspace, part="nonsense")
    )


def test_the_tree_shows_type_presence_nulls_and_mixed_types(browser_client, filled_workspace):
    page = open_page(browser_client, filled_workspace)
    assert "array of object" in page
    assert "always empty so far" in page
    assert re.search(r'<span class="ty unknown">integer or string</span>\s*<span class="soft nowrap">\w+ 1,?<', page)
    assert "or null, 50.0 % (1 of 2)" in page
    assert "50.0 % of 2" in page
    assert "redacted" in page
    assert page.count("<details") == page.count("</details>")


def test_the_table_has_every_node_of_every_part(browser_client, filled_workspace):
    rows = {
        (row["part"], row["status"], row["pointer"]): row
        for row in list_properties(browser_client, filled_workspace, part="404")
    }
    assert set(rows) == {
        ("query", None, ""), ("query", None, "/expand"),
        ("response", 200, ""), ("response", 200, "/id"), ("response", 200, "/lines"), ("response", 200, "/lines/[]"),
        ("response", 200, "/lines/[]/sku"), ("response", 200, "/none"), ("response", 200, "/password"),
        ("response", 200, "/status"), ("response", 404, ""), ("response", 404, "/detail"),
    }  # fmt: skip
    sku = rows["response", 200, "/lines/[]/sku"]
    assert (sku["type"], sku["seen"], sku["parents"], sku["presence"], sku["nulls"]) == ("string", 2, 2, 1, 1)
    status = rows["response", 200, "/status"]
    assert (status["seen"], status["parents"], status["presence"]) == (1, 2, 0.5)
    assert rows["response", 200, "/id"]["types"] == {"string": 1, "integer": 1}
    assert status["firstDay"] == status["lastDay"] == "2026-09-21"


def test_the_csv_has_the_rows_of_the_table(browser_client, filled_workspace):
    query = {"method": "GET", "path": PATH, "table": "properties"}
    lines = (
        b"".join(browser_client.get(address(filled_workspace, ".csv"), query).streaming_content).decode().splitlines()
    )
    assert len(lines) == 1 + len(list_properties(browser_client, filled_workspace))


def test_an_operation_is_found_by_a_path_with_other_parameter_names(browser_client, filled_workspace):
    response = browser_client.get(address(filled_workspace), {"method": "get", "path": "/orders/{id}"})
    assert "/orders/<wbr>{orderId}</h1>" in response.content.decode()


def test_the_name_of_a_field_is_its_label_alone(browser_client, filled_workspace):
    page = open_page(browser_client, filled_workspace)
    assert '<label for="template-target">Show under another template</label>' in page


def test_a_status_without_a_body_says_so(browser_client, filled_workspace):
    response = browser_client.get(address(filled_workspace), {"method": "DELETE", "path": PATH})
    assert "none had a JSON body" in response.content.decode()


def test_an_undecided_segment_is_shown_as_such(browser_client, filled_workspace):
    response = browser_client.get(address(filled_workspace), {"method": "GET", "path": "/shops/red/{id}"})
    assert re.search(
        r"<code>red</code> may be data: reporters could not tell in 4 observations", response.content.decode()
    )


def test_the_content_of_a_large_branch_is_loaded_when_it_is_opened(api, browser_client, filled_workspace):
    body = {f"field{letter}": {f"inner{other}": {"x": 1} for other in "abcdefghijkl"} for letter in "abc"}
    deliver(api, filled_workspace, observation("GET", "/large", response=body))
    query = {"method": "GET", "path": "/large"}
    page = browser_client.get(address(filled_workspace), query).content.decode()
    assert "innera" not in page
    assert "24 inside" in page
    branch = browser_client.get(address(filled_workspace), {**query, "at": "/fieldb"}, headers={"HX-Request": "true"})
    rows = branch.content.decode()
    assert "innera" in rows
    assert "<html" not in rows
    assert rows.count("<details") == rows.count("</details>")
    branch_page = browser_client.get(address(filled_workspace), {**query, "at": "/fieldb"}).content.decode()
    assert "innera" in branch_page
    assert branch_page.count("24 inside") == 2  # the other branches are still there, but closed
    assert re.search(r'class="row chosen">\s*<span class="name depth-1">', branch_page)


def test_a_shape_that_is_too_large_for_a_page_says_that_it_was_cut(browser_client, filled_workspace, monkeypatch):
    monkeypatch.setattr(shape_tree, "MAX_ROWS", 3)
    page = open_page(browser_client, filled_workspace)
    assert "first 3 fields" in page
    assert page.count("<details") == page.count("</details>")
    assert len(list_properties(browser_client, filled_workspace)) == 12


def test_the_page_shows_the_call_exactly_as_in_the_downloads(api, browser_client, filled_workspace):
    page = unescape(open_page(browser_client, filled_workspace))
    assert "https://api.example.com/orders/{orderId}?expand={string}" in page
    exported = api.get("/api/catalog/tools.json").json()["tools"]
    (tool,) = [tool for tool in exported if tool["operation"] == f"GET {PATH}"]
    assert json.dumps(tool, indent=2) in page
    for tool in exported:
        method, path = tool["operation"].split(" ")
        page = browser_client.get(address(filled_workspace), {"method": method, "path": path}).content.decode()
        assert json.dumps(tool, indent=2) in unescape(page)


def test_operations_with_clashing_tool_names_have_the_names_of_the_downloads(api, browser_client, filled_workspace):
    twins = ["/a/{id}", "/a/by/id", "/A/by-id", "/a/{other}/id"]
    deliver(api, filled_workspace, *[observation("GET", path, 200) for path in twins])
    for tool in api.get("/api/catalog/tools.json").json()["tools"]:
        query = dict(zip(("method", "path"), tool["operation"].split(" "), strict=True))
        assert f'"name": "{tool["name"]}"' in unescape(
            browser_client.get(address(filled_workspace), query).content.decode()
        )


def test_a_very_long_tool_definition_is_only_in_the_download(browser_client, filled_workspace, monkeypatch):
    monkeypatch.setattr(code_examples, "MAX_TOOL_LENGTH", 100)
    page = open_page(browser_client, filled_workspace)
    assert "all tool definitions</a>" in page
    assert "inputSchema" not in page


@pytest.mark.parametrize(
    "query", [{}, {"method": "GET"}, {"method": "PUT", "path": PATH}, {"method": "GET", "path": "/\0"}]
)
def test_a_missing_operation_is_404_and_says_what_to_do(browser_client, filled_workspace, query):
    response = browser_client.get(address(filled_workspace), query, headers={"Accept": "text/html"})
    assert response.status_code == 404
    assert "Look for it in the catalog" in response.content.decode()
    assert browser_client.get(address(filled_workspace, ".json"), query).json()["code"] == "not-found"


def test_an_operation_with_errors_only_is_missing(api, browser_client, filled_workspace):
    deliver(api, filled_workspace, observation("GET", "/scanned", 404))
    assert browser_client.get(address(filled_workspace), {"method": "GET", "path": "/scanned"}).status_code == 404


def test_an_outsider_finds_no_page(client, filled_workspace, other_workspace):
    query = {"method": "GET", "path": PATH}
    client.force_login(get_user_model().objects.create_user("outsider"))
    assert client.get(address(filled_workspace), query).status_code == 404
    stranger = {"x-service-api-key": other_workspace.full_key}
    assert client.get(address(filled_workspace, ".json"), query, headers=stranger).status_code == 404


def test_the_name_of_a_property_leads_to_its_page(browser_client, filled_workspace):
    page = " ".join(open_page(browser_client, filled_workspace).split())
    names = re.findall(r'<a href="[^"]*/property\?[^"]*&amp;at=%2F[^"]*"[^>]*> ?<code>([^< ]+)</code> ?</a>', page)
    assert names
    assert [name for name in names if f"/{name}" not in page] == []


def test_bodies_without_a_shape_have_their_media_types(api, browser_client, workspace):
    csv = observation(count=2, responseMediaType="text/csv")
    html, pdf = observation(responseMediaType="text/html"), observation(requestMediaType="application/pdf")
    deliver(api, workspace, csv, html, pdf)
    page = " ".join(open_page(browser_client, workspace).split())
    assert "<code>text/csv</code> in 2 calls, <code>text/html</code> in 1 call; 1 named no media type" in page
    assert "<h2>No shape</h2>" in page
    assert "Of 4 observations with status 200 none had a JSON body. Bodies of other types have no shape." in page
    page = " ".join(open_page(browser_client, workspace, part="request").split())
    assert "Media types of all time: <code>application/pdf</code> in 1 call; 3 named no media type </p>" in page
    assert "Of 4 observations none had a JSON body." in page
    deliver(api, workspace, observation(path="/ping"))
    response = browser_client.get(address(workspace), {"method": "GET", "path": "/ping"})
    page = read_html(response)
    assert "The only observation with status 200 had no JSON body." in page
    response = browser_client.get(address(workspace, ".json"), {"method": "GET", "path": PATH})
    tables = json.loads(b"".join(response.streaming_content))["tables"]
    assert tables["responses"] == [
        {"status": 200, "observations": 4, "mediaTypes": {"text/csv": 2, "text/html": 1}},
    ]  # fmt: skip


def test_calls_without_a_media_type_are_counted_over_all_time_as_media_types_are(api, browser_client, workspace):
    deliver(api, workspace, observation(count=5, response={"id": 1}))
    reset_baseline(Operation.objects.get(), actor="ann", now=timezone.now())
    deliver(api, workspace, observation(count=3, response={"id": 1}, responseMediaType="application/json"))
    page = " ".join(open_page(browser_client, workspace).split())
    assert "<code>application/json</code> in 3 calls; 5 named no media type" in page


def test_a_file_of_a_form_is_a_binary_string(api, browser_client, workspace):
    form = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
    deliver(api, workspace, observation(requestMediaType="multipart/form-data") | {"request": form})
    assert "string (binary)" in open_page(browser_client, workspace, part="request")


def test_a_query_parameter_that_is_sometimes_repeated_is_a_string_or_an_array(api, browser_client, workspace):
    deliver(api, workspace, observation(query={"tag": "a"}), observation(query={"tag": ["a", "b"]}))
    page = open_page(browser_client, workspace, part="query")
    assert "string or array of string" in page
    assert "array or string" not in page
    assert Operation.objects.get().unknowns == 0
    deliver(api, workspace, observation(request={"tag": "a"}), observation(request={"tag": ["a", "b"]}))
    assert "array or string" in open_page(browser_client, workspace, part="request")
    deliver(api, workspace, observation(requestMediaType="multipart/form-data"))
    assert "array or string" not in open_page(browser_client, workspace, part="request")


def test_presence_and_observations_are_counted_within_the_period(api, browser_client, workspace):
    first = AT // 86400 * 86400
    deliver(api, workspace, *[observation(response={"id": 1, "old": 1}, lastSeenAt=first)] * 30)
    deliver(api, workspace, *[observation(response={"id": 1, "new": 1}, lastSeenAt=first + 86400)] * 30)
    second_day = {"from": "2026-09-22", "to": "2026-09-22"}
    page = re.sub(r"\s+", " ", open_page(browser_client, workspace, **second_day))
    assert (
        '<div class="v">30</div> <div class="d soft">in this period, <span class="unit">60 of all time</span>' in page
    )
    assert "0 % of 30" in page  # old
    assert "100 % of 30" in page  # id and new
    assert '<span class="tag bad">no longer seen</span>' in page
    assert '<span class="soft unit">first seen 21 Sep 2026</span>' in page
    assert re.search(r'<span class="soft unit" *> last seen 21 Sep 2026 </span>', page)  # of the old property
    assert "50.0 %" not in page
    assert "50.0 % of 60" in open_page(browser_client, workspace)
    rows = {row["pointer"]: row for row in list_properties(browser_client, workspace, **second_day)}
    assert [(rows[name]["seenInPeriod"], rows[name]["parentsInPeriod"]) for name in ("/id", "/old", "/new")] == [
        (30, 30), (0, 30), (30, 30),
    ]  # fmt: skip
    assert rows["/old"]["seen"] == 30


def list_rows_and_panel(page: str) -> list[str]:
    """Return the names of the rows in order, and `PANEL` at the place of the panel with manual overrides."""
    marks = re.findall(r'<span class="tw"></span>(.*?)</span>|(id="field")', page, re.S)
    return ["PANEL" if panel else " ".join(re.sub(r"<[^>]*>?", "", row).split()) for row, panel in marks]


@pytest.mark.parametrize(
    ("pointer", "row"), [("/status", "status"), ("/lines", "lines"), ("", "the whole body"), ("/x", "the whole body")]
)
def test_the_manual_overrides_of_a_field_stand_below_its_row(browser_client, filled_workspace, pointer, row):
    rows = list_rows_and_panel(open_page(browser_client, filled_workspace, at=pointer, closed=pointer))
    assert rows[rows.index("PANEL") - 1] == row
    assert rows.count("PANEL") == 1
    assert "PANEL" not in list_rows_and_panel(open_page(browser_client, filled_workspace))


def test_the_manual_overrides_of_a_row_that_a_search_hides_stand_above_the_rows(browser_client, filled_workspace):
    rows = list_rows_and_panel(open_page(browser_client, filled_workspace, at="/status", find="sku"))
    assert rows == ["PANEL", "the whole body", "lines", "each item", "sku"]


def test_the_box_offers_a_search_that_finds_something(browser_client, filled_workspace):
    page = open_page(browser_client, filled_workspace)
    (example,) = re.findall(r'placeholder="Name, or ([^"]+)"', page)
    assert find_labels(open_page(browser_client, filled_workspace, find=example, part="200"))


def test_a_search_without_a_match_says_so_and_leads_back(browser_client, filled_workspace):
    page = " ".join(open_page(browser_client, filled_workspace, find="nowhere", part="200").split())
    assert "No property of 200 matches nowhere" in page
    (back,) = re.findall(r'<a href="([^"]*)">Show all 7 properties</a>', page)
    assert "find=" not in back
    assert read_labels(page) == []


def test_the_share_of_nulls_says_its_number(browser_client, api, workspace):
    deliver(api, workspace, *[observation(response={"coupon": value}) for value in ("x", None, None)])
    assert "or null, 66.7 % (2 of 3)" in open_page(browser_client, workspace)


def test_rows_that_drifted_in_the_period_link_to_the_change(api, browser_client, workspace):
    deliver(api, workspace, *[observation(response={"id": 1, "old": 1, "in": {"x": 1}})] * 30)
    deliver(api, workspace, *[observation(response={"id": "x", "in": {"x": 1}, "new": {"y": 1}})] * 60)
    page = " ".join(unescape(open_page(browser_client, workspace)).split())
    for pointer, words, tag in (("/id", "type changed", "tag bad"), ("/old", "no longer seen", "tag bad")):
        drift = Drift.objects.get(pointer=pointer)
        mark = (
            rf'<a class="{tag}" href="[^"]*/change\?range=all&id={drift.pk}" title="Drift in this period">{words}</a>'
        )
        assert re.search(mark, page)
    assert page.count("no longer seen</a>") == page.count("no longer seen</div>") == 1
    assert "no longer seen</span>" not in page
    assert '<span class="tag">new</span>' in page  # this tag is no link, because it is in the <summary> of a branch
    past = {"range": "", "from": "2026-10-01", "to": "2026-10-02"}
    assert "Drift in this period" not in open_page(browser_client, workspace, **past)


def test_a_period_without_observations_says_so(api, browser_client, filled_workspace):
    page = open_page(browser_client, filled_workspace, **{"from": "2026-10-01", "to": "2026-10-02"})
    assert "not observed" in page
    assert "100 %" not in page


def find_labels(page: str) -> list[str]:
    return [unescape(label) for label in re.findall(r"<mark[^>]*>\s*([^<]*?)\s*</mark>", page)]


def read_labels(page: str) -> list[str]:
    rows = re.findall(r'<span class="tw"></span>(.*?)</span>', page, re.S)
    return [" ".join(re.sub(r"<[^>]*>?", "", row).split()) for row in rows]


def test_a_search_keeps_only_matching_nodes_and_the_branches_above_them(browser_client, filled_workspace):
    page = browser_client.get(
        address(filled_workspace), {"method": "GET", "path": PATH, "find": "SKU"}
    ).content.decode()
    assert read_labels(page) == ["the whole body", "lines", "each item", "sku"]
    assert find_labels(page) == ["sku"]
    assert page.count('id="match"') == 1
    assert "1 of 7 match" in " ".join(page.split())


@pytest.mark.parametrize(
    ("find", "labels"),
    [
        ("lines:array", ["lines"]),
        ("lines sku", ["sku"]),
        ("id:str", ["id"]),
        ("id:bool", []),
        ("nothing", []),
        ("\0", []),
    ],
)
def test_a_search_is_by_pointer_name_and_type(browser_client, filled_workspace, find, labels):
    query = {"method": "GET", "path": PATH, "find": find, "part": "200"}
    page = browser_client.get(address(filled_workspace), query).content.decode()
    assert find_labels(page) == labels


def test_a_search_opens_a_part_with_a_match_and_lists_the_other_parts(browser_client, filled_workspace):
    page = browser_client.get(address(filled_workspace), {"method": "GET", "path": PATH, "find": "detail"})
    assert find_labels(page.content.decode()) == ["detail"]
    assert page.context["part"].key == "404"
    page = browser_client.get(
        address(filled_workspace), {"method": "GET", "path": PATH, "find": "detail", "part": "200"}
    )
    assert [(shape.key, count) for shape, count in page.context["other_matches"]] == [("404", 1)]


def test_the_export_of_a_search_has_only_the_matches(browser_client, filled_workspace):
    query = {"method": "GET", "path": PATH, "find": "sku"}
    tables = json.loads(browser_client.get(address(filled_workspace, ".json"), query).getvalue())["tables"]
    assert [row["pointer"] for row in tables["properties"]] == ["/lines/[]/sku"]


def test_the_filter_on_unknown_types_leads_to_the_part_in_which_one_is(browser_client, api, workspace):
    """The link of a row opens the part of the operation that has a node of unknown type."""
    path = "/cart/lines/{lineId}"
    lines = [{"quantity": number} for number in range(3)]
    deliver(
        api, workspace,
        observation("DELETE", path, 200, response={"deleted": True}, request={}, lastSeenAt=AT),
        observation("DELETE", path, 204, lastSeenAt=AT),
        observation("PUT", path, 200, response={"total": 1}, lastSeenAt=AT),
        observation("PUT", path, 404, response={"deep": {"lines": lines, "none": []}}, lastSeenAt=AT),
    )  # fmt: skip
    start = address(workspace).removesuffix("operation")
    for method, label in (("DELETE", "Request"), ("PUT", "404")):
        usual_page = browser_client.get(address(workspace), {"method": method, "path": path, "range": "all"})
        assert usual_page.context["part"].label == "200"
        catalog = browser_client.get(f"{start}catalog", {"show": "unknown", "method": method, "range": "all"})
        links = re.findall(r'href="([^"]*/operation\?[^"]*)"', catalog.content.decode())
        page = browser_client.get(unescape(links[0]).partition("#")[0])
        assert page.context["part"].label == label, links
        assert "unknown" in page.content.decode().partition('id="shape"')[2]
    usual = browser_client.get(f"{start}catalog", {"method": "PUT", "range": "all"}).content.decode()
    assert "show=unknown" not in re.findall(r'href="([^"]*/operation\?[^"]*)"', usual)[0]
    chosen = browser_client.get(address(workspace), {"method": "PUT", "path": path, "show": "unknown", "part": "200"})
    assert chosen.context["part"].key == "200"
