"""Delete what no longer lets anybody in: sessions, one-time links and invitations past their time."""

from __future__ import annotations

from datetime import datetime

from django.contrib.sessions.models import Session

from workspaces.models import Invitation, SignInLink


def delete_expired(*, now: datetime) -> int:
    """Return how many rows went. Accepted invitations stay: they say who invited a member."""
    expired = (
        Session.objects.filter(expire_date__lte=now),
        SignInLink.objects.filter(expires_at__lte=now),
        Invitation.objects.filter(expires_at__lte=now, accepted_at=None),
    )
    return sum(rows.delete()[0] for rows in expired)
