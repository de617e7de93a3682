"""The overview says that more calls are rejected, since when and for which reason, and names new reasons."""

import re
from datetime import timedelta

from django.utils import timezone

from intents.models import Rejection
from intents.reports.record import record_verifications
from intents.reports.verification import Verification


def test_a_rise_of_rejections_is_shown_with_its_reason_and_operation(overview, production):
    now = timezone.now()

    def record(result, count, days_ago, operation=""):
        occurred_at = now - timedelta(days=days_ago)
        record_verifications(production, [Verification(result, occurred_at, count=count, operation=operation)])

    record("accepted", 990, 8)
    record("expired", 10, 8)
    assert "More calls are rejected" not in overview()
    record("accepted", 900, 1)
    record("expired", 40, 1, "POST /refunds")
    page = overview()
    assert re.search(
        "4.3 % of them, 1.0 % in the 7 days before(, to the same hour)?[.] 40 of 40 are <code>expired</code>", page
    )
    assert "/rejections?reason=expired&amp;operation=POST+%2Frefunds" in page


def test_a_rise_does_not_begin_at_the_edge_of_an_hour(overview, production):
    """If the hour is known, the first rejection in it is the beginning. If only the day is known, no time is shown."""
    now = timezone.now()
    first = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=3) + timedelta(minutes=34, seconds=37)
    for result, count, moment in (
        ("accepted", 990, first - timedelta(days=7)),
        ("expired", 2, first - timedelta(days=7)),
        ("expired", 20, first),
        ("expired", 40, first + timedelta(minutes=5)),
        ("accepted", 900, first + timedelta(minutes=10)),
    ):
        record_verifications(production, [Verification(result, moment, count=count)])
    started = overview("?range=24h").partition("The rise began ")[2]
    assert f"{first:%a %-d %b, %H:%M}</time>: 60 of 60 since then." in started
    assert overview().partition("The rise began ")[2].startswith(f"{first:%a %-d %b}:")
    Rejection.objects.all().delete()  # as after their retention: only the day is shown
    assert overview("?range=24h").partition("The rise began ")[2].startswith(f"{first:%a %-d %b}:")


def test_a_rise_that_was_over_does_not_date_the_present_one(overview, production):
    """Days with few rejections followed an early day with many, so the present rise did not begin on that early day."""
    now = timezone.now()
    for result, count, days_ago in (
        *(("accepted", 990, 9), ("expired", 10, 9), ("accepted", 400, 6), ("expired", 14, 6)),
        *(("accepted", 400, 4), ("expired", 1, 4), ("accepted", 400, 1), ("expired", 60, 1)),
    ):
        record_verifications(production, [Verification(result, now - timedelta(days=days_ago), count=count)])
    since = f"The rise began {now - timedelta(days=1):%a %-d %b}:"
    assert since in overview()


def test_a_rise_that_may_be_chance_is_not_shown(overview, production):
    now = timezone.now()
    for result, count, days_ago in (("accepted", 367, 8), ("expired", 3, 8), ("accepted", 546, 1), ("expired", 12, 1)):
        record_verifications(production, [Verification(result, now - timedelta(days=days_ago), count=count)])
    assert "More calls are rejected" not in overview()


def test_a_rise_without_a_reason_that_explains_it_is_shown_without_one(overview, production):
    now = timezone.now()

    def record(result, count, days_ago):
        record_verifications(production, [Verification(result, now - timedelta(days=days_ago), count=count)])

    record("accepted", 190, 8)
    record("expired", 10, 8)
    record("accepted", 160, 1)
    record("expired", 16, 1)
    for reason in ("replayed", "malformed", "bad-signature", "args-mismatch"):
        record(reason, 6, 1)
    page = overview()
    before = "20.0 % of them, 5.0 % in the 7 days before(, to the same hour)?[.]"
    assert re.search(f"{before} No single reason explains the rise[.] The rise began ", page)
    assert "16 of 40" not in page
    sentence = page.partition("More calls are rejected.")[2].partition("</p>")[0]
    assert re.search(r'/rejections\?from=\d{4}-\d\d-\d\dT[^"&]*">See them</a>', sentence)  # only a part of the period


def test_a_new_reason_of_rejections_is_shown_if_it_has_at_least_ten_calls(overview, production):
    now = timezone.now()

    def record(result, count, days_ago):
        record_verifications(production, [Verification(result, now - timedelta(days=days_ago), count=count)])

    record("args-mismatch", 20, 1)
    assert "new reason" not in overview(), "nothing was rejected before"
    record("expired", 100, 8)
    record("expired", 100, 1)
    record("replayed", 9, 1)
    page = overview()
    assert "20 are <code>args-mismatch</code>, none in the 7 days before" in page
    record("args-mismatch", 1, 8)
    assert "new reason" not in overview()
    record("replayed", 1, 1)
    assert "10 are <code>replayed</code>, none in" in overview()
