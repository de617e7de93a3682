"""Read the HTML of a page without its line breaks and indentation, so that a test can look for a whole sentence."""

from __future__ import annotations

from html import unescape

from django.http import HttpResponse


def read_html(response: HttpResponse) -> str:
    """Return the HTML of a page, with single spaces."""
    return " ".join(response.content.decode().split())


def read_unescaped_html(response: HttpResponse) -> str:
    """Return the HTML of a page, with single spaces and with characters in place of their entities."""
    return " ".join(unescape(response.content.decode()).split())
