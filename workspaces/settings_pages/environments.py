"""The page of environments: add, label, archive and restore them, and end version 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from datetime import datetime
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone

from wire.address_members import read_text
from wire.errors import InvalidRequest
from wire.table_exports import Table
from wire.time.period import Period
from wire.time.timestamps import parse_moment
from workspaces.environments.add import create_environment
from workspaces.environments.change import (
    DEFAULT_NAME,
    archive_environment,
    change_environment,
    list_values,
    restore_environment,
)
from workspaces.environments.v1_window import set_v1_end
from workspaces.forms.late_forms import fingerprint
from workspaces.models import Environment, Membership, Workspace
from workspaces.pages.form_answers import act_and_return, member_form
from workspaces.pages.page import Page

NAME = "environments"
FORM_MEMBERS = ("name", "label", "until")  # of the forms that add an environment and end version 1
COLUMNS = ("environment", "label", "audience", "createdAt", "archivedAt")


def show_environments(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the environments of the workspace, and until when version 1 passes."""
    return _build_page(request, environment)


@member_form(Membership.ADMIN)
def post_environment(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Add an environment."""
    name, label = read_text(request.POST, "name").strip(), read_text(request.POST, "label")

    def create(actor: str, now: datetime) -> None:
        create_environment(environment.workspace, name, label=label, actor=actor, now=now)

    return _change_environments(request, environment, create)


@member_form(Membership.ADMIN)
def post_change(request: HttpRequest, environment: Environment, name: str) -> HttpResponse:
    """Set the label and the audience of an environment."""
    values = {member: read_text(request.POST, member) for member in ("label", "audience", "opened")}

    def change(actor: str, now: datetime) -> None:
        changed = get_object_or_404(environment.workspace.environments, name=name)
        change_environment(changed, **values, actor=actor, now=now)

    return _change_environments(request, environment, change, changed_name=name)


@member_form(Membership.ADMIN)
def post_archiving(request: HttpRequest, environment: Environment, name: str) -> HttpResponse:
    """Archive an environment."""

    def archive(actor: str, now: datetime) -> None:
        archive_environment(get_object_or_404(environment.workspace.environments, name=name), actor=actor, now=now)

    return _change_environments(request, environment, archive)


@member_form(Membership.ADMIN)
def post_restoring(request: HttpRequest, environment: Environment, name: str) -> HttpResponse:
    """Restore an archived environment."""

    def restore(actor: str, now: datetime) -> None:
        restore_environment(get_object_or_404(environment.workspace.environments, name=name), actor=actor, now=now)

    return _change_environments(request, environment, restore)


@member_form(Membership.ADMIN)
def post_v1_window(request: HttpRequest, environment: Environment) -> HttpResponse:
    """Set until when version 1 passes: until the time `until`, or without end if `open` is sent."""

    def set_end(actor: str, now: datetime) -> None:
        end = None if request.POST.get("open") else _read_end(request)
        set_v1_end(environment.workspace, end, actor=actor, now=now)

    return _change_environments(request, environment, set_end)


def _read_end(request: HttpRequest) -> datetime:
    try:
        return parse_moment(request.POST.get("until", ""))
    except ValueError:
        raise InvalidRequest("Enter a date and a time, as 2026-12-31 00:00.") from None


def _change_environments(
    request: HttpRequest,
    environment: Environment,
    act: Callable[[str, datetime], None],
    *,
    changed_name: str = "",
) -> HttpResponse:
    build_page = partial(_build_page, request, environment, changed_name=changed_name)
    return act_and_return(request, NAME, environment, act, build_page)


def _build_page(request: HttpRequest, environment: Environment, *, fault: str = "", changed_name: str = "") -> Page:
    """Return the page.

    changed_name: the environment whose change was refused; its form is shown again as it was filled in.
    """
    workspace = environment.workspace

    def build_context() -> Mapping[str, Any]:
        rows = list(workspace.environments.order_by("id"))
        by_name = {row.name: row for row in rows}
        stored = by_name.get(changed_name or request.GET.get("change", ""))
        to_change = copy(stored)
        if to_change is not None and changed_name:
            to_change.label, to_change.audience = read_text(request.POST, "label"), read_text(request.POST, "audience")
        return {
            "fault": fault,
            "rows": rows,
            "fixed_name": DEFAULT_NAME,
            "to_change": to_change,
            "opened": fingerprint(list_values(stored)) if stored else "",
            "to_archive": by_name.get(request.GET.get("archive", "")),
            "form": {} if changed_name else {name: read_text(request.POST, name) for name in FORM_MEMBERS},
            "now": timezone.now(),
        }

    tables = [Table("environments", COLUMNS, lambda: _export_rows(workspace))]
    return Page("workspaces/environments.html", build_context, tables, has_period=False)


def _export_rows(workspace: Workspace) -> Iterator[Sequence[Any]]:
    for row in workspace.environments.order_by("id"):
        yield (row.name, row.label or None, row.audience, row.created_at, row.archived_at)
