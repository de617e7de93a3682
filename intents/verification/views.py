"""The intent inspector: a person pastes what a backend received, and sees every check.

The pasted text is kept in the encrypted session for ten minutes, so that Back and a reload show the result again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters

from affidavit import REASONS
from intents.verification.forms import RequestForm
from intents.verification.inspect import inspect_request
from intents.verification.inspector_examples import BODIES, build_example
from wire.time.period import Period, parse_period
from workspaces.access import require_member_environment
from workspaces.models import Environment, Membership
from workspaces.pages.form_answers import read_form_period, redirect_to_page
from workspaces.pages.kept_in_session import find_in_session, keep_in_session
from workspaces.pages.page import Page
from workspaces.pages.render import render_html

CHECK = "inspector check"
MAX_KEPT_CHARACTERS = 64 * 1024  # a larger form is not kept in the session, which every request of a person reads
LINK_MEMBERS = ("method", "path", "received_at")
BODILESS = ("GET", "HEAD")
INITIAL = {"method": "POST", "content_type": "application/json"}


def show_inspector(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the result of the check that `check` in the address names, or the empty inspector.

    A link may fill in method, path and the time of receipt, or name an example.
    """

    def build_context() -> Mapping[str, Any]:
        check_id = request.GET.get("check")
        stored_check = find_in_session(request, CHECK) if check_id else None
        if stored_check and stored_check["id"] == check_id:
            return _build_context(environment, stored_check["form"], datetime.fromisoformat(stored_check["checked_at"]))
        if (example := request.GET.get("example", "")) in BODIES:
            now = timezone.now()
            fields = build_example(environment, example, now=now)
            return {**_build_context(environment, fields, now), "example": example}
        members = {name: request.GET[name] for name in LINK_MEMBERS if name in request.GET}
        template = members.pop("path", "") if "{" in members.get("path", "") else ""
        if "received_at" in members:
            members["received_at"] = members["received_at"].replace("+00:00", "Z")  # as the field's example has it
        initial = INITIAL | members
        if initial["method"] in BODILESS:
            initial["content_type"] = ""
        form = RequestForm(initial=initial)
        context = {
            "form": form,
            "inspection": None,
            "is_gone": bool(check_id),
            "reported_template": template,
            "example": "",
        }
        return {**context, "rejection": _read_rejection_link(request.GET)}

    return _build_page(build_context)


def _read_rejection_link(address: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return the reason, the time and the number of the rejection that filled in the form; None if none did."""
    members = {name: address.get(name, "") for name in ("reason", "received_at", "rejection")}
    return members if members["reason"] in REASONS and all(members.values()) else None


@sensitive_post_parameters()
@login_required
def check(request: HttpRequest, slug: str, environment: str) -> HttpResponse:
    """Keep the inspector's form and redirect to its result.

    A GET, such as the one after signing in, is redirected to the empty inspector.
    """
    if request.method != "POST":
        return HttpResponseRedirect(reverse("inspector", args=[slug, environment]))
    return _check(request, require_member_environment(request, slug, environment, role=Membership.VIEWER))


def _check(request: HttpRequest, environment: Environment) -> HttpResponse:
    now, form = timezone.now(), request.POST.dict()
    if sum(map(len, form.values())) <= MAX_KEPT_CHARACTERS:
        check_id = secrets.token_urlsafe(9)
        fields = {name: form[name] for name in RequestForm.base_fields if name in form}
        keep_in_session(request, CHECK, {"id": check_id, "form": fields, "checked_at": now.isoformat()})
        members = read_form_period(request, environment)
        members["check"] = check_id
        return redirect_to_page("inspector", environment, members)
    page = _build_page(lambda: _build_context(environment, form, now))
    return render_html(request, page, environment, "inspector", parse_period(request.GET, now=now))


def _build_page(build_context: Callable[[], Mapping[str, Any]]) -> Page:
    """Build the page. The pasted intent is a secret until it expires, so no browser may keep the answer."""
    return Page("intents/inspector.html", build_context, has_period=False, holds_secrets=True)


def _build_context(environment: Environment, fields: Mapping[str, str], checked_at: datetime) -> Mapping[str, Any]:
    """Return the form as it was sent, and its result.

    The checks compare with the time of receipt; if the form names none, with `checked_at`.
    """
    form, inspection = RequestForm(fields), None
    if form.is_valid():
        received_at = form.cleaned_data["received_at"] or checked_at
        inspection = inspect_request(environment, form.build_request(), received_at=received_at)
    context = {"form": form, "inspection": inspection, "is_gone": False, "reported_template": ""}
    return {**context, "rejection": None, "example": ""}
