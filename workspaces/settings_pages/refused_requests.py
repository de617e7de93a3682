"""The page of refused requests: which requests of which key the hub refused, since when, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from wire.address_members import read_text
from wire.http.problems import CODES
from wire.table_exports import Table
from wire.time.period import Period
from workspaces.keys.prefix import find_by_prefix
from workspaces.models import ApiKey, Environment, Workspace
from workspaces.pages.page import Page
from workspaces.refusals.missing_scope import describe_missing_scope
from workspaces.refusals.queries import filter_tallies, list_refusals

COLUMNS = ("keyId", "endpoint", "code", "status", "count", "firstAt", "lastAt")
HOUR_COLUMNS = ("hour", "keyId", "endpoint", "code", "count")
ROWS_PER_PAGE = 50


def show_refused_requests(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show the refused requests of a period by key, endpoint and code; of one key, or of all keys of the workspace."""
    workspace = environment.workspace
    key = find_by_prefix(workspace, read_text(request.GET, "by"))

    def build_context() -> Mapping[str, Any]:
        refusals = list_refusals(workspace, period, key)
        page = Paginator(refusals, ROWS_PER_PAGE).get_page(request.GET.get("page"))
        return {
            "key": key,
            "keys": workspace.api_keys.order_by("name", "id"),
            "total": sum(refusal.count for refusal in refusals),
            "refusals": page,
            "rows": [(refusal, CODES.get(refusal.code), describe_missing_scope(refusal)) for refusal in page],
            "may_open_keys": True,  # whoever may open this page is an admin
        }

    tables = [
        Table("refusedRequests", COLUMNS, lambda: _export_rows(workspace, period, key)),
        Table("hours", HOUR_COLUMNS, lambda: _export_hours(workspace, period, key)),
    ]
    takes = {"by": partial(find_by_prefix, workspace)}
    return Page("workspaces/refused_requests.html", build_context, tables, takes=takes)


def _export_rows(workspace: Workspace, period: Period, key: ApiKey | None) -> Iterator[Sequence[Any]]:
    for refusal in list_refusals(workspace, period, key):
        status = CODES[refusal.code].status if refusal.code in CODES else None
        facts = (refusal.key.prefix, refusal.endpoint, refusal.code, status)
        yield (*facts, refusal.count, refusal.first_at, refusal.last_at)


def _export_hours(workspace: Workspace, period: Period, key: ApiKey | None) -> Iterator[Sequence[Any]]:
    prefixes = dict(workspace.api_keys.values_list("pk", "prefix"))
    tallies = filter_tallies(workspace, period, key).order_by("-starts_at", "api_key_id", "endpoint", "code")
    for starts_at, key_id, *facts in tallies.values_list("starts_at", "api_key_id", "endpoint", "code", "count"):
        yield (starts_at, prefixes.get(key_id), *facts)
