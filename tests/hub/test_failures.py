"""Error pages and problem documents never repeat a key, secret, token or value of the request."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, NoReturn

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection
from django.test import Client

from affidavit import make_key
from catalog.browse import views as catalog_views
from hub import health
from workspaces.address_limit_middleware import AddressLimitMiddleware
from workspaces.models import ApiKey

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["text/html", "application/json"])
def accept(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def planted_values() -> list[str]:
    return [make_key("gak_"), f"gas_{secrets.token_urlsafe(32)}", secrets.token_urlsafe(32), "value-of-a-customer"]


def requests_with(planted_values: list[str]) -> Any:
    """Yield requests that are refused, with the planted values in query, headers, form, body and path."""
    key, secret, token, value = planted_values
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


def test_a_refusal_repeats_nothing_of_the_request(planted_values, accept):
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    for method, path, form, headers in requests_with(planted_values):
        response = getattr(client, method)(path, form, headers={**headers, "Accept": accept})
        if response.status_code >= 400:
            text = response.content.decode() + str(dict(response.headers))
            assert not [value for value in planted_values if value in text], (method, path, text)


def test_a_failure_repeats_and_logs_nothing_of_the_request(planted_values, accept, monkeypatch, capsys, api):
    def fail() -> None:
        local_value = " ".join(planted_values)
        raise RuntimeError(local_value)

    monkeypatch.setattr(health, "check_readiness", fail)
    headers = {"Accept": accept, "x-service-api-key": planted_values[0]}
    response = api.client.get(f"/readyz?token={planted_values[2]}&q={planted_values[3]}", headers=headers)
    assert response.status_code == 500
    text = response.content.decode() + capsys.readouterr().err
    assert not [value for value in planted_values if value in text], text


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


def fail_statement(*args: Any) -> NoReturn:
    raise OperationalError("x") from psycopg.OperationalError("x")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("get", "/"),
        ("get", "/account"),
        ("get", "/w/lumen-books/production/outcomes"),
        ("get", "/w/lumen-books/nowhere/outcomes"),
        ("post", "/w/lumen-books/production/annotations/add"),
        ("post", "/sign-in"),
        ("post", "/workspaces/new"),
    ],
)
def test_without_a_database_a_page_says_so_and_how_to_go_on(browser_client, workspace, method, path):
    browser_client.raise_request_exception = False
    form = {"login": "ada", "password": "p", "text": "Release", "name": "New shop"} if method == "post" else {}
    with connection.execute_wrapper(fail_statement):
        response = getattr(browser_client, method)(path, form, headers={"Accept": "text/html"})
    page = response.content.decode()
    assert (response.status_code, response.headers.get("Retry-After")) == (503, "5"), page
    assert "The database is not available at the moment" in page
    assert ("Go back to the form" if method == "post" else "Try again") in page
    assert ("Try again" in page) == (method == "get")
    assert "Go to sign-in" not in page
    assert 'id="request-id"' in page


def test_without_a_database_an_unknown_address_is_still_unknown(browser_client):
    with connection.execute_wrapper(fail_statement):
        response = browser_client.get("/nowhere", headers={"Accept": "text/html"})
    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()


@pytest.fixture
def post_key(browser_client: Client, workspace: Any) -> Callable[[], tuple[int, str]]:
    """Return a function that creates a key by its form. The session, which holds the key, is stored after the view."""
    browser_client.raise_request_exception = False

    def post() -> tuple[int, str]:
        form = {"name": "ci", "kind": "secret", "scopes": ["report"], "everywhere": "yes"}
        response = browser_client.post("/w/lumen-books/production/keys/create", form, headers={"Accept": "text/html"})
        assert ApiKey.objects.filter(name="ci").exists()
        return response.status_code, response.content.decode()

    return post


def test_a_form_whose_session_cannot_be_stored_is_not_called_refused(post_key):
    def fail_session(execute: Any, sql: str, *args: Any) -> Any:
        is_change = not sql.startswith("SELECT") and "django_session" in sql
        return fail_statement() if is_change else execute(sql, *args)

    with connection.execute_wrapper(fail_session):
        status, page = post_key()
    assert status == 503
    assert "Look whether its changes were stored." in page


def test_a_form_of_somebody_who_signs_out_meanwhile_is_not_called_refused(post_key):
    def end_session(execute: Any, sql: str, *args: Any) -> Any:
        if sql.startswith("UPDATE") and "django_session" in sql:
            Session.objects.all().delete()
        return execute(sql, *args)

    with connection.execute_wrapper(end_session):
        status, page = post_key()
    assert status == 401
    assert "You were signed out during this request. Look whether its changes were stored." in page


@pytest.mark.parametrize(("error", "status"), [(RuntimeError("x"), 500), (OperationalError("x"), 503)])
def test_what_a_middleware_raises_is_a_page_of_the_hub(browser_client, workspace, monkeypatch, error, status):
    def fail(*args: Any) -> NoReturn:
        raise error

    monkeypatch.setattr(AddressLimitMiddleware, "__call__", fail)
    browser_client.raise_request_exception = False
    response = browser_client.get("/w/lumen-books/production/outcomes", headers={"Accept": "text/html"})
    assert response.status_code == status
    assert 'id="request-id"' in response.content.decode()
    machine = browser_client.get("/api/catalog", headers={"Accept": "application/json"})
    assert (machine.status_code, machine.json()["status"]) == (status, status)
