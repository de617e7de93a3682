"""Pages on paper: dark text on white, without controls, and whole."""

import json

import pytest
from playwright.sync_api import expect

INK = "rgb(29, 28, 26)"  # --ink of the light theme
PAPER_WIDTH = 700  # CSS pixels between the margins of A4
COLOUR = "one => getComputedStyle(one).color"
CUT = """() => [...document.querySelectorAll("main, main *")].filter((one) => {
  const cuts = ["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowX);
  return cuts && one.clientWidth > 1 && one.scrollWidth > one.clientWidth + 1;
}).map((one) => `${one.tagName}.${one.className}`)"""


@pytest.fixture
def dark_page(new_tab, start_of_pages):
    """Return a page in the dark theme. Its light text would be hard to read on white paper."""
    page = new_tab(scheme="dark").open(f"{start_of_pages}/outcomes")
    page.evaluate("localStorage.setItem('theme', 'dark')")
    page.reload()
    page.locator(".plot .xtick text").first.wait_for(timeout=10_000)
    return page


def test_a_printed_page_has_dark_text_its_environment_and_its_dates_but_no_controls(dark_page):
    assert dark_page.locator("main").evaluate(COLOUR) != INK
    dark_page.emulate_media(media="print")
    assert dark_page.locator("main").evaluate(COLOUR) == INK
    for name in ("Lumen Books", "production"):
        expect(dark_page.locator(".top summary").filter(has_text=name)).to_be_visible()
    expect(dark_page.locator(".stamp")).to_contain_text("20")  # its dates have a year
    for control in (".side", ".top nav", ".top .seg", ".exports", "main .btn"):
        assert not any(element.is_visible() for element in dark_page.locator(control).all()), control


def test_a_printed_chart_fits_the_paper_and_is_drawn_in_dark_ink(dark_page):
    def wait_for_drawing(width: int, colour: str) -> None:
        expect(dark_page.locator(".plot .main-svg").first).to_have_attribute("width", str(width))
        expect(dark_page.locator(".plot .xtick text").first).to_have_css("fill", colour)

    width_on_screen = dark_page.locator(".plot").first.evaluate("one => one.clientWidth")
    wait_for_drawing(width_on_screen, "rgb(168, 164, 156)")  # --soft of the dark theme
    dark_page.evaluate("dispatchEvent(new Event('beforeprint'))")
    wait_for_drawing(640, "rgb(101, 95, 86)")  # --soft of the light theme
    dark_page.evaluate("dispatchEvent(new Event('afterprint'))")
    wait_for_drawing(width_on_screen, "rgb(168, 164, 156)")


@pytest.mark.parametrize("page_name", ["joins", "rejections", "catalog", "keys", "audit"])
def test_a_printed_table_keeps_its_columns_and_none_is_cut(new_tab, start_of_pages, page_name):
    page = new_tab(width=PAPER_WIDTH).open(f"{start_of_pages}/{page_name}")
    page.emulate_media(media="print")
    assert any(head.is_visible() for head in page.locator("main thead").all())
    assert json.dumps(page.evaluate(CUT)) == "[]"
