"""Pages call an environment by its label, as the menu does; addresses and machines by its name."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.html import strip_tags

pytestmark = pytest.mark.django_db
PAGES = {
    "catalog": "as observed in Live",
    "rules": "All manual overrides in Live",
    "drift": "What changed in the API of Live",
    "difference?against=staging": "No operations have been observed in Live and Test.",
    "difference": "Compare Live with Test",
    "joins": "whose conversation is not known in Live",
    "search?q=nothing": "Nothing matches in Live",
    "annotations": "Events that every chart of Live marks",
}


@pytest.fixture
def start(workspace: Any) -> str:
    for name, label in (("production", "Live"), ("staging", "Test")):
        workspace.workspace.environments.filter(name=name).update(label=label)
    return f"/w/{workspace.workspace.slug}/production"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_calls_its_environment_by_the_label(browser_client, start, page):
    text = " ".join(strip_tags(browser_client.get(f"{start}/{page}").content.decode()).split())
    assert PAGES[page] in text, text


def test_the_choice_of_what_to_compare_with_shows_the_label_and_sends_the_name(browser_client, api, start):
    outcomes = [{"conversationId": "conv_1", "outcomeKey": "purchase"}]
    assert api.post("/api/conversation-outcomes", {"outcomes": outcomes}).status_code == 200
    page = " ".join(browser_client.get(f"{start}/outcomes").content.decode().split())
    assert '<option value="staging">Test</option>' in page
