"""The pages of drift: the drift feed, and the comparison of two environments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from catalog.change_labels import CHANGE_KINDS
from catalog.drift import exports
from catalog.drift.compared_operations import AbsentByOperation, find_absent_places
from catalog.drift.comparison_summary import LostProperty, find_lost_by_both, sort_differences, summarize_comparison
from catalog.drift.environments import OperationChange, compare_catalogs
from catalog.drift.extent import CatalogExtent, measure_catalog
from catalog.drift.filters import DriftFilters
from catalog.drift.probably_gone import list_probably_gone
from catalog.drift.queries import leave_out_decided, list_broken_fields, list_drift, with_sequels
from catalog.queries import find_observed_span
from wire.filters import read_text
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page

CHANGES_A_PAGE = 100
MAX_PROBABLY_GONE = 20  # rows on the page
MAX_LOST = 20  # rows on the page


def show_drift(request: HttpRequest, environment: Environment, period: Period) -> Page:
    filters = DriftFilters.from_address(request.GET)
    drift = list_drift(environment, period, filters)

    def build_context() -> Mapping[str, Any]:
        gone = list_probably_gone(environment, period=period)
        return {
            "filters": filters,
            "kinds": CHANGE_KINDS.items(),
            "change_words": CHANGE_KINDS,
            "changes": Paginator(with_sequels(drift), CHANGES_A_PAGE).get_page(request.GET.get("page")),
            "probably_gone": gone[:MAX_PROBABLY_GONE],
            "more_probably_gone": max(len(gone) - MAX_PROBABLY_GONE, 0),
            "breaking_changes": drift.exclude(breaks="").count(),
            "broken_fields": list_broken_fields(drift).count(),
            "open_fields": list_broken_fields(leave_out_decided(environment, drift)).count(),
            "other_environments": environment.readable_siblings,
            **_describe_observed(environment, period),
        }

    gone_table = exports.export_probably_gone(lambda: list_probably_gone(environment, period=period))
    tables, takes = [exports.export_drift(drift), gone_table], {"kind": CHANGE_KINDS.__contains__}
    return Page("catalog/drift.html", build_context, tables, partial="catalog/_partials/changes.html", takes=takes)


def _describe_observed(environment: Environment, period: Period) -> Mapping[str, Any]:
    """Return whether anything was ever observed, and the first observation if the period has none."""
    span = find_observed_span(environment)
    is_outside = span is not None and (period.end <= span[0] or period.start > span[1])
    return {"is_empty": span is None, "first_observed_at": span[0] if span and is_outside else None}


def show_environment_comparison(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Show what would change for this environment if it were like `against`.

    For example, show what a release of staging would change in production.
    """
    other_environments = environment.readable_siblings
    against = other_environments.filter(name=read_text(request.GET, "against")).first()
    against = against or other_environments.first()

    def list_changes() -> Iterator[OperationChange]:
        return compare_catalogs(environment, against) if against else iter(())

    @cache
    def find_absent() -> tuple[AbsentByOperation, AbsentByOperation]:
        return (find_absent_places(environment), find_absent_places(against)) if against else ({}, {})

    @cache
    def list_lost() -> list[LostProperty]:
        return find_lost_by_both(environment, *find_absent()) if against else []

    def list_extents() -> list[CatalogExtent]:
        sides = zip((environment, against), find_absent(), strict=True)
        return [measure_catalog(side, absent) for side, absent in sides if side] if against else []

    def build_context() -> Mapping[str, Any]:
        extents = list_extents()
        changes = sort_differences(compare_catalogs(environment, against, find_absent())) if against else []
        return {
            "lost_by_both": list_lost()[:MAX_LOST],
            "more_lost": max(len(list_lost()) - MAX_LOST, 0),
            "extents": extents,
            "unobserved": [extent.environment.name for extent in extents if not extent.operations],
            "other_environments": other_environments,
            "environments": sorted([environment, *other_environments], key=lambda choice: choice.pk),
            "against": against,
            "rows": Paginator(changes, CHANGES_A_PAGE).get_page(request.GET.get("page")),
            "summary": summarize_comparison(changes),
        }

    tables = [
        exports.export_comparison(list_changes),
        exports.export_extents(list_extents),
        exports.export_lost(list_lost),
    ]
    takes = {"against": lambda name: against and name == against.name}
    return Page("catalog/difference.html", build_context, tables, takes=takes, has_period=False)
