"""Totals by reason, version and operation: they add up, and a filter does not change the denominator of a rate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from affidavit import REASONS
from intents.rejections.tallies import totals as total_rows
from intents.rejections.tallies.totals import Total

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TOTALS = st.lists(
    st.builds(
        Total,
        result=st.sampled_from(["accepted", "expired", "replayed", "malformed"]),
        version=st.integers(0, 2),
        operation=st.sampled_from(["", "GET /a", "POST /b"]),
        count=st.integers(1, 1000),
        last_at=st.integers(0, 1000).map(lambda minutes: NOW - timedelta(minutes=minutes)),
    ),
    max_size=12,
)


@given(TOTALS)
def test_every_grouping_adds_up_to_all_verifications_and_rejections(totals):
    whole = (total_rows.count_verifications(totals), total_rows.count_rejections(totals))
    for summaries in (total_rows.group_by_version(totals), total_rows.group_by_operation(totals)):
        assert (
            sum(summary.verifications for summary in summaries),
            sum(summary.rejections for summary in summaries),
        ) == whole
    assert sum(summary.count for summary in total_rows.group_by_reason(totals, [])) == whole[1]


@given(TOTALS)
def test_the_main_reasons_are_all_those_with_the_highest_count(totals):
    for summary in total_rows.group_by_version(totals):
        group = [total for total in totals if total.version == summary.name]
        counts = {item.reason: item.count for item in total_rows.group_by_reason(group, [])}
        highest = {reason for reason, count in counts.items() if count == max(counts.values())}
        assert set(summary.main_reasons) == highest


@given(TOTALS, TOTALS)
def test_reasons_are_sorted_by_frequency_and_have_counts_of_the_previous_period(totals, before):
    summaries = total_rows.group_by_reason(totals, before)
    assert [summary.count for summary in summaries] == sorted((summary.count for summary in summaries), reverse=True)
    for summary in summaries:
        assert summary.previous_count == sum(total.count for total in before if total.result == summary.reason)
        with_reason = [total for total in totals if total.result == summary.reason]
        with_reason_before = [total for total in before if total.result == summary.reason]
        assert summary.last_at == max(total.last_at for total in with_reason or with_reason_before)


@given(TOTALS, TOTALS)
def test_reasons_add_up_to_the_rejections_of_both_periods(totals, before):
    summaries = total_rows.group_by_reason(totals, before)
    assert sum(summary.count for summary in summaries) == total_rows.count_rejections(totals)
    assert sum(summary.previous_count for summary in summaries) == total_rows.count_rejections(before)
    assert sum(summary.share for summary in summaries) == pytest.approx(1 if total_rows.count_rejections(totals) else 0)


@given(TOTALS, st.sampled_from(list(REASONS)))
def test_a_filter_on_the_reason_keeps_the_number_of_verifications(totals, reason):
    filtered_totals = total_rows.narrow_to_reason(totals, reason)
    assert total_rows.count_verifications(filtered_totals) == total_rows.count_verifications(totals)
    assert total_rows.count_rejections(filtered_totals) == sum(
        total.count for total in totals if total.result == reason
    )


@given(TOTALS)
def test_the_share_of_versions_leaves_out_verifications_without_a_version(totals):
    share = total_rows.compute_version_share(totals)
    assert share.total == sum(total.count for total in totals if total.version)
