"""A download is computed once after each change of the catalog, and kept for all processes."""

from __future__ import annotations

import threading
import time
from typing import Any
from unittest import mock

import pytest
from django.db import connection
from django.utils import timezone

from catalog.downloads import document_cache as kept
from catalog.downloads import documents, etags
from catalog.downloads.document_cache import get_or_render
from catalog.downloads.documents import iterate_json, render_json
from catalog.models import CatalogRevision, KeptDocument
from catalog.rules.template_rules import add_template_rule
from tests.catalog.reports import deliver, environment_of, observation
from workspaces.create import create_workspace
from workspaces.remove import remove_workspace

pytestmark = pytest.mark.django_db
ADDRESSES = [
    "/api/catalog", "/api/catalog?evidence=0", "/api/catalog/openapi.json", "/api/catalog/schemas.json",
    "/api/catalog/tools.json", "/api/catalog/tools.json?format=openai", "/api/catalog/mcp.json",
]  # fmt: skip


@pytest.fixture(params=ADDRESSES)
def address(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def filled_api(api: Any, workspace: Any) -> Any:
    deliver(api, workspace, observation(response={"id": 1}), observation(path="/apricots", response={"id": 1}))
    return api


def count_renders() -> Any:
    return mock.patch.object(kept, "keep_document", side_effect=kept.keep_document)


def test_a_download_is_computed_once_until_the_catalog_changes(filled_api, workspace, address):
    with count_renders() as renders:
        first, again = filled_api.get(address), filled_api.get(address)
        assert (first.getvalue(), first["ETag"]) == (again.getvalue(), again["ETag"])
        assert renders.call_count == 1
        deliver(filled_api, workspace, observation(path="/b", response={"id": 1}))
        changed = filled_api.get(address)
        assert renders.call_count == 2
    assert changed["ETag"] != first["ETag"]
    assert b"/b" in changed.getvalue()
    assert KeptDocument.objects.count() == 1


def test_more_observations_change_no_document_without_counts(filled_api, workspace, address):
    with count_renders() as renders:
        filled_api.get(address)
        deliver(filled_api, workspace, observation(path="/apricots", response={"id": 1}))
        filled_api.get(address)
    assert renders.call_count == (2 if address == "/api/catalog" else 1)


def test_a_rule_changes_the_download(filled_api, workspace, address):
    before = filled_api.get(address)
    now = timezone.now()
    add_template_rule(environment_of(workspace), "/orders/{}", "/orders/{number}", actor="test", now=now)
    after = filled_api.get(address)
    assert after["ETag"] != before["ETag"]
    assert b"number" in after.getvalue()


def test_a_new_edition_of_the_documents_has_new_etags(filled_api, address, monkeypatch):
    etag = filled_api.get(address)["ETag"]
    monkeypatch.setattr(etags, "EDITION", "another")
    answer = filled_api.get(address, headers={"If-None-Match": etag})
    assert answer.status_code == 200
    assert answer["ETag"] != etag


def test_renaming_the_workspace_changes_the_title(filled_api, workspace):
    filled_api.get("/api/catalog/openapi.json")
    type(workspace.workspace).objects.update(name="Another name")
    assert filled_api.get("/api/catalog/openapi.json").json()["info"]["title"] == "Another name, production"


def test_an_unchanged_download_reads_no_operations(filled_api, address, django_assert_max_num_queries):
    etag = filled_api.get(address)["ETag"]
    with django_assert_max_num_queries(10) as queries:
        assert filled_api.get(address, headers={"If-None-Match": etag}).status_code == 304
    assert not [query for query in queries if "catalog_operation" in query["sql"]]


def test_a_change_after_digests_were_computed_is_seen_by_the_next_request(filled_api, workspace):
    environment = environment_of(workspace)
    digest = etags.compute_catalog_etag(environment, evidence=True)
    deliver(filled_api, workspace, observation(path="/b", response={"id": 1}))
    assert CatalogRevision.objects.get().digested_changes < CatalogRevision.objects.get().changes
    assert etags.compute_catalog_etag(environment, evidence=True) != digest


def test_a_very_large_download_is_sent_and_not_kept(filled_api, address, monkeypatch):
    monkeypatch.setattr(kept, "MAX_KEPT_BYTES", 1)
    assert filled_api.get(address).getvalue() == filled_api.get(address).getvalue()
    assert not KeptDocument.objects.exists()


def test_each_environment_and_workspace_has_its_own_download(filled_api, workspace, other_workspace, address):
    filled_api.get(address)
    joiner = "&" if "?" in address else "?"
    assert b"/apricots" not in filled_api.get(f"{address}{joiner}environment=staging").getvalue()
    assert b"/apricots" not in filled_api.get(address, key=other_workspace.full_key).getvalue()


def test_kept_downloads_of_a_removed_workspace_are_deleted(filled_api, workspace, address):
    filled_api.get(address)
    remove_workspace(workspace.workspace, actor="test", now=timezone.now())
    assert not KeptDocument.objects.exists()
    assert not CatalogRevision.objects.exists()


def test_a_large_document_is_unpacked_while_it_is_sent(filled_api, address, monkeypatch):
    whole = filled_api.get(address)
    monkeypatch.setattr("catalog.downloads.api.MAX_WHOLE_BYTES", 0)
    streamed = filled_api.get(address)
    assert streamed.streaming
    assert streamed.getvalue() == whole.getvalue()
    assert int(streamed["Content-Length"]) == len(whole.getvalue())


def test_joined_chunks_of_json_are_the_whole_text():
    for value in ({}, [], {"a": {}}, {"a": [], "b": {"c": {"d": [1, {"e": "é"}]}, "f": None}}, [1, [2, [3]]], "x"):
        assert "".join(iterate_json(value)) == render_json(value)


@pytest.mark.django_db(transaction=True)
def test_of_simultaneous_requests_only_one_computes_the_download():
    created = create_workspace("Busy", actor="test", now=timezone.now())
    environment = environment_of(created)
    renders: list[int] = []
    bodies: list[bytes] = []

    def render() -> documents.Document:
        renders.append(1)
        time.sleep(0.3)
        return documents.render_format(environment, "openapi")

    def download() -> None:
        try:
            document = get_or_render(
                environment, "openapi", compute_etag=lambda: etags.compute_format_etag(environment, "openapi"),
                render=render,
            )  # fmt: skip
            bodies.append(document.body)
        finally:
            connection.close()

    threads = [threading.Thread(target=download) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(renders), len(bodies), len(set(bodies))) == (1, 16, 1)
