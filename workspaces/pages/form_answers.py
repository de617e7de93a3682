"""Answer the forms of pages: who may send one, and the page that follows it.

Browsers say on which page a form was (the header Referer).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from datetime import datetime
from functools import wraps
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit, urlunsplit

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import TooManyFieldsSent
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.http import urlencode

from wire.address_members import PERIOD_MEMBERS, QUESTION_MEMBERS, RESULT_MEMBERS, change_query
from wire.errors import InvalidRequest, NotFound
from wire.http.problems import Problem
from wire.time.period import parse_period
from workspaces.access import require_member_environment
from workspaces.models import Environment
from workspaces.pages.page import Page
from workspaces.pages.render import render_html
from workspaces.pages.routes import PAGE_NAMES

GONE = (
    "Nothing was changed: what this form is about was deleted in the meantime, or you have no access to it any more. "
    "Reload the page of the form."
)

FormView = Callable[..., HttpResponseBase]
Act = Callable[[str, datetime], Mapping[str, str | None] | None]
"""act(actor, now) does what a form asks, or raises InvalidRequest. It may return changes of the page's query."""


class PageBuilder(Protocol):
    def __call__(self, *, fault: str) -> Page: ...


def redirect_to_page(
    page: str, environment: Environment, query: Mapping[str, str | None], *, fragment: str = ""
) -> HttpResponseRedirect:
    """Answer 303 to a page of this environment. Members of the query without a value are left out."""
    address = reverse(page, args=[environment.workspace.slug, environment.name])
    pairs = query.lists() if isinstance(query, QueryDict) else [(name, [value]) for name, value in query.items()]
    members = urlencode([(name, value) for name, values in pairs for value in values if value])
    return HttpResponseRedirect(
        f"{address}{'?' if members else ''}{members}{'#' if fragment else ''}{fragment}", status=303
    )


def return_to_page(
    request: HttpRequest, page: str, environment: Environment, query: Mapping[str, str | None], *, fragment: str = ""
) -> HttpResponseRedirect:
    """Answer 303 to a page of this environment as it was when the form was sent, its filters changed by `query`.

    A question that the form answered is not asked again. If the form was on another page, only the period is kept.
    Browsers say where a form was (Referer); without that, only `query` is in the address.
    """
    form_address = _split_referer(request)
    if form_address.path == reverse(page, args=[environment.workspace.slug, environment.name]):
        members = _read_query(form_address)
    else:
        members = read_form_period(request, environment)
    removed_members = dict.fromkeys(name for name in (*RESULT_MEMBERS, *QUESTION_MEMBERS) if name not in query)
    members = change_query(members, removed_members | dict(query))
    return redirect_to_page(page, environment, members, fragment=fragment)


def render_refused_form(request: HttpRequest, page: Page, environment: Environment, name: str) -> HttpResponse:
    """Answer a refused form: show its page again, in the period that the page had."""
    request.GET = QueryDict(read_form_period(request, environment).urlencode())
    return render_html(request, page, environment, name, parse_period(request.GET, now=timezone.now()))


def act_and_return(
    request: HttpRequest,
    name: str,
    environment: Environment,
    act: Act,
    build_page: PageBuilder,
    *,
    render: Callable[[HttpRequest, Page, Environment, str], HttpResponse] = render_refused_form,
) -> HttpResponse:
    """Do what a form asks and return to its page; if it is refused, show the page with the error and the form.

    The caller has checked the role of the person.
    """
    try:
        query = act(request.user.get_username(), timezone.now())
    except InvalidRequest as error:
        return render(request, build_page(fault=error.detail), environment, name)
    return return_to_page(request, name, environment, query or {})


def member_form(role: str) -> Callable[[FormView], FormView]:
    """Let a view take only forms, and only from people who have this role in the workspace of the address.

    The view gets the environment of the address, then what else the address names. Those who were signed out meanwhile
    are led to sign in, and then to the page of the form, to send it again. If what the form is about no longer exists,
    the answer says so. It does not say that the page is missing, from which they come.
    """

    def refuse_others(view: FormView) -> FormView:
        @wraps(view)
        def answer(request: HttpRequest, slug: str, environment: str, **subject: Any) -> HttpResponseBase:
            if request.method != "POST":
                detail = "This address only takes what a form sends. Go to the page of the form."
                raise Problem("method-not-allowed", detail, headers={"Allow": "POST"})
            if not request.user.is_authenticated:
                return redirect_to_login(_find_form_page(request), f"{reverse('account_login')}?unsent=1")
            try:
                return view(request, require_member_environment(request, slug, environment, role=role), **subject)
            except Http404:
                raise NotFound(GONE) from None

        answer.takes_only_forms = True  # type: ignore[attr-defined]  # _takes_only_forms reads it
        return answer

    return refuse_others


def _split_referer(request: HttpRequest) -> SplitResult:
    """Return the parts of the address that a form was sent from (the Referer); empty ones if it is no address."""
    try:
        return urlsplit(request.headers.get("Referer", ""))
    except ValueError:
        return urlsplit("")


def _read_query(form_address: SplitResult) -> QueryDict:
    """Return the members of an address's query; none if there are more than the hub reads."""
    try:
        return QueryDict(form_address.query, mutable=True)
    except TooManyFieldsSent:
        return QueryDict(mutable=True)


def _find_form_page(request: HttpRequest) -> str:
    """Return the address of the page that a form was sent from (the Referer), or of the home page.

    A page that answers a refused form is at the address of that form, below the address of the page.
    """
    form_address = _split_referer(request)
    path = form_address.path
    if form_address.netloc != request.get_host():
        return reverse("home")
    if _takes_only_forms(path):
        path = next((parent for parent in _list_parents(path) if _find_url_name(parent) in PAGE_NAMES), "")
    return urlunsplit(("", "", path, form_address.query, "")) if path else reverse("home")


def _takes_only_forms(path: str) -> bool:
    try:
        return getattr(resolve(path).func, "takes_only_forms", False)
    except Resolver404:
        return False


def _find_url_name(path: str) -> str:
    try:
        return resolve(path).url_name or ""
    except Resolver404:
        return ""


def _list_parents(path: str) -> list[str]:
    """Return `/a/b` and `/a` for `/a/b/c`."""
    return [path[:end] for end in range(len(path) - 1, 0, -1) if path[end] == "/"]


def read_form_period(request: HttpRequest, environment: Environment) -> QueryDict:
    """Return the members of the Referer's query that name a period; none if that page is of another workspace."""
    return read_form_members(request, environment, PERIOD_MEMBERS)


def read_form_members(request: HttpRequest, environment: Environment, names: Container[str]) -> QueryDict:
    """Return the members of the Referer's query with these names; none if that page is of another workspace."""
    members = QueryDict(mutable=True)
    form_address = _split_referer(request)
    if form_address.path.startswith(f"/w/{environment.workspace.slug}/"):
        for name, values in _read_query(form_address).lists():
            if name in names:
                members.setlist(name, values)
    return members
