"""The downloads of the page of rejections have the numbers of the page."""

from __future__ import annotations

import csv
import io

import pytest

from intents.reports.record import record_verifications
from tests.intents.rejections.verifications import build_verification, read_rows


def test_a_download_has_no_previous_count_of_a_reason_if_nothing_was_verified_before(page, filled_environment):
    (replayed,) = [row for row in read_rows(page(".json", range="30d"), "reasons") if row["reason"] == "replayed"]
    assert (replayed["rejections"], replayed["rejectionsBefore"]) == (7, None)


def test_csv_has_the_columns_of_the_table(page, filled_environment):
    lines = list(csv.DictReader(io.StringIO(page(".csv", table="rejections").getvalue().decode())))
    assert [line["reason"] for line in lines[:2]] == ["expired", "expired"]
    assert {line["toolCallId"] for line in lines} == {"call_1", "call_2", ""}
    assert list(lines[0]) == [
        "occurredAt",
        "occurredAtIso",
        "reason",
        "version",
        "operation",
        "toolCallId",
        "count",
        "sub",
    ]


def test_text_that_a_spreadsheet_would_run_is_neutralised(page, production):
    record_verifications(production, [build_verification("expired", tool_call_id="=HYPERLINK(1)")])
    (line,) = csv.DictReader(io.StringIO(page(".csv", table="rejections").getvalue().decode()))
    assert line["toolCallId"] == "'=HYPERLINK(1)"


@pytest.mark.parametrize("span", ["24h", "7d", "30d", "90d", "12m", "all"])
@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata"])
def test_page_and_download_have_the_same_total_in_every_range(page, filled_environment, span, zone):
    response = page(range=span, tz=zone)
    assert response.status_code == 200
    assert sum(row["verifications"] for row in read_rows(page(".json", range=span, tz=zone), "series")) == (
        response.context.get("verifications")
    )
