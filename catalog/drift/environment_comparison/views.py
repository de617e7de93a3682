"""The page that compares two environments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from catalog.drift.environment_comparison import exports
from catalog.drift.environment_comparison.differences import OperationChange, compare_catalogs
from catalog.drift.environment_comparison.extent import CatalogExtent, measure_catalog
from catalog.drift.environment_comparison.summary import (
    LostProperty,
    find_lost_by_both,
    sort_differences,
    summarize_comparison,
)
from catalog.drift.presence.load_absent import AbsentByOperation, load_absent
from wire.address_members import read_text
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page

ROWS_PER_PAGE = 100
MAX_LOST = 20  # rows on the page


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
        return (load_absent(environment), load_absent(against)) if against else ({}, {})

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
            "unobserved": [extent.environment for extent in extents if not extent.operations],
            "other_environments": other_environments,
            "environments": sorted([environment, *other_environments], key=lambda choice: choice.pk),
            "against": against,
            "rows": Paginator(changes, ROWS_PER_PAGE).get_page(request.GET.get("page")),
            "summary": summarize_comparison(changes),
        }

    tables = [
        exports.export_comparison(list_changes),
        exports.export_extents(list_extents),
        exports.export_lost(list_lost),
    ]
    takes = {"against": lambda name: against and name == against.name}
    return Page("catalog/environment_comparison.html", build_context, tables, takes=takes, has_period=False)
