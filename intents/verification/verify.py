"""Hosted verification: the hub checks an intent for a backend that has no SDK, and tallies the result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import DatabaseError, connection

from affidavit import Intent, IntentRejected, IntentVerifier, SqlNonces, StoreUnavailable
from intents.reports.operation_template import template_operation
from intents.reports.record import record_verifications
from intents.reports.verification import ACCEPTED, Verification
from intents.verification.received_request import ReceivedRequest
from wire.errors import Unavailable
from wire.postgresql.database_outage import is_outage
from workspaces.models import ApiKey, Environment
from workspaces.secrets.decrypt import load_valid_secrets


class NonceUnconfirmed(Unavailable):
    """The database became unreachable; the intent may already have been used up."""

    detail = (
        "The database cannot be reached or is full. The intent may have been used up: have a fresh one verified later."
    )


def verify_request(
    environment: Environment, request: ReceivedRequest, *, now: datetime, api_key: ApiKey | None = None
) -> Intent:
    """Return the verified intent, whose nonce is used up.

    api_key: the key of the backend that asked.

    No transaction spans this: a nonce stays used and a rejection tallied, whatever happens afterwards. Raises
    IntentRejected, NonceUnconfirmed.
    """
    try:
        secrets = load_valid_secrets(environment.workspace, now=now)
        intent = build_verifier(environment, secrets, now=now).verify(**request.verifier_arguments())
    except IntentRejected as rejection:
        _tally(environment, request, rejection.reason, rejection.intent, api_key, now=now)
        raise
    except StoreUnavailable:
        raise NonceUnconfirmed from None
    try:
        _tally(environment, request, ACCEPTED, intent, api_key, now=now)
    except DatabaseError as error:
        if is_outage(error):
            raise NonceUnconfirmed from error
        raise
    return intent


def build_verifier(environment: Environment, secrets: Sequence[str], *, now: datetime) -> IntentVerifier:
    """Return the verifier of an environment, with these secrets, its audience and the hub's nonces."""
    workspace = environment.workspace
    return IntentVerifier(
        secrets=lambda _: secrets,
        workspace=workspace.id,
        audience=environment.audience,
        nonces=NONCES,
        accept_v1=workspace.v1_until.timestamp() if workspace.v1_until else True,
        step_up=_has_stepped_up,
        now=now.timestamp,
    )


def _has_stepped_up(intent: Intent, request: Any) -> bool:
    return isinstance(request, ReceivedRequest) and request.step_up


def _open_own_connection() -> Any:
    """Open a connection apart from Django's: a used nonce stays used even if the request is rolled back."""
    return connection.get_new_connection(connection.get_connection_params())


NONCES = SqlNonces(_open_own_connection)


def _tally(
    environment: Environment,
    request: ReceivedRequest,
    result: str,
    intent: Intent | None,
    api_key: ApiKey | None,
    *,
    now: datetime,
) -> None:
    verification = Verification(
        result=result,
        occurred_at=now,
        version=intent.version if intent else 0,
        operation=template_operation(f"{request.method.upper()} {request.path}"),
        tool_call_id=intent.tool_call_id[:255] if intent else "",
        secret=intent.signed_with if intent else "",
    )
    record_verifications(environment, [verification], api_key=api_key)
