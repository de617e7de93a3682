"""A form that is sent after its sender was signed out leads to signing in, and from there to the page of the form."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from workspaces.models import Annotation

pytestmark = pytest.mark.django_db
START = "/w/lumen-books/production"
FORM = {"text": "Deploy 4.2"}
VALUES = {"slug": "lumen-books", "str": "production", "uuid": str(UUID(int=0)), "int": "1"}


def post_signed_out(referer: str | None) -> dict[str, list[str]]:
    """Send the form of an annotation without a session. Return the query of the sign-in page to which this leads."""
    headers = {"Referer": referer} if referer else {}
    response = Client().post(f"{START}/annotations/add", FORM, headers=headers)
    address = urlsplit(response.headers["Location"])
    assert (response.status_code, address.path) == (302, "/sign-in")
    return parse_qs(address.query)


def test_the_sign_in_page_says_that_nothing_was_stored_and_leads_to_the_page_of_the_form(workspace):
    members = post_signed_out(f"http://testserver{START}/annotations?range=30d&tz=Europe/Vienna")
    assert members == {"unsent": ["1"], "next": [f"{START}/annotations?range=30d&tz=Europe/Vienna"]}
    assert not Annotation.objects.exists()
    page = Client().get(f"/sign-in?unsent=1&next={START}/annotations").content.decode()
    assert "nothing was stored" in page
    assert f'name="next" value="{START}/annotations"' in page
    assert "nothing was stored" not in Client().get("/sign-in").content.decode()


@pytest.mark.parametrize(
    "referer", [None, "https://elsewhere.example/w/lumen-books", "http://testserver:81/x", "//x", "%", "http://["]
)
def test_without_a_page_of_this_hub_signing_in_leads_home(workspace, referer):
    assert post_signed_out(referer)["next"] == ["/"]


def test_from_the_answer_to_a_refused_form_signing_in_leads_to_its_page(workspace):
    assert post_signed_out(f"http://testserver{START}/annotations/add?range=30d")["next"] == [
        f"{START}/annotations?range=30d"
    ]


def test_from_the_address_of_a_form_signing_in_leads_to_no_address_of_a_form(workspace):
    addresses = list_form_addresses(get_resolver().url_patterns)
    for address in addresses:
        (target,) = post_signed_out(f"http://testserver{address}")["next"]
        assert target == "/" or (target not in addresses and address.startswith(target)), address


def test_a_referer_with_very_many_members_counts_as_one_without_any(browser_client, workspace):
    referer = f"http://testserver{START}/annotations?{'a=1&' * 1001}"
    answer = browser_client.post(f"{START}/annotations/add", FORM, headers={"Referer": referer})
    assert (answer.status_code, answer["Location"]) == (303, f"{START}/annotations")


def test_an_address_that_only_takes_forms_says_so_when_it_is_opened(browser_client, workspace):
    response = browser_client.get(f"{START}/annotations/add", headers={"Accept": "text/html"})
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert "This address only takes what a form sends." in response.content.decode()
    assert f'href="{START}/overview"' in response.content.decode()


def list_form_addresses(patterns: list[URLPattern | URLResolver], start: str = "/") -> list[str]:
    """Return an address for each view that takes a form of a member: its name begins with `post_` or `decide`."""
    addresses = []
    for pattern in patterns:
        route = f"{start}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            addresses += list_form_addresses(pattern.url_patterns, route)
        elif getattr(pattern.callback, "__name__", "").startswith(("post_", "decide")):
            addresses.append(re.sub("<([a-z]+):[a-z_]+>", lambda part: VALUES[part[1]], route))
    return addresses


def test_every_form_that_is_sent_signed_out_leads_to_its_page(workspace):
    addresses = list_form_addresses(get_resolver().url_patterns)
    assert len(addresses) > 40
    for address in addresses:
        response = Client().post(address, headers={"Referer": f"http://testserver{START}/overview"})
        assert response.headers["Location"] == f"/sign-in?unsent=1&next={START}/overview", address
        assert Client().get(address).status_code == 405, address


@pytest.mark.parametrize(
    ("page", "action", "form"),
    [
        ("keys", "keys/create", {"name": "ci"}),
        ("members", "members/invite", {"email": "ada"}),
        ("environments", "environments/create", {"name": "Q A"}),
        ("environments?change=staging", "environments/staging/change", {"audience": ""}),
        ("environments", "v1-window", {"until": "soon"}),
        ("retention", "retention/days", {"broken_joins": "x"}),
        ("retention", "retention/deletions", {"subject": "conversation", "name": ""}),
        ("alerts", "alerts/targets/create", {"kind": "slack", "name": "chat", "address": "http://x"}),
        ("alerts", "alerts/create", {"kind": "rejections.spike"}),
        ("alerts?target={target}", "alerts/targets/{target}/change?target={target}", {"name": ""}),
    ],
)
def test_a_form_that_is_refused_twice_keeps_the_period_of_its_page(browser_client, workspace, page, action, form):
    target = workspace.workspace.alert_targets.create(
        kind="email", name="ops", encrypted_address=b"", shown_address="a@example.com", created_at=timezone.now()
    )
    page, action = (text.format(target=target.pk) for text in (page, action))
    members = "range=30d&tz=Asia%2FKathmandu"
    referer = f"{START}/{page}{'&' if '?' in page else '?'}{members}"
    address = f"{START}/{action}"
    for _ in range(2):
        answer = browser_client.post(address, form, headers={"Referer": f"http://testserver{referer}"})
        text = unescape(answer.content.decode())
        assert answer.status_code == 200
        assert f'href="{START}/overview?{members}"' in text
        assert "Times in Asia/Kathmandu" in text
        (address,) = set(re.findall(rf'action="({START}/{action.partition("?")[0]}[^"]*)"', text))
        referer = address = address.partition("#")[0]
    assert address.count("range=30d") == 1
