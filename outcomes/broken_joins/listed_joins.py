"""The list of broken joins: which joins it has, their order, and its pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Page as PageOfRows
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet

from outcomes.broken_joins.causes.groups import BrokenJoin
from outcomes.broken_joins.diagnosed_joins import NEWEST_DIAGNOSED, diagnose_joins
from outcomes.broken_joins.filters import JoinFilters
from outcomes.broken_joins.queries import find_broken_joins, sort_by_last_report
from outcomes.broken_joins.reported_again import find_reported_again
from outcomes.models import Outcome
from wire.time.period import Period
from workspaces.models import ApiKey, Environment

ROWS_PER_PAGE = 15
MAX_IDS_COUNTED = 5000  # joins whose distinct ids are counted

JoinsPage = tuple[PageOfRows[Any], Iterable[BrokenJoin]]


@dataclass(frozen=True)
class IdCount:
    """How many conversation ids some joins name.

    is_least: whether there may be more, because not all of the joins were read.
    """

    count: int
    is_least: bool


def find_listed_joins(environment: Environment, period: Period, filters: JoinFilters) -> QuerySet[Outcome]:
    """Return the joins of the period, or the older ones reported again in it; the other filters select among these."""
    if filters.is_again:
        return find_reported_again(environment, period, filters.key)
    joins = find_broken_joins(environment, period, filters.key)
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
    count: int | None,
    diagnosed_joins: Sequence[BrokenJoin],
) -> JoinsPage:
    """Return a page of the broken joins. The first joins, which are diagnosed already, are not read again.

    count: the tallies' number of these joins, so that no row is counted; None if retention has deleted some of them,
        which tallies still count.
    """
    paginator = Paginator(joins, ROWS_PER_PAGE)
    if len(diagnosed_joins) < NEWEST_DIAGNOSED:
        paginator.count = len(diagnosed_joins)
    elif count is not None:
        paginator.count = count
    page = paginator.get_page(page_number)
    start, end = (page.number - 1) * ROWS_PER_PAGE, page.end_index()
    is_diagnosed = end <= len(diagnosed_joins)
    return page, diagnosed_joins[start:end] if is_diagnosed else diagnose_joins(environment, joins[start:end])


def count_ids(page: PageOfRows[Any], joins: QuerySet[Outcome], diagnosed_joins: Sequence[BrokenJoin]) -> IdCount:
    """Count the conversation ids of all joins of a list, not only of this page.

    joins, diagnosed_joins: all joins of the list, and the first of them; used only for a page of `page_all`.
    """
    matching = page.paginator.object_list
    if not isinstance(matching, QuerySet):
        return IdCount(len({join.conversation_id for join in matching}), is_least=False)
    if len(diagnosed_joins) < NEWEST_DIAGNOSED:
        ids, rows = len({join.conversation_id for join in diagnosed_joins}), len(diagnosed_joins)
    else:
        read = joins.select_related(None).values("conversation_id")[:MAX_IDS_COUNTED]
        ids, rows = read.aggregate(ids=Count("conversation_id", distinct=True), rows=Count("*")).values()
    return IdCount(ids, is_least=rows < page.paginator.count)
