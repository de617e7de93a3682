"""Wait for what a page loads by itself: the live refresh, and the answer to a choice."""

from __future__ import annotations

from playwright.sync_api import Page, expect

NEXT_REFRESH = 16_000  # ms


def refresh(page: Page) -> None:
    """Trigger the live refresh of a page whose clock is Playwright's (`clock.install`)."""
    with page.expect_response(lambda response: response.request.resource_type == "fetch"):
        page.clock.run_for(NEXT_REFRESH)
    page.wait_for_load_state("networkidle")


def settle(page: Page) -> None:
    """Wait until the page shows the state in its address."""
    expect(page.locator("#progress.htmx-request")).to_have_count(0)
