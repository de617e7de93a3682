"""Charts in a real browser: the keyboard reaches the legend, labels fit, and no mark is covered."""

import re
import uuid
from datetime import timedelta
from itertools import pairwise

from django.utils import timezone
from playwright.sync_api import expect

BOXES = "all => all.map(one => one.getBoundingClientRect().toJSON())"
WAIT_FOR_WIDTH = """async () => {
  const isDrawn = (box) => Math.abs(box.clientWidth - box.querySelector(".main-svg").clientWidth) < 2;
  while (![...document.querySelectorAll(".plot")].every(isDrawn)) await new Promise(requestAnimationFrame);
}"""


def labels(page) -> list[dict[str, float]]:
    boxes = page.locator(".plot .xtick text").evaluate_all(BOXES)
    return sorted(boxes, key=lambda box: box["left"])


def test_the_labels_of_the_days_never_overlap(new_tab, start_of_pages):
    overview, preview = "overview?range=30d", "alerts?kind=rejections.spike"
    for width, address in ((1280, overview), (390, overview), (1280, preview), (390, preview), (320, preview)):
        page = new_tab(width=width).open(f"{start_of_pages}/{address}")
        page.wait_for_selector(".plot .xtick text", timeout=10_000)
        for _ in range(20):  # a chart is drawn in several steps
            boxes = labels(page)
            is_legible = len(boxes) > 1 and all(left["right"] < right["left"] for left, right in pairwise(boxes))
            if is_legible:
                break
            page.wait_for_timeout(100)
        assert is_legible, (width, address)


def test_the_title_of_an_axis_stands_beside_long_counts(new_tab, workspace, api):
    expired = {"result": "expired", "version": 2, "count": 1_000_000}
    api.post("/api/verification-reports", {"reportId": str(uuid.uuid4()), "verifications": [expired]})
    for width in (1280, 390):
        page = new_tab(width=width).open(f"/w/{workspace.workspace.slug}/production/rejections")
        page.wait_for_selector(".plot .ytick text", timeout=10_000)
        for _ in range(20):  # a chart is drawn in several steps
            (title,) = page.locator(".plot .ytitle").evaluate_all(BOXES)
            counts = page.locator(".plot .ytick text").evaluate_all(BOXES)
            is_legible = all(title["right"] < count["left"] for count in counts)
            if is_legible:
                break
            page.wait_for_timeout(100)
        assert is_legible, width


def test_a_line_is_switched_off_and_on_in_the_legend_by_keyboard(new_tab, start_of_pages):
    tab = new_tab()
    page = tab.open(f"{start_of_pages}/overview")
    button = page.get_by_role("button", name="renewal")
    button.focus()
    lines = page.locator(".plot .scatterlayer .trace .js-line")
    expect(lines).to_have_count(4)
    page.keyboard.press("Enter")
    expect(lines).to_have_count(3)
    assert button.get_attribute("aria-pressed") == "false"
    page.keyboard.press("Enter")
    expect(lines).to_have_count(4)
    assert tab.complaints == []


def test_the_label_of_a_mark_covers_no_other_mark(new_tab, start_of_pages, api):
    now = timezone.now()
    for days, text in ((0, "Release 5.0"), (0.001, "Hotfix of 5.0"), (4, "Release 4.2.1"), (20, "Release 4.2")):
        annotation = {"text": text, "at": int((now - timedelta(days=days)).timestamp())}
        assert api.post("/api/annotations", annotation).status_code == 201
    for width in (1280, 390):
        page = new_tab(width=width).open(f"{start_of_pages}/outcomes?range=30d")
        names = page.locator(".plot .textpoint text").filter(has_text=re.compile("[a-z]"))  # others show a count
        names.first.wait_for(timeout=10_000)
        marks = page.locator(".plot .scatterlayer .points path.point").evaluate_all(BOXES)
        for box in names.evaluate_all(BOXES):
            left, right = box["left"] - 5, box["right"] + 5  # a label beside its mark is at most 5 px away
            beneath = [mark for mark in marks if mark["width"] > 8]  # smaller marks are points of a line
            covered = {round(mark["left"]) for mark in beneath if left <= mark["right"] and mark["left"] <= right}
            assert len(covered) == 1, (width, names.all_text_contents())


def test_a_name_of_wide_letters_is_whole_and_covers_no_other_mark(new_tab, start_of_pages, api):
    now = timezone.now()
    for days, text in ((27, "W" * 20), (14, "リリース" * 5), (13, "M" * 12), (1, "W" * 12), (0, "🚀" * 20)):
        annotation = {"text": text, "at": int((now - timedelta(days=days)).timestamp())}
        assert api.post("/api/annotations", annotation).status_code == 201
    for width in (1280, 390):
        page = new_tab(width=width).open(f"{start_of_pages}/outcomes?range=30d")
        names = page.locator(".plot .textpoint text")
        names.first.wait_for(timeout=10_000)
        chart = page.locator(".plot .main-svg").first.bounding_box()
        marks = page.locator(".plot .scatterlayer .points path.point").evaluate_all(BOXES)
        beneath = [mark for mark in marks if mark["width"] > 8]  # smaller marks are points of a line
        for text, box in zip(names.all_text_contents(), names.evaluate_all(BOXES), strict=True):
            if re.search(r"\D", text):  # others show a count
                assert chart["x"] <= box["left"] <= box["right"] <= chart["x"] + chart["width"], (width, text, box)
                left, right = box["left"] - 5, box["right"] + 5
                covered = {round(mark["left"]) for mark in beneath if left <= mark["right"] and mark["left"] <= right}
                assert len(covered) == 1, (width, text, names.all_text_contents())
            assert "\ufffd" not in text
            text.encode()  # no half of a character


def test_each_mark_with_room_has_a_name_at_every_width(new_tab, start_of_pages, api):
    now = timezone.now()
    first = {"conversationId": "conv_first", "startedAt": int((now - timedelta(days=29)).timestamp())}
    assert api.post("/api/conversations", {"conversations": [first]}).status_code == 200
    for days, text in (*[(0, "Release 5.0")] * 6, (4, "Release 4.2.1"), (8, "Release 4.2")):
        annotation = {"text": text, "at": int((now - timedelta(days=days)).timestamp())}
        assert api.post("/api/annotations", annotation).status_code == 201
    page = new_tab(width=1280).open(f"{start_of_pages}/overview?range=30d")
    page.locator(".plot .textpoint text").first.wait_for(timeout=10_000)
    for width in range(1100, 1500, 10):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(WAIT_FOR_WIDTH)
        texts = page.locator(".plot .textpoint text").all_text_contents()
        assert len([text for text in texts if re.search("[a-z]", text)]) > 2, (width, texts)
        assert re.match(r"[A-Z][a-z.].*(\+|and )\d", texts[-1]), (width, texts)


def test_an_outcome_key_that_looks_like_a_colour_keeps_its_name_in_the_chart(new_tab, start_of_pages, api):
    outcomes = [{"conversationId": f"conv_{n}", "outcomeKey": "var(--bad)"} for n in range(5)]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200
    page = new_tab().open(f"{start_of_pages}/outcomes?range=24h")
    page.locator(".plot svg.main-svg").first.wait_for()
    names = page.evaluate("document.querySelector('.plot').data.map((trace) => trace.name)")
    assert "var(--bad)" in names
