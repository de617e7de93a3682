"""The declaration of an endpoint in the served OpenAPI, to compare with its answers."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from django.http import HttpResponse

from hub.api_docs.document import render_document


@cache
def openapi() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(render_document())
    return document


def declared_answers(address: str, method: str) -> dict[str, Any]:
    """Return the responses that the served OpenAPI document declares for an operation, by status.

    address: the address as it is written in the document or in Django's URLs.
    """
    path = f"/{address.strip('/')}".replace("<str:", "{").replace(">", "}")
    return openapi()["paths"][path][method]["responses"]


def assert_declared(address: str, method: str, response: HttpResponse) -> None:
    """Assert that the served OpenAPI document declares the status, the code and the headers of an answer."""
    answers = declared_answers(address, method)
    assert str(response.status_code) in answers, response.content
    declared = answers[str(response.status_code)]
    if response.status_code >= 400 and response.content:  # an answer to HEAD has no content
        _, narrowed = declared["content"]["application/problem+json"]["schema"]["allOf"]
        assert response.json()["code"] in narrowed["properties"]["code"]["enum"]
    for name in response.headers.keys() & {"Retry-After", "WWW-Authenticate", "RateLimit", "Idempotent-Replayed"}:
        assert name in declared["headers"]
