"""The API docs: every call has a summary and examples that are valid, and the page shows them to everybody."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import jsonschema
import pytest
from django.urls import resolve

import affidavit
from affidavit._cli import main
from catalog.downloads.api import Catalog, McpTools, OpenApi, Schemas, Tools
from catalog.ingest.api import WitnessReports
from catalog.ingest.fold import fold_reports
from hub.api_docs.calls import list_calls
from hub.api_docs.document import render_document
from hub.api_docs.in_python import IN_PYTHON
from outcomes.ingest.api import ConversationOutcomes, Conversations
from outcomes.models import Outcome
from tests.catalog.reports import environment_of

PAGE = "/w/lumen-books/production/api"
VOLATILE = {"revision", "version", "firstSeenAt", "lastSeenAt"}
OPERATIONS = [
    (method, path, operation)
    for path, operations in json.loads(render_document())["paths"].items()
    for method, operation in operations.items()
]


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=[f"{m} {p}" for m, p, _ in OPERATIONS])
def test_every_call_has_a_short_summary_and_valid_examples(method: str, path: str, operation: Any) -> None:
    components = json.loads(render_document())["components"]
    assert 0 < len(operation["summary"]) <= 40
    assert operation["description"].endswith(".")
    contents = [next(answer for status, answer in operation["responses"].items() if status[0] == "2")["content"]]
    contents += [operation["requestBody"]["content"]] if method == "post" else []
    for content in contents:
        media = content["application/json"]
        schema = {**media["schema"], "components": components}
        jsonschema.validate(media["examples"]["example"]["value"], schema)


@pytest.mark.parametrize("path", [path for method, path, _ in OPERATIONS if method == "post"])
def test_the_body_of_an_example_is_accepted(path: str) -> None:
    view = resolve(path.replace("{confirmation_id}", "x")).func.view_class  # type: ignore[attr-defined]  # as_view sets it
    body = view.examples["POST"].request
    form = view.form(data=body, context={"raw": json.dumps(body).encode()})
    assert form.is_valid(), form.errors


def is_part(example: Any, answer: Any) -> bool:
    """Return whether an answer contains all of an example, except revisions and times, which always differ."""
    if isinstance(example, dict):
        shown = example.keys() - VOLATILE
        return all(name in answer and is_part(example[name], answer[name]) for name in shown)
    if isinstance(example, list):
        return len(example) == len(answer) and all(map(is_part, example, answer))
    return example == answer


@pytest.mark.parametrize("view", [Catalog, OpenApi, Schemas, Tools, McpTools])
def test_downloads_after_the_example_report_are_the_documented_examples(api, workspace, view):
    report = WitnessReports.examples["POST"]
    answer = api.post("/api/witness-reports", report.request)
    assert answer.json() == report.response
    fold_reports(environment_of(workspace))
    path = next(path for _, path, _ in OPERATIONS if resolve(path).func.view_class is view)  # type: ignore[attr-defined]  # as_view sets it
    assert is_part(view.examples["GET"].response, json.loads(api.get(path).getvalue()))


def test_sending_the_first_two_examples_gives_one_outcome_without_a_broken_join(api, workspace):
    for path, view in (("/api/conversations", Conversations), ("/api/conversation-outcomes", ConversationOutcomes)):
        example = view.examples["POST"]
        assert api.post(path, example.request).json() == example.response
    (outcome,) = Outcome.objects.filter(environment=environment_of(workspace))
    assert not outcome.broken


def test_the_page_shows_every_call_once(browser_client, workspace):
    page = browser_client.get(PAGE).content.decode()
    for calls in list_calls().values():
        for call in calls:
            assert page.count(f'id="{call.id}"') == 1, call.path
    assert sum(map(len, list_calls().values())) == len(OPERATIONS)
    assert workspace.report_key[:12] in page
    assert workspace.report_key not in page
    assert 'aria-label="Sections"' in page


def test_the_address_of_each_call_can_be_sent_as_it_is(browser_client, workspace):
    page = browser_client.get(PAGE).content.decode()
    assert "/api/confirmations/{confirmation_id}/decision" in re.sub("</?wbr/?>", "", page)
    addresses = re.findall(r"curl (http\S+)", page)
    assert len(addresses) == len(OPERATIONS)
    assert not [address for address in addresses if "{" in address]


def test_calls_of_a_backend_name_what_does_the_same_in_python(browser_client, workspace, capsys):
    page = browser_client.get(PAGE).content.decode()
    assert {f"{call.method} {call.path}" for calls in list_calls().values() for call in calls} >= set(IN_PYTHON)
    for name in re.findall("`([^`]+)`", " ".join(IN_PYTHON.values())):
        assert f"<code>{name}</code>" in page
        program, *words = name.split()
        if program == "affidavit":
            with pytest.raises(SystemExit, match="0"):
                main([*words, "--help"])
            assert set(words) <= set(re.findall(r"[\w-]+", capsys.readouterr().out)), name
        else:
            assert hasattr(affidavit, program)


def test_the_types_of_fields_are_those_of_json_or_say_more():
    """`uuid` says more than `string`. Formats of numbers in a program, such as `int32`, are not shown."""
    types = {field.type for calls in list_calls().values() for call in calls for field in call.fields}
    assert {"string", "number", "integer", "boolean", "uuid"} <= types
    assert types.isdisjoint({"double", "float", "int32", "int64"})


def test_examples_name_the_environment_of_the_page_and_no_report_id_of_another_page(browser_client, workspace):
    pages = {
        name: unescape(browser_client.get(PAGE.replace("production", name)).content.decode())
        for name in ("production", "staging")
    }
    assert '"environment": "staging"' in pages["staging"]
    assert '"environment": "production"' not in "".join(re.findall(r"-d '(.*?)'</code>", pages["staging"], re.S))
    catalogs = [
        browser_client.get(PAGE.replace("production/api", f"{name}/catalog")).content.decode() for name in pages
    ]
    ids = [re.findall(r'"reportId": "([^"]+)"', unescape(page)) for page in (*pages.values(), *catalogs)]
    assert all(ids)
    assert sum(len(set(of_page)) for of_page in ids) == len({report_id for of_page in ids for report_id in of_page})


def test_members_are_redirected_to_their_workspace_and_anybody_can_read_the_docs(client, browser_client, workspace):
    assert browser_client.get("/api/docs")["Location"] == PAGE
    page = client.get("/api/docs")
    assert page.status_code == 200
    assert "gak_…" in page.content.decode()


def test_the_document_says_that_the_api_is_served_where_it_is() -> None:
    assert json.loads(render_document())["servers"] == [{"url": "/"}]


def test_a_browser_keeps_the_document_until_it_changes(client, db):
    answer = client.get("/api/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert 'filename="affidavit-openapi.json"' in answer["Content-Disposition"]
    assert answer["Content-Encoding"] == "gzip"
    assert client.get("/api/openapi.json", headers={"If-None-Match": answer["ETag"]}).status_code == 304


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [
        ("gzip;q=0", False), ("br, GZIP; q=0.000", False), ("gzip;q=0, *", False), ("gzip;q=0.001", True),
        ("br;q=0, gzip", True),
    ],
)  # fmt: skip
def test_a_client_can_refuse_a_compressed_document(client, db, accepted, is_compressed):
    answer = client.get("/api/openapi.json", headers={"Accept-Encoding": accepted})
    assert ("Content-Encoding" in answer) is is_compressed
    assert answer["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("name", ["openapi", "tools"])
def test_downloads_of_the_catalog_have_file_names(api, workspace, name):
    answer = api.get(f"/api/catalog/{name}.json")
    assert answer["Content-Disposition"] == f'attachment; filename="lumen-books-production-{name}.json"'


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_tools_of_each_provider_have_a_file_name_of_their_own(api, workspace, provider):
    answer = api.get(f"/api/catalog/tools.json?format={provider}")
    assert f'filename="lumen-books-production-tools-{provider}.json"' in answer["Content-Disposition"]
