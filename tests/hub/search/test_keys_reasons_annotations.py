"""The search for things that other pages list: API keys, reasons and annotations. Each result leads to its row."""

from __future__ import annotations

import json
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from affidavit import REASONS
from hub.search import keys_reasons_annotations as named_things
from hub.search.results import MAX_RESULTS
from tests.catalog.reports import environment_of
from tests.page_text import read_html
from workspaces.annotations.annotate import AnnotationText, add_annotation
from workspaces.create import NewWorkspace
from workspaces.keys.create import create_key
from workspaces.keys.revoke import revoke_key
from workspaces.models import ApiKey, Membership

pytestmark = pytest.mark.django_db
NOW = timezone.now() - timedelta(days=40)


def make_key(created: NewWorkspace, name: str = "order sync job") -> ApiKey:
    text = create_key(created.workspace, ["report"], name=name, actor="test", now=NOW).text
    return ApiKey.objects.get(prefix=text[:12])


def annotate(created: NewWorkspace, text: str, name: str = "production", **fields: Any) -> None:
    arguments = {"at": NOW, "everywhere": False, "actor": "test", "now": NOW, **fields}
    add_annotation(environment_of(created, name), AnnotationText(text), **arguments)


def search(client: Client, start: str, text: str, **members: str) -> list[dict[str, Any]]:
    return json.loads(client.get(f"{start}/search.json", {"q": text, **members}).getvalue())["tables"]["results"]


def titles(client: Client, start: str, text: str) -> list[tuple[str, str]]:
    return [(row["kind"], row["title"]) for row in search(client, start, text)]


def member(workspace: NewWorkspace, role: str) -> Client:
    user = get_user_model().objects.create_user(role)
    Membership.objects.create(workspace=workspace.workspace, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def test_a_key_is_found_by_its_name_and_by_its_first_characters(browser_client, start, workspace):
    key = make_key(workspace)
    for text in ("SYNC", key.prefix, key.prefix[:6]):
        (row,) = [row for row in search(browser_client, start, text) if row["title"] == "order sync job"]
        assert (row["kind"], row["detail"]) == ("API keys", f"{key}, report")
        page, _, row_id = row["address"].partition("#")
        assert f'id="{row_id}"' in browser_client.get(page).content.decode()


def test_a_revoked_key_is_found_too_and_says_so(browser_client, start, workspace):
    key = make_key(workspace)
    revoke_key(key, actor="test", now=NOW)
    (row,) = search(browser_client, start, "sync")
    assert f'id="key-{key.pk}"' in browser_client.get(row["address"]).content.decode()
    assert '<span class="tag">revoked</span>' in browser_client.get(f"{start}/search", {"q": "sync"}).content.decode()


def test_keys_that_work_come_before_revoked_ones(browser_client, start, workspace):
    for _ in range(MAX_RESULTS):
        revoke_key(make_key(workspace), actor="test", now=NOW)
    key = make_key(workspace)
    rows = search(browser_client, start, "sync")
    assert (len(rows), rows[0]["detail"]) == (MAX_RESULTS, f"{key}, report")


def test_keys_are_found_only_by_those_who_may_open_their_page(start, workspace, other_workspace):
    key = make_key(workspace)
    make_key(other_workspace)
    assert [titles(member(workspace, role), start, "order sync") for role in ("viewer", "editor", "admin")] == [
        [], [], [("API keys", "order sync job")],
    ]  # fmt: skip
    for text in ("order sync", key.prefix):
        answer = Client().get(f"{start}/search.json", {"q": text}, headers={"x-service-api-key": workspace.report_key})
        assert json.loads(answer.getvalue())["tables"]["results"] == []


def test_a_reason_leads_to_its_rejections_and_says_what_it_means(browser_client, start):
    (row,) = [row for row in search(browser_client, start, "Expired") if row["kind"] == "Reasons"]
    assert (row["title"], row["address"]) == ("expired", f"{start}/rejections?reason=expired")
    assert row["detail"] == REASONS["expired"].meaning
    page = browser_client.get(f"{start}/search", {"q": "expired", "range": "24h"}).content.decode()
    assert f'href="{start}/rejections?reason=expired&range=24h" data-result' in unescape(page)
    reasons = [title for kind, title in titles(browser_client, start, "args mismatch") if kind == "Reasons"]
    assert reasons == ["args-mismatch"]
    assert [kind for kind, _ in titles(browser_client, start, "ex") if kind == "Reasons"] == []


def test_an_annotation_is_found_by_its_text_and_shown_whatever_the_period(browser_client, start, workspace):
    annotate(workspace, "Release 4.2")
    (row,) = search(browser_client, start, "4.2")
    assert (row["kind"], row["title"]) == ("Annotations", "Release 4.2")
    assert row["detail"] == f"{NOW:%a %-d %b %Y, %H:%M} UTC"
    page = browser_client.get(f"{start}/search", {"q": "4.2", "range": "24h", "from": "2020-01-01"}).content.decode()
    address = unescape(page.partition("annotations?from=")[2].partition('"')[0])
    assert "2020" not in address
    target = browser_client.get(f"{start}/annotations?from={address}").content.decode()
    assert "Release 4.2" in target
    assert f'id="{address.partition("#")[2]}"' in target


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])  # UTC+14 and UTC-11
@pytest.mark.parametrize("hour", [0, 23])
def test_the_link_to_an_annotation_shows_it_in_every_zone(browser_client, start, workspace, zone, hour):
    annotate(workspace, "Release 4.2", at=(NOW - timedelta(days=3)).replace(hour=hour, minute=30))
    page = browser_client.get(f"{start}/search", {"q": "4.2", "tz": zone}).content.decode()
    address = unescape(page.partition("annotations?from=")[2].partition('"')[0]).partition("#")[0]
    assert "Release 4.2" in browser_client.get(f"{start}/annotations?from={address}&tz={zone}").content.decode()


