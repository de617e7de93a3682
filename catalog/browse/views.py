"""The page of the catalog: the list of operations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils import timezone

from affidavit.operations import Identity
from catalog.browse import exports
from catalog.browse.beyond_limit import excess_operations, summarize_excess
from catalog.browse.download_links import FORMAT_LINKS
from catalog.browse.example_report import write_example_report
from catalog.browse.filters import (
    SORT_KEYS,
    SORTED_COLUMNS,
    STATUS_CLASSES,
    SUBSETS,
    OperationFilters,
    expand_status,
)
from catalog.browse.queries import (
    find_unobserved_resets,
    find_verified,
    list_methods,
    list_operations,
)
from catalog.browse.search import find_property_hits
from catalog.drift.presence.property_counts import (
    count_absent_by_operation,
    count_probably_gone,
    count_properties_of_operations,
)
from catalog.drift.queries import summarize_drift_of_operations
from catalog.evidence.observed_days import find_days, find_gaps
from catalog.inbox_queries import dead_letters
from wire.time.period import Period
from workspaces.models import Environment
from workspaces.pages.page import Page

NO_OPERATION = Identity("", "")  # of verifications that named none
ROWS_PER_PAGE = 100
MAX_DEAD_LETTERS_SHOWN = 20


def show_catalog(
    request: HttpRequest, environment: Environment, period: Period, *, verifications: Mapping[Identity, datetime]
) -> Page:
    """Show the list of operations.

    verifications: when each operation was last verified, by the method and path that backends reported.
    """
    filters = OperationFilters.from_address(request.GET)
    verified = find_verified(environment, verifications)
    operations = list_operations(environment, period, filters, verified)
    reports, days = dead_letters(environment), find_days(period)

    def build_context() -> Mapping[str, Any]:
        page = Paginator(operations, ROWS_PER_PAGE).get_page(request.GET.get("page"))
        return {
            "filters": filters,
            "operations": page,
            "verified": verified,
            "has_unnamed": NO_OPERATION in verifications,
            "days": days,
            "today": timezone.now().date(),
            "property_counts": count_properties_of_operations(environment, list(page)),
            "gaps": find_gaps(environment, list(page), days),
            "unobserved_resets": find_unobserved_resets(environment, list(page)),
            "drifted": summarize_drift_of_operations(environment, period, list(page)),
            "hits": find_property_hits(environment, [operation.pk for operation in page], filters.words),
            "is_empty": not (page.paginator.count or filters.is_active),
            "example_report": write_example_report(environment),
            "methods": list_methods(environment),
            "status_classes": STATUS_CLASSES,
            "subsets": SUBSETS.items(),
            "formats": FORMAT_LINKS,
            "other_environments": environment.readable_siblings,
            "columns": SORTED_COLUMNS,
            "dead_letters": reports[:MAX_DEAD_LETTERS_SHOWN],
            "dead_letter_count": reports.count(),
            "excess": summarize_excess(environment, period),
            "max_operations": settings.MAX_OPERATIONS,
        }

    tables = [
        exports.export_operations(
            operations,
            verified,
            lambda: _count_absent_properties(environment),
            lambda rows: find_gaps(environment, rows, days),
        ),
        exports.export_dead_letters(reports),
        exports.export_excess(excess_operations(environment, period)),
    ]
    takes = {"status": expand_status, "show": SUBSETS.__contains__, "sort": SORT_KEYS.__contains__}
    partial = "catalog/_partials/operations.html"
    return Page("catalog/catalog.html", build_context, tables, partial=partial, takes=takes, searches=("q",))


def _count_absent_properties(environment: Environment) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """Return how many properties are no longer seen, and how many are probably gone, by operation."""
    return count_absent_by_operation(environment), count_probably_gone(environment)
