"""POST /api/verification-reports: every verification is counted once (contract §3)."""

from __future__ import annotations

import json
import threading
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models import Sum
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from affidavit import REASONS
from intents.models import Rejection, VerificationReport, VerificationTally
from intents.reports.receive import receive_report
from intents.reports.verification import Verification

ADDRESS = "/api/verification-reports"
REPORT_ID = "5f0b7c1e-5c3b-4a57-9d0e-2f6f0c9a3b11"


def report(*verifications, report_id=REPORT_ID, **members):
    return {"reportId": report_id, "verifications": list(verifications), **members}


def environment(created, name="production"):
    return created.workspace.environments.get(name=name)


def count_tallied(**where) -> int:
    return VerificationTally.objects.filter(**where).aggregate(sum=Sum("count"))["sum"] or 0


def list_faults(response) -> dict[str, str]:
    assert response.status_code == 400, response.content
    assert response.json()["code"] == "invalid-request"
    return {fault["pointer"]: fault["code"] for fault in response.json()["errors"]}


def test_recorded_is_the_sum_of_the_counts(api, workspace):
    response = api.post(
        ADDRESS,
        report(
            {"result": "accepted", "version": 2, "operation": "GET /orders/{orderId}", "count": 41},
            {"result": "expired", "version": 2, "operation": "POST /refunds", "toolCallId": "call_81"},
            {"result": "missing-header", "count": 2},
        ),
    )
    assert (response.status_code, response.json()) == (200, {"recorded": 44})
    assert count_tallied(environment=environment(workspace)) == 44
    assert count_tallied(result="accepted", version=2, operation="GET /orders/{orderId}") == 41
    assert count_tallied(result="missing-header", version=0, operation="") == 2


def test_an_empty_report_is_accepted(api):
    assert api.post(ADDRESS, report()).json() == {"recorded": 0}


def test_each_rejection_has_a_row_and_accepted_calls_only_counts(api, workspace):
    occurred_at = int((timezone.now() - timedelta(hours=3)).timestamp())
    api.post(
        ADDRESS,
        report(
            {"result": "accepted", "toolCallId": "call_1"},
            {"result": "replayed", "version": 2, "operation": "POST /refunds", "toolCallId": "call_2",
             "count": 3, "occurredAt": occurred_at},
        ),
    )  # fmt: skip
    assert count_tallied(result="accepted") == 1
    (rejection,) = Rejection.objects.all()
    assert (rejection.reason, rejection.version, rejection.operation, rejection.tool_call_id, rejection.count) == (
        "replayed", 2, "POST /refunds", "call_2", 3,
    )  # fmt: skip
    assert rejection.occurred_at == datetime.fromtimestamp(occurred_at, UTC)
    assert rejection.environment == environment(workspace)


def test_a_verification_without_a_time_has_the_time_of_receipt(api):
    before = timezone.now()
    api.post(ADDRESS, report({"result": "expired"}))
    assert before <= Rejection.objects.get().occurred_at <= timezone.now()


def test_a_raw_path_is_kept_as_a_template_only(api):
    raw = "GET /orders/8412399/items?email=anna@example.com"
    api.post(ADDRESS, report({"result": "accepted", "operation": raw}, {"result": "expired", "operation": raw}))
    operations = {*VerificationTally.objects.values_list("operation", flat=True)}
    operations |= {*Rejection.objects.values_list("operation", flat=True)}
    assert operations == {"GET /orders/{orderId}/items"}


def test_a_redelivery_changes_nothing_and_answers_the_same(api):
    body = json.dumps(report({"result": "expired", "count": 5})).encode()
    first, second = api.post(ADDRESS, body), api.post(ADDRESS, body)
    assert (second.status_code, second.content) == (first.status_code, first.content) == (200, b'{"recorded":5}')
    assert (count_tallied(), Rejection.objects.count()) == (5, 1)


def test_an_id_in_capital_letters_is_the_same_id(api):
    api.post(ADDRESS, report({"result": "expired"}))
    again = api.post(ADDRESS, report({"result": "expired"}, report_id=REPORT_ID.upper()))
    assert (again.status_code, again.json()["code"]) == (422, "report-id-reused")


def test_the_same_id_with_another_body_is_refused_and_changes_nothing(api):
    api.post(ADDRESS, report({"result": "expired"}))
    other = api.post(ADDRESS, report({"result": "expired", "count": 2}))
    assert (other.status_code, other.json()["code"]) == (422, "report-id-reused")
    assert REPORT_ID not in other.content.decode()
    assert count_tallied() == 1


def test_an_id_is_unique_in_the_workspace_across_environments(api):
    api.post(ADDRESS, report({"result": "expired"}))
    other = api.post(ADDRESS, report({"result": "expired"}, environment="staging"))
    assert other.status_code == 422


def test_another_workspace_may_use_the_same_id_and_sees_nothing_of_the_first(api, workspace, other_workspace):
    api.post(ADDRESS, report({"result": "expired"}))
    foreign_answer = api.post(ADDRESS, report({"result": "replayed", "count": 2}), key=other_workspace.full_key)
    assert foreign_answer.json() == {"recorded": 2}
    assert count_tallied(environment=environment(workspace)) == 1
    assert count_tallied(environment=environment(other_workspace)) == 2


def test_reports_go_to_the_environment_that_they_name(api, workspace):
    api.post(ADDRESS, report({"result": "expired"}, environment="staging"))
    assert count_tallied(environment=environment(workspace, "staging")) == 1
    assert count_tallied(environment=environment(workspace)) == 0


