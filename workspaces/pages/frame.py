"""The frame of every page: the workspace, its environments, the period, and what of the address is ignored."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from wire.postgresql.replica import get_read_age
from wire.time.period import PRESETS, Period, parse_period
from workspaces.access import has_role, list_workspaces
from workspaces.models import Environment, Membership
from workspaces.pages.ignored_values import (
    describe_limits,
    find_limited_values,
    find_lone_values,
    find_unknown_values,
)
from workspaces.pages.page import Page
from workspaces.pages.routes import PAGE_NAMES, SHAREABLE_PAGES

AGE_STEP = 5  # seconds


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
        "unknown": find_unknown_values(page, request.GET),
        "cut": {**(limited_values := find_limited_values(page, request.GET)), **find_lone_values(page, request.GET)},
        "cut_sentence": describe_limits(page, limited_values),
        "may_share": name in SHAREABLE_PAGES and has_role(request.user, environment.workspace, Membership.EDITOR),
        "presets": [(key, label) for key, (label, _) in PRESETS.items()],
        "data_age": _round_age(get_read_age()),
    }


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


def _find_own_address(request: HttpRequest, environment: Environment, name: str) -> str:
    """Return the address with which links to other states of this page begin; "" if the browser is at that address.

    A page that answers a form is at the address of the form, which takes no links.
    """
    return reverse(name, args=[environment.workspace.slug, environment.name]) if request.method == "POST" else ""


def _round_age(age: float | None) -> int | None:
    """Round an age up to whole steps, so that an unchanged page keeps its ETag for longer."""
    return None if age is None else max(ceil(age / AGE_STEP), 1) * AGE_STEP
