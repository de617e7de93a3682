"""How much waits for a person, beside the section where it waits."""

from __future__ import annotations

from django import template
from django.template import Context
from django.utils import timezone

from intents.gate.queries import list_pending

register = template.Library()


@register.simple_tag(takes_context=True)
def waits(context: Context, page: str) -> int:
    """What a person can decide now on this page of the environment that is shown; 0 where nothing ever waits."""
    if page != "confirmations":
        return 0
    return list_pending(context["environment"], now=timezone.now()).count()
