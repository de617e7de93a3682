"""Every response carries X-Request-Id: the caller's own if it is well-formed (contract §1)."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from wire.request_context import current_request_id

WELL_FORMED = re.compile(r"[A-Za-z0-9._~:/+=-]{1,128}")
REQUEST_ID_PREFIX = "req_"  # of ids that the hub makes


class RequestIdMiddleware:
    """Set `current_request_id` until the request is answered."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = choose_request_id(request)
        token = current_request_id.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            current_request_id.reset(token)
        response["X-Request-Id"] = request_id
        return response


def choose_request_id(request: HttpRequest) -> str:
    header = request.headers.get("X-Request-Id", "")
    return header if WELL_FORMED.fullmatch(header) else f"{REQUEST_ID_PREFIX}{secrets.token_hex(10)}"
