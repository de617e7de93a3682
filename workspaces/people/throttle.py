"""Bound how often somebody may guess links, by the limits that allauth counts for signing in (ACCOUNT_RATE_LIMITS)."""

from __future__ import annotations

from typing import NoReturn

from allauth.core.internal import ratelimit
from django.http import HttpRequest

from workspaces.people.errors import TooManyAttempts


def count_dead_link(request: HttpRequest) -> None:
    """Count that a client tried a link that does not work. Raises TooManyAttempts."""
    if not ratelimit.consume(request, app="allauth.account", action="link", limit_get=True):
        raise TooManyAttempts


def refuse_attempt(request: HttpRequest) -> NoReturn:
    """Refuse an attempt; allauth calls this when its limit for an address is reached."""
    raise TooManyAttempts
