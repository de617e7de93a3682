"""Count attempts to sign in and links that do not work, and refuse those beyond the limits of `attempt_limits`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn

from allauth.core.internal import ratelimit
from django.core.cache.backends.db import DatabaseCache
from django.db import connection
from django.http import HttpRequest
from django.utils import timezone

from workspaces.people.account_audit import FAILURES_RECORDED_EVERY
from workspaces.people.errors import TooManyAttempts

# That anything about attempts is kept: that a failed sign-in was recorded
LONGEST = timedelta(seconds=FAILURES_RECORDED_EVERY)


class AttemptCache(DatabaseCache):
    """The counts of attempts. Those that were stored while the clock was far ahead are forgotten after it was set back.

    Otherwise an account that was locked meanwhile would stay locked until the time to which the clock had been set.
    """

    def get_many(self, *arguments: Any, **options: Any) -> dict[Any, Any]:
        _forget_future_counts()
        return super().get_many(*arguments, **options)

    def add(self, *arguments: Any, **options: Any) -> bool:
        _forget_future_counts()
        return super().add(*arguments, **options)


def _forget_future_counts() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM workspaces_attempts WHERE expires > %s", [timezone.now() + LONGEST])


def count_dead_link(request: HttpRequest) -> None:
    """Count that a client tried a link that does not work. Raises TooManyAttempts."""
    if not ratelimit.consume(request, app="allauth.account", action="link", limit_get=True):
        raise TooManyAttempts


def refuse_attempt(request: HttpRequest) -> NoReturn:
    """Refuse an attempt: Django calls this (`handler429`) when one of the limits is reached."""
    raise TooManyAttempts
