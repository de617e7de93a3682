"""GET /api/catalog (contract §5): whole, sorted, the same bytes for the same catalog, a strong ETag."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from tests.catalog.reports import deliver, observation
from workspaces.keys.create import store_new_key
from workspaces.models import ApiKey, Membership

pytestmark = pytest.mark.django_db
ADDRESS = "/api/catalog"
AT = 1_790_000_000


def content(response: Any) -> bytes:
    assert response.status_code == 200, response
    body = response.getvalue()
    assert int(response["Content-Length"]) == len(body)
    return body


def catalog(response: Any) -> dict[str, Any]:
    return json.loads(content(response))


@pytest.fixture
def client_with_data(api: Any, workspace: Any) -> Any:
    deliver(
        api,
        workspace,
        observation("POST", "/orders", 201, request={"sku": "x"}, response={"id": 1}, lastSeenAt=AT),
        observation("GET", "/orders", 200, 2, query={"page": "1"}, response=[{"id": 1}], lastSeenAt=AT),
        observation("GET", "/Zebra", 200, response={"a": None}, lastSeenAt=AT),
        observation(path="/orders/{orderId}", parameters={"orderId": {"type": "integer"}}, status=204, lastSeenAt=AT),
        observation("GET", "/scanned", 404, lastSeenAt=AT),
    )
    return api


def test_every_successful_operation_is_listed_by_path_and_method(client_with_data):
    document = catalog(client_with_data.get(ADDRESS))
    assert list(document) == ["environment", "revision", "operations"]
    assert document["environment"] == "production"
    assert [(row["path"], row["method"]) for row in document["operations"]] == [
        ("/Zebra", "GET"),
        ("/orders", "GET"),
        ("/orders", "POST"),
        ("/orders/{orderId}", "GET"),
    ]


def test_an_operation_has_its_parts_and_their_evidence(client_with_data):
    _, listing, placing, reading = catalog(client_with_data.get(ADDRESS))["operations"]
    assert listing["observations"] == 2
    assert listing["firstSeenAt"] == listing["lastSeenAt"] == AT
    assert listing["query"]["properties"]["page"] == {"type": "string", "seen": 1}
    assert listing["request"] is None
    assert listing["responses"]["200"]["items"]["properties"] == {"id": {"type": "integer", "seen": 1}}
    assert placing["request"]["properties"]["sku"]["type"] == "string"
    assert reading["parameters"] == {"orderId": {"type": "integer", "seen": 1}}
    assert reading["responses"] == {"204": {"type": "unknown", "reason": "empty", "seen": 0}}


def test_an_empty_catalog_is_a_catalog(api):
    document = catalog(api.get(ADDRESS, environment="staging"))
    assert (document["environment"], document["operations"]) == ("staging", [])
    assert document["revision"]


def test_without_evidence_more_observations_change_no_byte(client_with_data, workspace):
    before = content(client_with_data.get(ADDRESS, evidence="0"))
    deliver(client_with_data, workspace, observation("GET", "/Zebra", 200, 99, response={"a": None}))
    assert content(client_with_data.get(ADDRESS, evidence="0")) == before
    assert not [word for word in (b"seen", b"SeenAt", b"observations", b"nulls") if word in before]


def test_the_revision_changes_with_the_content_and_not_with_the_evidence(client_with_data, workspace):
    def revision(**query: str) -> str:
        return catalog(client_with_data.get(ADDRESS, **query))["revision"]

    first = revision()
    deliver(client_with_data, workspace, observation("GET", "/Zebra", 200, 5, response={"a": None}))
    assert revision() == revision(evidence="0") == first
    deliver(client_with_data, workspace, observation("GET", "/Zebra", 200, response={"b": None}))
    assert revision() == revision(evidence="0") != first


@pytest.mark.parametrize("evidence", ["0", "1"])
@pytest.mark.parametrize("header", ["{}", "W/{}", '"other", {}', "*"])
def test_a_known_etag_is_not_modified(client_with_data, evidence, header):
    first = client_with_data.get(ADDRESS, evidence=evidence)
    assert first["ETag"].startswith('"')
    headers = {"If-None-Match": header.format(first["ETag"])}
    again = client_with_data.get(ADDRESS, evidence=evidence, headers=headers)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])


def test_another_etag_gets_the_same_bytes_again(client_with_data):
    first = client_with_data.get(ADDRESS)
    again = client_with_data.get(ADDRESS, headers={"If-None-Match": '"other"'})
    assert content(again) == content(first)
    assert again["ETag"] == first["ETag"]


def test_evidence_changes_the_etag_with_evidence_but_not_the_etag_without(client_with_data, workspace):
    etags = {evidence: client_with_data.get(ADDRESS, evidence=evidence)["ETag"] for evidence in "01"}
    deliver(client_with_data, workspace, observation("GET", "/Zebra", 200, 5, response={"a": None}))
    assert client_with_data.get(ADDRESS, evidence="0")["ETag"] == etags["0"]
    assert client_with_data.get(ADDRESS, evidence="1")["ETag"] != etags["1"]
    assert etags["0"] != etags["1"]


@pytest.mark.parametrize("evidence", ["0", "1"])
def test_an_equal_catalog_of_another_environment_is_another_document(api, workspace, evidence):
    for name in ("production", "staging"):
        deliver(api, workspace, observation(response={"id": 1}, lastSeenAt=AT), environment=name)
    own = api.get(ADDRESS, evidence=evidence)
    headers = {"If-None-Match": own["ETag"]}
    other = catalog(api.get(ADDRESS, environment="staging", evidence=evidence, headers=headers))
    assert other == {**catalog(own), "environment": "staging"}


def test_head_answers_with_the_etag_and_no_body(client_with_data, workspace):
    response = Client().head(ADDRESS, headers={"x-service-api-key": workspace.full_key})
    assert response.status_code == 200
    assert response["ETag"] == client_with_data.get(ADDRESS)["ETag"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_a_wrong_method_is_refused_before_anything_else(client, method):
    response = client.generic(method, ADDRESS)
    assert (response.status_code, response.json()["code"]) == (405, "method-not-allowed")
    assert response["Allow"] == "GET, HEAD"


def test_an_unknown_environment_is_refused_with_those_that_exist(api):
    response = api.get(ADDRESS, environment="nowhere")
    assert (response.status_code, response.json()["code"]) == (400, "unknown-environment")
    assert response.json()["detail"] == "This workspace has: production, staging. Names are compared exactly."
    assert response.json()["environments"] == ["production", "staging"]


def test_evidence_is_0_or_1(api):
    assert api.get(ADDRESS, evidence="no").json()["code"] == "invalid-request"


def test_keys_are_checked(api, workspace):
    assert api.get(ADDRESS, key="").json()["code"] == "missing-api-key"
    assert api.get(ADDRESS, key="gak_nonsense").json()["code"] == "invalid-api-key"
    assert api.get(ADDRESS, key=workspace.publishable_key).json()["code"] == "publishable-key-refused"
    platform = store_new_key(workspace.workspace, ApiKey.SECRET, ["platform"], now=workspace.workspace.created_at)
    assert api.get(ADDRESS, key=platform).json()["code"] == "scope-missing"
    assert Client().get(ADDRESS).json()["code"] == "missing-api-key"


def test_another_workspaces_key_sees_nothing_of_it(client_with_data, other_workspace):
    assert catalog(client_with_data.get(ADDRESS, key=other_workspace.full_key))["operations"] == []


def test_a_signed_in_reader_names_the_workspace(client_with_data, workspace, browser_client):
    document = catalog(browser_client.get(ADDRESS, {"workspace": workspace.workspace.slug}))
    assert len(document["operations"]) == 4
    assert browser_client.get(ADDRESS).json()["code"] == "invalid-request"
    elsewhere = browser_client.get(ADDRESS, {"workspace": workspace.workspace.slug, "environment": "x"})
    assert elsewhere.json()["code"] == "unknown-environment"


def test_a_member_reads_only_their_own_workspaces(client_with_data, workspace, other_workspace, client):
    member = get_user_model().objects.create_user("member")
    Membership.objects.create(workspace=other_workspace.workspace, user=member)
    client.force_login(member)
    assert client.get(ADDRESS, {"workspace": other_workspace.workspace.slug}).status_code == 200
    assert client.get(ADDRESS, {"workspace": workspace.workspace.slug}).status_code == 404
