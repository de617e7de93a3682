"""Single rejections are summed by the API key that reported them."""

from __future__ import annotations

import re

from intents.rejections import rejections_by_key
from intents.reports.record import record_verifications
from tests.intents.rejections.verifications import build_verification, read_rows
from tests.page_text import read_html


def test_rejections_of_a_version_are_summed_by_the_key_that_reported_them(page, filled_environment, api):
    report = {
        "reportId": "00000000-0000-4000-8000-000000000001",
        "verifications": [{"result": "expired", "version": 1, "count": 5}, {"result": "expired", "version": 2}],
    }
    assert api.post("/api/verification-reports", report).status_code == 200
    prefix = api.key[:12]
    by_key, unrecorded = read_rows(page(".json", version="1"), "keys")
    assert (by_key["keyId"], by_key["rejections"]) == (prefix, 5)
    assert (unrecorded["keyId"], unrecorded["keyName"], unrecorded["rejections"]) == (None, None, 1)
    assert f"<code>{prefix}…</code>" in page(version="1").content.decode()


def test_the_page_says_which_key_reported_what_without_a_filter_too(page, filled_environment, api):
    report = {
        "reportId": "00000000-0000-4000-8000-000000000001",
        "verifications": [
            {"result": "expired", "count": 5},
            {"result": "replayed", "count": 7},
            {"result": "malformed", "count": 2},
            {"result": "bad-signature"},
            {"result": "not-yet-valid"},
        ],
    }
    assert api.post("/api/verification-reports", report).status_code == 200
    by_key, unrecorded = read_rows(page(".json"), "keys")
    assert by_key["reasons"] == {"replayed": 7, "expired": 5, "malformed": 2, "bad-signature": 1, "not-yet-valid": 1}
    assert sum(by_key["reasons"].values()) == by_key["rejections"] == 16
    assert unrecorded["reasons"] == {"expired": 4, "args-mismatch": 1, "missing-header": 1}
    text = read_html(page())
    assert "By API key" in text
    plain = text.replace('<span class="nowrap">', "").replace("</span>", "")
    assert "<code>replayed</code> 7, <code>expired</code> 5, <code>malformed</code> 2, 2 other reasons" in plain


def test_only_the_latest_rejections_are_summed_by_key_and_the_page_says_since_when(page, production, monkeypatch):
    key = production.workspace.api_keys.get(name="report")
    for hours, reason in ((1, "expired"), (2, "replayed"), (3, "malformed"), (4, "malformed")):
        verification = build_verification(reason, days_ago=hours / 24, count=hours)
        record_verifications(production, [verification], api_key=key)
    assert sum(row["rejections"] for row in read_rows(page(".json"), "keys")) == 10
    assert "These are the latest" not in page().content.decode()
    monkeypatch.setattr(rejections_by_key, "MAX_BY_KEY", 2)
    (row,) = read_rows(page(".json"), "keys")
    assert row["reasons"] == {"replayed": 2, "expired": 1}
    text = read_html(page())
    assert re.search(r"These are the latest 2 of the rejections, since <time[^>]*>[^<]*</time>", text)
    monkeypatch.setattr(rejections_by_key, "MAX_BY_KEY", 1)
    (row,) = read_rows(page(".json", reason="malformed"), "keys")
    assert row["rejections"] == 7, "with a filter, all are summed"


def test_the_rejections_of_one_key_are_listed_without_the_sums_of_all_keys(page, filled_environment):
    key = filled_environment.workspace.api_keys.get(name="report")
    text = read_html(page(by=key.prefix))
    assert re.findall("<h2>(.*?)</h2>", text) == ["By API key", "Latest rejections"]
    assert re.search("Only rejections that .* reported", text)
    assert 'aria-label="In this period"' not in text
