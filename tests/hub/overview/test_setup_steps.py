"""The overview shows the steps from nothing to first data, and ticks off those that are done."""

import re

from tests.hub.overview.overview_page import CONFIRMATION_REQUEST, report_outcomes

STEPS = ["Create a workspace", "Observe an API", "Report an outcome", "Verify an intent", "Confirm a call"]


def list_ticked_steps(page: str) -> list[str]:
    steps = re.findall(r'<li>\s*<span class="x [^>]*aria-label="(done|to do)">.*?<b>([^<]+)</b>', page, re.S)
    assert [title for _, title in steps] == STEPS
    return [title for state, title in steps if state == "done"]


def test_without_data_the_overview_shows_the_five_steps_and_no_chart(overview):
    page = overview()
    assert list_ticked_steps(page) == ["Create a workspace"]
    assert "data-figure" not in page
    assert 'href="/w/lumen-books/production/outcomes"' in page
    assert "<h1>Production</h1>" in page
    assert "/api/witness-reports" in page.partition("Observe an API")[2].partition("Report an outcome")[0]


def test_a_step_is_ticked_off_when_its_data_arrive(overview, api):
    assert api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]}).status_code == 200
    report_outcomes(api, "conv_1")
    page = overview()
    assert list_ticked_steps(page) == ["Create a workspace", "Report an outcome"]
    assert "data-figure" in page
    assert "Still to set up" in page


def test_the_step_confirm_a_call_is_done_after_the_decision_and_not_the_request(overview, api):
    confirmation = api.post("/api/confirmations", CONFIRMATION_REQUEST).json()["confirmationId"]
    assert "Confirm a call" not in list_ticked_steps(overview())
    assert api.post(f"/api/confirmations/{confirmation}/decision", {"decision": "confirm"}).status_code == 200
    assert "Confirm a call" in list_ticked_steps(overview())
