"""The pages of rejections and tool calls say if the backend accepts no call that the present signing secret signed."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from intents.models import MintedIntent
from intents.reports.record import record_verifications
from intents.reports.verification import Verification
from tests.page_text import read_html
from workspaces.models import Environment, SigningSecret

START = "/w/lumen-books/production"
ALARM = "Production accepts no call that <code>gas_new1…</code> signed."
MINUTE = timedelta(minutes=1)


@pytest.fixture
def signs_from(production: Environment) -> datetime:
    """Return the time of a rotation an hour ago. Calls were accepted before it; after it all calls are rejected."""
    moment = timezone.now().replace(microsecond=0) - 60 * MINUTE
    SigningSecret.objects.update(signs_from=moment - timedelta(days=30))
    SigningSecret.objects.create(
        workspace=production.workspace, ciphertext=b"", prefix="gas_new1", created_at=moment, signs_from=moment
    )
    key = production.workspace.api_keys.get(name="report")
    before, after = moment - 90 * MINUTE, moment + 2 * MINUTE
    record_verifications(production, [Verification("accepted", before, count=990)], api_key=key)
    record_verifications(production, [Verification("bad-signature", after, count=37)], api_key=key)
    return moment


def mint(production: Environment, issued_at: datetime) -> str:
    """Store an intent of a tool call as the hub does. Return the address of the call's page."""
    MintedIntent.objects.create(
        environment=production, tool_call_id="call_1", sub="u1", operation="GET /books", args_hash="",
        issued_at=issued_at, expires_at=issued_at + 5 * MINUTE,
    )  # fmt: skip
    return f"{START}/toolcall?id=call_1"


def test_the_list_of_rejections_says_it_first(browser_client, signs_from):
    page = read_html(browser_client.get(f"{START}/rejections"))
    assert ALARM in page
    assert page.index(ALARM) < page.index('aria-label="Filters"')
    assert "See them</a>" in page


def test_the_rejections_since_then_say_it_without_a_link_to_themselves(browser_client, signs_from):
    moment = signs_from.isoformat()
    page = read_html(
        browser_client.get(f"{START}/rejections", {"reason": "bad-signature", "since": moment, "from": moment})
    )
    assert ALARM in page
    assert "See them</a>" not in page


def test_in_usual_times_nothing_is_said(browser_client, production):
    key = production.workspace.api_keys.get(name="report")
    facts = [Verification("accepted", timezone.now(), count=90), Verification("expired", timezone.now())]
    record_verifications(production, facts, api_key=key)
    assert "Calls are not accepted" not in read_html(browser_client.get(f"{START}/rejections"))


def test_a_call_that_the_new_secret_signed_is_not_taken_for_accepted(browser_client, production, signs_from):
    page = read_html(browser_client.get(mint(production, signs_from + MINUTE)))
    assert "The call cannot have been accepted." in page
    assert "<code>gas_new1…</code> signed its intent" in page


def test_a_call_of_the_secret_before_may_have_been_accepted(browser_client, production, signs_from):
    assert "cannot have been accepted" not in read_html(browser_client.get(mint(production, signs_from - MINUTE)))


def test_the_list_of_tool_calls_says_which_cannot_have_been_accepted(browser_client, production, signs_from):
    mint(production, signs_from - MINUTE)
    page = read_html(browser_client.get(f"{START}/toolcalls"))
    assert ALARM in page
    assert "cannot have been accepted" not in page
    mint(production, signs_from + MINUTE)
    assert read_html(browser_client.get(f"{START}/toolcalls")).count("cannot have been accepted") == 1
