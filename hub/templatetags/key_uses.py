"""What each API key did in the last 7 days, for the page of keys."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django import template
from django.template import Context
from django.utils import timezone

from hub.key_uses.queries import KeyUse, find_last_use
from hub.key_uses.queries import read_key_uses as read_uses_of_keys
from wire.time.period import parse_period
from workspaces.models import ApiKey
from workspaces.refusals.queries import count_refusals

register = template.Library()


@register.simple_tag(takes_context=True)
def read_key_uses(context: Context) -> Mapping[int, Sequence[KeyUse]]:
    """Return the uses of each key of the workspace by its row id."""
    now = timezone.now()
    period = parse_period({"tz": context["period"].zone.key}, now=now)
    return read_uses_of_keys(context["workspace"], period, now=now)


@register.simple_tag(takes_context=True)
def count_refused_requests(context: Context) -> Mapping[int, int]:
    """Return how many requests of each key the hub refused in the last 7 days, by its row id."""
    period = parse_period({"tz": context["period"].zone.key}, now=timezone.now())
    return count_refusals(context["workspace"], period)


@register.filter
def last_use(key: ApiKey, uses_by_key: Mapping[int, Sequence[KeyUse]]) -> datetime | None:
    return find_last_use(key, uses_by_key.get(key.pk, ()))


@register.filter
def count_still_used(keys: Iterable[ApiKey], refused_by_key: Mapping[int, int]) -> int:
    """Return how many of these keys sent requests that were refused."""
    return sum(key.pk in refused_by_key for key in keys)
