"""Error pages and problem documents repeat nothing of what was sent: no key, secret, token or value."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from django.test import Client

from affidavit import make_key
from hub import health

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["text/html", "application/json"])
def accept(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def planted() -> list[str]:
    return [make_key("gak_"), f"gas_{secrets.token_urlsafe(32)}", secrets.token_urlsafe(32), "value-of-a-customer"]


def requests_with(planted: list[str]) -> Any:
    """Yield requests that are refused, with the planted values in query, headers, form, body and path."""
    key, secret, token, value = planted
    query = f"?token={token}&key={key}&q={value}&table={value}&from={value}"
    headers = {"Authorization": f"Bearer {token}", "x-service-api-key": key, "x-service-intent": secret, "X-Own": value}
    cookies = {"Cookie": f"sessionid={token}; csrftoken={secret}"}
    for path in ("nowhere", f"w/{value}/production/overview", f"sign-in/{token}", f"api/{token}", "w/a/b/overview.csv"):
        yield "get", f"/{path}{query}", {}, {**headers, **cookies}
        yield "post", f"/{path}{query}", {"csrfmiddlewaretoken": token, "password": secret, "name": value}, cookies
    for path in ("sign-in", "workspaces/new", "api/intents", "api/conversation-outcomes", "api/catalog"):
        yield "post", f"/{path}", {"csrfmiddlewaretoken": token, "password": secret, "name": value}, headers
        yield "put", f"/{path}{query}", {}, headers
    yield "get", "/healthz", {}, {"Host": f"{value}.example"}


def test_what_is_refused_repeats_nothing(planted, accept):
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    for method, path, form, headers in requests_with(planted):
        response = getattr(client, method)(path, form, headers={**headers, "Accept": accept})
        if response.status_code >= 400:
            text = response.content.decode() + str(dict(response.headers))
            assert not [value for value in planted if value in text], (method, path, text)


def test_what_fails_repeats_nothing_and_logs_nothing_of_it(planted, accept, monkeypatch, capsys, api):
    def fail() -> None:
        local_value = " ".join(planted)
        raise RuntimeError(local_value)

    monkeypatch.setattr(health, "run_checks", fail)
    headers = {"Accept": accept, "x-service-api-key": planted[0]}
    response = api.client.get(f"/readyz?token={planted[2]}&q={planted[3]}", headers=headers)
    assert response.status_code == 500
    text = response.content.decode() + capsys.readouterr().err
    assert not [value for value in planted if value in text], text
