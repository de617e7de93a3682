"""Delete sessions, sign-in links and invitations that have expired."""

from __future__ import annotations

from datetime import datetime

from django.contrib.sessions.models import Session

from workspaces.models import Invitation, SignInLink


def delete_expired(*, now: datetime) -> int:
    """Delete what has expired, and return the number of deleted rows.

    Accepted invitations stay: they say who invited a member.
    """
    row_sets = (
        Session.objects.filter(expire_date__lte=now),
        SignInLink.objects.filter(expires_at__lte=now),
        Invitation.objects.filter(expires_at__lte=now, accepted_at=None),
    )
    return sum(rows.delete()[0] for rows in row_sets)
