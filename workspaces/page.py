"""One way to make a page: a view gives its tables and its context, this answers HTML, JSON or CSV.

Pages are `/w/<workspace>/<environment>/<page>`; `<page>.json` has all tables, `<page>.csv?table=NAME` one (contract 5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.http import urlencode

from wire import tables
from wire.http.problems import Problem
from wire.http.read_only import read_only
from wire.period import PRESETS, Period, parse_period
from workspaces.access import readable_environment, workspaces_of
from workspaces.authentication import HEADER
from workspaces.models import Environment


@dataclass(frozen=True)
class Page:
    """What a view found: `context` is read for HTML only, `tables` for the exports only.

    `partial`, where given, is the template for htmx requests.
    """

    template: str
    context: Callable[[], Mapping[str, Any]]
    tables: Sequence[tables.Table] = ()
    partial: str = ""


TOKENS = re.compile(rb'(?<=name="csrfmiddlewaretoken" value=")[^"]*')

View = Callable[[HttpRequest, Environment, Period], Page]


def page_paths(name: str, view: View) -> list[URLPattern]:
    """The three addresses of a page: itself, `.json` and `.csv`."""
    prefix = f"w/<slug:slug>/<str:environment>/{name}"
    forms = {"": "html", ".json": "json", ".csv": "csv"}
    return [
        path(f"{prefix}{ending}", read_only(partial(answer, view, name, form)), name=f"{name}{ending}")
        for ending, form in forms.items()
    ]


def answer(view: View, name: str, form: str, request: HttpRequest, slug: str, environment: str) -> HttpResponseBase:
    if not request.user.is_authenticated and HEADER not in request.headers:
        return signed_out(request, form)
    found = readable_environment(request, slug, environment)
    span = parse_period(request.GET, now=timezone.now())
    if span.fault and form != "html":
        raise Problem("invalid-request", f"{span.fault}. Correct the address: nobody would see what is left out.")
    page = view(request, found, span)
    if form == "csv":
        return tables.as_csv(page.tables, request.GET.get("table"), f"{slug}-{environment}-{name}")
    if form == "json":
        return tables.as_json(page.tables, facts(found, name, span))
    return html(request, page, found, name, span)


def html(request: HttpRequest, page: Page, environment: Environment, name: str, span: Period) -> HttpResponse:
    shared = {
        "environment": environment,
        "workspace": environment.workspace,
        "environments": environment.workspace.environments.all(),
        "workspaces": workspaces_of(request.user),
        "page": name,
        "range": span,
        "presets": [(key, label) for key, (label, _) in PRESETS.items()],
    }
    as_partial = page.partial and request.htmx and not request.htmx.history_restore_request
    with timezone.override(span.zone):
        response = render(request, page.partial if as_partial else page.template, {**shared, **page.context()})
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request", "HX-Target", "Cookie"])
    patch_cache_control(response, private=True, no_cache=True)
    response["ETag"] = etag(request, response.content)
    return get_conditional_response(request, response["ETag"], None, response)


def redirect_to_page(
    page: str, environment: Environment, query: Mapping[str, str | None], *, fragment: str = ""
) -> HttpResponseRedirect:
    """Answer 303 to a page of this environment. Members of the query without a value are left out."""
    address = reverse(page, args=[environment.workspace.slug, environment.name])
    members = urlencode({name: value for name, value in query.items() if value})
    return HttpResponseRedirect(
        f"{address}{'?' if members else ''}{members}{'#' if fragment else ''}{fragment}", status=303
    )


def etag(request: HttpRequest, content: bytes) -> str:
    """The same for the same page: a form's token is another in every answer, and good as long as the cookie is."""
    digest = sha256(TOKENS.sub(b"", content))
    digest.update(request.META.get("CSRF_COOKIE", "").encode())
    return f'W/"{digest.hexdigest()[:32]}"'


def facts(environment: Environment, name: str, span: Period) -> Mapping[str, Any]:
    return {
        "workspace": environment.workspace.slug,
        "environment": environment.name,
        "page": name,
        "from": span.start,
        "to": span.end,
        "zone": span.zone.key,
    }


def signed_out(request: HttpRequest, form: str) -> HttpResponseBase:
    if form == "html":
        return redirect_to_login(request.get_full_path())
    raise Problem("not-signed-in", f"Sign in, or send a secret key of this workspace in {HEADER}.")
