"""What a reader sets: larger text in the browser, or the few colours that the system allows."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, expect

from tests.browser.conftest import run_chromium
from tests.browser.test_every_page import FOR_MEMBERS, PAGES, fits_soon

TEXT_SIZE = 24  # pixels; browsers begin with 16, and Chromium calls 24 "very large"

SMALL_TEXTS = """(smallest) => [...document.querySelectorAll("body *")]
    .filter((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .filter((element) => element.checkVisibility() && parseFloat(getComputedStyle(element).fontSize) < smallest)
    .map((element) => element.outerHTML.slice(0, 120))
"""


@pytest.fixture(scope="module")
def chromium(playwright: Playwright) -> Iterator[Browser]:
    flag = f"--blink-settings=defaultFontSize={TEXT_SIZE},defaultFixedFontSize={TEXT_SIZE}"
    with run_chromium(playwright, flag) as browser:
        yield browser


@pytest.mark.parametrize("width", [1280, 320])
def test_every_text_is_larger_and_no_page_is_wider_than_its_window(new_tab, start_of_pages, width):
    tab = new_tab(width=width)
    smallest = 10 * TEXT_SIZE / 16  # of the ticks of a chart, of which none is hard to read
    for address in (*(start_of_pages + address for address in PAGES.values()), *FOR_MEMBERS):
        page = tab.open(address)
        assert page.evaluate(SMALL_TEXTS, smallest) == [], address
        assert fits_soon(page), f"{address} overflows at {width}"


def test_the_lines_of_a_chart_and_of_its_legend_keep_their_colours(new_tab, start_of_pages):
    page = new_tab().open(f"{start_of_pages}/outcomes")
    page.emulate_media(forced_colors="active")
    page.reload()
    lines = page.locator(".plot .scatterlayer .trace .js-line")
    expect(lines.nth(3)).to_be_visible(timeout=10_000)
    strokes = lines.evaluate_all("all => all.slice(0, 4).map((one) => getComputedStyle(one).stroke)")
    assert len(set(strokes)) == 4
    signs = page.locator(".legend i").evaluate_all(
        "all => all.slice(0, 4).map((one) => getComputedStyle(one).borderTopColor)"
    )
    assert signs == strokes
