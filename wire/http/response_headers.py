"""Set response headers that deny browser features, and caching unless a view allows it. Compress pages.

Only pages and the description of the API are compressed, and never one that shows a secret: if text from the address is
in the same page, the compressed length could reveal the secret (BREACH). CSRF tokens are safe, because Django masks
them anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from csp.utils import build_policy
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

# Features of browsers that nobody may use on our pages. A feature that is not listed is allowed to this origin alone;
# pages use the clipboard and passkeys.
DENIED_FEATURES = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "clipboard-read", "display-capture",
    "encrypted-media", "fullscreen", "geolocation", "gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer",
    "microphone", "midi", "payment", "picture-in-picture", "screen-wake-lock", "serial", "sync-xhr", "usb",
    "window-management", "xr-spatial-tracking",
)  # fmt: skip
REFUSES_GZIP = re.compile(r"\bgzip\s*;\s*q=0(\.0*)?\s*(,|$)", re.IGNORECASE)  # Django's middleware ignores q
PERMISSIONS_POLICY = ", ".join(f"{feature}=()" for feature in DENIED_FEATURES)


class ResponseHeadersMiddleware:
    """Set the headers that Django has no middleware for. Only a view can allow browsers to keep its answer."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.content_policy = build_policy()  # the same for each answer: csp's own middleware would build it each time

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", self.content_policy)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response


class PageCompressionMiddleware(GZipMiddleware):
    """Compress pages and the description of the API if they have an ETag; an answer that shows a secret has none."""

    COMPRESSED = ("text/html", "application/vnd.oai.openapi+json")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if "ETag" not in response or not response.get("Content-Type", "").startswith(self.COMPRESSED):
            return response
        if REFUSES_GZIP.search(request.headers.get("Accept-Encoding", "")):
            patch_vary_headers(response, ["Accept-Encoding"])
            return response
        return super().process_response(request, response)
