"""Shared by the POST views of the settings pages: act as an admin, then show the page again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from wire.errors import InvalidRequest
from workspaces.access import require_member_environment
from workspaces.models import Environment, Membership, Workspace
from workspaces.pages.form_answers import render_refused_form, return_to_page
from workspaces.pages.page import Page

Act = Callable[[Workspace, str, datetime], Any]
"""act(workspace, actor, now) changes the workspace or raises InvalidRequest."""


class PageBuilder(Protocol):
    def __call__(self, request: HttpRequest, environment: Environment, *, fault: str) -> Page: ...


def act_as_admin(
    request: HttpRequest, slug: str, environment: str, act: Act, *, page_name: str, build_page: PageBuilder
) -> HttpResponse:
    """Act and redirect to the page; if the action is refused, show the page with the error and the filled-in form."""
    environment_row = require_member_environment(request, slug, environment, role=Membership.ADMIN)
    now = timezone.now()
    try:
        act(environment_row.workspace, request.user.get_username(), now)
    except InvalidRequest as error:
        page = build_page(request, environment_row, fault=error.detail)
        return render_refused_form(request, page, environment_row, page_name, now=now)
    return return_to_page(request, page_name, environment_row, {})
