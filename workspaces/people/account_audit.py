"""Record events of an account in the audit log of each of the person's workspaces; without any, in that of the hub."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Q

from workspaces.audit.record import record_audit

FAILURES_RECORDED_EVERY = 3600  # seconds, for each account, so that guesses do not fill the log
# Changes of an account as the audit log names them, by the template of allauth's mail about them.
ACCOUNT_ACTIONS: Mapping[str, str] = {
    "account/email/password_changed": "password changed",
    "account/email/password_set": "password set",
    "account/email/password_reset": "password reset",
    "mfa/email/totp_activated": "second factor added",
    "mfa/email/totp_deactivated": "second factor removed",
    "mfa/email/webauthn_added": "second factor added",
    "mfa/email/webauthn_removed": "second factor removed",
    "mfa/email/recovery_codes_generated": "recovery codes made",
    "socialaccount/email/account_connected": "single sign-on connected",
}


def record_account_action(user: User, action: str, facts: Mapping[str, Any] | None = None, *, now: datetime) -> None:
    memberships = user.memberships.filter(workspace__removed_at=None)
    workspace_ids: list[str | None] = list(memberships.values_list("workspace_id", flat=True))
    for workspace_id in workspace_ids or [None]:
        record_audit(workspace_id, action, facts, actor=user.get_username(), now=now)


def find_account(name: str) -> User | None:
    """Return the user with this user name or address; None if nobody has it."""
    return User.objects.filter(Q(username__iexact=name) | Q(email__iexact=name)).first() if name else None


def record_failed_sign_in(name: str, *, now: datetime) -> None:
    """Record that somebody gave a wrong password for this user name or address; at most once an hour for an account.

    Names that no account has are not recorded: they may be passwords, typed into the wrong field.
    """
    user = find_account(name)
    if user and cache.add(f"failed-sign-in:{user.pk}", True, FAILURES_RECORDED_EVERY):
        record_account_action(user, "sign-in failed", now=now)
