"""A call outage: rejections without an accepted call, if the usual share of rejections does not explain them."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from intents.rejections.call_outage.call_outage_rule import Rejections, find_call_outage
from intents.rejections.call_outage.read_call_outage import read_call_outage
from intents.reports.record import record_verifications
from intents.reports.verification import Verification

NOW = datetime(2026, 3, 1, 12, 14, tzinfo=UTC)
SINCE = NOW - timedelta(minutes=9)  # in the same quarter hour as NOW


@pytest.mark.parametrize(
    ("count", "usual", "is_outage"),
    [
        (5, {"accepted": 990, "expired": 10}, True),
        (4, {"accepted": 990, "expired": 10}, False),  # one caller may repeat a mistake
        (10, {"accepted": 100, "expired": 900}, False),  # usually most calls are rejected
        (90, {"accepted": 100, "expired": 900}, True),
        (5, {"accepted": 1}, True),
        (0, {"accepted": 990}, False),
    ],
)
def test_a_run_of_rejections_is_an_outage_unless_it_may_be_chance(count, usual, is_outage):
    rejections = Rejections(Counter({"bad-signature": count}), NOW if count else None)
    assert (find_call_outage(SINCE, rejections, usual) is not None) == is_outage


def test_before_the_first_accepted_call_one_rejection_is_an_outage():
    outage = find_call_outage(None, Rejections(Counter({"bad-signature": 1}), NOW), {})
    assert (outage.since, outage.rejections, outage.reason) == (None, 1, "bad-signature")


def test_the_most_frequent_reason_is_named():
    outage = find_call_outage(None, Rejections(Counter({"expired": 3, "malformed": 4}), NOW), {})
    assert (outage.rejections, outage.reason, outage.reason_count) == (7, "malformed", 4)


def test_rejections_are_counted_from_the_last_accepted_call_on_also_within_a_quarter_hour(production):
    def record(result, minutes_ago, count=1, **facts):
        occurred_at = NOW - timedelta(minutes=minutes_ago)
        record_verifications(production, [Verification(result, occurred_at, count=count, **facts)])

    assert read_call_outage(production, now=NOW) is None
    record("accepted", 3000, 40)
    record("accepted", 9, 60)
    record("bad-signature", 10, 3)  # before the last accepted call, but in the same quarter hour
    record("bad-signature", 8, 4, operation="GET /orders")
    assert read_call_outage(production, now=NOW) is None
    record("bad-signature", 7)
    outage = read_call_outage(production, now=NOW)
    assert (outage.since, outage.rejections, outage.last_at) == (SINCE, 5, NOW - timedelta(minutes=7))
    later = NOW + timedelta(days=40)
    record_verifications(production, [Verification("expired", later, count=2, version=2)])
    outage = read_call_outage(production, now=later)
    assert (outage.since, outage.counts, outage.last_at) == (SINCE, {"bad-signature": 5, "expired": 2}, later)
    record_verifications(production, [Verification("accepted", later)])
    assert read_call_outage(production, now=later) is None


def test_an_outage_is_of_its_environment_only(production):
    staging = production.workspace.environments.get(name="staging")
    record_verifications(staging, [Verification("bad-signature", NOW, count=9)])
    assert read_call_outage(staging, now=NOW).since is None
    assert read_call_outage(production, now=NOW) is None
