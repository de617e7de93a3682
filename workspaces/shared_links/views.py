"""The page on which shared links are made, listed and revoked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from wire.address_members import read_number, read_text
from wire.errors import InvalidRequest
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.access import has_role
from workspaces.models import Environment, Membership, SharedLink, Workspace
from workspaces.pages.form_answers import act_and_return, member_form, return_to_page
from workspaces.pages.page import Page
from workspaces.pages.routes import SHAREABLE_PAGES
from workspaces.pages.shown_once import keep_for_next_page, take_once
from workspaces.shared_links.links import DAYS, list_links, revoke_link, share_page

NAME = "shared-links"
NEW_LINK = "new shared link"
COLUMNS = ("page", "environment", "query", "createdBy", "createdAt", "expiresAt", "revokedAt", "lastOpenedAt")


def show_links(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the shared links of the workspace, and once the address of a new one."""
    return _build_page(request, environment)


@member_form(Membership.EDITOR)
def post_link(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Share the page that the form names, with the query of its address. Go to the list, which shows the link once."""
    name, query, days = read_text(request.POST, "page"), read_text(request.POST, "query"), request.POST.get("days", "")

    @sensitive_variables("token", "address", "facts")
    def share(actor: str, now: datetime) -> None:
        if name not in SHAREABLE_PAGES:
            raise InvalidRequest("This page cannot be shared.")
        known_days = int(days) if days in map(str, DAYS) else 0
        link, token = share_page(environment, name, query, days=known_days, actor=actor, now=now)
        address = request.build_absolute_uri(reverse("shared-page", args=[token]))
        facts = {"link": address, "id": link.pk, "workspace": environment.workspace_id}
        keep_for_next_page(request, NEW_LINK, facts)

    return act_and_return(request, NAME, environment, share, partial(_build_page, request, environment))


@member_form(Membership.EDITOR)
def post_revocation(request: HttpRequest, environment: Environment, link_id: int) -> HttpResponse:
    revoke_link(environment.workspace, link_id, actor=request.user.get_username(), now=timezone.now())
    return return_to_page(request, NAME, environment, {})


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
