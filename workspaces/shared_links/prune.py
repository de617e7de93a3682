"""Delete shared links some time after they have expired. Until then their list shows them."""

from __future__ import annotations

from datetime import datetime, timedelta

from workspaces.models import SharedLink

LISTED_AFTER_EXPIRY = timedelta(days=90)


def delete_expired_links(*, now: datetime) -> int:
    """Return the number of deleted links."""
    return SharedLink.objects.filter(expires_at__lte=now - LISTED_AFTER_EXPIRY).delete()[0]
