"""What the code snippets on pages need: the address of this hub, and the beginning of a key."""

from __future__ import annotations

from django import template
from django.template import Context

from workspaces.models import ApiKey, Workspace

register = template.Library()


@register.simple_tag(takes_context=True)
def origin(context: Context) -> str:
    """Return the address of this hub as the reader's browser reached it: `http://localhost:8000`."""
    return str(context["request"].build_absolute_uri("/")).rstrip("/")


@register.simple_tag(takes_context=True)
def key_prefix(context: Context) -> str:
    """Return the first characters of the workspace's newest secret key: the key itself is not stored."""
    workspace: Workspace = context["environment"].workspace
    key = workspace.api_keys.filter(kind=ApiKey.SECRET, revoked_at=None).order_by("-id").first()
    return str(key or "gak_…")
