"""Path templates by the form of segments: data becomes a parameter, words stay."""

import re
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recorded import read_har_entries

from affidavit._paths.templates import Template, place_parameters, retemplate, template
from affidavit._paths.versions import is_scaffold

PATHS = [
    ("/orders/17", "/orders/{orderId}", {"orderId": "integer"}),
    ("/orders/17/items/18", "/orders/{orderId}/items/{itemId}", {"orderId": "integer", "itemId": "integer"}),
    ("/orders/17/18", "/orders/{orderId}/{orderId2}", {"orderId": "integer", "orderId2": "integer"}),
    ("/orders/007", "/orders/{orderId}", {"orderId": "string"}),
    ("/api/v2/17", "/api/v2/{id}", {"id": "integer"}),
    ("/v1.2/user-groups/17/", "/v1.2/user-groups/{userGroupId}/", {"userGroupId": "integer"}),
    ("/policies/17", "/policies/{policyId}", {"policyId": "integer"}),
    ("/COMPANY/17", "/COMPANY/{companyId}", {"companyId": "integer"}),
    ("/PRICE_LISTS/17", "/PRICE_LISTS/{priceListId}", {"priceListId": "integer"}),
    ("/URLs/17", "/URLs/{urlId}", {"urlId": "integer"}),
    ("/userIDs/17", "/userIDs/{userIDId}", {"userIDId": "integer"}),
    ("/addresses/17", "/addresses/{addressId}", {"addressId": "integer"}),
    ("/status/17", "/status/{statusId}", {"statusId": "integer"}),
    ("/users/anna%40example.com", "/users/{userId}", {"userId": "string"}),
    ("/users/7d444840-9dc0-11d1-b245-5ffdce74fad2", "/users/{userId}", {"userId": "string"}),
    ("/blobs/deadbeef", "/blobs/{blobId}", {"blobId": "string"}),
    ("/days/2024-05-17", "/days/{dayId}", {"dayId": "string"}),
    ("/users/user-1017", "/users/{userId}", {"userId": "string"}),
    ("/17", "/{id}", {"id": "integer"}),
    ("/orders/17?email=anna@example.com#x", "/orders/{orderId}", {"orderId": "integer"}),
]
LITERALS = [
    "/", "", "/api/v2/orders", "/v4beta/account", "/users/me", "/oauth2/token", "/reports/us-east-1", "/ipv4",
    "/.well-known/openid-configuration", "/index.html", "/a/../b", "//", "/search/v1alpha2/x",
]  # fmt: skip


@pytest.mark.parametrize(("path", "expected", "parameters"), PATHS)
def test_data_in_a_path_becomes_a_parameter_with_a_name_and_a_type(path, expected, parameters):
    assert template(path) == Template(expected, parameters)


@pytest.mark.parametrize("path", LITERALS)
def test_words_and_versions_are_not_parameters(path):
    assert template(path) == Template(path, {})


@pytest.mark.parametrize(("path", "given_types", "expected", "parameters"), [
    ("/orders/{no}", {"no": "integer"}, "/orders/{no}", {"no": "integer"}),
    ("/orders/{no}", {}, "/orders/{no}", {"no": "string"}),
    ("/orders/{orderId2}/17/18", {}, "/orders/{orderId2}/{orderId}/{orderId3}",
     {"orderId2": "string", "orderId": "integer", "orderId3": "integer"}),
    ("/a/{id}/b/{id}", {"id": "integer"}, "/a/{id}/b/{bId}", {"id": "integer", "bId": "integer"}),
    ("/orders/{4711}", {}, "/orders/{orderId}", {"orderId": "string"}),
    ("/orders/{x17000000}", {}, "/orders/{orderId}", {"orderId": "string"}),
    ("/orders/{}", {}, "/orders/{orderId}", {"orderId": "string"}),
    ("/orders/{no}.json", {"no": "integer"}, "/orders/{no}.json", {"no": "integer"}),
    ("/orders/{no", {}, "/orders/{orderId}", {"orderId": "string"}),
])  # fmt: skip
def test_given_parameter_names_stay_unless_they_clash_or_are_data(path, given_types, expected, parameters):
    assert retemplate(path, given_types) == Template(expected, parameters)


