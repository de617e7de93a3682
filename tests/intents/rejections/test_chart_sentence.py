"""The sentence under the chart of rejections."""

from __future__ import annotations

from datetime import UTC, datetime

from intents.rejections.chart_sentence import describe_reasons
from intents.rejections.tallies.totals import ReasonSummary

START = datetime(2026, 3, 1, tzinfo=UTC)
BEFORE = "the 7 days before"


def build_summaries(*counts: tuple[str, int, int]) -> list[ReasonSummary]:
    return [ReasonSummary(reason, count, 0.5, before, START) for reason, count, before in counts]


def test_the_sentence_names_the_most_frequent_reason_and_the_one_that_grew_most():
    sentence = describe_reasons(
        build_summaries(("expired", 1200, 1300), ("replayed", 30, 10)), step="day", before=BEFORE, is_partial=True
    )
    assert sentence == (
        "1,230 rejections, one bar per day, the last one partial; expired leads with 1,200, replayed grew most, "
        "by 20 against the 7 days before."
    )


def test_the_sentence_says_which_bars_are_partial():
    summaries = build_summaries(("expired", 5, 0))
    sentence = describe_reasons(summaries, step="hour", before="", begins_within=True, is_partial=True)
    assert sentence.startswith("5 rejections, one bar per hour, the first one partial, the last one partial; expired")


def test_a_most_frequent_reason_that_also_grew_most_is_named_once():
    sentence = describe_reasons(build_summaries(("expired", 1200, 0), ("replayed", 3, 3)), step="hour", before=BEFORE)
    assert sentence.endswith("expired leads with 1,200, and grew most, by 1,200 against the 7 days before.")


def test_equally_frequent_reasons_lead_together():
    two, three = (build_summaries(*((reason, 2, 1) for reason in reasons)) for reasons in (("a", "b"), ("a", "b", "c")))
    sentence = describe_reasons(two, step="hour", before=BEFORE)
    assert sentence.endswith("; 2 each of a and b.")
    assert "; 3 reasons lead with 2 each" in describe_reasons(three, step="hour", before=BEFORE)


def test_of_equally_grown_reasons_none_grew_most():
    summaries = build_summaries(("a", 3, 2), ("b", 2, 1), ("c", 1, 1))
    sentence = describe_reasons(summaries, step="hour", before=BEFORE)
    assert sentence.endswith("; a leads with 3.")
    summaries = build_summaries(("a", 2, 1), ("b", 2, 0))
    assert describe_reasons(summaries, step="hour", before=BEFORE).endswith(
        "; 2 each of a and b, b grew most, by 2 against the 7 days before."
    )


def test_without_previous_data_no_reason_has_grown():
    sentence = describe_reasons(build_summaries(("expired", 1200, 0)), step="hour", before=BEFORE)
    assert sentence.endswith("expired leads with 1,200, none in the 7 days before.")


def test_the_sentence_of_one_reason_compares_it_with_its_previous_count():
    sentence = describe_reasons(
        build_summaries(("expired", 5, 8), ("replayed", 1, 0)), step="hour", before=BEFORE, reason="expired"
    )
    assert sentence == "5 rejections, one bar per hour: expired only, 3 fewer than in the 7 days before."


def test_all_time_has_no_comparison():
    for reason in ("", "expired"):
        sentence = describe_reasons(build_summaries(("expired", 5, 0)), step="month", before="", reason=reason)
        assert sentence.endswith(("expired leads with 5.", "expired only."))


def test_a_period_without_rejections_says_so():
    for summaries in ([], build_summaries(("expired", 0, 3))):
        assert describe_reasons(summaries, step="day", before=BEFORE) == "No rejections in this period."
        sentence = describe_reasons(summaries, step="day", before=BEFORE, is_filtered=True)
        assert sentence == "No rejections in this period with these filters."
