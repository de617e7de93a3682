"""The frame of a page: what stands beside its heading, and the order in which Tab reaches its parts."""

from __future__ import annotations

import pytest

from catalog.models import Drift
from intents.models import Rejection
from tests.browser.keyboard import MAX_STEPS

PAGES = ("catalog", "inspector", "toolcall?id=call_expired", "deliveries", "audit", "keys", "joins")


@pytest.mark.parametrize("width", [1280, 1440])
def test_no_heading_pushes_the_time_zone_onto_a_line_of_its_own(new_tab, start_of_pages, width):
    tab = new_tab(width=width)
    rejection = Rejection.objects.earliest("occurred_at", "id")
    moment = rejection.occurred_at.isoformat().replace("+", "%2B")
    pages = [f"change?id={Drift.objects.earliest('id').pk}", f"rejection?at={moment}&id={rejection.pk}"]
    for name in (*PAGES, *pages):
        page = tab.open(f"{start_of_pages}/{name}")
        top, bottom = (
            page.locator(selector).first.evaluate(f"box => box.getBoundingClientRect().{edge}")
            for selector, edge in ((".stamp", "top"), ("main h1, main .head > *", "bottom"))
        )
        assert top < bottom, name


@pytest.mark.parametrize("width", [1280, 1440])
def test_no_button_falls_below_the_title(new_tab, start_of_pages, width):
    tab = new_tab(width=width)
    numbers = Drift.objects.order_by("id").values_list("pk", flat=True)[:6]
    for name in ("toolcall?id=call_expired", *[f"change?id={number}" for number in numbers]):
        page = tab.open(f"{start_of_pages}/{name}")
        bottom = page.locator("main h1").evaluate("box => box.getBoundingClientRect().bottom")
        tops = page.locator("main .head > .btn").evaluate_all(
            "boxes => boxes.map(box => box.getBoundingClientRect().top)"
        )
        assert all(top < bottom for top in tops), name


@pytest.mark.parametrize("width", [1280, 1000, 390])
def test_tab_reaches_the_account_after_everything_else(new_tab, start_of_pages, width):
    page = new_tab(width=width).open(f"{start_of_pages}/shared-links")
    passed = []
    while page.locator("a[href='/account']:focus").count() == 0:
        page.keyboard.press("Tab")
        passed.append(page.evaluate("document.activeElement.closest('main, .top, nav')?.tagName"))
        assert len(passed) < MAX_STEPS
    assert {"MAIN", "SECTION", "NAV"} <= set(passed)
