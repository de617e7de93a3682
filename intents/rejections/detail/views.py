"""The page of one rejection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.http import HttpRequest

from affidavit import REASONS
from intents.models import MintedIntent, Rejection, split_operation
from intents.rejections.detail.call_events import CALL_EVENT_COLUMNS, MAX_EVENTS, has_more_events, list_call_events
from intents.rejections.detail.expiry_causes import Cause, list_causes
from intents.rejections.detail.expiry_facts import read_expiry
from intents.rejections.detail.operation_difference import compare_operations
from intents.rejections.detail.rejection import find_alike, find_rejection
from intents.rejections.intents_of_rejections import find_intent
from intents.rejections.order_of_checks import find_failed_checks
from wire.address_members import read_number
from wire.errors import NotFound
from wire.table_exports import Table
from wire.time.period import Period
from wire.time.timestamps import cut_to_second, read_moment
from workspaces.access import has_role
from workspaces.models import Environment, Membership, SigningSecret
from workspaces.pages.page import Page
from workspaces.secrets.uses import find_unused_signer

MISMATCHES = ("operation-mismatch", "method-mismatch", "path-mismatch")  # another operation was signed


def show_rejection(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show one rejection, its usual fix, and what happened to its tool call. Raises NotFound if there is none."""
    rejection = _read_rejection(request, environment)
    intent = find_intent(environment, rejection)

    is_mismatch = rejection.reason in MISMATCHES

    def build_context() -> Mapping[str, Any]:
        return {
            "rejection": rejection,
            "reason": REASONS.get(rejection.reason),
            "failed_checks": find_failed_checks(rejection.reason),
            "expiry_causes": _list_expiry_causes(environment, rejection),
            "alike": find_alike(environment, rejection),
            "intent": intent,
            "early_by": intent.issued_at - rejection.occurred_at if intent else None,
            "difference": compare_operations(intent.operation, rejection.operation) if intent and is_mismatch else None,
            "inspector_path": _find_called_path(rejection, intent),
            "unused_secret": _find_unused_secret(rejection),
            "was_v1_accepted": environment.workspace.accepts_v1_at(rejection.occurred_at),
            "may_open_keys": has_role(request.user, environment.workspace, Membership.ADMIN),
            "keys_by_actor": environment.workspace.index_keys_by_actor(),
            "events": list(list_call_events(environment, rejection, MAX_EVENTS)),
            "is_cut": has_more_events(environment, rejection.tool_call_id),
            "max_events": MAX_EVENTS,
        }

    def event_rows() -> Iterator[Sequence[Any]]:
        return (event.list_cells() for event in list_call_events(environment, rejection))

    tables = [Table("events", CALL_EVENT_COLUMNS, event_rows)]
    return Page("intents/rejection.html", build_context, tables, has_period=False)


def _list_expiry_causes(environment: Environment, rejection: Rejection) -> Sequence[Cause]:
    """Return the possible causes of an expired intent, the likelier first; [] for another reason."""
    return list_causes(read_expiry(environment, rejection)) if rejection.reason == "expired" else []


def _find_unused_secret(rejection: Rejection) -> SigningSecret | None:
    """Return the secret that signs, if the backend's lack of it may be the cause of this rejection."""
    key = rejection.api_key
    if rejection.reason != "bad-signature" or key is None:
        return None
    signer = find_unused_signer(rejection.environment, key)
    if signer is None or signer.signs_from is None:
        return None
    return signer if cut_to_second(signer.signs_from) <= rejection.occurred_at else None


def _find_called_path(rejection: Rejection, intent: MintedIntent | None) -> str:
    """Return the path to inspect: the reported path, or for a template, which nobody calls, the signed path if known.

    After a mismatch another path was signed, so the template stays.
    """
    if intent is None or "{" not in rejection.path or rejection.reason in MISMATCHES:
        return rejection.path
    return split_operation(intent.operation)[1].partition("?")[0] or rejection.path


def _read_rejection(request: HttpRequest, environment: Environment) -> Rejection:
    """Return the rejection that the address names by time and number. Raises NotFound."""
    rejection = find_rejection(environment, read_moment(request.GET, "at"), read_number(request.GET, "id"))
    if rejection is None:
        detail = (
            "This environment has no such rejection. If it had one, its retention may have ended. Look at the list."
        )
        raise NotFound(detail)
    return rejection
