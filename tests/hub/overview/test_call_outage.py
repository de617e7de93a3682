"""The overview says that no call is accepted any more, or yet."""

import re
from datetime import timedelta
from html import unescape

from django.utils import timezone

from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.hub.overview.overview_page import read_export


def test_an_outage_is_shown_even_if_the_rate_of_the_period_hides_it(overview, browser_client, production):
    now = timezone.now()
    since = now - timedelta(minutes=30)
    record_verifications(
        production,
        [
            Verification("accepted", since, count=90_000),
            Verification("bad-signature", now - timedelta(minutes=1), count=37),
        ],
    )
    page = overview("?range=30d")
    assert "No call has been accepted since <time" in page
    assert f"{since:%H:%M:%S}</time>.</b>" in page
    assert "37 were rejected, all as <code>bad-signature</code>, the last one <time" in page
    assert "No broken joins" not in page
    assert "for a new reason" not in page
    link = unescape(re.search(r'href="([^"]*/rejections\?[^"]*)">See them', page)[1])
    assert "reason=bad-signature" in link
    assert "range" not in link
    listed = browser_client.get(link).context
    assert listed["listed_calls"] == 37
    assert listed["filters"].since - since == timedelta(microseconds=1)  # the time of that call itself is left out
    assert listed["period"].start <= since < listed["period"].start + timedelta(minutes=15)
    [row] = read_export(browser_client, "outage")
    assert (row["rejections"], row["mainReason"], row["withMainReason"]) == (37, "bad-signature", 37)
    assert "No call has been accepted" not in overview("?from=2026-01-05&to=2026-01-06")
    record_verifications(production, [Verification("accepted", now)])
    assert "No call has been accepted" not in overview()
    assert read_export(browser_client, "outage") == []


def test_the_first_calls_of_a_customer_are_shown_if_all_were_rejected(overview, browser_client, production):
    record_verifications(production, [Verification("bad-signature", timezone.now())])
    page = overview()
    assert "No call was accepted yet." in page
    assert "The only call so far was rejected, as <code>bad-signature</code>, <time" in page
    record_verifications(production, [Verification("expired", timezone.now(), count=2)])
    page = overview()
    assert "All 3 calls so far were rejected, 2 of them as <code>expired</code>, the last one <time" in page
    link = unescape(re.search(r'href="([^"]*/rejections\?[^"]*)">See them', page)[1])
    assert browser_client.get(link).context["rejected"] == 2
