"""Delete sessions, links and invitations that have expired."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.contrib.sessions.models import Session

from workspaces.models import Invitation, SharedLink, SignInLink

SHARED_LINKS_LISTED = timedelta(days=90)


def delete_expired(*, now: datetime) -> int:
    """Delete what has expired, and return the number of deleted rows.

    Accepted invitations stay: they say who invited a member. Shared links stay in their list for SHARED_LINKS_LISTED
    after they have expired.
    """
    row_sets = (
        Session.objects.filter(expire_date__lte=now),
        SignInLink.objects.filter(expires_at__lte=now),
        Invitation.objects.filter(expires_at__lte=now, accepted_at=None),
        SharedLink.objects.filter(expires_at__lte=now - SHARED_LINKS_LISTED),
    )
    return sum(rows.delete()[0] for rows in row_sets)
