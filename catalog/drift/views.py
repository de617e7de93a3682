"""The pages of change: the feed of drift, and the difference between two environments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from catalog import queries
from catalog.browse import exports
from catalog.browse.filters import DriftFilters
from catalog.drift import environments
from catalog.drift.environments import Difference
from catalog.drift_kinds import CHANGE_KINDS
from wire.period import Period
from workspaces.models import Environment
from workspaces.page import Page

ROWS_A_PAGE = 100


def drift(request: HttpRequest, environment: Environment, period: Period) -> Page:
    filters = DriftFilters.of(request.GET)
    found = queries.drift(environment, period, filters)

    def context() -> Mapping[str, Any]:
        return {
            "filters": filters,
            "kinds": CHANGE_KINDS.items(),
            "changes": Paginator(found, ROWS_A_PAGE).get_page(request.GET.get("page")),
            "breaking": found.exclude(breaks="").count(),
            "empty": not queries.shown(environment).exists(),
        }

    return Page("catalog/drift.html", context, [exports.drift(found)], partial="catalog/_partials/changes.html")


def difference(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """What would change for this environment if it were as `against`: staging promoted to production, say."""
    others = environment.workspace.environments.exclude(pk=environment.pk)
    named = request.GET.get("against", "")
    against = next((other for other in others if other.name == named), None) or others.first()

    def rows() -> Iterator[Difference]:
        return environments.between(environment, against) if against else iter(())

    def context() -> Mapping[str, Any]:
        found: Sequence[Difference] = list(rows())
        return {
            "others": others,
            "against": against,
            "rows": Paginator(found, ROWS_A_PAGE).get_page(request.GET.get("page")),
            "breaking": sum(bool(row.change.breaks) for row in found),
        }

    return Page("catalog/difference.html", context, [exports.difference(rows)])
