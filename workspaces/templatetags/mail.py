"""Tell templates whether mail of this hub reaches anybody."""

from __future__ import annotations

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def has_mail_server() -> bool:
    """Return whether EMAIL_URL is set; without it, mail is printed to the hub's output."""
    return bool(settings.EMAIL_URL)
