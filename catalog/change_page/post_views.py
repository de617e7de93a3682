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
from workspaces.models import Environment, Membership
from workspaces.pages.form_answers import member_form, return_to_page


@member_form(Membership.EDITOR)
def post_acknowledgement(request: HttpRequest, environment: Environment, pk: int) -> HttpResponseRedirect:
    """Acknowledge a change, or undo that if `undo` is set; then go back to its page."""
    verb = undo_acknowledgement if request.POST.get("undo") else acknowledge_drift
    return _decide(request, environment, pk, verb)


@member_form(Membership.EDITOR)
def post_mute(request: HttpRequest, environment: Environment, pk: int) -> HttpResponseRedirect:
    """Mute this kind of change at this node for `days`, or undo that if `undo` is set; then go back to the page."""
    if request.POST.get("undo"):
        return _decide(request, environment, pk, unmute_drift)
    days = read_number(request.POST, "days") or 0
    return _decide(request, environment, pk, partial(mute_drift, days=days))


def _decide(request: HttpRequest, environment: Environment, pk: int, verb: Callable[..., None]) -> HttpResponseRedirect:
    drift: Drift = require_drift(environment, pk)
    verb(drift, actor=request.user.get_username(), now=timezone.now())
    return return_to_page(request, "change", environment, {"id": str(drift.pk)}, fragment="review")
