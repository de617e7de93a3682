"""What settings pages say from the rows of all domains: uses of keys, last data, calls after a rotation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django import template
from django.template import Context
from django.utils import timezone

from hub.settings_pages import key_uses, last_data, rotation_results
from hub.settings_pages.key_uses import KeyUse
from hub.settings_pages.last_data import LastData
from hub.settings_pages.rotation_results import SigningResult
from wire.time.period import parse_period
from workspaces.models import ApiKey, Environment
from workspaces.refusals.queries import count_refusals
from workspaces.templatetags.addresses import environment_page_url

register = template.Library()


@register.simple_tag(takes_context=True)
def read_key_uses(context: Context) -> Mapping[int, Sequence[KeyUse]]:
    """Return what each key of the workspace did in the last 7 days, by its row id."""
    now = timezone.now()
    period = parse_period({"tz": context["period"].zone.key}, now=now)
    return key_uses.read_key_uses(context["workspace"], period, now=now)


@register.simple_tag(takes_context=True)
def count_refused_requests(context: Context) -> Mapping[int, int]:
    """Return how many requests of each key the hub refused in the last 7 days, by its row id."""
    period = parse_period({"tz": context["period"].zone.key}, now=timezone.now())
    return count_refusals(context["workspace"], period)


@register.filter
def last_use(key: ApiKey, uses_by_key: Mapping[int, Sequence[KeyUse]]) -> datetime | None:
    return key_uses.find_last_use(key, uses_by_key.get(key.pk, ()))


@register.filter
def count_still_used(keys: Iterable[ApiKey], refused_by_key: Mapping[int, int]) -> int:
    """Return how many of these keys sent requests that were refused."""
    return sum(key.pk in refused_by_key for key in keys)


@register.simple_tag(takes_context=True)
def read_last_data(context: Context) -> Sequence[LastData]:
    """Return the last data of each environment of the workspace."""
    return last_data.read_last_data(context["workspace"])


@register.simple_tag(takes_context=True)
def read_signing_results(context: Context) -> Sequence[SigningResult]:
    """Return the results of each environment since the present secret began to sign."""
    return rotation_results.read_signing_results(context["workspace"], now=timezone.now())


@register.filter
def any_unknown(results: Iterable[SigningResult]) -> bool:
    """Return whether there is an environment whose backends seem to lack the present secret."""
    return any(result.is_unknown for result in results)


@register.simple_tag(takes_context=True)
def singles_url(context: Context, environment: Environment, reason: str, since: datetime) -> str:
    """Return the address of the single rejections for a reason since a moment, even one amid a quarter hour."""
    moment = since.isoformat()
    members = {"reason": reason, "range": "", "to": "", "from": moment, "since": moment}
    return environment_page_url(context, environment.name, "rejections", **members)
