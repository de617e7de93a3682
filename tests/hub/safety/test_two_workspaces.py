"""Two workspaces with the same ids everywhere never see each other in any page, download, search, diagnosis or error.

The operations, properties, outcome keys and summaries of a workspace contain a word that the other workspace must never
read. Every id that a machine or a person can send exists in both workspaces.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from catalog.ingest.fold import fold_reports
from workspaces.create import NewWorkspace
from workspaces.models import Membership

pytestmark = pytest.mark.django_db
OWN, FOREIGN = "walrus", "pelican"
REPORT_ID = str(uuid.uuid4())
CALL_ID = "call_1"
MAX_PAGES = 400


def fill(created: NewWorkspace, word: str, api: Any) -> None:
    """Report everything into a workspace, under ids that are the same for both, and names that contain `word`."""

    def post(address: str, body: Any, *, status: int) -> Any:
        answer = api.post(
            address,
            body,
            key=created.full_key,
            headers={"Idempotency-Key": f"key-{body.get('environment', 'production')}"},
        )
        assert answer.status_code == status, answer.content
        return answer.json()

    post("/api/conversations", {"conversations": [{"conversationId": f"conv_{n}"} for n in range(5)]}, status=200)
    # Only one workspace knows this id. A diagnosis in the other workspace must not reveal that it is known.
    post("/api/conversations", {"environment": "staging", "conversations": [{"conversationId": word}]}, status=200)
    ids = ("conv_1", "conv_9", '"conv_2"', OWN, FOREIGN)
    outcomes = [{"conversationId": id_, "outcomeKey": key} for id_ in ids for key in ("purchase", f"{word}_bought")]
    post("/api/conversation-outcomes", {"outcomes": outcomes}, status=200)
    shape = {"type": "object", "properties": {"id": {"type": "integer"}, f"{word}Name": {"type": "string"}}}
    seen = {"method": "GET", "status": 200, "count": 3, "response": shape}
    observations = [{**seen, "path": path} for path in ("/orders", f"/{word}s")]
    post("/api/witness-reports", {"reportId": REPORT_ID, "observations": observations}, status=202)
    rejected = {"result": "expired", "version": 2, "operation": f"GET /{word}s", "toolCallId": CALL_ID}
    post("/api/verification-reports", {"reportId": REPORT_ID, "verifications": [rejected]}, status=200)
    call = {"sub": "user_1", "operation": "POST /orders", "args": {}, "summary": f"Order a {word}"}
    post("/api/confirmations", call, status=201)
    for environment in created.workspace.environments.all():
        fold_reports(environment, now=timezone.now())


@pytest.fixture
def admin(workspace: NewWorkspace, other_workspace: NewWorkspace, api: Any) -> Client:
    """Return the browser of an admin of the first workspace. The second workspace has an admin of a similar name."""
    fill(other_workspace, FOREIGN, api)
    fill(workspace, OWN, api)
    user = get_user_model().objects.create_user("ada", "ada@example.com")
    Membership.objects.create(workspace=workspace.workspace, user=user, role=Membership.ADMIN)
    foreign = get_user_model().objects.create_user(f"Ada-{FOREIGN}", "ada@example.org")
    Membership.objects.create(workspace=other_workspace.workspace, user=foreign, role=Membership.ADMIN)
    client = Client()
    client.force_login(user)
    return client


def read(answer: Any) -> str:
    content: bytes = b"".join(answer) if answer.streaming else answer.content
    return content.decode()


SEARCHES = (FOREIGN, "conv_", "orders", "Name", "_bought", "%", "Order")


def crawl(client: Client, start: str) -> Iterator[tuple[str, str]]:
    """Yield the address and the text of every page that links lead to from the start, exports included."""
    queue, addresses = [start], {start}
    while queue and len(addresses) < MAX_PAGES:
        address = queue.pop(0)
        text = read(client.get(address))
        yield address, text
        links = re.findall(r'(?:href|hx-get|data-url|action)="(/[^"#]*)', text) if "<html" in text else []
        for link in map(unescape, links):
            if link not in addresses and not link.startswith(("/static/", "/sign-out", "/api/docs")):
                addresses.add(link)
                queue.append(link)


def test_no_linked_page_or_export_names_the_other_workspace(admin, workspace):
    pages = dict(crawl(admin, "/w/lumen-books/production/overview"))
    assert len(pages) > 60
    assert [address for address, text in pages.items() if "other-shop" in text or "Other Shop" in text] == []
    # The word alone is no leak: it is also the id of a conversation that this workspace reported.
    leaks = re.compile(rf"(?<![\w]){FOREIGN}(s|Name|_bought)\b|Order a {FOREIGN}|Ada-{FOREIGN}")
    assert [(address, leaks.search(text)[0]) for address, text in pages.items() if leaks.search(text)] == []
    assert any(f"{OWN}_bought" in text for text in pages.values())


@pytest.mark.parametrize("page", ["catalog", "drift", "outcomes", "joins", "rejections"])
def test_no_search_finds_data_of_the_other_workspace(admin, page):
    for words in SEARCHES:
        answer = admin.get(f"/w/lumen-books/production/{page}", {"q": words})
        for leak in (f"{FOREIGN}s", f"{FOREIGN}Name", f"{FOREIGN}_bought"):
            assert leak not in answer.content.decode(), (page, words)


def test_no_download_contains_data_of_the_other_workspace(admin, workspace, api):
    for name in ("", "/openapi.json", "/schemas.json", "/tools.json", "/mcp.json"):
        text = read(api.get(f"/api/catalog{name}"))
        assert OWN in text
        assert FOREIGN not in text
    assert FOREIGN not in read(api.get("/api/witness-rules"))


def test_no_diagnosis_uses_data_of_the_other_workspace(admin):
    """The other workspace knows the id FOREIGN in staging. In this workspace it was never seen."""
    document = json.loads(read(admin.get("/w/lumen-books/production/joins.json")))
    causes = {row["conversationId"]: row["diagnosis"] for row in document["tables"]["broken"]}
    assert causes[OWN] == "other-environment"
    assert causes[FOREIGN] == "never-seen"


def test_no_error_tells_that_the_other_workspace_has_an_id(admin, other_workspace):
    foreign, missing = (read(admin.get(f"/w/{slug}/production/catalog")) for slug in ("other-shop", "nowhere"))
    new_each_time = re.compile(r'req_\w+|(?<=value=")[\w-]{40,}')
    assert new_each_time.sub("", foreign) == new_each_time.sub("", missing)


def test_both_workspaces_can_use_the_same_idempotency_keys_and_report_ids(admin, workspace, other_workspace, api):
    """`fill` sends the same keys and ids for both workspaces. Each workspace has its own answers."""
    for created, word in ((workspace, OWN), (other_workspace, FOREIGN)):
        assert word in read(api.get("/api/catalog", key=created.full_key))
