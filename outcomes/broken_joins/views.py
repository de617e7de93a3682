"""The page of broken joins: which ids did not match, why, and what to do; and moving them where they belong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.http import require_POST

from outcomes.analytics import compare, figures, filters
from outcomes.analytics.filters import JoinFilters
from outcomes.analytics.page import ROWS_A_PAGE
from outcomes.analytics.snippets import first_report
from outcomes.broken_joins import exports
from outcomes.broken_joins import lookup as joins
from outcomes.broken_joins import rates as broken_rates
from outcomes.broken_joins.diagnose import ADVICE
from outcomes.broken_joins.move import movable, move, undo
from outcomes.models import Move
from outcomes.tallies import series
from wire.errors import InvalidRequest
from wire.period import Period, parse_period
from workspaces.access import list_workspaces, require_member_environment
from workspaces.models import Environment
from workspaces.page import Page, redirect_to_page

DIAGNOSED_AT_ONCE = 500  # the newest; the exports diagnose all
MOVES_SHOWN = 10


def broken_joins(request: HttpRequest, environment: Environment, period: Period) -> Page:
    asked = filters.of_joins(request.GET)

    def context() -> Mapping[str, Any]:
        if not series.has_any(environment):
            return {"empty": True, **first_report(environment)}
        totals = series.totals(environment, period)
        return {
            "asked": asked,
            "totals": totals,
            "before": series.totals(environment, period.previous()),
            "healed": joins.healed(environment, period),
            "late": joins.healed_outcomes(environment, period)[:ROWS_A_PAGE],
            "oldest": joins.oldest(environment),
            **diagnosed(environment, period, asked, request.GET.get("page"), totals.broken),
            **rates(environment, period),
            **moves(request, environment, period, asked),
        }

    return Page("outcomes/broken_joins.html", context, exports.of_broken_joins(environment, period, asked))


def diagnosed(
    environment: Environment, period: Period, asked: JoinFilters, number: str | None, count: int
) -> Mapping[str, Any]:
    """The causes, of the newest where there are very many, and one page of the `count` broken joins themselves."""
    waiting = joins.still_broken(environment, period)
    newest = list(joins.diagnosed(environment, waiting[:DIAGNOSED_AT_ONCE]))
    chosen = [join for join in newest if joins.is_of(join, asked.why, asked.found_in)] if asked else waiting
    paginator = Paginator(chosen, ROWS_A_PAGE)
    paginator.count = len(chosen) if asked else count  # the tallies' number, so that no row is counted
    rows = paginator.get_page(number)
    shown = rows.object_list if asked else joins.diagnosed(environment, rows.object_list)
    names = exports.key_names(environment)
    causes = joins.causes(newest)
    return {
        "causes": [(cause, ADVICE[cause.kind]) for cause in causes],
        "causes_of": len(newest),
        "partial": len(newest) == DIAGNOSED_AT_ONCE,
        "kinds": [(kind, advice.name) for kind, advice in ADVICE.items() if kind != "late"],
        "rows": rows,
        "joins": [(join, ADVICE[join.diagnosis.kind].name, names.get(join.reported_by)) for join in shown],
    }


def rates(environment: Environment, period: Period) -> Mapping[str, Any]:
    found = (
        ("environment", "rates", broken_rates.by_environment(environment, period)),
        ("API key", "rates-by-key", broken_rates.by_api_key(environment, period)),
    )
    return {
        "trends": [
            {"by": by, "table": table, "trend": trend, "figure": figures.rates(trend.buckets, trend.drawn)}
            for by, table, trend in found
            if trend.rates
        ]
    }


def moves(request: HttpRequest, environment: Environment, period: Period, asked: JoinFilters) -> Mapping[str, Any]:
    """Moves from and to this environment, and the one that could be made now. Keys read, only people move."""
    may_move = list_workspaces(request.user).filter(pk=environment.workspace_id).exists()
    target = compare.sibling(environment, asked.found_in)
    return {
        "moves": Move.objects.of(environment)[:MOVES_SHOWN],
        "may_move": may_move,
        "move_to": target,
        "movable": len(movable(environment, target, period)) if target and may_move else 0,
        "done": request.GET.get("done", ""),
    }


@require_POST
@login_required
def move_joins(request: HttpRequest, slug: str, environment: str) -> HttpResponseRedirect:
    """Move what the page counted: the range is in the address with fixed ends. Back to the page."""
    source = require_member_environment(request, slug, environment)
    target = compare.sibling(source, request.POST.get("to", ""))
    span = parse_period(request.GET, now=timezone.now())
    if target is None or span.fault:
        raise InvalidRequest("Name another environment of this workspace, and a range.")
    made = move(source, target, span, actor=request.user.get_username(), now=timezone.now())
    return back(request, source, "moved" if made else "nothing")


@require_POST
@login_required
def undo_move(request: HttpRequest, slug: str, environment: str, pk: int) -> HttpResponseRedirect:
    here = require_member_environment(request, slug, environment)
    made = get_object_or_404(Move.objects.of(here), pk=pk)
    undone = undo(made, actor=request.user.get_username(), now=timezone.now())
    return back(request, here, "undone" if undone else "nothing")


def back(request: HttpRequest, environment: Environment, done: str) -> HttpResponseRedirect:
    """To the page, in the range that it showed, relative where it was."""
    names = ("range", "tz") if request.POST.get("range") else ("from", "to", "tz")
    given = {**request.GET.dict(), "range": request.POST.get("range", "")}
    return redirect_to_page("joins", environment, {name: given.get(name) for name in names} | {"done": done})
