"""A shape of 1,990 nodes: a branch is loaded when it is opened, and a field gets its manual override in its row."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone

from affidavit import describe, infer
from catalog.ingest.fold import fold_reports

LETTERS = "abcdefghijklmnopqrstuv"
BODY = {f"group{a}": {f"part{b}": dict.fromkeys(LETTERS[:9], 1) for b in LETTERS} for a in LETTERS[:9]}
PATH = "/security_monitoring/configuration/suppressions/{suppressionId}/validation"


@pytest.fixture
def large_operation(start_of_pages: str, workspace: Any, api: Any) -> str:
    """Return the address of an operation whose response has 1,990 nodes and whose request has two."""
    seen = {"method": "PUT", "path": PATH, "status": 200, "count": 1, "response": describe(infer(BODY))}
    report = {"reportId": str(uuid.uuid4()), "observations": [{**seen, "request": describe(infer({"sku": "x"}))}]}
    assert api.post("/api/witness-reports", report).status_code == 202
    fold_reports(workspace.workspace.environments.get(name="production"), now=timezone.now())
    return f"{start_of_pages}/operation?method=PUT&path={PATH}"


def test_a_level_is_loaded_once_when_it_is_opened(new_tab, large_operation):
    tab = new_tab()
    requested: list[str] = []
    page = tab.open(large_operation)
    page.on("request", lambda request: requested.append(request.url))
    assert page.locator(".tree .row").count() < 40
    assert "partc" not in page.inner_text(".tree")
    group = page.locator("summary", has_text="groupb")
    group.click()
    page.locator("summary", has_text="partc").wait_for()
    assert page.locator(".tree summary", has_text="part").count() == len(LETTERS)
    group.click()
    group.click()
    page.wait_for_load_state("networkidle")
    levels = [member for url in requested for member in re.findall(r"[?&]at=([^&]*)", url)]  # live refreshes lack `at`
    assert levels == ["%2Fgroupb"]
    assert tab.complaints == []


def test_without_javascript_a_branch_opens_in_its_place(new_tab, large_operation):
    page = new_tab(javascript=False).open(large_operation)
    page.locator("summary", has_text="groupb").click()
    page.get_by_role("link", name="Show the 220 fields inside").locator("visible=true").click()
    assert "at=%2Fgroupb" in page.url
    page.wait_for_load_state()
    tree = page.inner_text(".tree")
    assert tree.index("groupa") < tree.index("groupb") < tree.index("partc") < tree.index("groupc")
    assert tree.count("partc") == 1  # the other branches stay closed
    assert page.locator(".tree .row").count() < 300  # all nodes would be 1,990 rows


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_one_node_is_clean_with_everything_opened(new_tab, large_operation, width):
    tab = new_tab(width=width)
    page = tab.open(f"{large_operation}&at=/groupb/partc")
    for summary in page.locator("details.codes summary").all():
        summary.click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        violations = Axe().run(page).response["violations"]
        assert [(violation["id"], violation["nodes"][0]["html"][:120]) for violation in violations] == [], scheme
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert tab.complaints == []


def test_a_node_is_chosen_by_its_row_and_shown_as_a_map_and_back(new_tab, large_operation):
    page = new_tab().open(f"{large_operation}&at=/groupb")
    page.get_by_role("link", name="Manual overrides of /groupb/partc", exact=True).click()
    page.wait_for_url(re.compile("at=%2Fgroupb%2Fpartc"))
    page.get_by_role("button", name="Show as a map").click()
    page.wait_for_load_state("networkidle")
    assert "map of integer" in page.inner_text(".tree")
    page.get_by_role("button", name="Undo how 200 /groupb/partc is shown").click()
    page.wait_for_load_state("networkidle")
    assert "map of integer" not in page.inner_text("#shape")


def test_the_copied_call_is_the_shown_call(new_tab, large_operation):
    tab = new_tab()
    tab.page.context.grant_permissions(["clipboard-write"])
    page = tab.open(large_operation)
    copied = {}
    # Pages may write to the clipboard but not read it, so the test pastes the text as a person does.
    page.evaluate("document.body.append(Object.assign(document.createElement('textarea'), {id: 'pasted'}))")
    for kind in ("curl line", "tool definition"):
        page.locator("details.codes", has=page.get_by_label(f"Copy the {kind}")).locator("summary").click()
        page.get_by_role("button", name=f"Copy the {kind}").click()
        page.locator(f'button[aria-label="Copy the {kind}"]', has_text="Copied").wait_for()
        assert "Copied" in page.get_by_role("status").all_inner_texts()  # for screen readers: the name stays the same
        page.locator("#pasted").fill("")
        page.locator("#pasted").press("Control+v")
        copied[kind] = page.locator("#pasted").input_value()
    assert copied["curl line"].startswith(f"curl --globoff -X PUT 'https://api.example.com{PATH}'")
    assert copied["curl line"].endswith('--data \'{"sku": "<string>"}\'')
    assert json.loads(copied["tool definition"])["operation"] == f"PUT {PATH}"


def test_a_long_path_wraps_only_between_words(new_tab, large_operation, start_of_pages):
    page = new_tab(width=390).open(f"{start_of_pages}/catalog?q=security")
    words = page.evaluate(
        """[...document.querySelector('th code.path').childNodes].filter((node) => node.nodeType === 3).map((node) => {
             const range = document.createRange(); range.selectNodeContents(node);
             return range.getClientRects().length; })"""
    )
    assert words == [1] * 5
    assert page.locator("th code.path").inner_text() == PATH
