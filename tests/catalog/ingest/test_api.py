"""POST /api/witness-reports (contract §4): stored before the answer, all faults listed, redeliveries change nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.utils import timezone

from catalog.models import WitnessReport
from tests.catalog.reports import deliver, observation, report

pytestmark = pytest.mark.django_db
ADDRESS = "/api/witness-reports"


def faults(api: Any, *observations: Any) -> dict[str, str]:
    response = api.post(ADDRESS, report(*observations))
    assert response.status_code == 400, response.content
    assert response.json()["code"] == "invalid-request"
    assert WitnessReport.objects.count() == 0
    return {fault["pointer"]: fault["code"] for fault in response.json()["errors"]}


def test_a_report_is_accepted_and_stored_in_the_inbox(api, workspace):
    sent = report(observation(response={"id": 1}), observation("POST", "/orders", 201), reporter="web-1")
    response = api.post(ADDRESS, sent)
    assert response.status_code == 202
    assert response.json() == {"accepted": 2, "reportId": sent["reportId"]}
    row = WitnessReport.objects.get()
    assert str(row.report_id) == sent["reportId"]
    assert (row.environment.name, row.reporter, row.folded_at) == (
        "production",
        "web-1",
        None,
    )


def test_a_report_without_observations_is_accepted(api):
    assert api.post(ADDRESS, report()).json()["accepted"] == 0


def test_the_worker_is_woken_for_a_new_report_and_not_for_a_redelivery(api, django_capture_on_commit_callbacks):
    sent = report(observation())
    for expected in (1, 0):
        with django_capture_on_commit_callbacks() as callbacks:
            assert api.post(ADDRESS, sent).status_code == 202
        assert len([callback for callback in callbacks if "send_after_commit" in callback.__qualname__]) == expected


def test_the_same_id_and_body_change_nothing(api):
    sent = json.dumps(report(observation())).encode()
    first, again = api.post(ADDRESS, sent), api.post(ADDRESS, sent)
    assert (again.status_code, again.content) == (first.status_code, first.content) == (202, first.content)
    assert WitnessReport.objects.count() == 1


def test_the_same_id_with_another_body_is_refused(api):
    sent = report(observation())
    api.post(ADDRESS, sent)
    response = api.post(ADDRESS, {**sent, "observations": [observation(count=2)]})
    assert (response.status_code, response.json()["code"]) == (422, "report-id-reused")


def test_two_workspaces_can_use_the_same_report_id(api, other_workspace):
    sent = report(observation())
    assert api.post(ADDRESS, sent).status_code == 202
    foreign_answer = api.post(ADDRESS, {**sent, "observations": []}, key=other_workspace.full_key)
    assert foreign_answer.status_code == 202
    assert WitnessReport.objects.values("environment__workspace").distinct().count() == 2


@pytest.mark.parametrize("report_id", [None, 7, "", "x", "{7c9e6679-7425-40de-944b-e07fc1f90ae7}", "0" * 32])
def test_a_report_id_is_a_uuid(api, report_id):
    response = api.post(ADDRESS, {"reportId": report_id, "observations": []})
    assert response.status_code == 400
    assert [fault["pointer"] for fault in response.json()["errors"]] == ["/reportId"]


@pytest.mark.parametrize(
    ("member", "value", "code"),
    [
        ("method", "get", "method"),
        ("method", "GE T", "method"),
        ("method", 1, "invalid"),
        ("method", "X" * 33, "max_length"),
        ("path", "orders", "start"),
        ("path", "https://a.example/orders", "start"),
        ("path", "/orders?id=7", "query"),
        ("path", "/orders#top", "query"),
        ("path", "/a b", "control"),
        ("path", "/a\u202eb", "control"),
        ("path", "/orders/{id", "braces"),
        ("path", "/orders/}", "braces"),
        ("path", "/orders/{}", "name"),
        ("path", "/orders/{1}", "name"),
        ("path", "/orders/{jane@a.example}", "name"),
        ("path", "/orders/{id}/items/{id}", "clash"),
        ("path", "/" + "ü" * 1500, "bytes"),
        ("path", "/" + "x" * 2000, "max_length"),
        ("status", 99, "min_value"),
        ("status", 600, "max_value"),
        ("status", "200", "invalid"),
        ("status", True, "invalid"),
        ("count", 0, "min_value"),
        ("count", -1, "min_value"),
        ("count", 2**53 + 1, "max_value"),
        ("count", 1.5, "invalid"),
        ("firstSeenAt", "yesterday", "invalid"),
        ("firstSeenAt", 1, "out-of-range"),
        ("lastSeenAt", 1e13, "out-of-range"),
        ("parameters", [], "not_a_dict"),
        ("undecided", {}, "not_a_list"),
        ("response", None, "wrong-type"),
        ("query", "string", "wrong-type"),
        ("requestMediaType", None, "null"),
        ("requestMediaType", ["text/csv"], "invalid"),
        ("requestMediaType", "csv", "media-type"),
        ("responseMediaType", "", "blank"),
        ("responseMediaType", "text/", "media-type"),
        ("responseMediaType", "text/csv; x=" + "y" * 1000, "max_length"),
    ],
)
def test_a_member_of_the_wrong_form_is_reported(api, member, value, code):
    assert faults(api, {**observation(path="/orders"), member: value}) == {f"/observations/0/{member}": code}


def test_every_fault_of_a_path_is_reported(api):
    response = api.post(ADDRESS, report(observation(path="o rders?a={1}&b={")))
    assert [fault["code"] for fault in response.json()["errors"]] == ["start", "query", "control", "braces", "name"]


@pytest.mark.parametrize("member", ["method", "path", "status", "count"])
def test_a_missing_member_is_reported(api, member):
    incomplete = observation()
    del incomplete[member]
    assert faults(api, incomplete) == {f"/observations/0/{member}": "required"}


@pytest.mark.parametrize("item", [None, 1, "x", []])
def test_an_observation_is_an_object(api, item):
    assert list(faults(api, observation(), item)) == ["/observations/1"]


def test_parameters_have_names_of_the_path_and_a_type(api):
    parameters = {"orderId": {"type": "date"}, "other": {"type": "string"}}
    assert faults(api, observation(parameters=parameters)) == {"/observations/0/parameters/orderId/type": "invalid"}
    del parameters["orderId"]
    assert faults(api, observation(parameters=parameters)) == {"/observations/0/parameters/other": "unknown-parameter"}


@pytest.mark.parametrize(("undecided", "wrong"), [([0, 1], [1]), ([2], [0]), ([0, 0], [1]), ([-1], [0]), (["0"], [0])])
def test_undecided_names_literal_segments_once(api, undecided, wrong):
    """The member `undecided` has the indexes of segments that are no parameters, each at most once."""
    found_faults = faults(api, observation(path="/orders/{orderId}", undecided=undecided))
    assert list(found_faults) == [f"/observations/0/undecided/{position}" for position in wrong]


def test_a_last_time_is_not_before_the_first(api):
    at = int(timezone.now().timestamp())
    assert faults(api, observation(firstSeenAt=at, lastSeenAt=at - 1)) == {"/observations/0/lastSeenAt": "before-first"}


def test_every_fault_of_descriptors_is_reported_with_its_pointer(api):
    broken = {
        "type": "object",
        "seen": 1,
        "properties": {"a/b": {"type": "text"}, "n": {"type": "string", "seen": 2}, "l": {"type": "array"}},
    }
    found_faults = faults(api, {**observation(), "response": broken, "query": {}, "status": 1})
    assert (
        found_faults.items()
        >= {
            "/observations/0/status": "min_value",
            "/observations/0/query/type": "required",
            "/observations/0/response/properties/a~1b/type": "unknown-type",
            "/observations/0/response/properties/n/seen": "contradictory-counts",
            "/observations/0/response/properties/l/items": "required",
        }.items()
    )


def test_the_pointer_of_a_fault_has_every_name_that_a_property_or_parameter_may_have(api):
    name = "non_field_errors"  # the name that Django REST framework gives to the faults of an object itself
    broken = {"type": "object", "properties": {name: {"type": "text"}}}
    entry = observation(path=f"/orders/{{{name}}}", parameters={name: {"type": "text"}})
    assert faults(api, {**entry, "response": broken}) == {
        f"/observations/0/parameters/{name}/type": "invalid",
        f"/observations/0/response/properties/{name}/type": "unknown-type",
    }


def test_a_part_is_not_seen_more_often_than_observed(api):
    shape = {"type": "string", "seen": 3}
    assert faults(api, {**observation(count=2), "response": shape}) == {
        "/observations/0/response/seen": "contradictory-counts"
    }


def test_a_whole_count_may_be_written_as_a_float_also_in_descriptors(api):
    written = {**observation(status=200.0, count=2.0), "undecided": [0.0], "response": {"type": "string", "seen": 2.0}}
    assert faults(api, {**written, "response": {"type": "string", "seen": 3.0}}) == {
        "/observations/0/response/seen": "contradictory-counts"
    }
    assert api.post(ADDRESS, report(written)).status_code == 202


def test_a_wrong_count_is_reported_once_and_not_again_by_descriptors(api):
    shape = {"type": "object", "properties": {"a": {"type": "string", "seen": 5}}}
    assert faults(api, {**observation(count=0), "response": shape}) == {"/observations/0/count": "min_value"}


def test_no_fault_repeats_a_value(api):
    canary = "canary7f3a"
    broken = {
        "method": canary, "path": canary, "status": canary, "count": canary, "firstSeenAt": canary,
        "parameters": {"a": {"type": canary}}, "undecided": [canary],
        "response": {"type": canary, "seen": canary, "reason": canary, "types": canary},
    }  # fmt: skip
    response = api.post(ADDRESS, {"reportId": canary, "reporter": [canary], "observations": [broken]})
    assert response.status_code == 400
    assert canary not in response.content.decode()


def test_a_shape_deeper_than_32_levels_is_cut_and_not_refused(api):
    shape: dict[str, Any] = {"type": "string"}
    for _ in range(55):
        shape = {"type": "array", "items": shape}
    assert api.post(ADDRESS, report({**observation(), "response": shape})).status_code == 202


@pytest.mark.parametrize("name", ["", "x" * 10_000, "__proto__", "a/b~c", "\u202e", "non_field_errors", "\ud83d\ude00"])
def test_any_property_name_is_accepted(api, name):
    assert api.post(ADDRESS, report(observation(response={name: 1}))).status_code == 202


def test_media_types_are_shown_and_a_report_without_them_is_accepted(api, workspace):
    deliver(
        api, workspace,
        observation("POST", "/rows", 201, requestMediaType="text/CSV; header=canary", responseMediaType="image/canary"),
        observation("POST", "/rows", 422, requestMediaType="application/pdf", responseMediaType="text/html"),
        observation("POST", "/rows", 201, response={"id": 1}),
    )  # fmt: skip
    response = api.get("/api/catalog")
    (operation,) = response.json()["operations"]
    assert operation["requestMediaTypes"] == ["text/csv"]
    assert operation["responseMediaTypes"] == {"201": ["image/*"], "422": ["text/html"]}
    assert b"canary" not in response.content
    deliver(api, workspace, observation("POST", "/rows", 201, requestMediaType="text/plain"))
    assert api.get("/api/catalog").json()["operations"][0]["requestMediaTypes"] == ["text/csv", "text/plain"]


def test_an_operation_without_media_types_has_no_such_members(api, workspace):
    deliver(api, workspace, observation(response={"id": 1}))
    (operation,) = api.get("/api/catalog").json()["operations"]
    assert not {"requestMediaTypes", "responseMediaTypes"} & operation.keys()
