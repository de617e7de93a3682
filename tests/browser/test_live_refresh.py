"""The live refresh of an open page: what it keeps, and what the page says if it cannot be refreshed."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from playwright.sync_api import expect

from tests.browser.support.live_refresh import NEXT_REFRESH, refresh, settle
from tests.catalog.reports import deliver, observation
from workspaces.create import NewWorkspace

OPERATION = "/operation?method=GET&path=/orders/{orderId}"


def test_a_page_stays_live_while_a_filter_has_the_focus(
    new_tab: Any, start_of_pages: str, workspace: NewWorkspace, api: Any
) -> None:
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(f"{start_of_pages}/catalog?range=all")
    page.get_by_label("Method").focus()
    page.get_by_label("Method").select_option("GET")
    page.wait_for_url(re.compile("method=GET"))
    settle(page)
    deliver(api, workspace, observation(path="/reported/later"))
    refresh(page)
    expect(page.locator("#operations")).to_contain_text("/reported/later")
    expect(page.get_by_label("Method")).to_be_focused()


def test_the_live_refresh_keeps_what_was_typed_into_a_form_and_not_sent_yet(
    new_tab: Any, start_of_pages: str, browser_client: Any
) -> None:
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(f"{start_of_pages}{OPERATION}&open=template")
    page.locator("#template-target").fill("/orders/{id}")
    page.locator("h1").click()
    hint = {"method": "GET", "path": "/orders/{orderId}", "hint": "destructiveHint", "value": "true"}
    browser_client.post(f"{start_of_pages}/operation/hints", hint)  # in the same block of the page, by somebody else
    refresh(page)
    expect(page.locator("#template-target")).to_have_value("/orders/{id}")


def test_the_live_refresh_keeps_the_steps_of_a_funnel_that_is_not_shown_yet(
    new_tab: Any, start_of_pages: str, api: Any
) -> None:
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(f"{start_of_pages}/outcomes?range=all")
    page.locator("#funnel input[name=step]").first.fill("purchase")
    page.locator("h1").click()
    outcome = {"conversationId": "conv_1", "outcomeKey": "one-more-key"}  # which the funnel offers, too
    assert api.post("/api/conversation-outcomes", {"outcomes": [outcome]}).json()["recorded"] == 1
    refresh(page)
    expect(page.locator("#keys")).to_contain_text("one-more-key")
    expect(page.locator("#funnel input[name=step]").first).to_have_value("purchase")


def test_the_live_refresh_does_not_replace_a_form_with_errors(new_tab: Any, start_of_pages: str) -> None:
    tab = new_tab(zone="Asia/Tokyo")
    page = tab.open(f"{start_of_pages}/environments?tz=Asia/Tokyo")
    page.locator("#new-name").fill("production")
    page.locator("#new-name").press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator("#new-name")).to_have_value("production")


def test_what_was_typed_into_a_form_stays_after_a_search_in_the_box(new_tab: Any, start_of_pages: str) -> None:
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(f"{start_of_pages}/annotations")
    page.locator("#new-text").fill("Deploy 4.2")
    page.keyboard.press("Control+k")
    page.locator("#search [data-find]").fill("orders")
    page.clock.run_for(5_000)
    expect(page.locator("#search [data-result]").first).to_be_visible()
    for _ in range(2):  # the first one empties the field
        page.keyboard.press("Escape")
        page.clock.run_for(500)
    expect(page.locator("#search")).to_be_hidden()
    page.locator("h1").click()
    age = page.locator("[data-updated]")
    expect(age).to_have_text(re.compile("^page refreshed ([5-9]|1[0-4]) s ago$"))  # the search did not refresh the page
    with page.expect_response(re.compile("/annotations")):
        page.clock.run_for(16_000)
    expect(age).to_have_text(re.compile("^page refreshed [0-4] s ago$"))
    expect(page.locator("#new-text")).to_have_value("Deploy 4.2")


def test_after_an_upgrade_an_open_page_is_loaded_again_once_it_is_unused(new_tab: Any, start_of_pages: str) -> None:
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(f"{start_of_pages}/annotations?range=30d")
    page.locator("input[name=text]").fill("Deploy 4.2")

    def upgrade(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("/static/site.css", "/static/site.css?next"))

    page.route(re.compile(r"/annotations\?"), upgrade)
    page.locator("h1").click()
    refresh(page)
    expect(page.locator("input[name=text]")).to_have_value("Deploy 4.2")
    page.locator("input[name=text]").fill("")
    page.locator("h1").click()
    with page.expect_event("load"):
        page.clock.run_for(NEXT_REFRESH)
    assert page.locator("head > link[rel=stylesheet]").get_attribute("href") == "/static/site.css?next"
    page.unroute_all()


def test_after_a_failed_filter_the_page_says_how_old_it_is(new_tab, start_of_pages):
    page = new_tab().open(f"{start_of_pages}/catalog")
    page.route(re.compile(r"/catalog\?"), lambda route: route.fulfill(status=500, body=""))
    page.locator("#catalog-search").fill("search")
    page.get_by_text(re.compile(r"^page not refreshed since \d\d:\d\d$")).wait_for()
    page.unroute(re.compile(r"/catalog\?"))
    page.locator("#catalog-search").fill("searc")
    expect(page.locator("[data-live-status]")).to_have_text("")


def test_the_age_of_a_page_is_a_time_in_its_zone(new_tab, start_of_pages):
    page = new_tab().open(f"{start_of_pages}/catalog?tz=Asia/Kathmandu")
    page.route(re.compile(r"/catalog\?"), lambda route: route.fulfill(status=503, body=""))
    page.locator("#catalog-search").fill("search")
    expect(page.locator("[data-live-status]")).to_have_text(re.compile("^page not refreshed since"))
    minutes = {
        f"{timezone.now().astimezone(ZoneInfo('Asia/Kathmandu')) - timedelta(minutes=age):%H:%M}" for age in (0, 1)
    }
    assert page.locator("[data-live-status]").inner_text().rpartition(" ")[2] in minutes


def test_an_open_page_says_that_one_is_signed_out_and_leads_to_the_same_page(new_tab, start_of_pages):
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(f"{start_of_pages}/overview?range=30d")
    page.context.clear_cookies()
    page.clock.run_for(16_000)
    expect(page.locator("[data-live-status]")).to_have_text(re.compile("^signed out, page not refreshed since"))
    page.set_viewport_size({"width": 320, "height": 900})
    assert page.locator(".stamp").evaluate("stamp => stamp.getBoundingClientRect().right <= 320")
    page.get_by_role("link", name="Sign in again").click()
    page.wait_for_url(re.compile("/sign-in[?]next=.*overview.*range"))


def test_a_filter_leads_to_sign_in_after_the_session_has_ended(new_tab, start_of_pages):
    page = new_tab().open(f"{start_of_pages}/catalog")
    page.context.clear_cookies()
    page.locator("#catalog-search").fill("search")
    page.wait_for_url(re.compile("/sign-in"))
    assert page.get_by_role("heading", name="Sign in").is_visible()
