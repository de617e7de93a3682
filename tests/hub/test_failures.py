"""Error pages and problem documents never repeat a key, secret, token or value of the request."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from affidavit import make_key
from catalog.browse import views as catalog_views
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


def test_a_refusal_repeats_nothing_of_the_request(planted, accept):
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    for method, path, form, headers in requests_with(planted):
        response = getattr(client, method)(path, form, headers={**headers, "Accept": accept})
        if response.status_code >= 400:
            text = response.content.decode() + str(dict(response.headers))
            assert not [value for value in planted if value in text], (method, path, text)


def test_a_failure_repeats_and_logs_nothing_of_the_request(planted, accept, monkeypatch, capsys, api):
    def fail() -> None:
        local_value = " ".join(planted)
        raise RuntimeError(local_value)

    monkeypatch.setattr(health, "check_readiness", fail)
    headers = {"Accept": accept, "x-service-api-key": planted[0]}
    response = api.client.get(f"/readyz?token={planted[2]}&q={planted[3]}", headers=headers)
    assert response.status_code == 500
    text = response.content.decode() + capsys.readouterr().err
    assert not [value for value in planted if value in text], text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("get", "production/nowhere", 404), ("get", "nowhere/catalog", 404), ("post", "production/operation/maps", 403)],
)
def test_a_refusal_is_shown_within_the_workspace(client, workspace, method, path, status):
    viewer = get_user_model().objects.create_user("viewer")
    workspace.workspace.memberships.create(user=viewer, role="viewer")
    client.force_login(viewer)
    response = getattr(client, method)(f"/w/{workspace.workspace.slug}/{path}", headers={"Accept": "text/html"})
    page = response.content.decode()
    assert response.status_code == status
    assert 'aria-label="Sections"' in page
    assert f"/w/{workspace.workspace.slug}/staging/" in page
    assert ('aria-current="page"' in page) == (path == "nowhere/catalog")


def test_an_error_page_has_no_share_button(browser_client, workspace):
    page = browser_client.get(f"/w/{workspace.workspace.slug}/nowhere/catalog", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "data-share" not in page.content.decode()


def test_a_failure_of_the_hub_is_shown_within_the_workspace_with_the_request_id(browser_client, workspace, monkeypatch):
    def fail(*args: Any) -> None:
        raise RuntimeError("a secret of the hub")

    monkeypatch.setattr(catalog_views, "list_operations", fail)
    browser_client.raise_request_exception = False
    headers = {"X-Request-Id": "req-1234", "Accept": "text/html"}
    response = browser_client.get(f"/w/{workspace.workspace.slug}/production/catalog", headers=headers)
    page = response.content.decode()
    assert response.status_code == 500
    assert 'aria-label="Sections"' in page
    assert '<code id="request-id">req-1234</code>' in page
    assert "/staging/catalog" in page
    assert not [word for word in ("Traceback", "RuntimeError", "a secret of the hub") if word in page]


def test_a_stranger_sees_no_workspace_on_an_error_page(client, workspace, db):
    client.force_login(get_user_model().objects.create_user("stranger"))
    response = client.get(f"/w/{workspace.workspace.slug}/production/catalog", headers={"Accept": "text/html"})
    assert response.status_code == 404
    assert workspace.workspace.name not in response.content.decode()