paths = st.lists(
    st.sampled_from(["orders", "v2", "17", "{id}", "{orderId}", "{id}.json", "{17}", "deadbeef01", "us-east", "", "{"])
    | st.text(max_size=6).map(lambda text: quote(text, safe="{}")),
    max_size=6,
).map(lambda segments: "/" + "/".join(segments))


@given(paths)
def test_templating_a_template_again_changes_nothing(path):
    once = template(path)
    assert retemplate(once.path, once.parameters) == once


@given(paths)
def test_the_parameters_are_those_of_the_path_in_order_without_repetition(path):
    result = template(path)
    assert re.findall(r"\{([^{}]*)\}", result.path) == list(result.parameters)
    assert len(result.path.split("/")) == len(path.split("/"))


@given(st.uuids() | st.integers(0) | st.emails(domains=st.just("example.com")), st.booleans())
def test_no_id_stays_in_a_path(value, encoded):
    segment = quote(str(value), safe="") if encoded else quote(str(value), safe="@+!$&'*=")
    assert template(f"/things/{segment}/parts").path == "/things/{thingId}/parts"


def test_known_parameters_are_named_by_the_segment_before_them():
    result = place_parameters("/api/teams/storm/files/17/a%2Fb", [2, 4, 5], [3])
    assert result.path == "/api/teams/{teamId}/files/{fileId}/{fileId2}"
    assert dict(result.parameters) == {"teamId": "string", "fileId": "integer", "fileId2": "string"}
    assert result.undecided == (3,)


def test_braces_of_a_raw_path_make_no_parameter():
    result = place_parameters("/a/{b}/c/17", [3])
    assert (result.path, list(result.parameters)) == ("/a/%7Bb%7D/c/{cId}", ["cId"])


@pytest.mark.parametrize("segment", ["v2", "V1beta3", "api", "API", "v1.2", "2.0", "1.2.3", "v5_0", ""])
def test_versions_and_the_word_api_are_scaffold(segment):
    assert is_scaffold(segment)


@pytest.mark.parametrize("segment", ["v", "17", "2024", "apis", "v2x", "v1-orders", "v1_orders"])
def test_ordinary_segments_are_no_scaffold(segment):
    assert not is_scaffold(segment)


@pytest.mark.parametrize("path", ["/1/boards", "/2010-04-01/accounts"])
def test_a_version_without_a_v_stays_only_where_the_path_begins(path):
    assert template(path).path == path
    assert template(f"/boards{path}").path.startswith("/boards/{boardId}/")


@pytest.mark.parametrize(
    "path", ["/rest/api/2/issues", "/jira/rest/api/2/issues", "/admin/api/2024-01/orders", "/ws/2/artists",
             "/rest/agile/1.0/boards", "/app/rest/2018.1/builds", "/api/3/keys"],
)  # fmt: skip
def test_a_version_behind_a_name_that_any_api_has_stays(path):
    assert template(path).path == path


@pytest.mark.parametrize(
    "path", ["/api/2", "/rest/17/issues", "/rest/users/1/posts", "/orders/17/api/2/x", "/a/b/c/api/2/x",
             "/api/2026-01-02/x", "/packages/1.0/files"],
)  # fmt: skip
def test_other_numbers_behind_words_are_data(path):
    assert "{" in template(path).path


def test_a_bare_version_further_on_is_no_scaffold():
    assert not is_scaffold("1.29", leading=False)
    assert is_scaffold("v2", leading=False)


@pytest.mark.parametrize("name", ["linode.har.gz", "datadog.har.gz"])
def test_no_literal_of_recorded_traffic_becomes_a_parameter(name):
    wrong, exact, paths = set(), 0, set()
    for entry in read_har_entries(name):
        path, truth = urlsplit(entry["request"]["url"]).path, entry["_template"]
        if truth is None or path in paths:
            continue
        paths.add(path)
        pairs = list(zip(template(path).path.split("/"), truth.split("/"), strict=True))
        wrong |= {true for segment, true in pairs if segment.startswith("{") and not true.startswith("{")}
        exact += all(segment.startswith("{") == true.startswith("{") for segment, true in pairs)
    assert not wrong
    assert exact / len(paths) > 0.75
