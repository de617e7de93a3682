"""Texts of people and machines, however long and in whatever script, leave a page as wide and as readable as it was."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import pytest
from django.utils import timezone

from catalog.ingest.fold import fold_reports
from catalog.models import Drift
from intents.models import Rejection
from tests.browser.test_every_page import fits_soon
from workspaces.create import NewWorkspace, create_workspace
from workspaces.models import Annotation, Environment
from workspaces.refusals.counter import Refusal, RefusalSum
from workspaces.refusals.record import record_refusals

ENVIRONMENT = "production-eu-central-1-blue-deployment-canary-stage-0001"
PATH = (
    "/gateways/{gatewayId}/organizations/{organizationId}/departments/{departmentId}/employees/{employeeId}/contracts"
)
KEY, TOOL_CALL, CONVERSATION = "k" * 128, "call-" + "t" * 200, "conv-" + "x" * 200
BOX_OF_TEXT = """(element, text) => {
    const node = [...element.childNodes].find((child) => child.textContent.includes(text));
    const range = document.createRange();
    range.setStart(node, node.textContent.indexOf(text));
    range.setEnd(node, node.textContent.indexOf(text) + text.length);
    return range.getBoundingClientRect().toJSON();
}"""
COUNT_LINES = """element => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return new Set([...range.getClientRects()].map((box) => box.top)).size;
}"""
RIGHT_TO_LEFT = "\u202eoverride"  # reverses the rest of its line unless it is isolated


@pytest.fixture
def start(transactional_db: None, connect: Callable[[NewWorkspace], Any]) -> str:
    """Fill an environment with very long texts. Return the start of its pages' addresses."""
    created = create_workspace("W" * 100, [ENVIRONMENT], actor="test", now=timezone.now(), with_full_key=True)
    api = connect(created)

    def post(path: str, **body: Any) -> None:
        response = api.post(f"/api/{path}", {"environment": ENVIRONMENT, **body})
        assert response.status_code < 300, response.content

    post("conversations", conversations=[{"conversationId": CONVERSATION}])
    outcomes = [{"conversationId": CONVERSATION, "outcomeKey": key} for key in (KEY, "two  spaces", RIGHT_TO_LEFT)]
    post("conversation-outcomes", outcomes=[*outcomes, {"conversationId": "lost-" + "y" * 200, "outcomeKey": KEY}])
    bodies = {"type": "object", "properties": {name: {"type": "string"} for name in ("", "p" * 120, "p one", "p  one")}}
    observation = {"method": "PATCH", "path": PATH, "status": 200, "count": 10**10, "response": bodies}
    post("witness-reports", reportId=str(uuid.uuid4()), observations=[observation])
    fold_reports(created.workspace.environments.get(name=ENVIRONMENT), now=timezone.now())
    broken_shape = {"type": "object", "properties": {"p" * 120: {"type": "integer"}}}
    post(
        "witness-reports",
        reportId=str(uuid.uuid4()),
        observations=[{**observation, "count": 9, "response": broken_shape}],
    )
    rejected = {"result": "args-mismatch", "version": 2, "operation": f"PATCH {PATH}", "toolCallId": TOOL_CALL}
    post("verification-reports", reportId=str(uuid.uuid4()), verifications=[rejected])
    post("annotations", text="Rollout " + "w" * 180, url="https://example.com/" + "u" * 400)
    post("annotations", text=RIGHT_TO_LEFT)
    post("annotations", text="D" * 200)
    targets = {"kind": "webhook", "encrypted_address": b"", "created_at": timezone.now()}
    created.workspace.alert_targets.create(name="t" * 60, **targets)
    created.workspace.environments.create(name="e" * 60, audience="urn:e")
    call = {"sub": "user-" + "s" * 200, "operation": f"PATCH {PATH}", "args": {}, "summary": "z" * 600}
    post("confirmations", **call)
    fold_reports(created.workspace.environments.get(name=ENVIRONMENT), now=timezone.now())
    return f"/w/{created.workspace.slug}/{ENVIRONMENT}"


def list_pages() -> Sequence[str]:
    rejection = Rejection.objects.get()
    return (
        *[
            "overview",
            "catalog",
            "outcomes",
            "joins",
            "rejections",
            "confirmations",
            "annotations",
            f"annotations?delete={Annotation.objects.latest('created_at').pk}",
            "alerts",
            "alerts?kind=drift.breaking",
            "keys",
            "retention",
        ],
        f"outcome?key={KEY}",
        f"operation?method=PATCH&path={quote(PATH)}",
        "operation?method=PATCH&path=/never/seen",
        *(f"change?id={pk}" for pk in Drift.objects.values_list("pk", flat=True)),
        f"conversation?id={CONVERSATION}",
        f"toolcall?id={TOOL_CALL}",
        f"rejection?at={quote(rejection.occurred_at.isoformat())}&id={rejection.pk}",
    )


def test_no_text_widens_a_page(new_tab: Any, start: str) -> None:
    Environment.objects.filter(name=ENVIRONMENT).update(label="L" * Environment.MAX_LABEL)
    tab = new_tab()
    for name in list_pages():
        page = tab.open(f"{start}/{name}")
        for width in (1280, 360, 320):
            page.set_viewport_size({"width": width, "height": 900})
            assert fits_soon(page), f"{name} at {width}"
    assert [text for text in tab.complaints if "404" not in text] == []  # Chromium reports the page that is not found


