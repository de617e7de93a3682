"""The page of drift: the drift feed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from catalog.change_kinds import CHANGE_KINDS
from catalog.drift import exports
from catalog.drift.filters import BREAKING_ONLY, COMPATIBLE_ONLY, NEW_ONLY, DriftFilters
from catalog.drift.new_changes import leave_out_decided
from catalog.drift.presence.load_probably_gone import list_probably_gone
from catalog.drift.queries import list_broken_fields, list_drift, with_sequels
from catalog.operation_queries import find_observed_span
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page

ROWS_PER_PAGE = 100
MAX_PROBABLY_GONE = 20  # rows on the page


def show_drift(request: HttpRequest, environment: Environment, period: Period) -> Page:
    filters = DriftFilters.from_address(request.GET)
    drift = list_drift(environment, period, filters)

    def build_context() -> Mapping[str, Any]:
        gone_properties = list_probably_gone(environment, period=period)
        return {
            "filters": filters,
            "kinds": CHANGE_KINDS.items(),
            "change_words": CHANGE_KINDS,
            "changes": Paginator(with_sequels(drift), ROWS_PER_PAGE).get_page(request.GET.get("page")),
            "probably_gone": gone_properties[:MAX_PROBABLY_GONE],
            "more_probably_gone": max(len(gone_properties) - MAX_PROBABLY_GONE, 0),
            "breaking_changes": drift.exclude(breaks="").count(),
            "broken_fields": list_broken_fields(drift).count(),
            "open_fields": list_broken_fields(leave_out_decided(environment, drift)).count(),
            "other_environments": environment.readable_siblings,
            **_describe_observed(environment, period),
        }

    gone_table = exports.export_probably_gone(lambda: list_probably_gone(environment, period=period))
    tables = [exports.export_drift(drift), gone_table]
    takes = {
        "kind": CHANGE_KINDS.__contains__,
        "breaking": {BREAKING_ONLY, COMPATIBLE_ONLY}.__contains__,
        "new": {NEW_ONLY}.__contains__,
    }
    partial = "catalog/_partials/changes.html"
    return Page("catalog/drift.html", build_context, tables, partial=partial, takes=takes, searches=("q",))


def _describe_observed(environment: Environment, period: Period) -> Mapping[str, Any]:
    """Return whether anything was ever observed, and the first observation if the period has none."""
    span = find_observed_span(environment)
    is_outside = span is not None and (period.end <= span[0] or period.start > span[1])
    return {"is_empty": span is None, "first_observed_at": span[0] if span and is_outside else None}
