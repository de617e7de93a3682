"""Journeys of a person through the pages, start to end, by keyboard alone."""

import csv
import re
import subprocess
import uuid
from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import urljoin

from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth import get_user_model
from django.utils import timezone
from playwright.sync_api import expect
from standardwebhooks.webhooks import Webhook

from affidavit import mint_intent
from alerts.evaluation.fire import evaluate_all
from tests.alerts.alerts import deliver_due
from tests.browser.support.keyboard import choose, press, type_into
from tests.catalog.reports import deliver, observation
from workspaces.people.sign_in.links import create_link

EXPORTS = ("operations as CSV", "all tables of this page as JSON")


def test_a_one_time_link_signs_in_and_a_first_workspace_is_made(new_tab, chromium, live_server, transactional_db):
    operator = get_user_model().objects.create_superuser("operator")
    page = chromium.new_context().new_page()
    page.goto(f"{live_server.url}/sign-in/{create_link(operator, now=timezone.now())}")
    press(page.get_by_role("button", name=re.compile("sign in", re.I)))
    type_into(page.get_by_label(re.compile("^Name", re.I)), "Lumen Books")
    press(page.get_by_role("button", name=re.compile("create", re.I)))
    assert re.search(r"gak_[0-9A-Za-z]{32}", page.inner_text("main"))
    assert re.search(r"gas_[\w-]{43}", page.inner_text("main"))
    page.goto(f"{live_server.url}/")
    assert page.url.endswith("/w/lumen-books/production/overview")
    page.context.close()


def test_a_search_narrows_the_catalog_and_back_restores_the_page(new_tab, start_of_pages):
    page = new_tab().open(f"{start_of_pages}/catalog")
    page.keyboard.press("/")
    page.keyboard.type("search")
    page.wait_for_url(re.compile("q=search"))
    expect(page.locator("main tbody tr")).to_have_count(1)
    page.reload()
    assert page.locator("main tbody tr").count() == 1
    press(page.locator("main tbody a").first)
    page.wait_for_url(re.compile("/operation"))
    page.go_back()
    page.wait_for_load_state("networkidle")
    assert "<html" in page.content()
    assert page.locator("nav").count() > 0
    assert page.locator("main tbody tr").count() == 1


def test_keyboard_shortcuts_lead_from_page_to_page(new_tab, start_of_pages):
    page = new_tab().open(f"{start_of_pages}/overview")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url(re.compile("/outcomes"))
    page.wait_for_load_state("networkidle")
    page.locator("h1").click(click_count=2)
    page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate("getSelection().toString()") == "Outcome"  # it changes the selection, not the period
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()
    assert "from=" not in page.url


def test_the_environment_switch_keeps_page_and_range(new_tab, start_of_pages):
    page = new_tab(javascript=False).open(f"{start_of_pages}/outcomes?range=30d")
    press(page.locator("summary", has_text="production"))
    press(page.get_by_role("link", name="staging"))
    assert re.search(r"/staging/outcomes\?.*range=30d", page.url)


def test_the_spec_s_own_request_shows_on_the_page_at_once(new_tab, transactional_db, workspace, api):
    registered = api.post("/api/conversations", {"conversations": [{"conversationId": "conv_1"}]})
    assert registered.json() == {"registered": 1, "alreadyKnown": 0, "healedOutcomes": 0}
    body = {"environment": "production", "outcomes": [
        {"conversationId": "conv_1", "outcomeKey": "purchase"}, {"conversationId": "conv_2", "outcomeKey": "purchase"},
    ]}  # fmt: skip
    assert api.post("/api/conversation-outcomes", body).json() == {
        "recorded": 1,
        "unknownConversations": ["conv_2"],
    }
    start = f"/w/{workspace.workspace.slug}/production"
    tab = new_tab()
    assert "purchase" in tab.open(f"{start}/outcomes").inner_text("main")
    assert "conv_2" in tab.open(f"{start}/joins").inner_text("main")


