"""All addresses of the URL configuration: the headers of their answers, and how they refuse forms without a token."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.http import HttpResponse
from django.test import Client

from tests.hub.safety.addresses import list_addresses
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
PRIVATE = {"private, no-store", "private, no-cache", "max-age=0, no-cache, no-store, must-revalidate, private"}
METHODS = ("get", "post", "put", "options")


@pytest.fixture
def addresses(workspace: Any) -> list[str]:
    slug = workspace.workspace.slug
    all_addresses = list_addresses({"slug": slug, "environment": "production", "token": "x" * 43})
    assert f"/w/{slug}/production/overview.json" in all_addresses
    assert "/api/conversation-outcomes" in all_addresses
    return [*all_addresses, "/nowhere", "/api/nowhere", f"/w/{slug}/nowhere/overview"]


@pytest.fixture
def clients(api: Any, browser_client: Client) -> dict[str, Client]:
    key = Client(raise_request_exception=False, headers={"x-service-api-key": api.key})
    return {"stranger": Client(raise_request_exception=False), "operator": browser_client, "key": key}


def answers(addresses: list[str], clients: dict[str, Client]) -> Iterator[tuple[str, HttpResponse]]:
    operator = get_user_model().objects.get(username="test-operator")
    for address in addresses:
        for name, client in clients.items():
            if name == "operator" and "_auth_user_id" not in client.session:
                client.force_login(operator)  # one of the addresses has signed the operator out
            for method in METHODS:
                yield f"{method} {address} as {name}", getattr(client, method)(address)


def test_every_answer_has_the_security_headers_and_is_private(addresses, clients):
    seen = set()
    for what, response in answers(addresses, clients):
        seen.add(response.status_code)
        headers = response.headers
        assert response.status_code < 500, what
        assert headers["X-Content-Type-Options"] == "nosniff", what
        assert headers["X-Frame-Options"] == "DENY", what
        assert headers["Referrer-Policy"] == "same-origin", what
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", what
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin", what
        assert re.fullmatch(r"[a-z-]+=\(\)(, [a-z-]+=\(\))+", headers["Permissions-Policy"]), what
        assert headers["Cache-Control"] in PRIVATE, what
        assert "Strict-Transport-Security" not in headers, what
        check_content_security_policy(headers["Content-Security-Policy"], what)
        if "/api/" not in what and any(suffix in what for suffix in (".json ", ".csv ")):
            assert headers["Cache-Control"] == "private, no-store", what
        assert not any(cookie["samesite"] != "Lax" for cookie in response.cookies.values()), what
    assert {200, 302, 401, 404, 405} <= seen


def check_content_security_policy(policy: str, what: str) -> None:
    directives = {words[0]: words[1:] for words in (part.split() for part in policy.split(";"))}
    assert directives["default-src"] == directives["script-src"] == ["'self'"], what
    assert directives["object-src"] == directives["base-uri"] == directives["frame-ancestors"] == ["'none'"], what
    assert [name for name, words in directives.items() if "unsafe" in " ".join(words)] == [], what


def test_an_answer_with_secrets_is_not_stored_by_the_browser(api, browser_client):
    minted = api.post("/api/intents", {"sub": "user_1", "operation": "GET /orders", "args": {}})
    assert (minted.status_code, minted["Cache-Control"]) == (201, "private, no-store")
    created = browser_client.post("/workspaces/new", {"name": "Shop", "environments": ""}, follow=True)
    assert b"gak_" in created.content
    assert "no-store" in created["Cache-Control"]


def test_hsts_is_sent_behind_tls(settings, client):
    settings.SECURE_HSTS_SECONDS = 31536000
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    response = client.get("/sign-in", headers={"X-Forwarded-Proto": "https"})
    assert response["Strict-Transport-Security"] == "max-age=31536000"


@pytest.mark.parametrize("headers", [{}, {"Referer": "https://evil.example/", "Origin": "https://evil.example"}])
def test_no_form_is_accepted_without_its_token(addresses, browser_client, workspace, headers):
    browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
    browser.force_login(get_user_model().objects.get(username="test-operator"))
    refused = 0
    for address in addresses:
        response = browser.post(address, {"confirm": "yes", "name": "Forged"}, headers=headers)
        if address.startswith("/api/"):  # these addresses need a key; a session is not accepted
            assert response.status_code in {401, 404, 405, 415}, address
        else:
            assert response.status_code in {403, 404, 405}, address
            refused += response.status_code == 403
    assert refused >= 10
    assert list(Workspace.objects.values_list("pk", flat=True)) == [workspace.workspace.pk]


def test_a_refused_form_says_what_to_do():
    response = Client(enforce_csrf_checks=True).post("/sign-in", {}, headers={"Accept": "text/html"})
    assert response.status_code == 403
    assert b"reload the page" in response.content


@pytest.mark.parametrize(
    ("variables", "warnings"),
    [
        ({"BEHIND_TLS": "1", "HUB_HOST": "0.0.0.0"}, set()),
        ({"BEHIND_TLS": "1"}, set()),
        ({}, set()),
        ({"HUB_HOST": "::1"}, set()),
        ({"HUB_HOST": "0.0.0.0"}, {"W004", "W008", "W012", "W016"}),
    ],
)
def test_check_deploy_is_clean_unless_strangers_reach_a_hub_without_tls(tmp_path, variables, warnings):
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    environment = {"PATH": "/usr/bin:/bin", "HUB_DATA_DIR": str(tmp_path / "var"), **variables}
    check = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert set(re.findall(r"security\.(W\d+)", check.stderr)) == warnings
    assert check.returncode == (1 if warnings else 0), check.stderr
