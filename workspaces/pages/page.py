"""Make pages: a view returns its tables and its context, and this module answers with HTML, JSON or CSV.

Pages are `/w/<workspace>/<environment>/<page>`. `<page>.json` has all tables, and `<page>.csv?table=NAME` has one
(contract §5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from hashlib import sha256
from math import ceil
from typing import Any, NamedTuple

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.text import Truncator

from wire.errors import DomainError
from wire.filters import read_text, read_texts
from wire.http.problems import FailureResponse, Problem, build_document
from wire.http.read_only import read_only
from wire.postgresql.replica import get_read_age
from wire.postgresql.replica_requests import answer_from_replica
from wire.postgresql.snapshot import read_snapshot
from wire.search_words import MAX_SEARCH_WORDS, read_search_words, split_search
from wire.table_exports import Table, stream_csv, stream_json
from wire.time.period import PRESETS, Period, parse_period
from workspaces.access import has_role, list_workspaces, require_member_environment, require_readable_environment
from workspaces.authentication import HEADER
from workspaces.errors import ScopeMissing
from workspaces.models import Environment, Membership
from workspaces.pages.shown_once import shows_once

AGE_STEP = 5  # seconds
MAX_QUOTED = 60  # characters of a value that a page quotes
CSRF_TOKENS = re.compile(rb'(?<=name="csrfmiddlewaretoken" value=")[^"]*')


@dataclass(frozen=True)
class Page:
    """The content of a page. `context` is called for HTML only, `tables` are read for exports only.

    partial: the template for htmx requests, if it differs.
    takes: for members of the address (`name=value`), by name, a function that returns something true for an allowed
        value. The page says that it ignores any other value; an export refuses it. Members that are not in `takes`
        may have any value.
    limits: for members that may be repeated, by name, how many values the page takes. The page says that it ignores
        the others; an export refuses them.
    searches: the members that are searched for word by word. The page says that it ignores words beyond
        MAX_SEARCH_WORDS; an export refuses them.
    has_period: whether the page depends on the chosen period.
    holds_secrets: whether the page shows a secret, so that browsers must not store it.
    """

    template: str
    context: Callable[[], Mapping[str, Any]]
    tables: Sequence[Table] = ()
    partial: str = ""
    takes: Mapping[str, Callable[[str], object]] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)
    searches: Sequence[str] = ()
    has_period: bool = True
    holds_secrets: bool = False

    def find_unknown(self, address: Mapping[str, str]) -> Mapping[str, str]:
        """Return the members of the address whose value the page does not take; a long value is cut."""
        values = {name: value for name in self.takes if (value := read_text(address, name))}
        return {
            name: Truncator(value).chars(MAX_QUOTED) for name, value in values.items() if not self.takes[name](value)
        }

    def find_cut(self, address: QueryDict) -> Mapping[str, list[str] | str]:
        """Return the members of the address of which the page takes a part only, each with that part."""
        values = {name: read_texts(address, name) for name in self.limits}
        searches = {name: read_text(address, name) for name in self.searches}
        return {
            **{name: texts[: self.limits[name]] for name, texts in values.items() if len(texts) > self.limits[name]},
            **{
                name: " ".join(read_search_words(search))
                for name, search in searches.items()
                if len(split_search(search)) > MAX_SEARCH_WORDS
            },
        }

    def describe_cut(self, cut: Mapping[str, list[str] | str]) -> str:
        """Say how much the page takes of the members that `find_cut` returned; "" if there are none."""
        limits = (
            f"{MAX_SEARCH_WORDS} words of {name}" if name in self.searches else f"{len(part)} values of {name}"
            for name, part in cut.items()
        )
        return f"This page takes at most {' and '.join(limits)}." if cut else ""


View = Callable[[HttpRequest, Environment, Period], Page]


class Route(NamedTuple):
    """The arguments with which `page_paths` was called for one page."""

    name: str
    view: View
    role: str
    is_current: bool


SHAREABLE_PAGES: dict[str, Route] = {}
"""The pages that a shared link may show, by name."""
PAGE_NAMES: set[str] = set()


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


def render_html(request: HttpRequest, page: Page, environment: Environment, name: str, period: Period) -> HttpResponse:
    """Answer with the page as HTML, or 304 if the browser has it already."""
    frame = build_frame(request, page, environment, name, period)
    with timezone.override(period.zone):
        context = page.context()
        is_repeatable = request.method == "GET" and not shows_once(request)
        context = {**frame, **context, "is_repeatable": is_repeatable}
        response = render(request, _choose_template(request, page), context)
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request", "HX-Target", "Cookie"])
    if page.holds_secrets:
        patch_cache_control(response, private=True, no_store=True)
        return response
    patch_cache_control(response, private=True, no_cache=True)
    response["ETag"] = _compute_etag(request, response.content)
    return get_conditional_response(request, response["ETag"], None, response) or response


def build_frame(
    request: HttpRequest, page: Page, environment: Environment, name: str, period: Period
) -> Mapping[str, Any]:
    """Return the values that the frame of every page shows."""
    return {
        "environment": environment,
        "workspace": environment.workspace,
        "environments": environment.readable,
        "workspaces": list_workspaces(request.user),
        "page": name,
        "own_address": _find_own_address(request, environment, name),
        "period": period,
        "has_period": page.has_period,
        "unknown": page.find_unknown(request.GET),
        "cut": (cut := page.find_cut(request.GET)),
        "cut_sentence": page.describe_cut(cut),
        "may_share": name in SHAREABLE_PAGES and has_role(request.user, environment.workspace, Membership.EDITOR),
        "presets": [(key, label) for key, (label, _) in PRESETS.items()],
        "data_age": _round_age(get_read_age()),
    }


def _find_own_address(request: HttpRequest, environment: Environment, name: str) -> str:
    """Return the address with which links to other states of this page begin; "" if the browser is at that address.

    A page that answers a form is at the address of the form, which takes no links.
    """
    return reverse(name, args=[environment.workspace.slug, environment.name]) if request.method == "POST" else ""


def _answer(route: Route, format_: str, request: HttpRequest, slug: str, environment: str) -> HttpResponseBase:
    if not request.user.is_authenticated and HEADER not in request.headers:
        return _refuse_signed_out(request, format_)
    if route.role and HEADER not in request.headers:
        environment_row = require_member_environment(request, slug, environment, role=route.role)
    else:
        environment_row = require_readable_environment(request, slug, environment)
        if route.role:
            raise ScopeMissing(f"API keys cannot read this page. Sign in with the role {route.role}.")
    period = parse_period(request.GET, now=timezone.now())
    if period.faults and format_ != "html":
        detail = f"{' '.join(period.faults)} Correct the address: a download does not fall back to another period."
        raise Problem("invalid-request", detail)
    respond = partial(_respond, route, format_, request, environment_row, period)
    return respond() if route.is_current else answer_from_replica(request, respond)


def _respond_html(route: Route, request: HttpRequest, environment: Environment, period: Period) -> HttpResponse:
    try:
        with read_snapshot():
            page = route.view(request, environment, period)
            return render_html(request, page, environment, route.name, period)
    except DomainError as error:
        return _render_failure(request, error, environment, route.name, period)


def _respond(
    route: Route, format_: str, request: HttpRequest, environment: Environment, period: Period
) -> HttpResponseBase:
    if format_ == "html":
        return _respond_html(route, request, environment, period)
    page = route.view(request, environment, period)
    if unknown := page.find_unknown(request.GET):
        members = ", ".join(f"{name}={value}" for name, value in unknown.items())
        detail = f"This page does not know {members}. Correct the address: a download never ignores a filter."
        raise Problem("invalid-request", detail)
    if cut := page.find_cut(request.GET):
        raise Problem("invalid-request", f"{page.describe_cut(cut)} Leave out the others.")
    if format_ == "csv":
        name = f"{environment.workspace.slug}-{environment.name}-{route.name}"
        days = _name_period(period) if page.has_period else ""
        response = stream_csv(page.tables, request.GET.get("table"), name, period=days)
    else:
        response = stream_json(page.tables, _export_facts(environment, route.name, period if page.has_period else None))
    patch_cache_control(response, private=True, no_store=True)
    return response


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
    document = build_document(error)
    page = Page("failure.html", lambda: {"problem": document}, has_period=False, holds_secrets=True)
    content = render_html(request, page, environment, name, period).content
    return FailureResponse(content, error)


def find_failure_frame(request: HttpRequest) -> Mapping[str, Any]:
    """Return the frame of the workspace in the address, for the page of a failure; {} unless this user may open it.

    The frame shows the environment in the address, or production if there is none of that name. Its value
    `is_elsewhere` is true if the address is not that of a page: then no section of the side bar is the current one.
    """
    _, _, slug, environment_name, *_ = [*request.path.split("/"), "", "", ""]
    if not request.path.startswith("/w/") or not hasattr(request, "user"):
        return {}
    workspace = list_workspaces(request.user).filter(slug=slug).first()
    if workspace is None:
        return {}
    environments = {environment.name: environment for environment in workspace.environments.all()}
    environment = environments.get(environment_name, environments["production"])
    match = request.resolver_match
    is_page = match is not None and match.url_name in PAGE_NAMES
    name = str(match.url_name) if match and is_page else "overview"
    page = Page("failure.html", dict, has_period=False)
    frame = build_frame(request, page, environment, name, parse_period(request.GET, now=timezone.now()))
    return {**frame, "may_share": False, "is_elsewhere": not is_page}


def _round_age(age: float | None) -> int | None:
    """Round an age up to whole steps, so that an unchanged page keeps its ETag for longer."""
    return None if age is None else max(ceil(age / AGE_STEP), 1) * AGE_STEP


def _choose_template(request: HttpRequest, page: Page) -> str:
    htmx = request.htmx  # type: ignore[attr-defined]  # django_htmx's middleware sets it
    return page.partial if page.partial and htmx and not htmx.history_restore_request else page.template


def _compute_etag(request: HttpRequest, content: bytes) -> str:
    """Return an ETag of the page and the CSRF cookie. CSRF tokens in forms are left out, because they always differ."""
    digest = sha256(CSRF_TOKENS.sub(b"", content))
    digest.update(request.META.get("CSRF_COOKIE", "").encode())
    return f'W/"{digest.hexdigest()[:32]}"'


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