def test_every_tab_of_the_settings_and_every_button_of_the_keys_is_in_sight(
    new_tab: Any, start_of_pages: str, workspace: NewWorkspace
) -> None:
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    keys = workspace.workspace.api_keys.all()
    record_refusals({Refusal(key.pk, "POST /a", "invalid-json", hour): RefusalSum(12, now, now) for key in keys})
    page = new_tab().open(f"{start_of_pages}/keys")
    assert page.get_by_role("link", name="12 refused requests in the last 7 days").count() == len(keys)
    card = page.locator("main .card", has=page.locator("table")).first.bounding_box()
    boxes = [link.bounding_box() for link in page.get_by_role("link", name="Revoke").all()]
    assert boxes
    assert [box for box in boxes if box["x"] + box["width"] > card["x"] + card["width"]] == []
    for name in ("keys", "refused-requests", "audit"):
        page = new_tab().open(f"{start_of_pages}/{name}?tz=America/Argentina/Buenos_Aires")
        assert page.locator("nav.seg.wide[aria-label=Settings]").evaluate("nav => nav.scrollWidth <= nav.clientWidth")


def test_keys_that_look_alike_leave_all_columns_in_sight(new_tab: Any, start_of_pages: str, api: Any) -> None:
    keys = ("order-completed", "Order-Completed", "order completed", "ORDER_COMPLETED", "order_completed")
    outcomes = [{"conversationId": "conv_1", "outcomeKey": key} for key in keys]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200
    page = new_tab().open(f"{start_of_pages}/outcomes?keys=all")
    table = page.locator("table", has_text="looks like")
    assert table.locator("small.warn").count() == len(keys)
    card, cell = (part.bounding_box() for part in (table.locator("xpath=.."), table.locator("td").last))
    assert cell["x"] + cell["width"] <= card["x"] + card["width"]


def test_an_annotation_leaves_the_other_columns_in_sight(new_tab: Any, start: str) -> None:
    page = new_tab().open(f"{start}/annotations")
    for button in page.get_by_role("link", name="Delete").all():
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 1280


def test_on_a_phone_the_top_bar_still_shows_the_workspace(new_tab: Any, start: str) -> None:
    page = new_tab(width=390).open(f"{start}/outcomes")
    workspace, environment = (page.locator(".top > .menu > summary").nth(index).bounding_box() for index in (0, 1))
    assert workspace["x"] + workspace["width"] <= environment["x"]
    assert workspace["width"] >= 40


def test_on_a_phone_the_top_bar_does_not_cut_a_short_environment_name(new_tab: Any, start_of_pages: str) -> None:
    page = new_tab(width=390).open(f"{start_of_pages}/outcomes")
    name = page.locator(".top > .menu > summary > b")
    assert name.evaluate("name => { const range = document.createRange(); range.selectNodeContents(name);"
        " return range.getBoundingClientRect().width <= name.getBoundingClientRect().width }")  # fmt: skip


def test_a_right_to_left_text_does_not_reorder_the_text_beside_it(new_tab: Any, start: str) -> None:
    page = new_tab().open(f"{start}/overview")
    item = page.locator(".chart-events li", has_text="override")
    text, time = item.locator("bdi").bounding_box(), item.locator("time").bounding_box()
    assert text["x"] + text["width"] <= time["x"]


def test_keys_that_differ_in_a_space_look_different_and_an_empty_name_is_quoted(new_tab: Any, start: str) -> None:
    page = new_tab().open(f"{start}/outcomes")
    assert "two  spaces" in page.locator("th code", has_text="two").inner_text()
    page = new_tab().open(f"{start}/operation?method=PATCH&path={quote(PATH)}")
    names = [name.inner_text().strip() for name in page.locator(".tree .name a").all()]
    assert names[0] == '""'
    assert {"p one", "p  one"} <= set(names)


@pytest.mark.parametrize("width", [1280, 800, 390])
def test_a_figure_of_billions_stands_on_one_line(new_tab: Any, start_of_pages: str, api: Any, width: int) -> None:
    for _ in range(11):
        verifications = [{"result": result, "version": 2, "count": 10**9} for result in ("expired", "accepted")]
        report = {"reportId": str(uuid.uuid4()), "verifications": verifications}
        assert api.post("/api/verification-reports", report).status_code == 200
    page = new_tab(width=width).open(f"{start_of_pages}/rejections")
    figures = page.locator(".facts .v").filter(has_text=",000,")
    assert figures.count() == 2
    for figure in figures.all():
        assert figure.evaluate(COUNT_LINES) == 1, figure.inner_text()


@pytest.mark.parametrize("width", [1280, 360])
def test_a_count_of_billions_stays_in_its_column_of_the_shape(new_tab: Any, start: str, width: int) -> None:
    page = new_tab(width=width).open(f"{start}/operation?method=PATCH&path={quote(PATH)}")
    row = page.locator(".tree .row", has_text="of 10,000,000,009").last
    count, overrides = row.locator(".bar > span"), row.locator(".decide")
    assert count.evaluate("count => count.scrollWidth <= count.clientWidth")
    count_box, overrides_box = (box.bounding_box() for box in (count, overrides))
    assert count_box["x"] + count_box["width"] <= overrides_box["x"] or count_box["y"] >= overrides_box["y"] + 1


def test_a_right_to_left_key_in_a_sentence_leaves_its_number_behind_it(
    new_tab: Any, workspace: NewWorkspace, api: Any
) -> None:
    key = "שלום"
    api.post(
        "/api/conversation-outcomes", {"outcomes": [{"conversationId": f"c{n}", "outcomeKey": key} for n in range(12)]}
    )
    api.post("/api/conversations", {"conversations": [{"conversationId": f"c{n}"} for n in range(12)]})
    page = new_tab().open(f"/w/{workspace.workspace.slug}/production/outcomes?show={key}")
    sentence = page.locator(".soft", has_text="of them").first
    key_box, number_box = (sentence.evaluate(BOX_OF_TEXT, text) for text in (key, "12 of them"))
    assert key_box["right"] < number_box["left"]
