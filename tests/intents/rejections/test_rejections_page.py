"""The rejections page and its downloads show the reported numbers."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from affidavit import REASONS
from intents.rejections.filters import RejectionFilters
from intents.rejections.rejections_page import RejectionAnalysis
from intents.rejections.tallies.totals import count_rejections, count_verifications
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.intents.rejections.verifications import NOW, build_verification, read_rows
from tests.page_text import read_html
from tests.read_tables import read_rows as read_csv
from wire.time.period import parse_period


@pytest.mark.parametrize("operation", ["\0", "a\0b", "GET /orders\0"])
def test_a_filter_with_a_nul_finds_nothing(page, filled_environment, operation):
    answer = page(operation=operation)
    assert (answer.status_code, answer.context["verifications"]) == (200, 0)
    assert list(read_rows(page(".json", operation=operation), "rejections")) == []
    assert page(".csv", operation=operation, table="operations").status_code == 200


def test_the_facts_count_the_verifications_of_the_period(page, filled_environment):
    context = page().context
    assert (context["verifications"], context["rejected"]) == (106, 6)
    assert (context["previous_verifications"], context["previous_rejected"]) == (7, 7)
    text = page().content.decode()
    assert "of 106</span>" in text
    assert "5.7 %" in text


def test_every_tile_is_compared_in_the_same_words_and_exported(page, filled_environment):
    text = read_html(page())
    tiles = text.partition('class="card facts"')[2].partition("</section>")[0]
    words = re.findall(r" against ([^<]*) <", tiles)
    assert words == [words[0]] * 3
    assert words[0].startswith("the 7 days before")
    assert '<span class="nowrap">−14.3 %</span> against' in tiles  # 6 rejections after 7
    assert '<span class="nowrap">−94.3 points</span> against' in tiles  # 5.7 % after 100 %
    assert read_rows(page(".json"), "totals") == [
        {"period": "now", "verifications": 106, "rejections": 6},
        {"period": "before", "verifications": 7, "rejections": 7},
    ]


def test_each_reason_has_its_meaning_and_its_usual_fix(page, filled_environment):
    text = page().content.decode()
    exported = read_rows(page(".json"), "reasons")
    assert [(row["reason"], row["rejections"]) for row in exported] == [
        ("expired", 4), ("args-mismatch", 1), ("missing-header", 1), ("replayed", 0),
    ]  # fmt: skip
    for row in exported:
        reason = REASONS[row["reason"]]
        texts = (reason.meaning, reason.usual_fix)
        assert (row["meaning"], row["usualFix"]) == texts
        assert all(escape(reason_text) in text for reason_text in texts)


def test_a_reason_that_stopped_is_listed_so_that_the_column_adds_up(page, filled_environment):
    rows = read_rows(page(".json"), "reasons")
    assert sum(row["rejectionsBefore"] for row in rows) == page().context["previous_rejected"] == 7
    assert rows[-1]["reason"] == "replayed"
    assert (rows[-1]["rejections"], rows[-1]["share"], rows[-1]["rejectionsBefore"]) == (0, 0, 7)


def test_reasons_have_no_previous_count_if_nothing_was_verified_before(page, filled_environment):
    text = read_html(page(range="30d"))
    assert 'data-is="Previous period" class="num soft">–</td>' in text
    assert 'data-is="Previous period" class="num soft">0</td>' not in text


def test_a_previous_period_without_verifications_counts_0_on_the_page_and_in_the_download(page, filled_environment):
    record_verifications(filled_environment, [build_verification("expired", days_ago=40)])
    days = {"from": f"{NOW - timedelta(days=2):%Y-%m-%d}", "to": f"{NOW:%Y-%m-%d}"}
    text = read_html(page(**days))
    assert {row["rejectionsBefore"] for row in read_rows(page(".json", **days), "reasons")} >= {0}
    assert 'data-is="Previous period" class="num soft">–</td>' not in text
    assert 'data-is="Previous period" class="num soft">0</td>' in text


def test_totals_of_a_period_without_verifications_are_0_and_not_missing(page, filled_environment):
    days = {"from": "2020-01-01", "to": "2020-01-31"}
    assert read_rows(page(".json", **days), "totals") == [{"period": "now", "verifications": 0, "rejections": 0}]


def test_versions_and_operations_have_rates_with_their_totals(page, filled_environment):
    versions = {row["version"]: row for row in read_rows(page(".json"), "versions")}
    assert {version: (row["verifications"], row["rejections"]) for version, row in versions.items()} == {
        2: (94, 4), 1: (11, 1), None: (1, 1),
    }  # fmt: skip
    operations = {row["operation"]: row for row in read_rows(page(".json"), "operations")}
    assert operations["GET /orders"]["rate"] == pytest.approx(3 / 93)
    assert operations["GET /orders"]["mainReason"] == "expired"
    assert operations[None]["verifications"] == 1


def test_the_series_adds_up_to_the_facts_and_to_the_count_of_a_reason(page, filled_environment):
    series = read_rows(page(".json"), "series")
    assert sum(row["verifications"] for row in series) == 106
    assert sum(row["rejections"] for row in series) == 6
    assert sum(row["expired"] for row in series) == 4


def test_the_page_shows_the_share_of_version_1(page, filled_environment, workspace):
    text = read_html(page())
    assert "<b>11 of 105</b> verifications with a known version were still of version 1: 10.5 %." in text
    assert re.search(r'href="[^"]*version=1[^"]*#operations">Where they arrive</a>', text)
    assert text.count('id="operations"') == 1
    assert "the dual-accept window is open" in text
    workspace.workspace.v1_until = datetime(2027, 1, 31, 12, tzinfo=UTC)
    workspace.workspace.save()
    assert "Version 1 is accepted until 31 Jan 2027, 12:00" in page().content.decode()


def test_choosing_a_version_does_not_change_the_share_of_all_versions(page, filled_environment):
    text = read_html(page(version="1"))
    assert "<b>11 of 105</b> verifications with a known version were still of version 1: 10.5 %." in text
    assert "11 of 105 verifications with a known version </div>" in text
    assert "Where they arrive" not in text  # the page already shows where they arrive


def test_a_chosen_reason_is_open_and_names_the_column_of_its_counts(page, filled_environment):
    text = read_html(page(reason="args-mismatch"))
    assert re.findall(r'<details data-disclosure="([^"]+)" data-open-at-first', text) == ["args-mismatch"]
    assert '<th scope="col" class="num"><code>args-mismatch</code></th>' in text


def test_the_page_says_where_version_1_is_rejected_while_its_window_is_open(page, filled_environment, workspace):
    record_verifications(
        filled_environment,
        [
            build_verification("unsupported-version", version=1, operation="POST /refunds", count=11),
            build_verification("unsupported-version", version=2, operation="GET /orders"),
        ],
    )
    words = "because the backend asks for version 2: 11 at <code>POST /refunds</code> </p>"
    assert words in read_html(page())
    workspace.workspace.v1_until = NOW - timedelta(days=1)
    workspace.workspace.save()
    text = read_html(page())
    assert words not in text
    assert "Version 1 is rejected since" in text


def test_the_six_most_frequent_reasons_are_listed_and_the_others_folded(page, production):
    reported = list(REASONS)[:9]
    record_verifications(
        production, [build_verification(reason, count=20 - number) for number, reason in enumerate(reported)]
    )

    def split_by_fold(**query) -> tuple[list[str], str, list[str]]:
        text = read_html(page(**query))
        card = text.partition("<h2>By reason</h2>")[2].partition("</section>")[0]
        shown, fold, others = card.partition('<details data-disclosure="other-reasons"')
        listed, folded = (re.findall(r'data-disclosure="([a-z0-9-]+)"', part) for part in (shown, others))
        return listed, fold + others.partition("</summary>")[0], folded

    shown, summary, others = split_by_fold()
    assert (shown, others) == (reported[:6], reported[6:])
    assert "3 others: 39" in summary
    assert " open " not in summary
    assert " open " in split_by_fold(open="other-reasons")[1]
    assert " open " in split_by_fold(reason=reported[8])[1], "the chosen reason is visible"
    assert [row["reason"] for row in read_rows(page(".json"), "reasons")] == reported


def test_operations_without_a_rejection_are_folded(page, filled_environment):
    record_verifications(
        filled_environment, [build_verification("accepted", version=2, operation="GET /books", count=4)]
    )
    text = read_html(page())
    card = text.partition("<h2>By operation</h2>")[2].partition("</section>")[0]
    listed, _, folded = card.partition('<details data-disclosure="other-operations"')
    assert "GET /orders" in listed
    assert "GET /books" not in listed
    assert "1 without a rejection" in folded
    assert "GET /books" in folded
    text = read_html(page(reason="missing-header"))
    assert "without a rejection" not in text  # wrong here: POST /refunds has rejections for other reasons
    assert "3 without this reason" in text


def test_a_reason_without_a_rejection_has_one_sentence_in_place_of_empty_tables(page, filled_environment):
    text = read_html(page(reason="tenant-mismatch"))
    assert "No call was rejected as <code>tenant-mismatch</code> in this period." in text
    assert re.search(
        r'<a href="\?">All reasons</a> · <a href="\?reason=tenant-mismatch&amp;range=all">All time</a>', text
    )
    assert "<h2>" not in text.partition("<main")[2].partition("</main>")[0]
    text = read_html(page(reason="tenant-mismatch", version="2", range="all"))
    assert "in this period with these filters." in text
    assert "All time" not in text


def test_the_parts_of_a_filtered_page_without_rejections_do_not_speak_of_the_whole_period(page, filled_environment):
    record_verifications(filled_environment, [build_verification("accepted", version=2, operation="GET /books")])
    text = page(operation="GET /books").content.decode()
    assert "No rejections in this period." not in text
    assert text.count("No rejections in this period with these filters.") >= 4


def test_a_single_further_reason_is_not_folded(page, production):
    record_verifications(production, [build_verification(reason) for reason in list(REASONS)[:7]])
    assert "other-reasons" not in page().content.decode()


@pytest.mark.parametrize(
    ("query", "verifications", "rejected", "singles"),
    [
        ({"reason": "expired"}, 106, 4, 2),
        ({"version": "1"}, 11, 1, 1),
        ({"operation": "POST /refunds"}, 12, 2, 2),
        ({"reason": "expired", "operation": "POST /refunds"}, 12, 1, 1),
        ({"operation": "GET /nowhere"}, 0, 0, 0),
        ({"operation": "DELETE /cart/lines/{lineId}"}, 4, 4, 1),
        ({"operation": "DELETE /cart/lines/114?soon=1"}, 4, 4, 1),
        ({"operation": "DELETE /cart/lines/114", "reason": "replayed"}, 4, 4, 1),
        ({"operation": "/cart/lines/114"}, 0, 0, 0),
    ],
)
def test_filters_narrow_the_page_and_its_downloads_alike(
    page, filled_environment, query, verifications, rejected, singles
):
    if "cart" in query.get("operation", ""):
        lines = build_verification("replayed", version=2, operation="DELETE /cart/lines/{lineId}", count=4)
        record_verifications(filled_environment, [lines])
    exported = page(".json", **query)
    tables = json.loads(exported.getvalue())["tables"]
    assert sum(row["verifications"] for row in tables["series"]) == verifications
    assert sum(row["rejections"] for row in tables["operations"]) == rejected
    assert len(tables["rejections"]) == singles
    response = page(**query)
    assert response.status_code == 200
    context = response.context
    assert (context["verifications"], context["rejected"]) == (verifications, rejected)
    assert context["rejections"].paginator.count == singles


def test_an_unknown_value_of_a_filter_is_named_and_ignored(page, filled_environment):
    response = page(reason="no-such-reason", version="7")
    assert "does not know reason=no-such-reason, version=7, and ignores them." in " ".join(
        response.content.decode().split()
    )
    assert response.context["rejected"] == 6


def test_an_outsider_sees_nothing(filled_environment, workspace, other_workspace):
    address = f"/w/{workspace.workspace.slug}/production/rejections"
    stranger = Client(headers={"x-service-api-key": other_workspace.full_key})
    missing = stranger.get("/w/no-such-workspace/production/rejections.json")
    refused = stranger.get(f"{address}.json")
    assert (refused.status_code, refused.json()["code"]) == (missing.status_code, missing.json()["code"])
    assert refused.status_code == 404
    assert Client().get(address).status_code == 302
    assert Client().get(f"{address}.csv").status_code == 401


def test_the_table_tells_the_hour_before_the_change_of_clocks_from_the_one_after_it(page, production):
    times = [datetime(2025, 10, 26, hour, 30, tzinfo=UTC) for hour in (0, 1)]
    record_verifications(production, [Verification("expired", moment, 2, "GET /orders") for moment in times])
    query = {"from": "2025-10-25T22:00:00+00:00", "to": "2025-10-26T03:00:00+00:00", "tz": "Europe/Berlin"}
    html = page(**query).content.decode()
    table = html.partition('aria-label="Rejections over time"')[2].partition("</table>")[0]
    labels = [" ".join(label.split()) for label in re.findall(r'<th scope="row"[^>]*>([^<]*)</th>', table)]
    assert labels == ["Sun 26 Oct 02:00 CET", "Sun 26 Oct 02:00 CEST"]


def test_another_environment_shows_none_of_these_rows(filled_environment, browser_client, workspace):
    response = browser_client.get(f"/w/{workspace.workspace.slug}/staging/rejections.json")
    tables = json.loads(response.getvalue())["tables"]
    for name in ("series", "totals"):
        assert {(row["verifications"], row["rejections"]) for row in tables.pop(name)} == {(0, 0)}
    assert not any(tables.values())


def test_a_machine_reads_the_page_with_a_secret_key(filled_environment, api, workspace):
    response = api.get(f"/w/{workspace.workspace.slug}/production/rejections.json")
    assert len(read_rows(response, "rejections")) == 4


def test_the_analysis_has_this_period_and_the_previous_one(filled_environment):
    analysis = RejectionAnalysis(
        filled_environment, parse_period({"range": "7d"}, now=timezone.now()), RejectionFilters()
    )
    assert (count_verifications(analysis.totals), count_rejections(analysis.totals)) == (106, 6)
    previous = analysis.previous_totals
    assert (count_verifications(previous), count_rejections(previous)) == (7, 7)
    assert [summary.reason for summary in analysis.reasons] == [
        "expired",
        "args-mismatch",
        "missing-header",
        "replayed",
    ]


@pytest.mark.parametrize(
    "filters",
    [RejectionFilters(), RejectionFilters(reason="expired"), RejectionFilters(version=2), RejectionFilters(version=1)],
)
@pytest.mark.parametrize("range_", ["24h", "7d", "30d"])
def test_the_totals_by_result_are_those_of_all_versions_and_operations(filled_environment, filters, range_):
    analysis = RejectionAnalysis(filled_environment, parse_period({"range": range_}, now=timezone.now()), filters)

    def sum_by_result(totals):
        latest = {total.result: max(t.last_at for t in totals if t.result == total.result) for total in totals}
        counts = Counter()
        for total in totals:
            counts[total.result] += total.count
        return counts, latest

    assert sum_by_result(analysis.totals_by_result) == sum_by_result(analysis.totals)
    assert sum_by_result(analysis.previous_totals_by_result) == sum_by_result(analysis.previous_totals)


def test_the_chart_begins_with_the_first_verification_and_marks_the_current_day_as_partial(page, filled_environment):
    for range_ in ("30d", "12m", "all"):
        response = page(range=range_)
        labels = response.context["figure"]["data"][0]["x"]
        first = NOW - timedelta(days=9)
        assert labels[0] == f"{first:%a %-d %b %Y}"
        assert len(labels) == (timezone.now().date() - first.date()).days + 1  # 10, or 11 if a new day began
        assert labels[-1].endswith(", partial")
        assert "No data before" in response.content.decode()
    assert "No data before" not in page(range="7d").content.decode()


def test_days_that_have_not_begun_are_not_partial_and_have_no_row(page, filled_environment):
    today = timezone.now().date()
    dates = {"from": str(today - timedelta(days=5)), "to": str(today + timedelta(days=5))}
    response = page(**dates)
    labels = response.context["figure"]["data"][0]["x"]
    assert [label.endswith(", partial") for label in labels] == [False] * 5 + [True] + [False] * 5
    assert {tuple(bars["y"][6:]) for bars in response.context["figure"]["data"]} == {(None,) * 5}
    assert ", one bar per day, the last one partial;" in response.context["sentence"]
    starts = [row["start"] for row in json.loads(page(".json", **dates).getvalue())["tables"]["series"]]
    assert len(starts) == 6
    assert len(read_csv(page(".csv", table="series", **dates))) == 6


def test_a_period_without_verifications_says_so_and_when_data_begin(page, filled_environment):
    text = page(**{"from": "2020-01-01", "to": "2020-01-02"}).content.decode()
    assert "Nothing was reported in this period" in text
    assert "No data before" in text


def test_a_quiet_period_after_the_first_data_has_no_rate_to_compare_and_no_word_of_the_first_data(page, production):
    record_verifications(production, [build_verification("expired", days_ago=days_ago) for days_ago in (7.5, 20)])
    period = {"from": (NOW - timedelta(hours=24)).isoformat(), "to": NOW.isoformat()}
    text = read_html(page(**period))
    assert "Nothing was reported in this period" in text
    assert "of 0</span> </div>" in text
    assert " points" not in text.partition('class="card facts"')[2].partition("</section>")[0]
    assert "No data before" not in text


def test_of_one_version_all_operations_are_listed_the_most_checked_first(page, production):
    now = timezone.now()
    counts = (("GET /books", "accepted", 40), ("GET /cart", "accepted", 7), ("POST /refunds", "unsupported-version", 3))
    for operation, result, count in counts:
        record_verifications(production, [Verification(result, now, 1, operation, count=count)])
    text = read_html(page(version="1")).partition('id="operations"')[2]
    assert "most checked first" in text
    assert "without a rejection" not in text
    assert text.index("GET /books") < text.index("GET /cart") < text.index("POST /refunds")
