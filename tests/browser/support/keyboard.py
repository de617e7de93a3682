"""Use pages by keyboard only: Tab, Enter, arrows and typing."""

from __future__ import annotations

from playwright.sync_api import Locator

MAX_STEPS = 300  # presses of Tab, more than any test needs


def reach(target: Locator) -> None:
    """Move the focus to an element by Tab alone."""
    target.wait_for()
    for _ in range(MAX_STEPS):
        if target.evaluate("element => element === document.activeElement"):
            return
        target.page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {target}")


def press(target: Locator, key: str = "Enter") -> None:
    """Reach a link, a button or a summary, and press it."""
    reach(target)
    target.press(key)


def type_into(target: Locator, text: str) -> None:
    """Reach a field and replace its text."""
    reach(target)
    target.page.keyboard.press("Control+a")
    target.page.keyboard.insert_text(text)


def choose(target: Locator) -> None:
    """Choose one of several radio buttons: Tab reaches the one that is checked, and arrows reach the others."""
    form = target.locator("xpath=ancestor::form")
    group = form.locator(f"input[type=radio][name='{target.get_attribute('name')}']")
    chosen = group.and_(target.page.locator(":checked"))
    reach(chosen.first if chosen.count() else group.first)
    for _ in range(group.count()):
        if target.is_checked():
            return
        target.page.keyboard.press("ArrowDown")
    assert target.is_checked()
