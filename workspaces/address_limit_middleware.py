"""Limit requests per address, if neither a valid key nor a session says who asks."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.db import Error as DatabaseError
from django.http import HttpRequest, HttpResponse

from wire.http.failure_middleware import render_failure
from wire.http.problems import Problem
from wire.request_context import current_client_address
from workspaces.authentication import HEADER, find_request_key
from workspaces.limits.limiter import RateLimited, limit_address

# Monitoring calls these; /metrics asks for its token first. Requests for static files do not get here.
EXEMPT_PATHS = {"/healthz", "/readyz", "/metrics"}


class AddressLimitMiddleware:
    """Refuse strangers whose address is over ADDRESS_RATE_LIMIT. Valid keys and sessions are not limited by it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.ADDRESS_RATE_LIMIT and request.path not in EXEMPT_PATHS:
            try:
                if not _is_known(request):
                    limit_address(current_client_address.get())
            except RateLimited as refusal:
                return render_failure(request, refusal)
            except DatabaseError:  # the view gets the same error, and reports it
                pass
        return self.get_response(request)


def _is_known(request: HttpRequest) -> bool:
    """Return whether a valid key or a session came with the request."""
    if HEADER in request.headers:
        try:
            return bool(find_request_key(request))
        except Problem:
            pass
    return settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated
