"""The intent inspector: paste what a backend received, see every check. Nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from intents.verification.forms import RequestForm
from intents.verification.inspect import inspect_request
from wire.period import Period, parse_period
from workspaces.access import require_member_environment
from workspaces.models import Environment, Membership
from workspaces.page import Page, render_html

LINK_MEMBERS = ("method", "path", "received_at")
INITIAL = {"method": "POST", "content_type": "application/json"}


def show_inspector(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the empty inspector; a link may fill in method, path and the time of receipt."""
    members = {name: request.GET[name] for name in LINK_MEMBERS if name in request.GET}
    return _build_page(lambda: {"form": RequestForm(initial=INITIAL | members), "inspection": None})


@sensitive_post_parameters()
@login_required
def check(request: HttpRequest, slug: str, environment: str) -> HttpResponse:
    """Answer the inspector's form; redirect a GET, as after signing in, to the empty inspector."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("inspector", args=[slug, environment]))
    environment_row = require_member_environment(request, slug, environment, role=Membership.VIEWER)
    page = _build_page(lambda: _build_context(request, environment_row))
    return render_html(request, page, environment_row, "inspector", parse_period(request.GET, now=timezone.now()))


def _build_page(build_context: Callable[[], Mapping[str, Any]]) -> Page:
    """Build the page. The pasted intent is a secret until it expires, so no browser may keep the answer."""
    return Page("intents/inspector.html", build_context, has_period=False, holds_secrets=True)


def _build_context(request: HttpRequest, environment: Environment) -> Mapping[str, Any]:
    form = RequestForm(request.POST)
    if not form.is_valid():
        return {"form": form, "inspection": None}
    received_at = form.cleaned_data["received_at"] or timezone.now()
    inspection = inspect_request(environment, form.build_request(), received_at=received_at)
    return {"form": form, "inspection": inspection}
