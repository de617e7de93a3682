"""A choice on a page is in its address, survives the live refresh, a reload and Back, and its result is read out."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.support.live_refresh import refresh, settle

OPERATION = "/operation?method=GET&path=/orders/{orderId}"


def read_text(page: Page) -> str:
    """Return the text of the page without ages, which change by themselves."""
    return re.sub(r"\d+ (s|min) ago|now", "", page.inner_text("main"))


# For each page: the selector of a filter, a value for it, and the query that the address then contains
FILTERS = {
    "catalog": ("select[name=method]", "POST", "method=POST"),
    "drift": ("select[name=kind]", "new", "kind=new"),
    "rejections": ("select[name=version]", "2", "version=2"),
    "outcomes": ("select[name=compare]", "staging", "compare=staging"),
    "audit": ("select[name=action]", "workspace created", "action=workspace"),
}


def test_each_filter_applies_at_once_keeps_the_focus_and_adds_one_history_entry(
    new_tab: Any, start_of_pages: str
) -> None:
    tab = new_tab()
    for name, (selector, value, member) in FILTERS.items():
        page = tab.open(f"{start_of_pages}/{name}?range=all")
        before = read_text(page)
        page.evaluate("scrollTo(0, 40)")
        page.locator(selector).focus()
        page.locator(selector).select_option(value)
        page.wait_for_url(re.compile(member))
        settle(page)
        assert page.evaluate("(selector) => document.activeElement.matches(selector)", selector), name
        switch = page.locator("[data-same-page]", has_text="staging").get_attribute("href") or ""
        assert member.split("=")[0] in switch, name
        page.go_back()
        expect(page).to_have_url(re.compile(r"\?range=all$"))
        expect(page.locator(selector)).to_have_value("")
        settle(page)
        assert read_text(page) == before, name
        page.go_forward()
        settle(page)
        expect(page.locator(selector)).to_have_value(value)
    assert tab.complaints == []


@pytest.mark.parametrize(
    ("name", "field", "value", "words"),
    [
        ("outcomes", "input[name=q]", "renew", "with “renew”"),
        ("outcomes", "input[type=checkbox][value=purchase]", True, "of them"),
        ("rejections", "select[name=reason]", "expired", "1 of 1,002 calls rejected as expired"),
        ("confirmations", "select[name=state]", "declined", "No confirmations in this period"),
        ("toolcalls", "select[name=confirmation]", "asked", "0 tool calls"),
        ("audit", "select[name=kind]", "people", "0 in this period"),
    ],
)
def test_a_screen_reader_hears_what_a_filter_has_found(
    new_tab: Any, start_of_pages: str, api: Any, name: str, field: str, value: str | bool, words: str
) -> None:
    call = {"sub": "user_1", "operation": "POST /orders", "args": {}, "summary": "Order a book"}
    assert api.post("/api/confirmations", call).status_code == 201
    assert api.post("/api/intents", {"sub": "user_1", "operation": "GET /orders", "args": {}}).status_code == 201
    page = new_tab().open(f"{start_of_pages}/{name}")
    control = page.locator(f"main {field}").first
    if value is True:
        control.check()
    elif control.evaluate("control => control.tagName") == "SELECT":
        control.select_option(str(value))
    else:
        control.fill(str(value))
    expect(page.locator("#announcement")).to_contain_text(words)


def test_a_screen_reader_hears_how_many_rows_match_from_an_element_that_stays(
    new_tab: Any, start_of_pages: str
) -> None:
    page = new_tab().open(f"{start_of_pages}/catalog?range=all")
    announcement = page.locator("#announcement").element_handle()
    page.get_by_label("Method").select_option("GET")
    status = page.locator("#operations [role=status]")
    expect(status).to_contain_text("matching the filters")
    settle(page)
    assert announcement.evaluate("(element) => element.isConnected && element.textContent") == status.inner_text()
    page.go_back()
    expect(status).to_contain_text("in all")
    settle(page)
    assert announcement.text_content() == status.inner_text()


def test_a_ticked_key_leaves_its_card_as_a_new_load_has_it(new_tab: Any, start_of_pages: str) -> None:
    """The card of keys has the same elements after a key is ticked as after a reload.

    Once a key is ticked, a form next to the checkboxes has a hidden input with the same name and value.
    """
    page = new_tab().open(f"{start_of_pages}/outcomes?range=all")
    for number in range(2):
        page.locator("#keys tbody input[type=checkbox]").nth(number).check()
        page.wait_for_url(re.compile("show=" if not number else "show=.*show="))
        settle(page)
        expect(page.locator("#keys > header h2")).to_have_text("By key")
        expect(page.locator("#keys > header a", has_text="Clear selection")).to_have_count(1)
    elements = "[...document.querySelectorAll('#keys *')].map((element) => element.tagName)"
    ticked = page.evaluate(elements)
    page.reload()
    assert page.evaluate(elements) == ticked


def test_typing_adds_one_history_entry_and_the_latest_answer_wins(new_tab: Any, start_of_pages: str) -> None:
    page = new_tab().open(f"{start_of_pages}/catalog")
    page.route(re.compile("q=s$"), lambda route: page.wait_for_timeout(400) or route.continue_())
    search = page.locator("#catalog-search")
    search.press_sequentially("s")
    page.wait_for_url(re.compile("q=s$"))
    search.press_sequentially("earch")
    page.wait_for_url(re.compile("q=search$"))
    expect(page.locator("main tbody tr")).to_have_count(1)
    page.wait_for_timeout(600)
    expect(page.locator("main tbody tr")).to_have_count(1)
    assert page.evaluate("document.activeElement.id") == "catalog-search"
    page.go_back()
    expect(search).to_have_value("")
    assert page.locator("main tbody tr").count() > 1
    assert "q=" not in page.url


def test_branches_stay_open_or_closed_as_they_were_left(new_tab: Any, start_of_pages: str) -> None:
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(start_of_pages + OPERATION)
    branch = page.locator(".tree details[data-disclosure]").first
    table = page.locator("details[data-disclosure=curl]")
    branch.locator("> summary").click()
    table.locator("> summary").click()
    expect(page).to_have_url(re.compile(r"closed=body&open=curl"))
    page.evaluate("document.activeElement.blur()")

    def expect_unchanged() -> None:
        expect(branch).to_have_js_property("open", False)
        expect(table).to_have_js_property("open", True)

    refresh(page)
    expect_unchanged()
    page.reload()
    expect_unchanged()
    page.get_by_role("link", name="All operations").first.click()
    page.wait_for_url(re.compile("/catalog"))
    page.go_back()
    expect_unchanged()
    page.locator(".tree details > summary").first.click()
    expect(page).not_to_have_url(re.compile("closed=body"))
    assert tab.complaints == []


def test_a_chart_line_that_was_switched_off_stays_off(new_tab: Any, start_of_pages: str) -> None:
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(f"{start_of_pages}/overview")

    def expect_off(count: int) -> None:
        expect(page.locator(".plot .scatterlayer .trace .js-line")).to_have_count(count)
        expect(button).to_have_attribute("aria-pressed", "false")

    button = page.get_by_role("button", name="renewal")
    page.clock.run_for(1000)
    button.click()
    lines = page.locator(".plot .scatterlayer .trace .js-line").count()
    expect_off(lines)
    page.evaluate("document.activeElement.blur()")
    refresh(page)
    expect_off(lines)
    page.reload()
    page.clock.run_for(1000)
    expect_off(lines)
    page.locator("nav.wide[aria-label=Period] a", has_text="90").click()
    page.wait_for_url(re.compile("range=90d.*hide="))
    page.clock.run_for(1000)
    expect_off(lines)
    assert tab.complaints == []


def test_times_are_in_the_zone_of_the_viewer_and_the_address_says_so(new_tab: Any, start_of_pages: str) -> None:
    tab = new_tab(zone="Asia/Tokyo")
    tab.page.goto(f"{tab.base}{start_of_pages}/catalog?tz=Asia/Tokyo")
    tab.page.goto(f"{tab.base}{start_of_pages}/joins?range=24h#main", wait_until="commit")
    page = tab.page
    page.wait_for_url(re.compile(r"/joins\?range=24h&tz=Asia%2FTokyo#main$"))
    expect(page.get_by_text("Times in Asia/Tokyo")).to_have_count(1)
    expect(page.locator("html")).not_to_have_css("visibility", "hidden")
    page.get_by_role("link", name="Outcomes", exact=True).click()
    page.wait_for_url(re.compile(r"/outcomes\?range=24h&tz=Asia%2FTokyo$"))
    page.go_back()
    page.go_back()
    page.wait_for_url(re.compile("/catalog"))  # adding the zone made no new history entry
    assert tab.complaints == []


def test_a_machine_whose_zone_has_no_name_reads_times_in_utc(new_tab: Any, start_of_pages: str) -> None:
    tab = new_tab()
    tab.page.add_init_script("""
        const read = Intl.DateTimeFormat.prototype.resolvedOptions;
        Intl.DateTimeFormat.prototype.resolvedOptions = function () {
            return { ...read.call(this), timeZone: "+02:00" };
        };
    """)
    page = tab.open(f"{start_of_pages}/joins")
    assert "tz=" not in page.url
    assert not page.get_by_text("There is no such time zone").count()


def test_an_address_that_names_a_zone_keeps_it_and_without_javascript_times_are_in_utc(
    new_tab: Any, start_of_pages: str
) -> None:
    page = new_tab(zone="Asia/Tokyo").open(f"{start_of_pages}/joins?tz=Europe/Berlin")
    expect(page.get_by_text("Times in Europe/Berlin")).to_have_count(1)
    page = new_tab(zone="Asia/Tokyo", javascript=False).open(f"{start_of_pages}/joins")
    expect(page.get_by_text("Times in UTC")).to_have_count(1)
