"""Single rejections are listed as the filters select them, the latest first."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest

from intents.models import MintedIntent
from intents.rejections import exports
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.intents.rejections.verifications import NOW, build_verification, read_rows
from tests.page_text import read_html
from workspaces.models import RetentionPolicy


def test_the_list_follows_the_reasons_and_the_tile_leads_to_it(page, filled_environment):
    text = read_html(page())
    headings = re.findall("<h2>(.*?)</h2>", text)
    assert headings[headings.index("By reason") + 1] == "Latest rejections"
    assert '<a href="#singles">6</a>' in text
    [reason] = re.findall(r'<a href="[^"]*/rejection\?[^"]*"><code>args-mismatch</code></a>', text)
    assert "at=" in reason


def test_single_rejections_are_paged_with_the_latest_first(page, production):
    reported = [build_verification("expired", days_ago=day / 40, tool_call_id=f"c{day}") for day in range(60)]
    record_verifications(production, reported)
    first = page()
    assert [rejection.tool_call_id for rejection in first.context["rejections"]][:2] == ["c0", "c1"]
    assert "1 to 10 of 60" in first.content.decode()
    assert [rejection.tool_call_id for rejection in page(page="6").context["rejections"]][-1] == "c59"
    assert len(read_rows(page(".json"), "rejections")) == 60


def test_each_rejection_names_the_user_of_its_intent(page, production, workspace, monkeypatch):
    staging = workspace.workspace.environments.get(name="staging")
    for environment, call, user, days_ago in (
        (production, "call_1", "anna", 3), (production, "call_1", "<bert>", 2), (production, "call_1", "carl", 0.5),
        (staging, "call_2", "dora", 2), (production, "call_3", "emil", 0.5),
    ):  # fmt: skip
        issued_at = NOW - timedelta(days=days_ago)
        MintedIntent.objects.create(
            environment=environment, tool_call_id=call, sub=user, operation="GET /a", args_hash="h",
            issued_at=issued_at, expires_at=issued_at,
        )  # fmt: skip
    calls = ("call_1", "call_2", "call_3", "")
    record_verifications(production, [build_verification("expired", version=2, tool_call_id=call) for call in calls])
    monkeypatch.setattr(exports, "BATCH", 3)
    rows = json.loads(page(".json").getvalue())["tables"]["rejections"]
    assert {row["toolCallId"]: row["sub"] for row in rows} == {
        "call_1": "<bert>", "call_2": "dora", "call_3": None, None: None,
    }  # fmt: skip
    text = page(range="30d").content.decode()
    address = f"/w/{workspace.workspace.slug}/production/toolcalls?range=30d&amp;user=%3Cbert%3E"
    assert f'<a href="{address}"><code class="cut">&lt;bert&gt;</code></a>' in text


def test_a_call_from_before_its_intent_by_a_slow_clock_names_the_user_of_the_next_intent(page, production):
    for user, days_ago in (("anna", 3), ("bert", 0.9), ("carl", 0.5)):
        issued_at = NOW - timedelta(days=days_ago)
        MintedIntent.objects.create(
            environment=production, tool_call_id="call_1", sub=user, operation="GET /a", args_hash="h",
            issued_at=issued_at, expires_at=issued_at,
        )  # fmt: skip
    for reason in ("not-yet-valid", "expired"):
        record_verifications(production, [build_verification(reason, version=2, tool_call_id="call_1")])
    rows = json.loads(page(".json").getvalue())["tables"]["rejections"]
    assert {row["reason"]: row["sub"] for row in rows} == {"not-yet-valid": "bert", "expired": "anna"}


def test_the_list_says_for_how_long_single_rejections_are_kept(page, filled_environment, workspace):
    caption = re.compile(r"<h2>Latest rejections</h2>\s*<span class=\"soft\">(.*?)</span>", re.DOTALL)

    def read_caption() -> str:
        return " ".join(caption.search(page().content.decode()).group(1).split())

    assert read_caption() == "4 in this period, for 6 calls: equal ones can be reported together"
    policy = RetentionPolicy.objects.create(workspace=workspace.workspace, rejections=30)
    assert read_caption() == "4; rows older than 30 days are deleted, the counts above stay"
    by_key = "period; without those older than 30 days, which are deleted"
    assert by_key in read_html(page())
    policy.rejections = None
    policy.save()
    assert read_caption().startswith("4 in this period")
    assert "which are deleted" not in page().content.decode()


def test_single_rejections_are_listed_from_an_exact_moment(page, production):
    """Sums are no finer than a quarter hour. So a page with an exact start shows only what can be counted from then."""
    moment = NOW - timedelta(days=1)
    key = production.workspace.api_keys.get(name="report")
    for seconds, count in ((0, 5), (1, 2), (2, 1)):
        occurred_at = moment + timedelta(seconds=seconds)
        record_verifications(production, [Verification("expired", occurred_at, count=count)], api_key=key)
    since = moment + timedelta(seconds=1)
    answer = page(since=since.isoformat(), range="7d")
    text = read_html(answer)
    assert re.search(rf"Calls rejected since <time[^>]*>[^<]*{since:%H:%M:%S}</time>\.", text)
    assert f"{since:%H:%M:%S}</time>, for 3 calls: equal ones" in text
    assert answer.context["listed_calls"] == 3
    assert [row.rejections for row in answer.context["keys"]] == [3]
    assert re.findall("<h2>(.*?)</h2>", text) == ["By API key", "Latest rejections"]
    for whole in ('aria-label="In this period"', "one bar per", "none in ", "quarter hour"):
        assert whole not in text
    [link] = re.findall('<a href="([^"]*)">Show the whole period</a>', text)
    assert link == "?range=7d"
    assert 'aria-label="Share"' not in text  # a shared page would have no single rejections
    assert [row["count"] for row in read_rows(page(".json", since=since.isoformat()), "rejections")] == [1, 2]
    assert "which name no key. <a" in read_html(page(since=since.isoformat(), by=key.prefix))


def test_an_exact_start_before_the_period_becomes_the_start_of_the_period(page, production):
    record_verifications(production, [Verification("expired", NOW - timedelta(days=20))])
    answer = page(since=(NOW - timedelta(days=20)).isoformat(), range="7d")
    assert answer.context["listed_calls"] == 0
    assert answer.context["since"] == answer.context["period"].start


@pytest.mark.parametrize(
    "since", ["soon", "2026-01-05", "2026-01-05T10:00", "0001-01-01T00:00+14:00", "9999-12-31T23:59Z"]
)
def test_a_moment_that_cannot_be_used_is_named_on_the_page_and_refused_in_the_download(page, filled_environment, since):
    answer = page(since=since)
    assert answer.status_code == 200
    assert answer.context["unknown"] == {"since": since}
    assert page(".json", since=since).status_code == 400
