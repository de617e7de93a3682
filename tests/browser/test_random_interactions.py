"""A page always shows what its address says, whatever the interactions were and in whatever order answers came.

Interactions are drawn at random from a seed. INTERACTIONS=500 draws more than the usual 50.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

INTERACTIONS = int(os.environ.get("INTERACTIONS", "50"))
SEED = 12
PAGES = ("catalog", "drift", "outcomes", "rejections", "overview", "operation?method=GET&path=/orders/{orderId}")
FILTERS = "main form.filters[method=get]"
# Delay answers by up to 0.3 s, so that a later request may be answered first.
LATE_ANSWERS = """
  const answer = window.fetch;
  let state = 12;
  const draw = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  window.fetch = async (...request) => {
    const response = await answer(...request);
    await new Promise((resolve) => setTimeout(resolve, draw() * 300));
    return response;
  };
"""
# Read the text of the page, and the text of a fresh answer to its address. Times and charts may differ: leave them out.
READ_BOTH = """async () => {
  const read = (page) => {
    const main = page.querySelector("main").cloneNode(true);
    for (const element of main.querySelectorAll("figure, time, script, .age, .legend")) element.remove();
    const show = (control) => (control.type === "checkbox" ? `${control.value} ${control.checked}` : control.value);
    const controls = [...page.querySelectorAll("main :is(input:not([type=hidden]), select)")]
      .filter((control) => control.form?.matches("form.filters[method=get]"))
      .map((control) => `${control.name}=${show(control)}`);
    const details = [...page.querySelectorAll("main details[data-disclosure]")]
      .map((part) => `${part.dataset.disclosure} ${part.open}`);
    return JSON.stringify([main.textContent.replace(/\\s+/g, " ").trim(), controls, details], null, 1);
  };
  const answer = await (await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" })).text();
  return [read(document), read(new DOMParser().parseFromString(answer, "text/html"))];
}"""


def settle(page: Page) -> None:
    """Wait until all pending requests are done."""
    page.wait_for_load_state("load")
    page.wait_for_timeout(250)  # typing is applied after 200 ms
    expect(page.locator("#progress.htmx-request")).to_have_count(0)


def find_difference(page: Page) -> str:
    """Return the first difference of the page from a fresh answer, with the text around it; "" if they are equal."""
    page_text, answer_text = page.evaluate(READ_BOTH)
    if page_text == answer_text:
        return ""
    pairs = enumerate(zip(page_text, answer_text, strict=False))
    start = max(next((index for index, pair in pairs if pair[0] != pair[1]), 0) - 40, 0)
    return f"shown: {page_text[start:][:200]}\nanswered: {answer_text[start:][:200]}"


def choose(dice: random.Random, page: Page, selector: str) -> Any:
    controls = [control for control in page.locator(selector).all() if control.is_visible()]
    return dice.choice(controls) if controls else None


def filter_list(dice: random.Random, page: Page) -> None:
    if select := choose(dice, page, f"{FILTERS} select"):
        select.select_option(index=dice.randrange(select.locator("option").count()))


def type_search(dice: random.Random, page: Page) -> None:
    if field := choose(dice, page, f"{FILTERS} input:is([type=search], [data-search])"):
        field.focus()
        page.keyboard.press("Control+a")
        page.keyboard.type(dice.choice(["o", "orders", "total:number", "purchase", "%"]), delay=dice.choice([0, 60]))


def tick(dice: random.Random, page: Page) -> None:
    if box := choose(dice, page, "main input[type=checkbox]:is([form=ticked], form.filters *)"):
        box.click()


def toggle(dice: random.Random, page: Page) -> None:
    if summary := choose(dice, page, "main details[data-disclosure] > summary"):
        summary.click()


def switch_line(dice: random.Random, page: Page) -> None:
    if button := choose(dice, page, ".legend button"):
        button.click()


def change_period(dice: random.Random, page: Page) -> None:
    if link := choose(dice, page, "nav.wide[aria-label=Period] a"):
        link.click()


def go_back(dice: random.Random, page: Page) -> None:
    page.go_back()
    if urlsplit(page.url).scheme != "http":  # went back beyond the first page
        page.go_forward()


def go_forward(dice: random.Random, page: Page) -> None:
    page.go_forward()


def reload(dice: random.Random, page: Page) -> None:
    page.reload()


ACTIONS: list[Callable[[random.Random, Page], None]] = [
    filter_list, filter_list, type_search, tick, toggle, toggle, switch_line, change_period,
    go_back, go_back, go_forward, reload,
]  # fmt: skip


def test_the_page_agrees_with_its_address_after_each_of_many_interactions(
    new_tab: Any, start_of_pages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    started_at = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: started_at)  # a new day would change pages that are open
    dice = random.Random(SEED)
    tab = new_tab()
    tab.page.add_init_script(LATE_ANSWERS)
    page = tab.open(f"{start_of_pages}/catalog")
    for number in range(INTERACTIONS):
        action = dice.choice(ACTIONS)
        if number % 8 == 7:
            page.goto(f"{tab.base}{start_of_pages}/{dice.choice(PAGES)}")
        action(dice, page)
        if dice.random() < 0.6:  # in the other cases the next interaction comes before the answer
            settle(page)
            assert find_difference(page) == "", (number, action.__name__, page.url)
    settle(page)
    assert find_difference(page) == "", page.url
    assert tab.complaints == []
