"""The overview: five steps before the first data, numbers from then on; and what waits for a person."""

import re

import pytest

PAGE = "/w/lumen-books/production/overview"
STEPS = ["Create a workspace", "Observe an API", "Report an outcome", "Verify an intent", "Confirm a call"]
ASKED = {"sub": "user-1", "operation": "POST /refunds", "args": {"orderId": 1}, "summary": "Refund order 1"}


def ticked(page: str) -> list[str]:
    steps = re.findall(r'<li>\s*<span class="x [^>]*aria-label="(done|to do)">.*?<b>([^<]+)</b>', page, re.S)
    assert [title for _, title in steps] == STEPS
    return [title for state, title in steps if state == "done"]


@pytest.fixture
def overview(browser_client, workspace):
    return lambda query="": browser_client.get(PAGE + query).content.decode()


def test_without_data_the_overview_is_the_five_steps_and_no_chart_of_nothing(overview):
    page = overview()
    assert ticked(page) == ["Create a workspace"]
    assert "data-figure" not in page
    assert 'href="/w/lumen-books/production/outcomes"' in page


def test_a_step_is_ticked_off_when_its_data_have_arrived(overview, api):
    outcome = {"conversationId": "conv_1", "outcomeKey": "purchase"}
    assert api.post("/api/conversation-outcomes", {"outcomes": [outcome]}).status_code == 200
    page = overview()
    assert ticked(page) == ["Create a workspace", "Report an outcome"]
    assert "data-figure" in page
    assert "Still to set up" in page


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "Production, last 7 days"),
        ("?range=24h", "Production, last 24 hours"),
        ("?range=12m", "Production, last 12 months"),
        ("?range=all", "Production, all time"),
        ("?from=2026-01-05&to=2026-01-06", "Production, 5 Jan – 6 Jan 2026"),
    ],
)
def test_the_heading_names_the_days_that_are_shown(overview, query, words):
    assert f"<h1>{words}" in " ".join(overview(query).split())


def test_what_waits_for_a_decision_is_counted_beside_its_section_on_every_page(overview, browser_client, api):
    assert "n waits" not in overview()
    confirmation_id = api.post("/api/confirmations", ASKED).json()["confirmationId"]
    assert '<span class="n waits">1<' in overview()
    assert '<span class="n waits">1<' in browser_client.get("/w/lumen-books/production/catalog").content.decode()
    assert "n waits" not in browser_client.get("/w/lumen-books/staging/overview").content.decode()
    browser_client.post(f"/w/lumen-books/production/confirmations/{confirmation_id}/decision", {"decision": "decline"})
    assert "n waits" not in overview()


def test_rejections_of_the_period_are_listed_by_reason(overview, api):
    report = {"reportId": "00000000-0000-4000-8000-000000000001", "verifications": [{"result": "expired", "count": 3}]}
    assert api.post("/api/verification-reports", report).status_code == 200
    page = overview()
    assert "expired" in page
    assert "Rejected calls" in page
