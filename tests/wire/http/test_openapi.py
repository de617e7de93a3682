"""The served OpenAPI: it is valid, and has the same errors as the code table and the documents (contract §1)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from drf_spectacular.generators import SchemaGenerator
from openapi_spec_validator import OpenAPIV30SpecValidator

from tests.wire.http.declared import assert_declared, openapi
from wire.http.openapi import HEADERS_OF_CODE
from wire.http.problems import CODES
from workspaces.keys.create import store_new_key

API = (Path(__file__).resolve().parents[3] / "docs/api.md").read_text()
OPERATIONS = [(path, method) for path, methods in openapi()["paths"].items() for method in methods]
DOWNLOADS = [path for path, methods in openapi()["paths"].items() if list(methods) == ["get"]]  # by key or session


def codes_of(path, method):
    responses = openapi()["paths"][path][method]["responses"]
    for status, response in responses.items():
        if "application/problem+json" in response.get("content", {}):
            _, narrowed = response["content"]["application/problem+json"]["schema"]["allOf"]
            yield from ((code, int(status), response) for code in narrowed["properties"]["code"]["enum"])


def test_the_document_is_the_same_each_time():
    first, second = (SchemaGenerator().get_schema(public=True) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
    assert first["components"] == openapi()["components"]


def test_the_document_is_valid():
    assert list(OpenAPIV30SpecValidator(openapi()).iter_errors()) == []


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_code_is_listed_under_its_status_with_its_headers(path, method):
    codes = list(codes_of(path, method))
    assert {code for code, _, _ in codes} >= {"missing-api-key", "scope-missing", "rate-limited", "unavailable"}
    for code, status, response in codes:
        assert CODES[code].status == status
        assert set(HEADERS_OF_CODE.get(code, ())) < set(response["headers"])


def test_answers_that_may_come_from_a_replica_declare_the_age_of_their_data():
    def list_headers(path: str, status: str) -> set[str]:
        return set(openapi()["paths"][path]["get"]["responses"][status]["headers"])

    for status in ("200", "304"):
        assert "X-Data-Age" in list_headers("/api/catalog", status)
        assert "X-Data-Age" not in list_headers("/api/witness-rules", status)


def test_a_failure_of_the_hub_is_not_declared():
    assert "internal-error" not in {code for operation in OPERATIONS for code, _, _ in codes_of(*operation)}


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_the_errors_in_api_md_are_declared(path, method):
    _, _, rest = API.partition(f"\n## {method.upper()} {path}\n")
    assert rest, f"docs/api.md has no section {method.upper()} {path}"
    own = re.search(r"^Own errors:(.*?)\n\n", rest.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`([a-z-]+)`", own[1])) & CODES.keys() if own else set()
    assert named <= {code for code, _, _ in codes_of(path, method)}


def test_descriptions_do_not_name_the_code_of_the_hub():
    schemas = openapi()["components"]["schemas"]
    descriptions = {name: schema["description"] for name, schema in schemas.items() if "description" in schema}
    assert [name for name, text in descriptions.items() if re.search(r"BatchItem|BoundedList|many=True", text)] == []


def test_moments_in_answers_are_integers_and_those_in_requests_any_number():
    schemas = openapi()["components"]["schemas"]
    types = {
        f"{name}.{member}": field["type"]
        for name, schema in schemas.items()
        for member, field in schema.get("properties", {}).items()
        if member == "at" or member.endswith("At")
    }
    assert {"AnnotationForm.at", "AnnotationReceipt.at", "ListedAnnotation.at", "ConfirmationReceipt.expiresAt"} <= set(
        types
    )
    is_answer = {name: bool(re.search("Receipt|Listed", name)) for name in types}
    assert types == {name: "integer" if is_answer[name] else "number" for name in types}


@pytest.mark.django_db
def test_every_member_of_a_problem_is_declared(api):
    form = {"sub": "user-1", "operation": "POST /refunds", "args": {}, "summary": "Refund"}
    decision = f"/api/confirmations/{api.post('/api/confirmations', form).json()['confirmationId']}/decision"
    problems = [
        api.post("/api/conversation-outcomes", {"environment": "nowhere", "outcomes": []}),
        api.post("/api/conversation-outcomes", {"outcomes": [{}] * 200}),
        api.post("/api/conversation-outcomes", {"outcomes": [{}] * 501}),
        api.post("/api/intents/verify", {"method": "GET", "path": "/"}),
        [api.post(decision, {"decision": "confirm"}) for _ in range(2)][1],
    ]
    members = [set(problem.json()) for problem in problems]
    assert {"environments", "errorsTruncated", "limit", "reason", "state"} <= set.union(*members)
    assert set.union(*members) <= openapi()["components"]["schemas"]["Problem"]["properties"].keys()


@pytest.mark.django_db
@pytest.mark.parametrize("path", DOWNLOADS)
def test_every_answer_of_a_download_is_declared(path, api, workspace, browser_client):
    wrong_scope = store_new_key(workspace.workspace, "secret", ["platform"], now=workspace.workspace.created_at)
    answers = [api.get(path), api.get(path, key=""), api.get(path, key="gak_"), api.get(path, key="pk_"),
               api.get(path, key=wrong_scope), api.get(path, environment="nowhere"), browser_client.get(path),
               browser_client.get(path, {"workspace": "nowhere"}),
               api.get(path, headers={"If-None-Match": api.get(path)["ETag"]}),
               api.get(path, headers={"If-Match": '"other"'})]  # fmt: skip
    assert [answer.status_code for answer in answers] == [200, 401, 401, 403, 403, 400, 400, 404, 304, 412]
    for answer in answers:
        assert_declared(path, "get", answer)
