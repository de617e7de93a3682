"""Hosted verification: the hub checks an intent for a backend that has no SDK, and tallies the result."""

from __future__ import annotations

from datetime import datetime

from affidavit import Intent, IntentRejected, StoreUnavailable
from intents.reports.operation_template import templated
from intents.reports.record import record
from intents.reports.tally import ACCEPTED, Verification
from intents.verification.received_request import Presented
from intents.verification.verifier import verifier_of
from wire.errors import Unavailable
from workspaces.models import Environment


def verify(environment: Environment, presented: Presented, *, now: datetime) -> Intent:
    """The intent, its nonce burnt. Raises IntentRejected; Unavailable where a nonce cannot be looked up.

    No transaction spans this: a nonce stays burnt and a rejection tallied, whatever happens afterwards.
    """
    try:
        intent = verifier_of(environment, now=now).verify(**presented.arguments())
    except IntentRejected as rejection:
        tally(environment, presented, rejection.reason, rejection.intent, now=now)
        raise
    except StoreUnavailable:
        raise Unavailable from None
    tally(environment, presented, ACCEPTED, intent, now=now)
    return intent


def tally(environment: Environment, presented: Presented, result: str, intent: Intent | None, *, now: datetime) -> None:
    told = Verification(
        result=result,
        occurred_at=now,
        version=intent.version if intent else 0,
        operation=templated(f"{presented.method.upper()} {presented.path}"),
        tool_call_id=intent.tool_call_id[:255] if intent else "",
    )
    record(environment, [told])
