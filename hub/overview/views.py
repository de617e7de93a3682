"""The overview, which needs every domain, and the browsable documentation of the API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from catalog import queries as catalog
from catalog.drift.queries import list_latest_drift
from hub.overview import facts as rules
from hub.sample import views
from intents.gate.queries import has_confirmations
from intents.rejections import queries as intents
from outcomes.broken_joins.overview import read_outcomes_overview
from outcomes.tallies.series import chart_buckets, has_any_outcome, read_series_of_all_keys
from wire.period import Period
from wire.table_exports import Table
from workspaces.models import Environment
from workspaces.page import Page

LATEST_DRIFT = 5


def overview(request: HttpRequest, environment: Environment, period: Period) -> Page:
    """Is everything all right? The five numbers, outcomes over time, the main cause of broken joins."""
    of_outcomes = read_outcomes_overview(environment, period)
    of_intents = intents.load_overview(environment, period)
    of_catalog = catalog.count_operations(environment, period)
    facts = rules.facts(of_outcomes, of_intents, of_catalog)
    buckets = chart_buckets(environment, period)
    line = read_series_of_all_keys(environment, buckets)

    def context() -> Mapping[str, Any]:
        labels = [bucket.label for bucket in buckets]
        steps = rules.steps(
            observed=of_catalog.total > 0,
            reported=has_any_outcome(environment),
            verified=intents.has_verifications(environment),
            asked=has_confirmations(environment),
        )
        return {
            "steps": steps,
            "begun": any(step.done for step in steps if step.page),
            "to_do": sum(not step.done for step in steps),
            "sample": views.may_remove(request, environment.workspace),
            "facts": facts,
            "cause": of_outcomes.main_cause,
            "totals": of_outcomes.totals,
            "reasons": of_intents.reasons[:5],
            "drift": list_latest_drift(environment, LATEST_DRIFT),
            "figure": rules.figure(labels, {"Outcomes": line.outcomes, rules.BROKEN: line.broken}),
            "series": list(zip(labels, line.conversations, line.outcomes, line.broken, strict=True)),
        }

    def series() -> Iterator[Sequence[Any]]:
        starts = (bucket.start for bucket in buckets)
        return zip(starts, line.conversations, line.outcomes, line.broken, strict=True)

    return Page(
        "hub/overview.html",
        context,
        tables=[
            Table("facts", rules.COLUMNS, lambda: [fact.row() for fact in facts]),
            Table("series", ("start", "conversations", "outcomes", "brokenJoins"), series),
            Table("reasons", ("reason", "rejections"), lambda: [(r.reason, r.count) for r in of_intents.reasons]),
        ],
    )


# Swagger's own components set style attributes; this page shows nothing of anybody's data.
@csp_update({"style-src": ["'unsafe-inline'"]})
def api_docs(request: HttpRequest) -> HttpResponse:
    return render(request, "hub/api_docs.html")
