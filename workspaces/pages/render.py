"""Write a page as HTML, with an ETag by which browsers keep it."""

from __future__ import annotations

import re
from hashlib import sha256

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers

from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.frame import build_frame
from workspaces.pages.page import Page
from workspaces.pages.shown_once import shows_once

CSRF_TOKENS = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*')


def render_html(request: HttpRequest, page: Page, environment: Environment, name: str, period: Period) -> HttpResponse:
    """Answer with the page as HTML, or 304 if the browser has it already."""
    frame = build_frame(request, page, environment, name, period)
    with timezone.override(period.zone):
        context = page.context()
        is_repeatable = request.method == "GET" and not shows_once(request)
        context = {**frame, **context, "is_repeatable": is_repeatable}
        response = render(request, _choose_template(request, page), context)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request", "HX-Target", "Cookie"])
    if page.holds_secrets:
        patch_cache_control(response, private=True, no_store=True)
        return response
    patch_cache_control(response, private=True, no_cache=True)
    response["ETag"] = _compute_etag(request, response.content)
    return get_conditional_response(request, response["ETag"], None, response) or response


def _choose_template(request: HttpRequest, page: Page) -> str:
    htmx = request.htmx  # type: ignore[attr-defined]  # django_htmx's middleware sets it
    return page.partial if page.partial and htmx and not htmx.history_restore_request else page.template


def _compute_etag(request: HttpRequest, content: bytes) -> str:
    """Return an ETag of the page and the CSRF cookie. CSRF tokens in forms are left out, because they always differ."""
    digest = sha256(CSRF_TOKENS.sub(b"", content))
    digest.update(request.META.get("CSRF_COOKIE", "").encode())
    return f'W/"{digest.hexdigest()[:32]}"'
