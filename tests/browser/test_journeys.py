"""What a person does with the pages, start to end."""

import re
import subprocess

from django.contrib.auth import get_user_model
from django.utils import timezone

from workspaces.people.sign_in_links import create_link


def test_a_one_time_link_signs_in_and_a_first_workspace_is_made(new_tab, chromium, live_server, transactional_db):
    operator = get_user_model().objects.create_superuser("operator")
    page = chromium.new_context().new_page()
    page.goto(f"{live_server.url}/sign-in/{create_link(operator, now=timezone.now())}")
    page.get_by_role("button", name=re.compile("sign in", re.I)).click()
    page.get_by_label(re.compile("^Name", re.I)).fill("Lumen Books")
    page.get_by_role("button", name=re.compile("create", re.I)).click()
    assert re.search(r"gak_[0-9A-Za-z]{32}", page.inner_text("main"))
    assert re.search(r"gas_[\w-]{43}", page.inner_text("main"))
    page.goto(f"{live_server.url}/")
    assert page.url.endswith("/w/lumen-books/production/overview")
    page.context.close()


def test_a_search_narrows_the_catalog_and_back_restores_the_page(new_tab, filled):
    page = new_tab().open(f"{filled}/catalog")
    page.keyboard.press("/")
    page.keyboard.type("search")
    page.wait_for_url(re.compile("q=search"))
    page.wait_for_function("document.querySelectorAll('main tbody tr').length === 1")
    page.reload()
    assert page.locator("main tbody tr").count() == 1
    page.locator("main tbody a").first.click()
    page.wait_for_url(re.compile("/operation"))
    page.go_back()
    page.wait_for_load_state("networkidle")
    assert "<html" in page.content()
    assert page.locator("nav").count() > 0
    assert page.locator("main tbody tr").count() == 1


def test_keys_lead_from_page_to_page(new_tab, filled):
    page = new_tab().open(f"{filled}/overview")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url(re.compile("/outcomes"))
    page.wait_for_load_state("networkidle")
    page.keyboard.press("?")
    assert page.get_by_role("dialog").is_visible()


def test_the_environment_switch_keeps_page_and_range(new_tab, filled):
    page = new_tab(javascript=False).open(f"{filled}/outcomes?range=30d")
    page.locator("summary", has_text="production").click()
    page.get_by_role("link", name="staging").click()
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
        call.get_by_role("button", name="Copy").click()
        prefix = next(prefix for prefix in keys if prefix in command)
        command = re.sub(rf"{prefix}[^']*", keys[prefix], command)
        subprocess.run(["bash", "-c", f"{command} --silent --fail-with-body"], check=True, timeout=30)
    page.clock.run_for(16_000)  # the pressed button still has the focus
    page.wait_for_selector("main .empty", state="detached")
    facts = re.sub(r"\s+", " ", tab.open(f"/w/{workspace.workspace.slug}/staging/overview").inner_text(".facts"))
    assert "Conversations 1" in facts
    assert "Outcomes 1" in facts
    assert "0 of 1" in facts
