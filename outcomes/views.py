"""The pages of outcomes: what conversations led to, and the reports that found no conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from outcomes import broken_joins as joins
from outcomes import charts, exports, queries
from outcomes.broken_joins import BrokenJoin
from outcomes.diagnose import ADVICE
from wire.ranges import Range
from workspaces.models import Environment
from workspaces.pages import Page

ROWS_A_PAGE = 50
DIAGNOSED_AT_ONCE = 2000  # the newest; the exports diagnose all
CLAIM = '{"conversationId": "conv_81", "outcomeKey": "purchase"}'


def outcomes(request: HttpRequest, environment: Environment, range: Range) -> Page:
    def context() -> Mapping[str, Any]:
        if not queries.has_any(environment):
            return {"empty": True, **first_report(environment)}
        keys, totals = KeyList(environment, range), queries.totals(environment, range)
        return {
            "totals": totals,
            "before": queries.totals(environment, range.before()),
            "keys": Paginator(keys, ROWS_A_PAGE).get_page(request.GET.get("page")),
            **charted(range, totals, queries.chart(environment, range, keys.leading)),
        }

    return Page("outcomes/outcomes.html", context, exports.of_outcomes(environment, range))


def charted(range: Range, totals: queries.Totals, chart: queries.Chart) -> Mapping[str, Any]:
    """The chart, what it shows in words, and its numbers as rows: one for each bucket, the latest first."""
    leading = chart.lines[0] if chart.lines else None
    columns = zip(*(line.numbers for line in chart.lines), strict=True) if chart.lines else ()
    rows = [(bucket, numbers) for bucket, numbers in zip(chart.buckets, columns, strict=False) if any(numbers)]
    return {
        "figure": charts.over_time(chart.buckets, chart.lines, counted="outcomes"),
        "sentence": charts.sentence(totals.outcomes, totals.conversations, leading),
        "lines": chart.lines,
        "buckets": rows[::-1],
        "step": range.step,
    }


class KeyList:
    """The keys of a range as Paginator wants them. The first ones are always read: the chart needs them too."""

    def __init__(self, environment: Environment, range: Range) -> None:
        self.environment, self.range = environment, range
        self.leading, self.total = queries.leading_keys(environment, range, ROWS_A_PAGE)

    def count(self) -> int:
        return self.total

    def __len__(self) -> int:
        return self.total

    def __getitem__(self, part: slice) -> Sequence[queries.KeyLine]:
        if part.stop <= len(self.leading):
            return self.leading[part]
        return list(queries.keys(self.environment, self.range, start=part.start, limit=part.stop - part.start))


def broken_joins(request: HttpRequest, environment: Environment, range: Range) -> Page:
    def context() -> Mapping[str, Any]:
        if not queries.has_any(environment):
            return {"empty": True, **first_report(environment)}
        return {
            "totals": queries.totals(environment, range),
            "before": queries.totals(environment, range.before()),
            "healed": joins.healed(environment, range),
            "oldest": joins.oldest(environment),
            **diagnosed(environment, range, request.GET.get("page")),
        }

    return Page("outcomes/broken_joins.html", context, exports.of_broken_joins(environment, range))


def diagnosed(environment: Environment, range: Range, number: str | None) -> Mapping[str, Any]:
    """The causes, of the newest where there are very many, and one page of the broken joins themselves."""
    waiting = joins.still_broken(environment, range)
    causes = joins.causes(joins.diagnosed(environment, waiting[:DIAGNOSED_AT_ONCE]))
    rows = Paginator(waiting, ROWS_A_PAGE).get_page(number)
    return {
        "causes": [(cause, ADVICE[cause.kind]) for cause in causes],
        "causes_of": sum(cause.count for cause in causes),
        "rows": rows,
        "joins": with_advice(joins.diagnosed(environment, rows.object_list)),
        "late": joins.healed_outcomes(environment, range)[:ROWS_A_PAGE],
    }


def with_advice(found: Any) -> Sequence[tuple[BrokenJoin, str]]:
    return [(join, ADVICE[join.diagnosis.kind].name) for join in found]


def first_report(environment: Environment) -> Mapping[str, str]:
    """The lines that bring the first data here; production is where reports go that name no environment."""
    default = environment.name == "production"
    named = "" if default else f'"environment": "{environment.name}", '
    argument = "" if default else f'environment="{environment.name}", '
    return {
        "first_body": f'{{{named}"outcomes": [{CLAIM}]}}',
        "first_lines": "from affidavit import report_outcomes\n\n"
        f"report_outcomes(API_KEY, [{CLAIM}], {argument}base_url=BASE_URL)",
    }
