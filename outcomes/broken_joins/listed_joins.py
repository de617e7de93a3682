"""The list of broken joins: which it has, their order, and a page of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.core.paginator import Page as PageOfRows
from django.core.paginator import Paginator
from django.db.models import QuerySet

from outcomes.broken_joins.cause_groups import BrokenJoin
from outcomes.broken_joins.filters import JoinFilters
from outcomes.broken_joins.lookup import (
    diagnose_joins,
    find_broken_joins,
    find_reported_again,
    sort_by_last_report,
)
from outcomes.models import Outcome
from wire.period import Period
from workspaces.models import ApiKey, Environment

ROWS_PER_PAGE = 15

JoinsPage = tuple[PageOfRows[Any], Iterable[BrokenJoin]]


def find_listed_joins(environment: Environment, period: Period, filters: JoinFilters) -> QuerySet[Outcome]:
    """Return the joins among which the other filters select: of the period, or older and reported again in it."""
    if filters.is_again:
        return find_reported_again(environment, period, filters.key)
    joins = find_broken_joins(environment, period)
    return sort_by_last_report(joins) if filters.by_last_report else joins


def page_matching(
    diagnosed_joins: Sequence[BrokenJoin],
    filters: JoinFilters,
    api_keys: Mapping[int | None, ApiKey],
    page_number: str | None,
) -> JoinsPage:
    matching = [join for join in diagnosed_joins if filters.select(join, api_keys)]
    page = Paginator(matching, ROWS_PER_PAGE).get_page(page_number)
    return page, list(page)


def page_all(
    environment: Environment,
    joins: QuerySet[Outcome],
    page_number: str | None,
    count: int,
    diagnosed_joins: Sequence[BrokenJoin],
) -> JoinsPage:
    """Return a page of the `count` broken joins; the first ones, which are diagnosed, are not read again."""
    paginator = Paginator(joins, ROWS_PER_PAGE)
    paginator.count = count  # the tallies' number, so that no row is counted
    page = paginator.get_page(page_number)
    start, end = (page.number - 1) * ROWS_PER_PAGE, page.end_index()
    is_diagnosed = end <= len(diagnosed_joins)
    return page, diagnosed_joins[start:end] if is_diagnosed else diagnose_joins(environment, joins[start:end])
