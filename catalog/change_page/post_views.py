"""The forms on the page of a drift change, for signed-in editors only, never for API keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponseRedirect
from django.utils import timezone

from catalog.change_page.acknowledge import acknowledge_drift, undo_acknowledgement
from catalog.change_page.mute import mute_drift, unmute_drift
from catalog.change_page.views import require_drift
from catalog.models import Drift
from wire.address_members import read_number
from workspaces.access import require_member_environment
from workspaces.pages.form_answers import member_form, return_to_page


@member_form
def post_acknowledgement(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponseRedirect:
    """Acknowledge a change, or undo that if `undo` is set; then go back to its page."""
    verb = undo_acknowledgement if request.POST.get("undo") else acknowledge_drift
    return _decide(request, slug, environment, pk, verb)


@member_form
def post_mute(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponseRedirect:
    """Mute this kind of change at this node for `days`, or undo that if `undo` is set; then go back to the page."""
    if request.POST.get("undo"):
        return _decide(request, slug, environment, pk, unmute_drift)
    days = read_number(request.POST, "days") or 0
    return _decide(request, slug, environment, pk, partial(mute_drift, days=days))


def _decide(
    request: HttpRequest, slug: str, environment: str, pk: int, verb: Callable[..., None]
) -> HttpResponseRedirect:
    target = require_member_environment(request, slug, environment)
    drift: Drift = require_drift(target, pk)
    verb(drift, actor=request.user.get_username(), now=timezone.now())
    return return_to_page(request, "change", target, {"id": str(drift.pk)}, fragment="review")
