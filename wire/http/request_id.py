"""Every response carries X-Request-Id: the caller's if it sent a sane one (contract 1)."""

import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

SANE = re.compile(r"[A-Za-z0-9._~:/+=-]{1,128}")
current: ContextVar[str] = ContextVar("request_id", default="")


def middleware(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def with_request_id(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-Id", "")
        request.request_id = given if SANE.fullmatch(given) else f"req_{secrets.token_hex(10)}"
        token = current.set(request.request_id)
        try:
            response = get_response(request)
        finally:
            current.reset(token)
        response["X-Request-Id"] = request.request_id
        return response

    return with_request_id
