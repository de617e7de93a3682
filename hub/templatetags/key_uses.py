"""What each API key did in the last 7 days, for the page of keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django import template
from django.template import Context
from django.utils import timezone

from hub.key_uses.queries import KeyUse, find_last_use
from hub.key_uses.queries import read_key_uses as read_uses_of_keys
from wire.period import parse_period
from workspaces.models import ApiKey

register = template.Library()


@register.simple_tag(takes_context=True)
def read_key_uses(context: Context) -> Mapping[int, Sequence[KeyUse]]:
    """Return the uses of each key of the workspace by its row id."""
    now = timezone.now()
    period = parse_period({"tz": context["period"].zone.key}, now=now)
    return read_uses_of_keys(context["workspace"], period, now=now)


@register.filter
def last_use(key: ApiKey, uses_by_key: Mapping[int, Sequence[KeyUse]]) -> datetime | None:
    return find_last_use(key, uses_by_key.get(key.pk, ()))
