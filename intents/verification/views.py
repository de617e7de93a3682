"""The intent inspector: paste what a backend received, see every check. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
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

INITIAL = {"method": "POST", "content_type": "application/json"}


def show_inspector(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the empty inspector."""
    return Page("intents/inspector.html", lambda: {"form": RequestForm(initial=INITIAL), "inspection": None})


@sensitive_post_parameters()
@login_required
def check(request: HttpRequest, slug: str, environment: str) -> HttpResponse:
    """Answer the inspector's form; redirect a GET, as after signing in, to the empty inspector."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("inspector", args=[slug, environment]))
    environment_row = require_member_environment(request, slug, environment, role=Membership.VIEWER)
    page = Page("intents/inspector.html", lambda: _build_context(request, environment_row))
    return render_html(request, page, environment_row, "inspector", parse_period(request.GET, now=timezone.now()))


def _build_context(request: HttpRequest, environment: Environment) -> Mapping[str, Any]:
    form = RequestForm(request.POST)
    if not form.is_valid():
        return {"form": form, "inspection": None}
    return {"form": form, "inspection": inspect_request(environment, form.build_request(), now=timezone.now())}
