"""Downloads describe what is sent today. They do not describe a field that is no longer seen as if it were sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from catalog.downloads import etags
from catalog.drift.presence.load_no_longer_seen import load_no_longer_seen
from catalog.models import CatalogRevision, Drift, Operation
from catalog.rules.baseline_resets import reset_baseline
from tests.catalog.reports import deliver, environment_of, observation

pytestmark = pytest.mark.django_db
FORMATS = ("openapi", "schemas", "tools", "mcp")
AT = 1_790_000_000  # 2026-09-21
SINCE = "No longer seen: last seen on 2026-09-21."
FIRST = {"id": 1, "note": "x", "owner": {"name": "x"}, "parts": [{"code": "x", "size": 1}]}
LATER = {"id": 1, "parts": [{"size": 1}]}
REQUEST, LATER_REQUEST = {"sku": "x", "coupon": "x"}, {"sku": "x"}


def call(api: Any, workspace: Any, *, is_later: bool, count: int = 30) -> None:
    request, response = (LATER_REQUEST, LATER) if is_later else (REQUEST, FIRST)
    query = {"page": "1"} if is_later else {"page": "1", "locale": "x"}
    entry = observation("POST", "/orders", 201, query=query, request=request, response=response, lastSeenAt=AT)
    deliver(api, workspace, *[entry] * count)


@pytest.fixture
def filled_api(api: Any, workspace: Any) -> Any:
    call(api, workspace, is_later=False)
    return api


def read(api: Any, name: str) -> Any:
    return api.get(f"/api/catalog/{name}.json").json()


def read_tool(api: Any, name: str = "mcp") -> Any:
    (tool,) = read(api, name)["tools"]
    return tool


def test_tools_leave_out_what_is_no_longer_seen(filled_api, workspace):
    before = read_tool(filled_api)
    assert "(id, note, owner, parts)" in before["description"]
    assert {"note", "owner"} < before["outputSchema"]["properties"].keys()
    call(filled_api, workspace, is_later=True)
    after = read_tool(filled_api)
    assert "(id, parts)" in after["description"]
    assert list(after["outputSchema"]["properties"]) == ["id", "parts"]
    assert list(after["outputSchema"]["properties"]["parts"]["items"]["properties"]) == ["size"]
    assert list(after["inputSchema"]["properties"]["query"]["properties"]) == ["page"]
    assert list(after["inputSchema"]["properties"]["body"]["properties"]) == ["sku"]
    assert read_tool(filled_api, "tools")["inputSchema"] == after["inputSchema"]
    for body in (FIRST, LATER):
        Draft202012Validator(after["outputSchema"]).validate(body)


def test_openapi_and_json_schema_mark_what_is_no_longer_seen_as_deprecated(filled_api, workspace):
    before = read(filled_api, "openapi")
    call(filled_api, workspace, is_later=True)
    after = read(filled_api, "openapi")
    assert list(OpenAPIV31SpecValidator(after).iter_errors()) == []
    order = after["components"]["schemas"]["OrderResponse"]["properties"]
    assert order["note"] == {"type": "string", "deprecated": True, "description": SINCE}
    owner = {"$ref": "#/components/schemas/OrderResponseOwner"}
    assert order["owner"] == {"allOf": [owner], "deprecated": True, "description": SINCE}
    assert order["id"] == {"type": "integer"}
    assert before["components"]["schemas"].keys() == after["components"]["schemas"].keys()
    coupon = after["components"]["schemas"]["OrderRequest"]["properties"]["coupon"]
    assert coupon == {"type": "string", "deprecated": True, "description": SINCE}
    locale, page = after["paths"]["/orders"]["post"]["parameters"]
    assert (locale["deprecated"], locale["description"]) == (True, SINCE)
    assert locale["schema"] == page["schema"] == {"type": "string"}
    assert "deprecated" not in page
    assert after["info"]["version"] != before["info"]["version"]
    definition = read(filled_api, "schemas")["$defs"]["POST /orders 201"]["properties"]
    assert definition["note"] == order["note"]
    assert definition["owner"] == {"type": "object", "properties": {"name": {"type": "string"}}} | {
        "deprecated": True, "description": SINCE,
    }  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_the_etag_follows_what_is_seen(filled_api, workspace, name):
    address = f"/api/catalog/{name}.json"
    first = filled_api.get(address)
    call(filled_api, workspace, is_later=True)
    absent = filled_api.get(address)
    assert absent["ETag"] != first["ETag"]
    assert filled_api.get(address, headers={"If-None-Match": absent["ETag"]}).status_code == 304
    call(filled_api, workspace, is_later=True)
    assert filled_api.get(address)["ETag"] == absent["ETag"]
    call(filled_api, workspace, is_later=False, count=1)
    again = filled_api.get(address)
    assert (again["ETag"], again.content) == (first["ETag"], first.content)


def test_a_reset_of_the_baseline_ends_the_mark(filled_api, workspace):
    call(filled_api, workspace, is_later=True)
    reset_baseline(Operation.objects.get(), part="201", pointer="/note", actor="test", now=timezone.now())
    properties = read(filled_api, "schemas")["$defs"]["POST /orders 201"]["properties"]
    assert properties["note"] == {}
    assert properties["owner"]["deprecated"]


def test_a_name_that_has_to_fit_the_values_of_a_map_stays_in_tools(api, workspace):
    """Without a schema of its own, `note` would count as a key of the map, whose values are integers."""
    shape = {"type": "object", "values": {"type": "integer"}}
    note = {"note": {"type": "string"}}
    for has_note in (True, False):
        response = {**shape, "properties": {"id": {"type": "integer"}, **(note if has_note else {})}}
        deliver(api, workspace, observation(count=30, lastSeenAt=AT, response=0) | {"response": response})
    schema = read_tool(api)["outputSchema"]
    assert schema["properties"]["note"] == {"type": "string", "deprecated": True, "description": SINCE}
    assert "an object (id)" in read_tool(api)["description"]


def test_without_its_drift_the_date_is_left_out(filled_api, workspace):
    call(filled_api, workspace, is_later=True)
    Drift.objects.all().delete()
    assert "'description': 'No longer seen.'" in str(read(filled_api, "schemas"))


def test_what_is_no_longer_seen_is_read_in_few_queries_and_once_per_change(
    filled_api, workspace, django_assert_num_queries
):
    call(filled_api, workspace, is_later=True)
    deliver(filled_api, workspace, *(observation(path=f"/p/{letter}", response={"id": 1}) for letter in "abcdefgh"))
    environment = environment_of(workspace)
    with django_assert_num_queries(5):
        assert len(load_no_longer_seen(environment)) == 1
    etags.compute_format_etag(environment, "openapi")
    with django_assert_num_queries(2):
        etags.compute_format_etag(environment, "openapi")


def test_a_row_of_an_earlier_release_is_not_believed(filled_api, workspace):
    """An earlier release counts the changes of the catalog, but leaves the digest of absent properties out of date."""
    environment = environment_of(workspace)
    before = etags.compute_format_etag(environment, "openapi")
    call(filled_api, workspace, is_later=True)
    row = CatalogRevision.objects.get()
    CatalogRevision.objects.update(digested_changes=row.changes)
    assert etags.compute_format_etag(environment, "openapi") != before


def test_the_page_of_an_operation_shows_the_same_tool_and_schema(filled_api, workspace, browser_client):
    call(filled_api, workspace, is_later=True)
    page = f"/w/{workspace.workspace.slug}/production/operation"
    context = browser_client.get(page, {"method": "POST", "path": "/orders", "part": "201"}).context
    assert json.loads(context["tool"]) == read_tool(filled_api, "tools")
    assert json.loads(context["schema"]) == read(filled_api, "schemas")["$defs"]["POST /orders 201"]
    assert "locale" not in context["curl"]
    assert "coupon" not in context["curl"]
