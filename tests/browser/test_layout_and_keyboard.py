"""What is in sight on a page, beside its heading and on a phone, and what the keyboard reaches, in which order."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from catalog.models import Drift
from intents.models import Rejection
from tests.browser.support.keyboard import MAX_STEPS
from tests.browser.support.live_refresh import settle
from tests.browser.test_choices_in_the_address import FILTERS
from tests.catalog.reports import deliver, observation
from workspaces.create import NewWorkspace

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
    passed_frames = []
    while page.locator("a[href='/account']:focus").count() == 0:
        page.keyboard.press("Tab")
        passed_frames.append(page.evaluate("document.activeElement.closest('main, .top, nav')?.tagName"))
        assert len(passed_frames) < MAX_STEPS
    assert {"MAIN", "SECTION", "NAV"} <= set(passed_frames)


ROW_COUNT = "[...document.querySelectorAll('main tbody tr')].filter((row) => row.checkVisibility()).length"


def test_what_scrolls_sideways_stays_within_reach_of_the_keyboard(new_tab: Any, start_of_pages: str) -> None:
    page = new_tab(width=740).open(f"{start_of_pages}/rejections?range=all")
    table = page.get_by_role("region", name="Latest rejections")
    expect(table).to_have_attribute("tabindex", "0")
    page.locator("select[name=version]").select_option("2")
    page.wait_for_url(re.compile("version=2"))
    settle(page)
    expect(table).to_have_attribute("tabindex", "0")


def test_j_and_k_reach_the_rows_of_lists_and_slash_their_search(new_tab: Any, start_of_pages: str) -> None:
    tab = new_tab()
    position = """() => [...document.querySelectorAll('main tbody tr')]
        .filter((row) => row.checkVisibility()).indexOf(document.activeElement.closest('tr'))"""
    for name in ("catalog", "drift", "outcomes", "joins", "rejections", "keys", "members", "environments", "audit"):
        page = tab.open(f"{start_of_pages}/{name}?range=all")
        last = page.evaluate(ROW_COUNT) - 1
        positions = []
        for key in "jjk":
            page.keyboard.press(key)
            positions.append(page.evaluate(position))
        assert positions == ([0, min(1, last), 0] if last >= 0 else [-1] * 3), name
        if name in FILTERS:
            page.keyboard.press("/")
            assert page.evaluate("Boolean(document.activeElement.closest('form.filters'))"), name


def test_on_a_phone_a_page_stays_where_its_reader_is(new_tab: Any, start_of_pages: str) -> None:
    """Phones change the height of the window when their address bar appears or disappears."""
    page = new_tab(width=390).open(f"{start_of_pages}/outcomes?range=all#keys")
    read_top = "document.querySelector('#keys').getBoundingClientRect().top"
    assert abs(page.evaluate(read_top)) < 100  # the page is scrolled to the fragment of its address
    page.set_viewport_size({"width": 390, "height": 840})
    page.set_viewport_size({"width": 390, "height": 900})
    settle(page)
    assert abs(page.evaluate(read_top)) < 100
    current = page.locator(".side nav [aria-current]").evaluate(
        "(link) => { const box = link.getBoundingClientRect(); return box.left >= 0 && box.right <= innerWidth }"
    )
    assert current, "the link of this page is out of sight in the row of sections"


def test_on_a_phone_a_requested_comparison_is_in_sight(
    new_tab: Any, start_of_pages: str, api: Any, workspace: NewWorkspace
) -> None:
    fields = {f"field{number}": 1 for number in range(40)}
    for value in (1, "a"):
        shape = observation(path="/books/{bookId}", response={**fields, "id": value})
        deliver(api, workspace, *[shape] * 30)
    page = new_tab(width=390).open(f"{start_of_pages}/operation?method=GET&path=/books/{{bookId}}")
    page.locator("#versions").get_by_role("button", name="Compare").click()
    settle(page)
    result = page.locator("#versions [role=status]")
    expect(result).to_be_in_viewport()
    expect(result).to_contain_text("1 change")