def test_a_key_without_the_scope_is_refused(api, workspace):
    workspace.workspace.api_keys.update(scopes=["platform"])
    response = api.post(ADDRESS, report({"result": "expired"}))
    assert (response.status_code, response.json()["code"]) == (403, "scope-missing")
    assert count_tallied() == 0


def test_every_fault_is_listed_and_nothing_is_stored(api):
    response = api.post(
        ADDRESS,
        report(
            {"result": "accepted"},
            {"result": "no-such-reason"},
            {"result": "expired", "version": 3},
            {"result": "expired", "version": True},
            {"result": "expired", "operation": "x" * 256},
            {"result": "expired", "count": 0},
            {"result": "expired", "count": 1.5},
            {"result": "expired", "occurredAt": "yesterday"},
            {"result": "expired", "toolCallId": None},
            {},
            report_id="not-a-uuid",
        ),
    )
    assert list_faults(response) == {
        "/reportId": "invalid",
        "/verifications/1/result": "unknown-result",
        "/verifications/2/version": "invalid",
        "/verifications/3/version": "invalid",
        "/verifications/4/operation": "max_length",
        "/verifications/5/count": "min_value",
        "/verifications/6/count": "invalid",
        "/verifications/7/occurredAt": "invalid",
        "/verifications/8/toolCallId": "null",
        "/verifications/9/result": "required",
    }
    assert (count_tallied(), VerificationReport.objects.count()) == (0, 0)


def test_a_whole_number_may_be_written_as_a_float(api):
    body = b'{"reportId": "%s", "verifications": [{"result": "expired", "version": 2.0, "count": 4.0}]}'
    assert api.post(ADDRESS, body % REPORT_ID.encode()).json() == {"recorded": 4}
    assert count_tallied(version=2) == 4


@pytest.mark.parametrize(("member", "written"), [
    ("version", "1.5"), ("version", "true"), ("version", "0.0"), ("version", '"2"'), ("version", "1e300"),
    ("count", "2.5"), ("count", "true"), ("count", "0.0"), ("count", '"2"'), ("count", "1e300"),
])  # fmt: skip
def test_a_value_that_is_no_whole_number_within_its_bounds_is_refused(api, member, written):
    text = f'{{"reportId": "{REPORT_ID}", "verifications": [{{"result": "expired", "{member}": {written}}}]}}'
    assert list(list_faults(api.post(ADDRESS, text.encode()))) == [f"/verifications/0/{member}"]


@pytest.mark.parametrize("value", [None, 17, True, [], {}, "", "5f0b7c1e5c3b4a579d0e2f6f0c9a3b11",
                                   "{5f0b7c1e-5c3b-4a57-9d0e-2f6f0c9a3b11}", f"urn:uuid:{REPORT_ID}",
                                   f" {REPORT_ID}", f"{REPORT_ID}\n"])  # fmt: skip
def test_a_report_id_is_a_uuid_as_text(api, value):
    assert list(list_faults(api.post(ADDRESS, report(report_id=value)))) == ["/reportId"]


def test_no_fault_repeats_a_value(api):
    secret = "s3cr3t-value"
    response = api.post(ADDRESS, report({"result": secret, "version": secret}, report_id=secret))
    assert len(list_faults(response)) == 3
    assert secret not in response.content.decode()


def test_an_unknown_result_is_answered_with_every_known_one(api):
    detail = api.post(ADDRESS, report({"result": "rejected"})).json()["errors"][0]["detail"]
    assert all(slug in detail for slug in ("accepted", *REASONS))


def test_five_hundred_items_are_accepted_and_one_more_is_refused(api):
    item = {"result": "accepted"}
    assert api.post(ADDRESS, report(*[item] * 500)).json() == {"recorded": 500}
    refused = api.post(ADDRESS, report(*[item] * 501, report_id=str(uuid.uuid4())))
    assert (refused.status_code, refused.json()["limit"], refused.json()["received"]) == (400, 500, 501)
    assert count_tallied() == 500


def test_unknown_members_are_ignored(api):
    assert api.post(ADDRESS, report({"result": "accepted", "colour": "blue"}, sdk="x")).json() == {"recorded": 1}


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
ITEMS = st.fixed_dictionaries(
    {"result": st.sampled_from(["accepted", *REASONS])},
    optional={
        "version": st.sampled_from([1, 2]),
        "operation": TEXTS,
        "count": st.integers(1, 10**9),
        "occurredAt": st.integers(946684800, 1_780_000_000),
    },
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=30)
@given(st.lists(ITEMS, max_size=8))
def test_totals_equal_what_was_reported(api, items):
    before = count_tallied()
    response = api.post(ADDRESS, report(*items, report_id=str(uuid.uuid4())))
    expected = sum(item.get("count", 1) for item in items)
    assert response.json() == {"recorded": expected}
    assert count_tallied() - before == expected


@pytest.mark.django_db(transaction=True)
def test_eight_simultaneous_deliveries_are_recorded_once(workspace):
    target = environment(workspace)
    now = timezone.now()
    verifications = [Verification("expired", now, count=3), Verification("accepted", now, count=4)]
    answers: list[int] = []

    def deliver() -> None:
        answers.append(receive_report(target, uuid.UUID(REPORT_ID), verifications, body=b"{}", now=now))
        connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [7] * 8
    assert (count_tallied(), Rejection.objects.count()) == (7, 1)