def test_the_link_to_an_annotation_shows_it_among_very_many_of_the_same_day(browser_client, start, workspace):
    """A pipeline can annotate more deploys in a day than a page of annotations lists."""
    annotate(workspace, "Release 4.2", at=NOW - timedelta(hours=3))
    for number in range(60):
        annotate(workspace, f"Deploy {number}", at=NOW - timedelta(minutes=number))
    (row,) = search(browser_client, start, "4.2")
    address, _, fragment = row["address"].partition("#")
    assert f'id="{fragment}"' in browser_client.get(address).content.decode()


def test_annotations_of_other_environments_and_workspaces_are_not_found(
    browser_client, start, workspace, other_workspace
):
    annotate(workspace, "Release of staging", "staging")
    annotate(other_workspace, "Release of others")
    annotate(workspace, "Release of all", "staging", everywhere=True)
    assert titles(browser_client, start, "release") == [("Annotations", "Release of all")]
    assert titles(member(workspace, "viewer"), start, "release of all") == [("Annotations", "Release of all")]


def test_only_the_latest_annotations_are_read_so_that_a_search_stays_quick(
    browser_client, start, workspace, monkeypatch, django_assert_max_num_queries
):
    monkeypatch.setattr(named_things, "MAX_ANNOTATIONS", 2)
    for days, text in ((3, "release 1"), (2, "release 2"), (1, "other")):
        annotate(workspace, text, at=NOW - timedelta(days=days))
    with django_assert_max_num_queries(22):
        assert titles(browser_client, start, "release") == [("Annotations", "release 2")]


def test_a_percent_sign_is_no_wildcard(browser_client, start, workspace):
    annotate(workspace, "Release 4.2")
    make_key(workspace)
    assert search(browser_client, start, "4%2") == []
    assert search(browser_client, start, "order_sync") == []


def test_the_page_names_what_can_be_found(browser_client, start):
    page = read_html(browser_client.get(f"{start}/search"))
    assert "rejection reasons, annotations and pages by a part of their name, and API keys for admins" in page
