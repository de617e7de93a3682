"""What became of calls since the present secret signs them, for the page of signing secrets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django import template
from django.template import Context
from django.utils import timezone

from hub.rotation_results.queries import SigningResult
from hub.rotation_results.queries import read_signing_results as read_results_of_workspace

register = template.Library()


@register.simple_tag(takes_context=True)
def read_signing_results(context: Context) -> Sequence[SigningResult]:
    """Return the results of each environment of the workspace."""
    return read_results_of_workspace(context["workspace"], now=timezone.now())


@register.filter
def any_outage(results: Iterable[SigningResult]) -> bool:
    """Return whether an environment accepts no call that the present secret signed."""
    return any(result.outage for result in results)
