"""Answer requests for pages: a view returns its tables and its context, and this module answers with HTML, JSON or CSV.

Pages are `/w/<workspace>/<environment>/<page>`. `<page>.json` has all tables, and `<page>.csv?table=NAME` has one
(contract §5).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.cache import patch_cache_control

from wire.errors import DomainError
from wire.http.problems import FailureResponse, Problem, build_document
from wire.http.read_only import read_only
from wire.postgresql.replica_requests import answer_from_replica
from wire.postgresql.snapshot import read_snapshot
from wire.table_exports import stream_csv, stream_json
from wire.time.period import Period, parse_period
from workspaces.access import require_member_environment, require_readable_environment
from workspaces.authentication import HEADER
from workspaces.errors import ScopeMissing
from workspaces.models import Environment
from workspaces.pages.ignored_values import (
    describe_limits,
    find_limited_values,
    find_lone_values,
    find_unknown_values,
)
from workspaces.pages.page import Page, View
from workspaces.pages.render import render_html
from workspaces.pages.routes import PAGE_NAMES, SHAREABLE_PAGES, Route


def page_paths(
    name: str, view: View, *, role: str = "", is_current: bool = False, is_shareable: bool = False
) -> list[URLPattern]:
    """Return the three addresses of a page: itself, `.json` and `.csv`.

    role: the role that a signed-in member needs to see it. Without a role, every member and every key with the scope
        `report` may.
    is_current: whether it is always read from the primary, as pages with a role are.
    is_shareable: whether a shared link may show it to strangers, without the parts that its templates mark as private.
    """
    prefix = f"w/<slug:slug>/<str:environment>/{name}"
    formats = {"": "html", ".json": "json", ".csv": "csv"}
    route = Route(name, view, role, is_current or bool(role))
    PAGE_NAMES.add(name)
    if is_shareable:
        SHAREABLE_PAGES[name] = route
    return [
        path(f"{prefix}{suffix}", read_only(partial(_answer, route, format_)), name=f"{name}{suffix}")
        for suffix, format_ in formats.items()
    ]


def _answer(route: Route, format_: str, request: HttpRequest, slug: str, environment: str) -> HttpResponseBase:
    if not request.user.is_authenticated and HEADER not in request.headers:
        return _refuse_signed_out(request, format_)
    shown_environment = _require_environment(route, request, slug, environment)
    period = parse_period(request.GET, now=timezone.now())
    if period.faults and format_ != "html":
        detail = f"{' '.join(period.faults)} Correct the address: a download does not fall back to another period."
        raise Problem("invalid-request", detail)
    respond = partial(_respond, route, format_, request, shown_environment, period)
    return respond() if route.is_current else answer_from_replica(request, respond)


def _require_environment(route: Route, request: HttpRequest, slug: str, name: str) -> Environment:
    """Return the environment of the address, if the session or the key may see this page of it."""
    if route.role and HEADER not in request.headers:
        return require_member_environment(request, slug, name, role=route.role)
    environment = require_readable_environment(request, slug, name)
    if route.role:
        raise ScopeMissing(f"API keys cannot read this page. Sign in with the role {route.role}.")
    return environment


def _respond(
    route: Route, format_: str, request: HttpRequest, environment: Environment, period: Period
) -> HttpResponseBase:
    if format_ == "html":
        return _respond_html(route, request, environment, period)
    page = route.view(request, environment, period)
    if unknown_values := find_unknown_values(page, request.GET):
        members = ", ".join(f"{name}={value}" for name, value in unknown_values.items())
        detail = f"This page does not know {members}. Correct the address: a download never ignores a filter."
        raise Problem("invalid-request", detail)
    if limited_values := find_limited_values(page, request.GET):
        raise Problem("invalid-request", f"{describe_limits(page, limited_values)} Leave out the others.")
    if lone_values := find_lone_values(page, request.GET):
        needs = " and ".join(f"{page.minimums[name]} different values of {name}" for name in lone_values)
        raise Problem("invalid-request", f"This page needs at least {needs}, or none.")
    if format_ == "csv":
        name = f"{environment.workspace.slug}-{environment.name}-{route.name}"
        days = _name_period(period) if page.has_period else ""
        response = stream_csv(page.tables, request.GET.get("table"), name, period=days)
    else:
        response = stream_json(page.tables, _export_facts(environment, route.name, period if page.has_period else None))
    patch_cache_control(response, private=True, no_store=True)
    return response


def _respond_html(route: Route, request: HttpRequest, environment: Environment, period: Period) -> HttpResponse:
    try:
        with read_snapshot():
            page = route.view(request, environment, period)
            return render_html(request, page, environment, route.name, period)
    except DomainError as error:
        return _render_failure(request, error, environment, route.name, period)


def _name_period(period: Period) -> str:
    """Return the period as the name of a file has it: `7d`, or `2026-11-01-to-2026-11-08`."""
    if period.preset:
        return period.preset
    first, last = (moment.astimezone(period.zone) for moment in (period.start, period.end - timedelta(microseconds=1)))
    return f"{first:%Y-%m-%d}-to-{last:%Y-%m-%d}"


def _render_failure(
    request: HttpRequest, error: DomainError, environment: Environment, name: str, period: Period
) -> HttpResponse:
    """Answer with the failure inside the frame of the workspace, so that the reader can choose another environment."""
    context = {"problem": build_document(error), "known_in": error.known_in}
    page = Page("failure.html", lambda: context, has_period=False, holds_secrets=True)
    content = render_html(request, page, environment, name, period).content
    return FailureResponse(content, error)


def _export_facts(environment: Environment, name: str, period: Period | None) -> Mapping[str, Any]:
    """Return the head of an export.

    period: the period of the page; None if the page does not depend on one.
    """
    return {
        "workspace": environment.workspace.slug,
        "environment": environment.name,
        "page": name,
        "from": period and period.start,
        "to": period and period.end,
        "zone": period and period.zone.key,
    }


def _refuse_signed_out(request: HttpRequest, format_: str) -> HttpResponseBase:
    if format_ == "html":
        return redirect_to_login(request.get_full_path())
    raise Problem("not-signed-in", f"Sign in, or send a secret key of this workspace in {HEADER}.")
