"""Forms: a double click sends one once, a question keeps what was typed, another sign-in does not spoil them."""

from __future__ import annotations

import re
from typing import Any

from alerts.models import Alert
from tests.alerts.alerts import make_alert, make_target
from workspaces.create import NewWorkspace
from workspaces.models import ApiKey

CLICK_TWICE = """(button) => {
    button.click();
    setTimeout(() => button.click(), 5);
}"""


def test_a_double_click_creates_one_key(new_tab: Any, start_of_pages: str) -> None:
    page = new_tab().open(f"{start_of_pages}/keys")
    form = page.locator("form[action*='keys/create']")
    form.get_by_label("Name").fill("clicked twice")
    form.get_by_label("report").check()
    form.get_by_role("button", name="Create key").evaluate(CLICK_TWICE)
    page.get_by_text("clicked twice").first.wait_for()
    assert ApiKey.objects.filter(name="clicked twice").count() == 1


def test_a_double_click_creates_one_alert(new_tab: Any, start_of_pages: str, workspace: NewWorkspace) -> None:
    target, _ = make_target(workspace, "https://8.8.8.8/hooks")
    page = new_tab().open(f"{start_of_pages}/alerts?kind=drift.breaking&targets={target.pk}")
    page.get_by_role("button", name="Save alert").evaluate(CLICK_TWICE)
    page.get_by_role("button", name="Pause Breaking drift").first.wait_for()
    assert Alert.objects.count() == 1


def test_a_question_about_a_target_or_an_alert_keeps_the_form_of_a_new_alert(
    new_tab: Any, start_of_pages: str, workspace: NewWorkspace
) -> None:
    target, _ = make_target(workspace, "https://8.8.8.8/hooks", name="ops")
    make_alert(workspace, target)
    page = new_tab().open(f"{start_of_pages}/alerts?new=1")
    page.get_by_role("radio", name="Jump of rejected calls").check()
    page.get_by_label("Least cases").fill("77")
    heading = page.get_by_role("heading", name=re.compile("^(Rotate|Delete|Change) "))
    question = page.locator("section", has=heading)
    for name in ("Rotate the secret of ops", "Delete ops", "Edit ops", re.compile("Delete Breaking drift")):
        page.get_by_role("button", name=name).click()
        question.get_by_role("link").click()
        assert page.get_by_label("Least cases").input_value() == "77"
        assert page.get_by_role("radio", name="Jump of rejected calls").is_checked()
        assert question.count() == 0
    page.get_by_role("button", name="Rotate the secret of ops").click()
    page.get_by_role("button", name="Rotate now").click()
    page.get_by_text("whsec_").first.wait_for()
    assert page.get_by_label("Least cases").input_value() == "77"


def test_after_signing_in_again_in_another_tab_a_form_that_was_open_is_accepted(
    new_tab: Any, start_of_pages: str
) -> None:
    tab = new_tab()
    page = tab.open(f"{start_of_pages}/annotations")
    page.get_by_label("What happened").fill("Written before")
    page.context.add_cookies([{"name": "csrftoken", "value": "b" * 32, "url": tab.base}])  # as signing in does
    page.get_by_role("button", name="Add").click()
    page.get_by_role("row", name="Written before").wait_for()


def test_so_is_a_form_that_has_a_field_with_the_name_method(new_tab: Any, start_of_pages: str) -> None:
    """In a script, such a field stands in the place of the form's own method."""
    tab = new_tab()
    page = tab.open(f"{start_of_pages}/operation?method=GET&path=/orders/{{orderId}}&open=template")
    page.locator("#template-target").fill("/orders/{id}")
    page.context.add_cookies([{"name": "csrftoken", "value": "b" * 32, "url": tab.base}])
    page.locator("#template-target").press("Enter")
    page.get_by_role("heading", name="/orders/{id}").wait_for()
