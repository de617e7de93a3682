"""Use the replica to answer requests that change nothing, if it is recent enough."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from wire.postgresql.database_outage import is_outage
from wire.postgresql.replica import read_from_replica, replica_clock

AGE_HEADER = "X-Data-Age"  # seconds
RECENT_CHANGE = "recent_change"  # a cookie
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


def answer_from_replica(request: HttpRequest, respond: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Call `respond` with reads from the replica, and say in a header how old the data may be.

    `respond` reads from the primary if the replica is away, fails or is older than REPLICA_MAX_AGE, or if this browser
    has just changed something. If the replica fails, `respond` is called again on the primary, so it must not write.
    """
    age = _find_usable_age(request)
    if age is None:
        return respond()
    try:
        with read_from_replica(age):
            response = respond()
    except DatabaseError as error:
        if not is_outage(error):
            raise
        replica_clock.avoid()
        return respond()
    response.headers[AGE_HEADER] = str(ceil(age))
    return response


def _find_usable_age(request: HttpRequest) -> float | None:
    """Return how many seconds old the replica is; None if the primary must be read."""
    if not settings.REPLICA_DATABASE_URL or RECENT_CHANGE in request.COOKIES:
        return None
    age = replica_clock.measure_age()
    return age if age is not None and age <= settings.REPLICA_MAX_AGE else None


class RecentChangeMiddleware:
    """Mark a browser that changed something, so that it reads from the primary until the replica shows the change."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_signed_in = settings.SESSION_COOKIE_NAME in request.COOKIES
        if settings.REPLICA_DATABASE_URL and is_signed_in and request.method not in SAFE_METHODS:
            response.set_cookie(
                RECENT_CHANGE, "1", max_age=settings.REPLICA_MAX_AGE + 1, secure=settings.SESSION_COOKIE_SECURE,
                httponly=True, samesite="Lax",
            )  # fmt: skip
        return response
