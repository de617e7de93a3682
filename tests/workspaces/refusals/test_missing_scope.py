"""A refusal for a missing scope or environment names what the key lacks and what it has."""

import pytest
from django.utils import timezone

from tests.page_text import read_html
from workspaces.keys.create import create_key
from workspaces.refusals.counter import get_counter
from workspaces.refusals.missing_scope import find_scope

pytestmark = pytest.mark.django_db
PAGE = "/w/lumen-books/production/refused-requests"
OUTCOME = {"conversationId": "conv_1", "outcomeKey": "purchase"}


def open_page(client):
    return read_html(client.get(PAGE))


@pytest.fixture(autouse=True)
def empty_counter():
    get_counter.cache_clear()


def test_the_scope_that_the_key_lacks_is_named_with_those_that_it_has(workspace, api, browser_client):
    key = create_key(workspace.workspace, scopes=["report"], name="backend", actor="ann", now=timezone.now()).text
    conversations = {"conversations": [{"conversationId": "a"}]}
    assert api.post("/api/conversations", conversations, key=key).status_code == 403
    words = "needs a key with the scope <code>platform</code>; this one has <code>report</code>."
    assert words in open_page(browser_client)


def test_the_environments_of_a_key_are_named_if_its_scope_fits(workspace, api, browser_client):
    facts = {"scopes": ["report"], "name": "staging job", "environment_names": ["staging"]}
    key = create_key(workspace.workspace, **facts, actor="ann", now=timezone.now()).text
    body = {"environment": "production", "outcomes": [OUTCOME]}
    assert api.post("/api/conversation-outcomes", body, key=key).status_code == 403
    assert "This key may be used in <code>staging</code> only; the requests named another" in open_page(browser_client)


def test_a_refused_annotation_of_all_environments_is_not_said_to_name_another_one(workspace, api, browser_client):
    facts = {"scopes": ["report"], "name": "deploy job", "environment_names": ["production"]}
    key = create_key(workspace.workspace, **facts, actor="ann", now=timezone.now()).text
    assert api.post("/api/annotations", {"text": "Deploy 4.2", "allEnvironments": True}, key=key).status_code == 403
    page = open_page(browser_client)
    assert "may be used in <code>production</code> only; the requests named another environment, or all of them" in page


def test_the_scope_of_an_endpoint_comes_from_its_view():
    assert find_scope("POST /api/conversations") == "platform"
    assert find_scope("POST /api/confirmations/{confirmation_id}/decision") == "confirm"
    assert find_scope("GET unknown address") == find_scope("GET /w/…") == ""
