"""What every answer tells the browser, whoever made it: nothing is allowed or kept that nobody asked for.

Pages are compressed, and nothing else that the hub renders. An answer that shows a secret never is: beside text that an
address puts into it, its length would tell of the secret (BREACH). CSRF values are masked anew in each answer.
"""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

# Pages use the clipboard and passkeys; what is not named is allowed to them alone. All of these are off for everybody.
DENIED_FEATURES = (
    "accelerometer", "autoplay", "browsing-topics", "camera", "clipboard-read", "display-capture",
    "encrypted-media", "fullscreen", "geolocation", "gyroscope", "hid", "idle-detection", "local-fonts", "magnetometer",
    "microphone", "midi", "payment", "picture-in-picture", "screen-wake-lock", "serial", "sync-xhr", "usb",
    "window-management", "xr-spatial-tracking",
)  # fmt: skip
PERMISSIONS_POLICY = ", ".join(f"{feature}=()" for feature in DENIED_FEATURES)


class ResponseHeadersMiddleware:
    """Set the headers that Django has no middleware for; an answer may be kept only where its view says so."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response


class PageCompressionMiddleware(GZipMiddleware):
    """Compress pages, and the description of the API, where they have an ETag: what shows a secret has none."""

    COMPRESSED = ("text/html", "application/vnd.oai.openapi+json")

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_kept = "ETag" in response and response.get("Content-Type", "").startswith(self.COMPRESSED)
        return super().process_response(request, response) if is_kept else response
