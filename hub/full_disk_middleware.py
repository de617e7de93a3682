"""On a full disk, refuse what machines send, so that it does not take the last space, which PostgreSQL needs."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from hub.local.supervision.ballast import empty_when_full, is_reserve_taken
from wire.errors import Unavailable
from wire.http.failure_middleware import render_failure

DISK_IS_FULL = "The disk of the hub is full. Nothing of this request was stored; send it again later."


class FullDiskMiddleware:
    """Refuse the POSTs of machines while the disk is full even without the ballast.

    PostgreSQL ends on a disk without any space, and cannot start again. People may still delete data.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        may_store = request.method == "POST" and request.path.startswith("/api/") and not settings.DATABASE_URL
        if may_store:
            empty_when_full(settings.HUB_DATA_DIR)
            if is_reserve_taken(settings.HUB_DATA_DIR):
                return render_failure(request, Unavailable(DISK_IS_FULL))
        return self.get_response(request)
