"""The page that a shared link shows: which members of its address count, and which headers are sent."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.debug import sensitive_variables

from wire.address_members import PERIOD_MEMBERS, RESULT_MEMBERS, VIEW_MEMBERS
from wire.errors import NotFound
from wire.http.read_only import read_only
from wire.postgresql.snapshot import read_snapshot
from wire.time.period import parse_period
from workspaces.models import SharedLink
from workspaces.pages.frame import build_frame
from workspaces.pages.routes import SHAREABLE_PAGES
from workspaces.people.attempt_counts import count_dead_link
from workspaces.shared_links.links import find_link
from workspaces.shared_links.reduced_html import reduce_main

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
