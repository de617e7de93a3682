"""Totals by reason, version and operation: they add up, and a filter keeps the n of a rate."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from affidavit import REASONS
from intents.rejections import totals as total_rows
from intents.rejections.figures import describe_reasons
from intents.rejections.totals import ReasonSummary, Total

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
def test_every_way_of_grouping_adds_up_to_the_whole(totals):
    whole = (total_rows.count_verifications(totals), total_rows.count_rejections(totals))
    for lines in (total_rows.group_by_version(totals), total_rows.group_by_operation(totals)):
        assert (sum(each.verifications for each in lines), sum(each.rejections for each in lines)) == whole
    assert sum(line.count for line in total_rows.group_by_reason(totals, [])) == whole[1]


@given(TOTALS, TOTALS)
def test_reasons_are_told_the_most_frequent_first_with_the_period_before(totals, before):
    lines = total_rows.group_by_reason(totals, before)
    assert [line.count for line in lines] == sorted((line.count for line in lines), reverse=True)
    for line in lines:
        assert line.before == sum(total.count for total in before if total.result == line.reason)
        assert line.last_at == max(total.last_at for total in totals if total.result == line.reason)


@given(TOTALS, st.sampled_from(list(REASONS)))
def test_a_filter_on_the_reason_keeps_what_was_verified(totals, reason):
    narrowed = total_rows.narrow_to_reason(totals, reason)
    assert total_rows.count_verifications(narrowed) == total_rows.count_verifications(totals)
    assert total_rows.count_rejections(narrowed) == sum(total.count for total in totals if total.result == reason)


@given(TOTALS)
def test_the_share_of_versions_leaves_out_what_told_none(totals):
    share = total_rows.compute_version_share(totals)
    assert share.told == sum(total.count for total in totals if total.version)


def lines(*counts: tuple[str, int, int]) -> list[ReasonSummary]:
    return [ReasonSummary(reason, count, 0.5, before, NOW) for reason, count, before in counts]


def test_the_sentence_names_the_leader_and_what_grew_most():
    said = describe_reasons(lines(("expired", 1200, 1300), ("replayed", 30, 10)), step="day")
    assert said == (
        "1,230 rejections, a day each bar; expired leads with 1,200, replayed grew most, by 20 on the period before."
    )


def test_a_leader_that_grew_most_is_named_once():
    said = describe_reasons(lines(("expired", 1200, 0)), step="hour")
    assert said.endswith("expired leads with 1,200, and grew most, by 1,200 on the period before.")


def test_the_sentence_of_one_reason_compares_it_with_itself():
    said = describe_reasons(lines(("expired", 5, 8), ("replayed", 1, 0)), step="hour", reason="expired")
    assert said == "5 rejections, an hour each bar: expired alone, 3 fewer than in the period before."


def test_nothing_rejected_is_said():
    assert describe_reasons([], step="day") == "Nothing was rejected in this range."
