"""The values of the code snippets on pages: the address of this hub, and the beginning of a key."""

from __future__ import annotations

from django import template
from django.db.models import Q
from django.template import Context
from django.utils import timezone

from workspaces.models import ApiKey, Environment

register = template.Library()


@register.simple_tag(takes_context=True)
def origin(context: Context) -> str:
    """Return the address of this hub as the reader's browser reached it: `http://localhost:8000`."""
    return str(context["request"].build_absolute_uri("/")).rstrip("/")


@register.simple_tag(takes_context=True)
def key_prefix(context: Context, scope: str = "report") -> str:
    """Return the first characters of the key with this scope and the fewest other scopes; of several, the newest.

    The hub stores no whole key.
    """
    environment: Environment = context["environment"]
    keys = environment.workspace.api_keys.filter(
        Q(expires_at=None) | Q(expires_at__gt=timezone.now()),
        kind=ApiKey.SECRET,
        revoked_at=None,
        scopes__contains=[scope],
    )
    usable_keys = [key for key in keys.order_by("-id") if key.may_use(environment.name)]
    return str(min(usable_keys, key=lambda key: len(key.scopes), default=unknown_key()))


@register.simple_tag
def unknown_key() -> str:
    """Return the placeholder for a key that is not known."""
    return "gak_…"
