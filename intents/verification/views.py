"""The intent inspector: paste what a backend received, see every check. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from intents.verification.inspect import inspect
from intents.verification.received_request import Presented
from wire.period import Period, parse_period
from workspaces.access import require_member_environment
from workspaces.models import Environment
from workspaces.page import Page, render_page

HEADER_NAME = "x-service-intent:"


class RequestForm(forms.Form):
    """What a backend received. All of it may be left empty but method and path."""

    header = forms.CharField(required=False)
    method = forms.CharField(max_length=32)
    path = forms.CharField(max_length=8192, strip=False)
    query = forms.CharField(required=False, strip=False)
    content_type = forms.CharField(required=False)
    body = forms.CharField(required=False, strip=False)
    step_up = forms.BooleanField(required=False)

    def clean_header(self) -> str:
        """A whole header line is as good as its value."""
        header = self.cleaned_data["header"]
        return header[len(HEADER_NAME) :].strip() if header.lower().startswith(HEADER_NAME) else header

    def presented(self) -> Presented:
        given = self.cleaned_data
        # A browser sends the lines of a text area with CR LF; a backend hardly ever receives them so.
        body = given.pop("body").replace("\r\n", "\n").encode()
        query = given.pop("query").removeprefix("?")
        return Presented(body=body, query=query, **given)


def inspector(request: HttpRequest, environment: Environment, period: Period) -> Page:
    return Page("intents/inspector.html", lambda: {"form": RequestForm(initial=INITIAL)})


INITIAL = {"method": "POST", "content_type": "application/json"}


@sensitive_post_parameters()
@login_required
def checks(request: HttpRequest, slug: str, environment: str) -> HttpResponse:
    """The inspector's answer to its form; by GET, as after signing in, the empty inspector."""
    if request.method != "POST":
        return HttpResponseRedirect(reverse("inspector", args=[slug, environment]))
    found = require_member_environment(request, slug, environment)
    page = Page("intents/inspector.html", lambda: inspected(request, found))
    return render_page(request, page, found, "inspector", parse_period(request.GET, now=timezone.now()))


def inspected(request: HttpRequest, environment: Environment) -> Mapping[str, Any]:
    form = RequestForm(request.POST)
    if not form.is_valid():
        return {"form": form}
    return {"form": form, "inspection": inspect(environment, form.presented(), now=timezone.now())}