def test_the_empty_page_s_own_calls_bring_the_first_outcome_and_no_broken_join(new_tab, transactional_db, workspace):
    tab = new_tab()
    tab.page.clock.install()
    page = tab.open(f"/w/{workspace.workspace.slug}/staging/outcomes")
    keys = {key[:12]: key for key in (workspace.platform_key, workspace.report_key)}
    for call in page.locator(".empty .code", has_text="curl").all():
        command = call.locator("code").inner_text()
        press(call.get_by_role("button", name="Copy"))
        prefix = next(prefix for prefix in keys if prefix in command)
        command = re.sub(rf"{prefix}[^']*", keys[prefix], command)
        subprocess.run(["bash", "-c", f"{command} --silent --fail-with-body"], check=True, timeout=30)
    page.clock.run_for(16_000)  # the live refresh must come although the pressed button has the focus
    page.wait_for_selector("main .empty", state="detached")
    facts = re.sub(r"\s+", " ", tab.open(f"/w/{workspace.workspace.slug}/staging/overview").inner_text(".facts"))
    assert "Conversations 1" in facts
    assert "Outcomes 1" in facts
    assert "0 of 1" in facts


def test_an_environment_mix_up_is_found_from_the_overview_and_moved_in_two_clicks(new_tab, start_of_pages, api):
    ids = [f"mixed_up_{number}" for number in range(30)]
    body = {"environment": "staging", "conversations": [{"conversationId": id_} for id_ in ids]}
    assert api.post("/api/conversations", body).status_code == 200
    mixed_up = [{"conversationId": id_, "outcomeKey": "purchase"} for id_ in ids]
    assert len(api.post("/api/conversation-outcomes", {"outcomes": mixed_up}).json()["unknownConversations"]) == 30
    page = new_tab().open(f"{start_of_pages}/overview")
    assert "42 of 45 are of conversations of staging, reported to production" in read_words(page, "main")
    press(page.get_by_role("link", name="See them and move them"))
    press(page.get_by_role("button", name="Move 42 to staging"))
    page.get_by_role("status").filter(has_text="Moved").wait_for()
    page.goto(page.url.replace("/production/joins", "/staging/outcomes").partition("?")[0])
    assert re.search(r"purchase\s+42\b", page.inner_text("main"))  # 12 from the fixture and 30 from this test


def test_the_inspector_shows_the_true_reason_of_a_rejection(new_tab, start_of_pages, workspace, api):
    """The intent has expired by now. The inspector checks it as of its rejection, when only the audience was wrong."""
    received_at = timezone.now() - timedelta(minutes=30)
    header = mint_intent(
        workspace.signing_secret, tenant_id=workspace.workspace.id, sub="user_17", aud="urn:affidavit:elsewhere",
        operation="POST /refunds", args={"amount": 1250}, now=received_at.timestamp(), lifetime=300,
    ).header  # fmt: skip
    rejection = {
        "result": "audience-mismatch", "version": 2, "operation": "POST /refunds", "toolCallId": "call_elsewhere",
        "occurredAt": int(received_at.timestamp()),
    }  # fmt: skip
    report = {"reportId": str(uuid.uuid4()), "verifications": [rejection]}
    assert api.post("/api/verification-reports", report).status_code == 200
    page = new_tab().open(f"{start_of_pages}/rejections?reason=audience-mismatch&range=24h")
    press(page.locator("#singles tbody tr").first.get_by_role("link").first)
    press(page.get_by_role("link", name="Open in inspector"))
    type_into(page.get_by_label("X-Service-Intent"), header)
    type_into(page.get_by_label("Content type"), "application/json")
    type_into(page.get_by_label("Body"), '{"amount": 1250}')
    press(page.get_by_role("button", name="Check"))
    page.locator("#verdict").wait_for()
    assert page.locator("#verdict").inner_text() == "audience-mismatch"
    assert "urn:affidavit:elsewhere" in page.inner_text("#checks")
    assert "expired" not in page.inner_text("#checks")
    page.reload()
    assert page.locator("#verdict").inner_text() == "audience-mismatch"
    press(page.get_by_role("link", name="Rejections with this reason"))
    page.get_by_role("heading", name="Rejections", exact=True).wait_for()
    page.go_back()
    assert page.locator("#verdict").inner_text() == "audience-mismatch"
    assert page.get_by_label("X-Service-Intent").input_value() == header


