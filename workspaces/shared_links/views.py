"""The page that a shared link shows, and the page on which links are listed and revoked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.debug import sensitive_variables

from wire.errors import InvalidRequest, NotFound
from wire.filters import PERIOD_MEMBERS, RESULT_MEMBERS, VIEW_MEMBERS, read_number, read_text
from wire.http.read_only import read_only
from wire.postgresql.snapshot import read_snapshot
from wire.table_exports import Table
from wire.time.period import Period, parse_period
from workspaces.access import has_role, require_member_environment
from workspaces.models import Environment, Membership, SharedLink, Workspace
from workspaces.pages.form_answers import member_form, render_refused_form, return_to_page
from workspaces.pages.frame import build_frame
from workspaces.pages.page import Page
from workspaces.pages.routes import SHAREABLE_PAGES
from workspaces.pages.shown_once import keep_for_next_page, take_once
from workspaces.people.attempt_counts import count_dead_link
from workspaces.shared_links.links import DAYS, find_link, list_links, revoke_link, share_page
from workspaces.shared_links.reduced_html import reduce_main

NAME = "shared-links"
NEW_LINK = "new shared link"
COLUMNS = ("page", "environment", "query", "createdBy", "createdAt", "expiresAt", "revokedAt", "lastOpenedAt")
# Members of an address that have no meaning on a shared page: they select only API keys and single calls, which no page
# shares, or name the result of a form to the one who sent it.
NOT_SHARED = ("since", "by", *RESULT_MEMBERS)
# By page, the members that only change a list that is not shared
LIST_MEMBERS = {"joins": ("page", "why", "in", "again", "sort"), "rejections": ("page",)}
NOT_FILTERS = {*PERIOD_MEMBERS, *VIEW_MEMBERS}  # members of an address that filter nothing
# By page, further ones: they choose an order, what charts and funnels show, and with what the page compares
VIEWS = {
    "catalog": {"sort"},
    "outcome": {"compare"},
    "outcomes": {"compare", "keys", "lost", "rank", "show", "step"},
}
HEADERS = {
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


class DeadLink(NotFound):
    """The link expired, was revoked or never existed: all of these get the same page."""

    detail = "This link has expired, was revoked or is not complete. Ask whoever sent it for a new one."


@read_only
@sensitive_variables("token")
def show_shared_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show the page of a working link to anybody, whatever else is in the request.

    The page is made for an anonymous reader from the stored query alone, then reduced to what can be read.
    """
    now = timezone.now()
    link = find_link(token, now=now)
    if link is None:
        count_dead_link(request)
        raise DeadLink
    route = SHAREABLE_PAGES.get(link.page)
    if route is None:  # a later version of the hub no longer shares this page
        raise DeadLink
    inner_request = _build_request(request, link)
    environment, period = link.environment, parse_period(inner_request.GET, now=now)
    with timezone.override(period.zone), read_snapshot():
        page = route.view(inner_request, environment, period)
        frame = build_frame(inner_request, page, environment, link.page, period)
        html = render_to_string(page.template, {**frame, **page.context()}, inner_request)
        content = SafeString(reduce_main(html))  # reduce_main escapes all text
        not_filters = NOT_FILTERS | VIEWS.get(link.page, set())
        context = {
            "content": content,
            "link": link,
            "period": period,
            "has_period": page.has_period,
            "filters": [item for item in inner_request.GET.items() if item[0] not in not_filters],
        }
        return HttpResponse(render_to_string("workspaces/shared_page.html", context), headers=HEADERS)


def _build_request(request: HttpRequest, link: SharedLink) -> HttpRequest:
    """Return an anonymous request for the shared page. It takes only host and scheme from the real request."""
    inner_request = HttpRequest()
    inner_request.method = "GET"
    inner_request.path = reverse(link.page, args=[link.environment.workspace.slug, link.environment.name])
    inner_request.path_info = inner_request.path
    query = QueryDict(link.query, mutable=True)
    for name in (*NOT_SHARED, *LIST_MEMBERS.get(link.page, ())):
        query.pop(name, None)
    inner_request.GET = QueryDict(query.urlencode())
    names = ("HTTP_HOST", "SERVER_NAME", "SERVER_PORT", "wsgi.url_scheme")
    inner_request.META = {name: request.META[name] for name in names if name in request.META}
    inner_request.user = AnonymousUser()
    inner_request.htmx = False  # type: ignore[attr-defined]  # django_htmx's middleware sets it otherwise
    return inner_request


def show_links(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the shared links of the workspace, and once the address of a new one."""
    return _build_page(request, environment)


@member_form
@sensitive_variables("token")
def post_link(request: HttpRequest, slug: str, environment: str) -> HttpResponse:
    """Share the page that the form names, with the query of its address. Go to the list, which shows the link once."""
    environment_row = require_member_environment(request, slug, environment)
    name, days, now = read_text(request.POST, "page"), request.POST.get("days", ""), timezone.now()
    try:
        if name not in SHAREABLE_PAGES:
            raise InvalidRequest("This page cannot be shared.")
        link, token = share_page(
            environment_row,
            name,
            read_text(request.POST, "query"),
            days=int(days) if days in map(str, DAYS) else 0,
            actor=request.user.get_username(),
            now=now,
        )
    except InvalidRequest as error:
        page = _build_page(request, environment_row, fault=error.detail)
        return render_refused_form(request, page, environment_row, NAME, now=now)
    address = request.build_absolute_uri(reverse("shared-page", args=[token]))
    facts = {"link": address, "id": link.pk, "workspace": environment_row.workspace_id}
    keep_for_next_page(request, NEW_LINK, facts)
    return return_to_page(request, NAME, environment_row, {})


@member_form
def post_revocation(request: HttpRequest, slug: str, environment: str, link_id: int) -> HttpResponse:
    environment_row = require_member_environment(request, slug, environment)
    revoke_link(environment_row.workspace, link_id, actor=request.user.get_username(), now=timezone.now())
    return return_to_page(request, NAME, environment_row, {})


def _build_page(request: HttpRequest, environment: Environment, *, fault: str = "") -> Page:
    workspace = environment.workspace

    def build_context() -> Mapping[str, Any]:
        links = list_links(workspace)
        return {
            "fault": fault,
            "new_links": take_once(request, NEW_LINK, workspace=workspace.pk),
            "links": links,
            "to_revoke": _find_working(links, read_number(request.GET, "revoke")),
            "now": timezone.now(),
            "is_admin": has_role(request.user, workspace, Membership.ADMIN),
        }

    tables = [Table("links", COLUMNS, lambda: _export_rows(workspace))]
    return Page("workspaces/shared_links.html", build_context, tables, has_period=False, holds_secrets=True)


def _find_working(links: QuerySet[SharedLink], number: int | None) -> SharedLink | None:
    """Return the link with this row id, if it works."""
    working = links.filter(revoked_at=None, expires_at__gt=timezone.now())
    return working.filter(pk=number).first() if number is not None else None


def _export_rows(workspace: Workspace) -> Iterator[Sequence[Any]]:
    for link in list_links(workspace).iterator():
        facts = (link.page, link.environment.name, link.query or None, link.created_by)
        yield (*facts, link.created_at, link.expires_at, link.revoked_at, link.last_opened_at)
