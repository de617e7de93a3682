"""Fixtures of the tests of intents."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from affidavit import args_hash
from intents.gate.confirmations import decide_confirmation, request_confirmation
from intents.gate.mint import mint_for_call
from intents.gate.needs_confirmation import Call
from workspaces.models import Environment, SigningSecret


@pytest.fixture
def refund() -> Call:
    return Call("user_17", "POST /refunds", args_hash({"amount": 1250}))


@pytest.fixture
def refund_time(production: Environment, refund: Call) -> datetime:
    """Return when the refund was confirmed and minted as the tool call `call_81`: five minutes ago."""
    now = timezone.now() - timedelta(minutes=5)
    SigningSecret.objects.update(signs_from=now - timedelta(days=1))
    confirmation = request_confirmation(production, refund, "Refund <12.50>", now=now)
    decide_confirmation(production.workspace, confirmation.pk, "confirm", actor="ann", now=now)
    mint_for_call(production, refund, confirmation_id=confirmation.pk, tool_call_id="call_81", now=now)
    return now


@pytest.fixture(scope="session", autouse=True)
def _close_nonce_connections(close_nonce_connections: None) -> None:
    """Close the connections of the nonce store, which every test of intents may use."""
