"""Bound how often somebody may guess links, by the limit `link` of ACCOUNT_RATE_LIMITS, which allauth counts."""

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
    """Refuse an attempt: Django calls this (`handler429`) when one of the limits is reached."""
    raise TooManyAttempts
