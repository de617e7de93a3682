"""What became of calls since the present secret began to sign, and where single rejections since then are listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django import template
from django.template import Context
from django.utils import timezone

from hub.rotation_results.queries import SigningResult
from hub.rotation_results.queries import read_signing_results as read_results_of_workspace
from workspaces.models import Environment
from workspaces.templatetags.addresses import environment_page_url

register = template.Library()


@register.simple_tag(takes_context=True)
def read_signing_results(context: Context) -> Sequence[SigningResult]:
    """Return the results of each environment of the workspace."""
    return read_results_of_workspace(context["workspace"], now=timezone.now())


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
