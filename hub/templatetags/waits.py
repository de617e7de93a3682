"""How much waits for a person, beside the section where it waits."""

from __future__ import annotations

from django import template
from django.template import Context
from django.utils import timezone

from intents.rejections import queries as intents

register = template.Library()


@register.simple_tag(takes_context=True)
def waits(context: Context, page: str) -> int:
    """What a person can decide now on this page of the environment that is shown; 0 where nothing ever waits."""
    if page != "confirmations":
        return 0
    return intents.waiting(context["environment"], now=timezone.now()).count()
