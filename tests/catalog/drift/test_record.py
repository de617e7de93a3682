"""The fold records each change of a descriptor as one version and reports it once as drift (contract §4)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from catalog.drift import queries
from catalog.drift.filters import DriftFilters
from catalog.ingest.fold import fold_reports
from catalog.ingest.observations import unpack_sums
from catalog.models import Drift, Operation, OperationVersion
from catalog.rules.baseline_resets import reset_baseline
from tests.catalog.reports import deliver, environment_of, observation, report
from wire.time.period import parse_period

pytestmark = pytest.mark.django_db
AT = 1_790_000_000
BODY = {"id": 1, "name": "x", "total": 1, "phone": "y"}


def list_drift() -> list[tuple[str, str, str, str, str, str]]:
    columns = ("part", "pointer", "kind", "before", "after", "breaks")
    return list(Drift.objects.order_by("id").values_list(*columns))


@pytest.fixture
def observed_workspace(api: Any, workspace: Any) -> Any:
    """Return the workspace after an operation was observed a hundred times."""
    for _ in range(4):
        deliver(api, workspace, *[observation(response=BODY, lastSeenAt=AT)] * 25)
    return workspace


def test_a_first_descriptor_is_a_version_and_no_drift(observed_workspace):
    (version,) = OperationVersion.objects.all()
    assert (version.number, version.observations, int(version.since.timestamp())) == (1, 25, AT)
    assert version.outline == Operation.objects.get().outline
    assert list_drift() == []


def test_more_observations_make_no_version(api, observed_workspace):
    deliver(api, observed_workspace, *[observation(response=BODY)] * 500)
    assert Operation.objects.get().version == 1
    assert OperationVersion.objects.count() == 1


def test_every_change_of_an_hour_is_reported_correctly_and_once(api, observed_workspace):
    """In this hour a field is renamed, one is removed, one is new, and the type of one changes."""
    drifted = {"id": 1, "title": "x", "total": "1", "currency": "EUR"}
    for minute in range(60):
        deliver(api, observed_workspace, *[observation(response=drifted, lastSeenAt=AT + 86_400 + minute * 60)] * 5)
    assert sorted(list_drift()) == [
        ("200", "/currency", "new", "", "string", ""),
        ("200", "/name", "quiet", "string", "", "consumer"),
        ("200", "/phone", "quiet", "string", "", "consumer"),
        ("200", "/title", "new", "", "string", ""),
        ("200", "/total", "type", "integer", "integer or string", "consumer"),
    ]
    assert Operation.objects.get().version == OperationVersion.objects.count() == 2
    new = Drift.objects.get(pointer="/title")
    assert (new.version, new.seen, new.of, int(new.since.timestamp())) == (2, 5, 5, AT + 86_400)
    quiet = Drift.objects.get(pointer="/name")
    assert (quiet.seen, quiet.of, f"{quiet.since:%Y-%m-%d}") == (0, 20, "2026-09-21")


def test_a_property_that_is_seen_again_is_reported(api, observed_workspace):
    deliver(api, observed_workspace, *[observation(response={"id": 1})] * 30)
    deliver(api, observed_workspace, observation(response=BODY))
    kinds = sorted((pointer, kind) for _, pointer, kind, *_ in list_drift())
    assert kinds == [(f"/{name}", kind) for name in ("name", "phone", "total") for kind in ("back", "quiet")]


def test_a_property_no_longer_always_seen_is_one_drift_with_its_counts(api, workspace):
    with_it, without = observation(response={"id": 1, "a": 1}), observation(response={"id": 1})
    deliver(api, workspace, *[with_it] * 500)
    for times in (250, *[50] * 5):
        deliver(api, workspace, *[with_it, without] * times)
    assert list_drift() == [("200", "/a", "optional", "in each of 500", "in 250 of 500", "consumer")]
    (drift,) = Drift.objects.all()
    assert (drift.seen, drift.of, drift.words, drift.version) == (250, 500, "now optional", 1)


def test_a_property_that_comes_back_was_optional_from_the_beginning_of_its_absence(api, workspace):
    with_it, without = {"id": 1, "a": 1}, {"id": 1}
    for day, body, count in ((0, with_it, 60), (1, without, 5), (2, without, 5), (3, with_it, 5)):
        deliver(api, workspace, *[observation(response=body, lastSeenAt=AT + day * 86_400)] * count)
    assert list_drift() == [("200", "/a", "optional", "in each of 60", "in 5 of 15", "consumer")]
    assert int(Drift.objects.get().since.timestamp()) == AT + 86_400


def test_a_member_of_a_request_that_is_no_longer_always_sent_breaks_nobody(api, workspace):
    sent = [observation("POST", "/orders", 201, request=body) for body in ({"sku": "x", "a": 1}, {"sku": "x"})]
    deliver(api, workspace, *[sent[0]] * 30)
    deliver(api, workspace, *sent)
    assert [(pointer, kind, breaks) for _, pointer, kind, *_, breaks in list_drift()] == [("/a", "optional", "")]


def test_a_first_null_is_drift_and_so_is_a_first_value_after_many_nulls(api, workspace):
    deliver(api, workspace, *[observation(response={"a": 1, "b": None})] * 500)
    deliver(api, workspace, observation(response={"a": None, "b": 1}))
    assert sorted(list_drift()) == [
        ("200", "/a", "nullable", "integer", "integer or null", "consumer"),
        ("200", "/b", "type", "null", "integer or null", "consumer"),
    ]


def test_a_value_after_a_few_nulls_breaks_nobody(api, workspace):
    deliver(api, workspace, *[observation(response={"b": None})] * 19)
    deliver(api, workspace, observation(response={"b": 1}))
    assert list_drift() == [("200", "/b", "known", "null", "integer or null", "")]


def test_after_a_reset_no_property_counts_as_missing(api, observed_workspace):
    now = datetime.fromtimestamp(AT, UTC)
    reset_baseline(Operation.objects.get(), part="200", pointer="/phone", actor="ann", now=now)
    for _ in range(2):
        deliver(api, observed_workspace, *[observation(response=BODY, lastSeenAt=AT)] * 25)
    assert list_drift() == []
    some = [observation(response=BODY, lastSeenAt=AT), observation(response={**BODY, "phone": None}, lastSeenAt=AT)]
    deliver(api, observed_workspace, *some, observation(response={"id": 1, "name": "x", "total": 1}, lastSeenAt=AT))
    assert [(pointer, kind, after) for _, pointer, kind, _, after, _ in list_drift()] == [
        ("/phone", "nullable", "string or null"),
        ("/phone", "optional", "in 2 of 3"),
    ]


def test_new_and_required_in_a_request_breaks_consumers_and_optional_does_not(api, workspace):
    def build_order(request: Any) -> dict[str, Any]:
        return observation("POST", "/orders", 201, request=request)

    deliver(api, workspace, *[build_order({"sku": "x"})] * 10)
    deliver(api, workspace, build_order({"sku": "x", "note": "y"}), build_order({"sku": "x"}))
    deliver(api, workspace, *[build_order({"sku": "x", "vat": "y"})] * 3)
    assert [(pointer, kind, breaks) for _, pointer, kind, _, _, breaks in list_drift()] == [
        ("/note", "new", ""),
        ("/vat", "new", "consumer"),
    ]


def test_a_new_status_and_another_name_of_a_parameter_are_drift(api, observed_workspace):
    deliver(api, observed_workspace, observation(status=409, response={"error": "x"}))
    deliver(api, observed_workspace, *[observation(path="/orders/{id}", response=BODY)] * 200)
    assert list_drift() == [
        ("409", "", "new", "", "object", ""),
        ("path", "/id", "renamed", "orderId", "id", ""),
    ]
    assert Operation.objects.get().version == 3


def test_an_operation_with_errors_only_has_no_version(api, workspace):
    deliver(api, workspace, observation("GET", "/a", 404, response={"error": "x"}))
    deliver(api, workspace, observation("GET", "/a", 404, response={"other": 1}))
    assert (OperationVersion.objects.count(), list_drift()) == (0, [])
    deliver(api, workspace, observation("GET", "/a", 200))
    assert (OperationVersion.objects.get().number, list_drift()) == (1, [])


def test_a_fold_that_fails_leaves_no_version_behind(api, observed_workspace):
    assert api.post("/api/witness-reports", report(observation(response={"new": 1}))).status_code == 202
    broken = environment_of(observed_workspace).witness_reports.get(folded_at=None)
    broken.sums = unpack_sums(broken.sums)
    broken.sums[0]["method"] = "G" * 99  # the database refuses this
    broken.save()
    fold_reports(environment_of(observed_workspace), now=timezone.now())
    assert (OperationVersion.objects.count(), list_drift()) == (1, [])


def list_drift_of(created, name="production"):
    return list(queries.list_drift(environment_of(created, name), parse_period({}, now=timezone.now()), DriftFilters()))


def test_each_environment_has_its_own_drift(api, observed_workspace, other_workspace):
    deliver(api, observed_workspace, observation(response={**BODY, "a": 1}))
    deliver(api, observed_workspace, observation(response={**BODY, "b": 1}))
    latest = list_drift_of(observed_workspace)[0]
    assert (latest.pointer, latest.operation.path, latest.words) == ("/b", "/orders/{orderId}", "new")
    assert list_drift_of(other_workspace) == []
    assert list_drift_of(observed_workspace, "staging") == []


def test_an_added_media_type_is_drift_but_the_first_is_not(api, observed_workspace):
    version = Operation.objects.get().version
    deliver(api, observed_workspace, observation(response=BODY, responseMediaType="application/json"))
    assert list_drift() == []
    assert Operation.objects.get().version == version + 1
    deliver(
        api,
        observed_workspace,
        observation(responseMediaType="text/html"),
        observation(status=500, responseMediaType="text/html"),
    )
    assert list_drift() == [
        ("500", "", "new", "", "nothing yet", ""),
        ("200", "", "media-type", "application/json", "application/json, text/html", "consumer"),
    ]