def test_a_confirmation_can_be_undone_within_ten_seconds(new_tab, start_of_pages, api):
    call = {"sub": "user_17", "operation": "POST /refunds", "args": {"amount": 1250}, "summary": "Refund 12.50"}
    assert api.post("/api/confirmations", call).status_code == 201
    page = new_tab().open(f"{start_of_pages}/confirmations")
    press(page.get_by_role("link", name="Confirm: Refund 12.50"))
    press(page.get_by_role("button", name="Confirm now: Refund 12.50"))
    press(page.get_by_role("button", name="Undo: Refund 12.50"))
    page.get_by_role("link", name="Decline: Refund 12.50").wait_for()
    assert "Confirmed by" not in page.inner_text("main")


def test_exports_have_the_rows_that_the_page_shows(new_tab, start_of_pages):
    """On a page with a filter, the table, its CSV and its JSON have the same rows in the same order."""
    page = new_tab().open(f"{start_of_pages}/catalog?q=orders")
    visible_rows = [tuple(re.split(r"\s+", row.inner_text())[:2]) for row in page.locator("main tbody tr").all()]
    as_csv, as_json = (page.get_by_label(label).get_attribute("href") for label in EXPORTS)
    csv_rows = [*csv.DictReader(page.request.get(urljoin(page.url, as_csv)).text().splitlines())]
    json_rows = page.request.get(urljoin(page.url, as_json)).json()["tables"]["operations"]
    assert len(visible_rows) == 2
    assert [(row["method"], row["path"]) for row in csv_rows] == visible_rows
    assert [(row["method"], row["path"]) for row in json_rows] == visible_rows


def test_an_annotation_that_a_deploy_posts_is_seen_by_a_stranger_on_a_shared_link(
    new_tab, start_of_pages, api, chromium
):
    annotation = {"environment": "production", "text": "Deploy 4.2", "at": timezone.now().timestamp() - 3600}
    assert api.post("/api/annotations", annotation).status_code == 201
    page = new_tab().open(f"{start_of_pages}/outcomes?range=7d")
    press(page.locator("summary", has_text="Share"))
    press(page.get_by_role("button", name="Make the link"))
    link = page.locator("#new-link").inner_text()
    private_page = chromium.new_context().new_page()
    private_page.goto(link)
    assert "Deploy 4.2" in private_page.inner_text("main")
    private_page.locator("main .plotly svg").first.wait_for(state="attached")
    private_page.goto(page.url)
    assert "/sign-in" in private_page.url
    private_page.context.close()


def read_words(page, selector: str) -> str:
    return re.sub(r"\s+", " ", page.inner_text(selector))


@contextmanager
def delayed_answers(page, milliseconds: int):
    """Delay each answer that the page gets inside of the block."""
    session = page.context.new_cdp_session(page)
    unlimited = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", unlimited | {"latency": milliseconds})
    yield
    session.send("Network.emulateNetworkConditions", unlimited | {"latency": 0})
    session.detach()


def test_the_search_over_everything_is_opened_and_used_by_keyboard(new_tab, start_of_pages):
    tab = new_tab()
    page = tab.open(f"{start_of_pages}/outcomes")
    page.keyboard.press("Control+k")
    page.locator("#quick-results").get_by_role("region", name="Operations").wait_for()
    page.keyboard.press("Enter")  # nothing is typed, and Enter opens none of the examples
    assert page.url.endswith("/outcomes")
    # A screen reader reads a status whose text changes, not one that comes with its text.
    status = page.get_by_role("dialog").get_by_role("status").element_handle(timeout=5_000)
    with delayed_answers(page, 400), page.expect_response(lambda response: "/search?q=email" in response.url):
        page.keyboard.type("email", delay=200)  # each letter ends the request of the letter before
    expect(page.locator("#quick-results mark").first).to_have_text("email")
    page.get_by_role("region", name="Properties").wait_for()
    assert re.fullmatch(r"\d+ results?", status.inner_text())
    assert page.evaluate("document.activeElement.name") == "q"
    assert page.url.endswith("/outcomes")
    assert Axe().run(page).response["violations"] == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent.includes('/email')")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.name") == "q"
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert "/property?" in page.url
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    assert not page.locator("#search").is_visible()
    assert tab.complaints == []


