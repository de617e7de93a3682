"""Refuse a form that is too large before anything parses it."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from wire.http.body import BodyTooLarge
from wire.http.failure_middleware import render_failure

FORM_TYPES = {"application/x-www-form-urlencoded", "multipart/form-data"}


class FormSizeMiddleware:
    """Answer 413 if a page gets a form of more than DATA_UPLOAD_MAX_MEMORY_SIZE bytes; the API has its own bound."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        size, limit = int(request.META.get("CONTENT_LENGTH") or 0), settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if limit and size > limit and request.content_type in FORM_TYPES and not request.path.startswith("/api/"):
            return render_failure(request, BodyTooLarge(f"A form may have {limit // 1024} KiB. Nothing was changed."))
        return self.get_response(request)
