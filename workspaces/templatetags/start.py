"""What the first lines of code need to know: where the hub is, and which key to put in."""

from __future__ import annotations

from django import template
from django.template import Context

from workspaces.queries import newest_secret_key

register = template.Library()


@register.simple_tag(takes_context=True)
def origin(context: Context) -> str:
    """`http://localhost:8000`: this hub, as the reader's browser reached it."""
    return context["request"].build_absolute_uri("/").rstrip("/")


@register.simple_tag(takes_context=True)
def key_shown(context: Context) -> str:
    """The first characters of the workspace's newest secret key: the key itself is not stored."""
    key = newest_secret_key(context["environment"].workspace)
    return str(key) if key else "gak_…"
