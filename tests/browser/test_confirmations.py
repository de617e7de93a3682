"""Pending confirmations in a browser: all of a call is shown, its time counts down, and a decision moves nothing."""

from datetime import timedelta

from django.utils import timezone

from intents.models import Confirmation
from tests.browser.support.keyboard import press


def test_the_buttons_of_a_confirmation_go_when_its_time_is_over_and_a_decision_moves_nothing(
    new_tab, start_of_pages, api
):
    call = {"sub": "user_17", "operation": "POST /refunds", "args": {"amount": 1250}}
    for summary in ("Refund 12.50", "Refund 99.00"):
        assert api.post("/api/confirmations", {**call, "summary": summary}).status_code == 201
    page = new_tab().open(f"{start_of_pages}/confirmations")

    def list_edges() -> list[list[float]]:
        return page.evaluate(
            """[...document.querySelectorAll(".decisions :is(tr, th, td)")].map((cell) => cell.getBoundingClientRect())
            .map(({ left, right, top, bottom }) => [left, right, top, bottom])"""
        )

    edges = list_edges()
    press(page.get_by_role("link", name="Confirm: Refund 12.50"))
    press(page.get_by_role("button", name="Confirm now: Refund 12.50"))
    page.get_by_role("button", name="Undo: Refund 12.50").wait_for()
    assert page.evaluate("scrollY") == 0
    assert list_edges() == edges
    Confirmation.objects.filter(summary="Refund 99.00").update(expires_at=timezone.now() + timedelta(seconds=4))
    page.reload()
    page.get_by_role("link", name="Decline: Refund 99.00").wait_for()
    page.evaluate("document.querySelector('.decisions a.btn').focus()")  # a table with the focus is not refreshed
    page.get_by_role("link", name="Decline: Refund 99.00").wait_for(state="hidden")
    assert "expired" in page.inner_text(".decisions tbody tr:last-child")
    page.get_by_role("button", name="Undo: Refund 12.50").wait_for(state="hidden")
    assert "Confirmed by" in page.inner_text(".decisions tbody tr:first-child")


def test_the_user_and_the_operation_of_a_pending_call_are_shown_to_their_ends(new_tab, start_of_pages, api):
    user, path = f"customer-00017-{'1' * 240}", f"/refunds/{'1' * 600}"
    call = {"sub": user, "operation": f"POST {path}", "args": {}, "summary": "Refund"}
    assert api.post("/api/confirmations", call).status_code == 201
    page = new_tab().open(f"{start_of_pages}/confirmations")
    cells = page.locator(".decisions td:has(code)")
    assert cells.count() == 2
    for cell in cells.all():
        outer, inner = cell.bounding_box(), cell.locator("code").bounding_box()
        assert outer["x"] <= inner["x"]
        assert inner["x"] + inner["width"] <= outer["x"] + outer["width"]
        # An inline element, whose clientWidth is 0, cuts nothing.
        assert cell.locator("code").evaluate("code => code.scrollWidth <= code.clientWidth || !code.clientWidth")
