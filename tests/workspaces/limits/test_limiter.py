"""Requests over a limit are refused, per key and per address; a valid key is never refused because of its address."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from affidavit import make_key
from workspaces.limits import limiter
from workspaces.models import TokenBucket

pytestmark = pytest.mark.django_db
ADDRESS = "203.0.113.7"


@pytest.fixture(autouse=True)
def _new_limiter() -> None:
    limiter.get_limiter.cache_clear()


@pytest.fixture
def page(workspace: Any) -> str:
    return f"/w/{workspace.workspace.slug}/production/overview"


def exhaust(send: Any) -> Any:
    """Send requests until one is refused; return the refusal."""
    for _ in range(30):
        response = send()
        if response.status_code == 429:
            return response
    raise AssertionError(f"never refused, but {response.status_code}")


def post_outcomes(api: Any, **more: Any) -> Any:
    return api.post("/api/conversation-outcomes", {"outcomes": []}, **more)


@pytest.mark.parametrize("suffix", [".json", ".csv", ""])
def test_a_key_over_its_rate_is_refused_by_other_endpoints_too_and_another_key_is_not(
    settings, api, other_workspace, page, suffix
):
    settings.RATE_LIMIT = 5
    refusal = exhaust(lambda: post_outcomes(api))
    assert refusal.json()["code"] == "rate-limited"
    assert refusal["Retry-After"] == "1"
    assert refusal["RateLimit-Policy"] == '"key";q=5;w=1'
    assert refusal["RateLimit"] == '"key";r=0;t=1'
    TokenBucket.objects.update(tokens=-1000)  # so that a slow machine does not refill it meanwhile
    limiter.get_limiter.cache_clear()  # a process that was refused does not ask the bucket for a moment
    assert api.get("/api/catalog").status_code == 429
    assert api.get(page + suffix).status_code == 429
    assert post_outcomes(api, key=other_workspace.full_key).status_code == 200


def test_the_rate_is_checked_after_method_and_key_and_before_the_body(settings, api):
    settings.RATE_LIMIT = 1
    exhaust(lambda: post_outcomes(api))
    assert api.get("/api/conversation-outcomes").status_code == 405
    assert post_outcomes(api, key=make_key("gak_")).status_code == 401
    assert api.client.post("/api/conversation-outcomes", b"", content_type="text/plain").status_code == 401
    assert api.post("/api/conversation-outcomes", b"{", headers={"Content-Type": "text/plain"}).status_code == 429


def test_zero_means_no_limit(settings, api):
    settings.RATE_LIMIT = settings.ADDRESS_RATE_LIMIT = 0
    assert {post_outcomes(api).status_code for _ in range(30)} == {200}
    assert {api.client.get("/sign-in").status_code for _ in range(30)} == {200}


@pytest.mark.parametrize(
    "headers",
    [{}, {"x-service-api-key": "gak_nonsense"}, {"x-service-api-key": make_key("gak_")}, {"Cookie": "sessionid=x"}],
)
@pytest.mark.parametrize("address", ["/sign-in", "/api/catalog", "/api/openapi.json", "/nowhere", "/w/a/production/b"])
def test_strangers_are_limited_by_address_but_valid_keys_and_sessions_are_not(
    settings, api, browser_client, page, headers, address
):
    settings.ADDRESS_RATE_LIMIT = 4
    client = Client(raise_request_exception=False)
    refusal = exhaust(lambda: client.get(address, headers=headers))
    assert refusal["Retry-After"] == "1"
    assert refusal["RateLimit-Policy"] == '"address";q=4;w=1'
    assert post_outcomes(api).status_code == 200
    assert browser_client.get(page).status_code == 200
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    token = {"Authorization": f"Bearer {settings.METRICS_TOKEN}"}
    assert (client.get("/metrics", headers=token).status_code, client.get("/metrics").status_code) == (200, 401)
    assert client.get(address, headers=headers, REMOTE_ADDR=ADDRESS).status_code != 429


def test_guesses_of_a_password_are_limited_by_address_whatever_the_header_says(settings, client):
    settings.ADDRESS_RATE_LIMIT = 2
    headers = {"x-service-api-key": make_key("gak_")}
    exhaust(lambda: client.post("/sign-in", {"username": "a", "password": "b"}, headers=headers))


def test_a_refused_person_gets_a_page(settings, client):
    settings.ADDRESS_RATE_LIMIT = 1
    refusal = exhaust(lambda: client.get("/sign-in", headers={"Accept": "text/html"}))
    assert b"Wait a second" in refusal.content


def test_addresses_of_one_ipv6_network_count_together(settings, client):
    settings.ADDRESS_RATE_LIMIT = 2
    numbers = iter(range(1, 100))
    exhaust(lambda: client.get("/sign-in", REMOTE_ADDR=f"2001:db8:1:2::{next(numbers):x}"))
    assert client.get("/sign-in", REMOTE_ADDR="2001:db8:1:3::1").status_code == 200


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.7/32"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", "None"),
        ("nonsense", "None"),
    ],
)
def test_addresses_of_one_client_count_as_one(address, network):
    assert str(limiter.find_network(address)) == network