def test_a_property_found_by_search_shows_when_it_appeared_and_what_replaced_it(
    new_tab, start_of_pages, workspace, api
):
    before, after = ({"id": 1, name: "x"} for name in ("footnote", "remark"))
    deliver(api, workspace, *[observation(path="/books", response=before)] * 30)
    deliver(api, workspace, *[observation(path="/books", response=after)] * 30)
    page = new_tab().open(f"{start_of_pages}/overview")
    page.keyboard.press("Control+k")
    page.keyboard.type("footn")
    page.locator("#quick-results").get_by_text("/footnote").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/property"))
    facts = page.get_by_label("Facts").inner_text()
    assert "no longer seen" in facts
    press(page.get_by_label("Facts").get_by_role("link", name="/remark"))
    page.wait_for_url(re.compile("remark"))
    assert "perhaps instead of" in page.get_by_label("Facts").inner_text()
    press(page.locator("#history .line a").first)
    page.wait_for_url(re.compile("/change"))
    press(page.get_by_role("button", name="Acknowledge", exact=True))
    page.get_by_text("Acknowledged by operator").wait_for()
    press(page.get_by_role("button", name="Undo acknowledgement"))
    page.get_by_text("Not acknowledged yet").wait_for()


def test_without_javascript_the_search_is_a_page(new_tab, start_of_pages):
    tab = new_tab(javascript=False)
    page = tab.open(f"{start_of_pages}/outcomes")
    press(page.get_by_role("link", name="Search"))
    type_into(page.locator("main").get_by_label("Search everything").last, "email")
    press(page.locator("main").get_by_role("button", name="Search"))
    press(page.locator("#search-results").get_by_role("link").first)
    assert "/property?" in page.url


def test_an_alert_is_set_up_fired_by_traffic_and_its_webhook_verified(
    new_tab, start_of_pages, workspace, api, receiver
):
    deliver(api, workspace, *[observation(path="/books", response={"id": 1, "note": "x"})] * 30)
    page = new_tab().open(f"{start_of_pages}/alerts")
    choose(page.get_by_role("radio", name="Webhook a program"))
    type_into(page.locator("#target-name"), "ops")
    type_into(page.locator("#target-address"), receiver.url)
    press(page.get_by_role("button", name="Add target"))
    secret = page.locator("#new-secret").inner_text()
    assert "Would not have fired" in page.locator("#preview").inner_text()
    choose(page.get_by_label("Jump of rejected calls"))
    page.locator("#preview", has_text="Rejected calls: 20 or more").wait_for()
    type_into(page.get_by_label("Least cases"), "5")
    page.locator("#preview", has_text="Rejected calls: 5 or more").wait_for()
    # A screen reader reads the verdict alone: the status stays in the page, and only its text changes.
    assert any("Would not have fired" in text for text in page.get_by_role("status").all_inner_texts())
    choose(page.get_by_label("Breaking drift"))
    page.locator("#preview", has_text="Breaking drift, in production").wait_for()
    assert not page.get_by_label("Least cases").is_visible()
    assert "minimum=5" in page.url
    assert "csrf" not in page.url
    press(page.get_by_role("button", name="Save alert"))
    page.get_by_role("button", name="Pause Breaking drift").wait_for()
    deliver(api, workspace, *[observation(path="/books", response={"id": "1", "note": "x"})] * 30)
    now = timezone.now() + timedelta(seconds=1)
    assert (evaluate_all(now=now), deliver_due(now=now)) == (1, 1)
    headers, body = receiver.requests[0]
    assert Webhook(secret).verify(body, headers)["data"]["operation"] == "GET /books"
    page.reload()
    assert "delivered" in page.locator("main table").first.inner_text()
    press(page.get_by_role("link", name="Deliveries"))
    assert "Breaking drift in production: GET /books" in page.locator("main").inner_text()
